"""Plot of a compact tree on one page."""

from __future__ import annotations

from typing import TYPE_CHECKING

from .._extras import import_extra
from ..describe.outline import Outline
from ..draw.page import (
    BOLD,
    INK,
    SMALL,
    Box,
    Shape,
    Text,
    colour_class,
    draw_tree,
    find_width,
    fit_text,
    move,
)
from ..draw.shapes import draw_shapes
from ..draw.style import check_axes

if TYPE_CHECKING:
    from matplotlib.axes import Axes

_INCH = 25.4
_WIDTH, _HEIGHT, _MARGIN = 297.0, 210.0, 8.0  # A4, in millimetres
_HEADER = 10.0


def draw_outline(outline: Outline, ax: Axes | None) -> Axes:
    """Draw a compact tree; a new figure is as wide as a page of A4, and as high as it needs to be."""
    inside = _WIDTH - 2 * _MARGIN
    tree, height = draw_tree(outline, inside, _HEIGHT - 2 * _MARGIN - _HEADER)
    shapes = _draw_header(outline, inside) + move(tree, 0.0, _HEADER)
    total = height + _HEADER + 2 * _MARGIN
    if ax is None:
        pyplot = import_extra("matplotlib.pyplot", "plot")
        figure = pyplot.figure(figsize=(_WIDTH / _INCH, min(total, _HEIGHT) / _INCH))
        ax = figure.add_axes((0.0, 0.0, 1.0, 1.0))
    draw_shapes(check_axes(ax), shapes, _WIDTH, total, margin=_MARGIN)
    return ax


def _draw_header(outline: Outline, width: float) -> list[Shape]:
    """What the tree is, and the colours of its classes, as many as there is room for."""
    n_blocks = len(outline.blocks)
    size = f"{n_blocks} blocks, {outline.n_leaves} leaves, {outline.n_terms} terms"
    title = f"Compact tree: {size if n_blocks > 1 else '1 block, a leaf'}"
    shapes: list[Shape] = [Text(0.0, 2.5, title, 10.0, "start", INK, BOLD)]
    at = find_width(title, 10.0, BOLD) + 8.0
    for code, label in enumerate(outline.class_names):
        name = fit_text(label, 30.0)
        if at + 4.0 + find_width(name) > width:
            break
        shapes.append(Box(at, 1.5, 2.0, 2.0, colour_class(code)))
        shapes.append(Text(at + 3.0, 2.5, name, SMALL))
        at += 6.0 + find_width(name)
    return shapes
