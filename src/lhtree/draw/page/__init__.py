"""Compact trees on paper: shapes with places in millimetres, which a plot or an SVG draws."""

from ._shapes import BOLD, GREY, INK, SMALL, Box, Curve, Disc, Shape, Text, find_width, fit_text, move, wrap
from ._tree import colour_class, draw_tree

__all__ = [
    "BOLD",
    "GREY",
    "INK",
    "SMALL",
    "Box",
    "Curve",
    "Disc",
    "Shape",
    "Text",
    "colour_class",
    "draw_tree",
    "find_width",
    "fit_text",
    "move",
    "wrap",
]
