"""SVG back end of scenes."""

from __future__ import annotations

from html import escape

from .scene import (
    GREY,
    INK,
    LINE,
    PALE,
    POINT,
    WHITE,
    Box,
    Disc,
    Group,
    Polyline,
    Scene,
    Shape,
    Text,
    fit_text,
)

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
