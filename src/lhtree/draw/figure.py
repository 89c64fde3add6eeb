"""Matplotlib back end of scenes, and text that matplotlib can draw within a width."""

from __future__ import annotations

import unicodedata
from collections import Counter
from collections.abc import Callable, Sequence
from functools import lru_cache
from typing import TYPE_CHECKING, Any

from .._extras import import_extra
from .scene import BOLD, BOLDER, POINT, Box, Disc, Group, Polyline, Scene, Shape, Text

if TYPE_CHECKING:
    from matplotlib.axes import Axes

_INCH = 25.4  # millimetres
_LEGIBLE = 2.0  # points
SNAP = 1.09  # text may be wider than measured, because fonts snap to whole pixels
_ANCHORS = {"start": "left", "middle": "center", "end": "right"}
_GENERIC = ("serif", "sans-serif", "cursive", "fantasy", "monospace")
_INVISIBLE = {"Cc", "Cf", "Cs", "Co", "Cn", "Zl", "Zp", "Mn"}


def new_page(make_figure: Callable[..., Any], width: float, height: float) -> Axes:
    """Return axes that fill a new figure of this size in millimetres."""
    ax: Axes = make_figure(figsize=(width / _INCH, height / _INCH)).add_axes((0.0, 0.0, 1.0, 1.0))
    return ax


def draw_scene(ax: Axes, scene: Scene) -> Axes:
    """Draw a scene into axes, as large as fits; text that would be too small to read is left out."""
    box = ax.get_window_extent()
    scale = min(box.width / scene.width, box.height / scene.height) / ax.figure.dpi * _INCH * scene.factor
    low, factor = -scene.margin / scene.factor, scene.factor
    ax.set(xlim=(low, scene.width / factor + low), ylim=(scene.height / factor + low, low))
    ax.set_aspect("equal", anchor="N")
    ax.set_axis_off()
    patches = import_extra("matplotlib.patches", "plot")
    for order, shape in enumerate(_list_shapes(scene.shapes)):
        _draw(ax, patches, shape, scale, 1.0 + order / 1e6)
    return ax


def _list_shapes(shapes: Sequence[Shape]) -> list[Text | Box | Polyline | Disc]:
    found: list[Text | Box | Polyline | Disc] = []
    for shape in shapes:
        found += _list_shapes(shape.shapes) if isinstance(shape, Group) else [shape]
    return found


def _draw(ax: Axes, patches: Any, shape: Text | Box | Polyline | Disc, scale: float, order: float) -> None:
    points = scale / POINT  # of a millimetre of line
    if isinstance(shape, Text):
        if shape.size * scale < _LEGIBLE:
            return
        text = letters(shape.text)
        if shape.room is not None:
            room = shape.room / POINT / SNAP / (BOLDER if shape.weight == BOLD else 1.0)
            text = fit(shape.text, room, shape.size)
        how: dict[str, Any] = {"ha": _ANCHORS[shape.anchor], "va": "center", "fontsize": shape.size * scale}
        ax.text(shape.x, shape.y, text, color=shape.colour, weight=shape.weight, zorder=order, **how)
    elif isinstance(shape, Polyline):
        style = "dashed" if shape.dashes else "solid"
        how = {"linewidth": shape.thickness * points, "linestyle": style, "solid_joinstyle": "round"}
        ax.plot(*zip(*shape.points, strict=True), color=shape.colour, zorder=order, **how)
    elif isinstance(shape, Disc):
        colours = {"facecolor": shape.fill, "edgecolor": shape.line, "linewidth": 0.2 * points}
        ax.add_patch(patches.Circle((shape.x, shape.y), shape.radius, zorder=order, **colours))
    else:
        width = 0.0 if shape.line == "none" else shape.thickness * points
        colours = {"facecolor": shape.fill, "edgecolor": shape.line, "linewidth": width}
        place = (shape.x, shape.y), shape.width, shape.height
        ax.add_patch(patches.Rectangle(*place, gid=shape.name or None, zorder=order, **colours))


def letters(text: object) -> str:
    """Return text that matplotlib can draw: one line, without mathtext; missing glyphs are replaced by names."""
    known = _glyphs()
    drawn = []
    for sign in " ".join(str(text).split()):
        if ord(sign) in known and unicodedata.category(sign) not in _INVISIBLE - {"Mn"}:
            drawn.append(sign)
        elif unicodedata.category(sign) == "So":
            drawn.append(f"[{unicodedata.name(sign, f'U+{ord(sign):04X}').lower()}]")
        elif unicodedata.category(sign) not in _INVISIBLE:
            drawn.append(f"[U+{ord(sign):04X}]")
    return "".join(drawn).replace("$", r"\$")


def fit(text: object, points: float, size: float) -> str:
    """Return text for matplotlib of at most this width in points; the middle of a longer text is left out."""
    drawn = letters(text)
    if measure(drawn, size) <= points:
        return drawn
    drawn = drawn.replace(r"\$", "$")

    def cut(kept: int) -> str:
        head = (kept + 1) // 2
        return (drawn[:head] + "…" + drawn[len(drawn) - (kept - head) :]).replace("$", r"\$")

    low, high = 0, len(drawn) - 1
    while low < high:
        middle = (low + high + 1) // 2
        low, high = (middle, high) if measure(cut(middle), size) <= points else (low, middle - 1)
    return cut(low)


def fit_all(names: Sequence[object], points: float, size: float) -> list[str]:
    """Return shortened names; names that would look the same start with their index."""
    fitted = [fit(name, points, size) for name in names]
    count = Counter(fitted)
    return [
        fit(f"{i}: {name}", points, size) if count[text] > 1 else text
        for i, (name, text) in enumerate(zip(names, fitted, strict=True))
    ]


def measure(drawn: str, size: float) -> float:
    """Return the width of text in points in the default font."""
    return _measure(drawn, size, _families())


@lru_cache(maxsize=4096)
def _measure(drawn: str, size: float, families: tuple[str, ...]) -> float:  # families: key of the cache only
    manager = import_extra("matplotlib.font_manager", "plot")
    textpath = import_extra("matplotlib.textpath", "plot")
    font = manager.FontProperties(size=size)
    shown = drawn.replace(r"\$", "$")
    return float(textpath.text_to_path.get_text_width_height_descent(shown, font, False)[0])


def _families() -> tuple[str, ...]:
    parameters = import_extra("matplotlib", "plot").rcParams
    return tuple(
        name
        for family in parameters["font.family"]
        for name in (parameters[f"font.{family}"] if family in _GENERIC else [family])
    )


def _glyphs() -> frozenset[int]:
    return _find_glyphs(_families())


@lru_cache(maxsize=8)
def _find_glyphs(families: tuple[str, ...]) -> frozenset[int]:
    manager = import_extra("matplotlib.font_manager", "plot")
    installed = set(manager.get_font_names())
    paths = [manager.findfont(family) for family in families if family in installed]
    paths = paths or [manager.findfont(manager.FontProperties())]
    return frozenset(code for path in paths for code in manager.get_font(path).get_charmap())
