"""Scenes: drawings as plain data, which ``figure`` draws with matplotlib and ``write_svg`` writes as SVG.

Lengths are millimetres from the top left corner, sizes of letters are points.
"""

from __future__ import annotations

import unicodedata
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from html import escape
from itertools import zip_longest
from types import MappingProxyType
from typing import Any, TypeAlias

# Neutral colours, from dark to light; an SVG can follow the colours of the page around it instead.
INK, GREY, LINE, PALE, WHITE = "#222222", "#777777", "#8A8A8A", "#F3F3F3", "#FFFFFF"
SMALL, NORMAL = 6.0, 7.5  # points
BOLD = "bold"
POINT = 25.4 / 72.0
# Widths in hundredths of an em of the characters from " " to "~" in DejaVu Sans, which is wider than most fonts.
_ASCII = (
    *(32, 40, 46, 84, 64, 95, 78, 27, 39, 39, 50, 84, 32, 36, 32, 34, 64, 64, 64, 64, 64, 64, 64, 64),
    *(64, 64, 34, 34, 84, 84, 84, 53, 100, 68, 69, 70, 77, 63, 58, 77, 75, 29, 29, 66, 56, 86, 75, 79),
    *(60, 79, 69, 63, 61, 73, 68, 99, 69, 61, 69, 39, 34, 39, 84, 50, 50, 61, 63, 55, 63, 62, 35, 63),
    *(63, 28, 28, 58, 28, 97, 63, 61, 63, 63, 41, 52, 39, 63, 59, 82, 59, 59, 52, 64, 34, 64, 84),
)
_AIR = 1.03  # text may be wider than measured, because fonts snap to pixels
BOLDER = 1.13  # width of bold letters, relative to normal ones


@dataclass(frozen=True)
class Text:
    """One line of text; y is the middle of its letters. The middle of a text wider than ``room`` is left out."""

    x: float
    y: float
    text: str
    size: float = SMALL
    anchor: str = "start"  # or "middle" or "end"
    colour: str = INK
    weight: str = "normal"  # or BOLD
    room: float | None = None


@dataclass(frozen=True)
class Box:
    """A rectangle; ``name`` identifies it in a matplotlib figure."""

    x: float
    y: float
    width: float
    height: float
    fill: str = "none"
    line: str = "none"
    thickness: float = 0.2
    name: str = ""


@dataclass(frozen=True)
class Polyline:
    """Straight lines from point to point."""

    points: tuple[tuple[float, float], ...]
    colour: str = GREY
    thickness: float = 0.25
    dashes: bool = False


@dataclass(frozen=True)
class Disc:
    """A circle."""

    x: float
    y: float
    radius: float
    fill: str = WHITE
    line: str = INK


@dataclass(frozen=True)
class Group:
    """Shapes with a tooltip, which matplotlib does not show."""

    title: str
    shapes: tuple[Shape, ...]


Shape: TypeAlias = Text | Box | Polyline | Disc | Group


@dataclass(frozen=True)
class Scene:
    """Shapes within a margin on a page of this size; ``factor`` shrinks the shapes."""

    shapes: tuple[Shape, ...]
    width: float
    height: float
    margin: float = 0.0
    factor: float = 1.0


def move(shapes: Iterable[Shape], x: float, y: float) -> list[Shape]:
    """Return the same shapes at another place."""
    return [_move(shape, x, y) for shape in shapes]


def _move(shape: Shape, x: float, y: float) -> Shape:
    if isinstance(shape, Group):
        return replace(shape, shapes=tuple(move(shape.shapes, x, y)))
    if isinstance(shape, Polyline):
        return replace(shape, points=tuple((px + x, py + y) for px, py in shape.points))
    place: dict[str, Any] = {"x": shape.x + x, "y": shape.y + y}
    return replace(shape, **place)


def find_bottom(shapes: Iterable[Shape]) -> float:
    """Return the y of the lowest point of some shapes."""

    def find(shape: Shape) -> float:
        if isinstance(shape, Group):
            return find_bottom(shape.shapes)
        if isinstance(shape, Polyline):
            return max(y for _, y in shape.points)
        return shape.y + (shape.height if isinstance(shape, Box) else 1.5)

    return max(map(find, shapes))


def find_width(text: str, size: float = SMALL, weight: str = "normal") -> float:
    """Return the width of a text in millimetres."""
    ems = sum(map(_measure, text)) / 100.0
    return ems * size * POINT * _AIR * (BOLDER if weight == BOLD else 1.0)


def _measure(sign: str) -> float:
    place = ord(sign) - ord(" ")
    if 0 <= place < len(_ASCII):
        return _ASCII[place]
    if unicodedata.combining(sign):
        return 0.0
    if unicodedata.east_asian_width(sign) in "WF" or sign in "…@":
        return 100.0
    return 84.0 if unicodedata.category(sign)[0] in "SLu" else 70.0


def fit_text(text: object, width: float, size: float = SMALL, weight: str = "normal") -> str:
    """Return a text on one line of at most this width; the middle of a longer one is left out."""
    line = " ".join(str(text).split())
    if find_width(line, size, weight) <= width:
        return line
    for kept in range(len(line) - 1, 0, -1):
        head = (kept + 1) // 2
        cut = f"{line[:head]}…{line[len(line) - (kept - head) :]}"
        if find_width(cut, size, weight) <= width:
            return cut
    return "…"


