"""A decision sheet as one HTML file with a drawing that prints on one page of A4."""

from __future__ import annotations

from html import escape

from ..page import Box, Curve, Disc, Shape
from ._page import HEIGHT, MARGIN, WIDTH

_POINT = 25.4 / 72.0
_STYLE = (
    "@page { size: A4 portrait; margin: 0 } html, body { margin: 0; background: #fff } "
    f"svg {{ display: block; width: {WIDTH:g}mm; height: {HEIGHT - 0.5:g}mm; margin: 0 auto }} "
    "text { font-family: 'DejaVu Sans', Verdana, sans-serif; white-space: pre }"
)


def write_html(shapes: list[Shape], factor: float, title: str) -> str:
    """The file; it needs no other, and runs no script."""
    drawn = "\n".join(map(_write, shapes))
    return (
        f'<!doctype html>\n<html lang="en">\n<head>\n<meta charset="utf-8">\n<title>{escape(title)}</title>\n'
        f"<style>{_STYLE}</style>\n</head>\n<body>\n"
        f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {WIDTH:g} {HEIGHT - 0.5:g}" role="img">\n'
        f'<g transform="translate({MARGIN:g} {MARGIN:g}) scale({factor:.4f})">\n{drawn}\n</g>\n</svg>\n'
        "</body>\n</html>\n"
    )


def _write(shape: Shape) -> str:
    if isinstance(shape, Box):
        return (
            f'<rect x="{shape.x:.2f}" y="{shape.y:.2f}" width="{shape.width:.2f}" height="{shape.height:.2f}" '
            f'fill="{shape.fill}" stroke="{shape.line}" stroke-width="{shape.thickness:.2f}"/>'
        )
    if isinstance(shape, Curve):
        points = " ".join(f"{x:.2f},{y:.2f}" for x, y in shape.points)
        dashes = ' stroke-dasharray="1 1"' * shape.dashes
        return (
            f'<polyline points="{points}" fill="none" stroke="{shape.colour}" '
            f'stroke-width="{shape.thickness:.2f}"{dashes}/>'
        )
    if isinstance(shape, Disc):
        return (
            f'<circle cx="{shape.x:.2f}" cy="{shape.y:.2f}" r="{shape.radius:.2f}" fill="{shape.fill}" '
            f'stroke="{shape.line}" stroke-width="0.2"/>'
        )
    size = shape.size * _POINT
    return (
        f'<text x="{shape.x:.2f}" y="{shape.y + 0.36 * size:.2f}" font-size="{size:.3f}" '
        f'text-anchor="{shape.anchor}" fill="{shape.colour}" font-weight="{shape.weight}">{escape(shape.text)}</text>'
    )
