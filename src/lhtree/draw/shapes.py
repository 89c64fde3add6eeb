"""Shapes of a page as a plot."""

from __future__ import annotations

from typing import TYPE_CHECKING

from .._extras import import_extra
from .page import Box, Curve, Disc, Shape
from .style import letters

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

_INCH = 25.4  # millimetres
_POINTS = 72.0 / _INCH
_LEGIBLE = 2.0  # points
_ANCHORS = {"start": "left", "middle": "center", "end": "right"}


def new_sheet(width: float, height: float) -> tuple[Figure, Axes]:
    """A new figure of so many millimetres that axes fill."""
    figure = import_extra("matplotlib.figure", "plot").Figure(figsize=(width / _INCH, height / _INCH))
    return figure, figure.add_axes((0.0, 0.0, 1.0, 1.0))


def draw_shapes(
    ax: Axes, shapes: list[Shape], width: float, height: float, factor: float = 1.0, margin: float = 0.0
) -> None:
    """Draw shapes into axes that show so many millimetres; ``factor`` shrinks shapes within the margin."""
    patches = import_extra("matplotlib.patches", "plot")
    box = ax.get_window_extent()
    scale = min(box.width / width, box.height / height) / ax.figure.dpi * _INCH * factor
    ax.set(
        xlim=(-margin / factor, (width - margin) / factor),
        ylim=((height - margin) / factor, -margin / factor),
    )
    ax.set_aspect("equal", anchor="N")
    ax.set_axis_off()
    for order, shape in enumerate(shapes):
        z = 1.0 + order / 1e5
        if isinstance(shape, Box):
            ax.add_patch(
                patches.Rectangle(
                    (shape.x, shape.y),
                    shape.width,
                    shape.height,
                    facecolor=shape.fill,
                    edgecolor=shape.line,
                    linewidth=0.0 if shape.line == "none" else shape.thickness * _POINTS * scale,
                    zorder=z,
                )
            )
        elif isinstance(shape, Curve):
            ax.plot(
                *zip(*shape.points, strict=True),
                color=shape.colour,
                linewidth=shape.thickness * _POINTS * scale,
                linestyle="dashed" if shape.dashes else "solid",
                solid_joinstyle="round",
                zorder=z,
            )
        elif isinstance(shape, Disc):
            ax.add_patch(
                patches.Circle(
                    (shape.x, shape.y),
                    shape.radius,
                    facecolor=shape.fill,
                    edgecolor=shape.line,
                    linewidth=0.2 * _POINTS * scale,
                    zorder=z,
                )
            )
        elif shape.size * scale >= _LEGIBLE:
            ax.text(
                shape.x,
                shape.y,
                letters(shape.text),
                fontsize=shape.size * scale,
                ha=_ANCHORS[shape.anchor],
                va="center",
                color=shape.colour,
                weight=shape.weight,
                zorder=z,
            )