def fit_names(
    names: Sequence[str],
    width: float,
    size: float = SMALL,
    weight: str = "normal",
    *,
    first: Mapping[str, str] = MappingProxyType({}),
) -> dict[str, str]:
    """Return names shortened to this width such that no two of them look the same.

    ``first`` has shortened names to prefer. Names that cannot be told apart otherwise begin with their number, which is
    never shortened.
    """
    fitted = {name: first.get(name) or fit_text(name, width, size, weight) for name in names}
    for group in _find_alike(fitted):
        same = next(n for n, signs in enumerate(zip_longest(*group)) if len(set(signs)) > 1)
        for name in group:  # from where they differ, or as much of the end as there is room for
            start = max(same - 2, 0)
            while start > 0 and find_width(f"…{name[start - 1 :]}", size, weight) <= width:
                start -= 1
            fitted[name] = cut_end(f"…{name[start:]}", width, size, weight)
    for group in _find_alike(fitted):
        for name in group:
            number = f"{names.index(name)}:"
            room = width - find_width(f"{number} ", size, weight)
            fitted[name] = f"{number} {cut_end(' '.join(name.split()), room, size, weight)}"
    return fitted


def _find_alike(fitted: dict[str, str]) -> list[list[str]]:
    """Return groups of names that look the same."""
    alike: dict[str, list[str]] = {}
    for name, text in fitted.items():
        alike.setdefault(text, []).append(name)
    return [group for group in alike.values() if len(group) > 1]


def cut_end(text: str, width: float, size: float = SMALL, weight: str = "normal") -> str:
    """Return a text of at most this width; the end of a longer one is left out."""
    if find_width(text, size, weight) <= width:
        return text
    kept = len(text)
    while kept and find_width(f"{text[:kept]}…", size, weight) > width:
        kept -= 1
    return f"{text[:kept]}…"


def wrap(text: str, width: float, size: float = SMALL, weight: str = "normal") -> list[str]:
    """Return lines of at most this width, broken between words; a longer word is broken, too."""
    lines, line = [], ""
    for word in text.split():
        longer = f"{line} {word}".lstrip()
        if line and find_width(longer, size, weight) > width:
            lines.append(line)
            longer = word
        while len(longer) > 1 and find_width(longer, size, weight) > width:
            kept = len(longer) - 1
            while kept > 1 and find_width(longer[:kept], size, weight) > width:
                kept -= 1
            lines.append(longer[:kept])
            longer = longer[kept:]
        line = longer
    return [*lines, line] if line else lines


# Opacity of neutral colours in an SVG that has the text colour of the page around it, light or dark.
_OPACITY = {INK: 1.0, GREY: 0.65, LINE: 0.45, PALE: 0.06, WHITE: 0.02}


def clean(text: object) -> str:
    """Return text for HTML: escaped, on one line, and without characters that cannot be encoded."""
    return escape(" ".join(str(text).encode("utf-8", "replace").decode().split()))


def write_svg(scene: Scene, attributes: str, *, follows_page: bool = False) -> str:
    """Return a scene as an SVG element; ``follows_page`` replaces neutral colours by the text colour of the page."""
    drawn = "\n".join(_write(shape, follows_page) for shape in scene.shapes)
    size = f"{scene.width:g} {scene.height:g}"
    where = f"translate({scene.margin:g} {scene.margin:g}) scale({scene.factor:.4g})"
    return (
        f"<svg xmlns='http://www.w3.org/2000/svg' viewBox='0 0 {size}' role='img' {attributes}>\n"
        f"<g transform='{where}'>\n{drawn}\n</g>\n</svg>"
    )


def _paint(kind: str, colour: str, follows_page: bool) -> str:
    """Return the attributes of a fill or a stroke."""
    if not follows_page or colour not in _OPACITY:
        return f" {kind}='{colour}'"
    return f" {kind}='currentColor' {kind}-opacity='{_OPACITY[colour]:g}'"


def _write(shape: Shape, follows_page: bool) -> str:
    def fill(colour: str) -> str:
        return _paint("fill", colour, follows_page)

    def stroke(colour: str, thickness: float) -> str:
        if colour == "none":
            return ""
        return f"{_paint('stroke', colour, follows_page)} stroke-width='{thickness:.2f}'"

    if isinstance(shape, Group):
        inside = "".join(_write(each, follows_page) for each in shape.shapes)
        return f"<g><title>{clean(shape.title)}</title>{inside}</g>"
    if isinstance(shape, Box):
        place = f"x='{shape.x:.2f}' y='{shape.y:.2f}' width='{shape.width:.2f}' height='{shape.height:.2f}'"
        return f"<rect {place}{fill(shape.fill)}{stroke(shape.line, shape.thickness)}/>"
    if isinstance(shape, Polyline):
        points = " ".join(f"{x:.2f},{y:.2f}" for x, y in shape.points)
        dashes = " stroke-dasharray='1 1'" * shape.dashes
        return f"<polyline points='{points}' fill='none'{stroke(shape.colour, shape.thickness)}{dashes}/>"
    if isinstance(shape, Disc):
        place = f"cx='{shape.x:.2f}' cy='{shape.y:.2f}' r='{shape.radius:.2f}'"
        return f"<circle {place}{fill(shape.fill)}{stroke(shape.line, 0.2)}/>"
    return _write_text(shape, fill(shape.colour))


def _write_text(shape: Text, fill: str) -> str:
    size = shape.size * POINT
    text = shape.text if shape.room is None else fit_text(shape.text, shape.room, shape.size, shape.weight)
    anchor = f" text-anchor='{shape.anchor}'" * (shape.anchor != "start")
    weight = f" font-weight='{shape.weight}'" * (shape.weight != "normal")
    place = f"x='{shape.x:.2f}' y='{shape.y + 0.36 * size:.2f}' font-size='{size:.3g}'"
    return f"<text {place}{anchor}{fill}{weight}>{clean(text)}</text>"
