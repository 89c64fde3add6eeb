"""What the parts below the tree of a decision sheet have in common."""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

from ..page import BOLD, GREY, INK, SMALL, Box, Curve, Disc, Shape, Text, find_width, fit_text, move, wrap

LINE = 2.9  # between lines
_WIDTH, _HEIGHT = 42.0, 27.0  # of a picture
_LEAST_MARK, _MOST_MARK = 8.0, 15.0  # width of the marks beside it


def draw_title(text: str) -> list[Shape]:
    """The title of a part."""
    return [Text(0.0, 2.0, text, 8.0, "start", INK, BOLD)]


def draw_unmeasured() -> list[Shape]:
    """What stands where nothing was measured."""
    lines = wrap("Not measured: pass a table of rows that were not used for training.", 56.0)
    return [Text(0.0, 6.0 + LINE * n, line, SMALL, "start", GREY) for n, line in enumerate(lines)]


class Dot(NamedTuple):
    """Rows of similar predictions: what was predicted, what came true, and how many they are."""

    predicted: float
    actual: float
    n_rows: int


def draw_diagonal(
    dots: Sequence[Dot], ends: tuple[float, float], marks: tuple[str, str], across: str, up: str
) -> list[Shape]:
    """Predictions against what came true, from one end to the other; on the dashed line they agree."""
    low, high = ends
    marks = fit_text(marks[0], _MOST_MARK), fit_text(marks[1], _MOST_MARK)
    left = 2.0 + max(_LEAST_MARK, *map(find_width, marks))

    def place(predicted: float, actual: float) -> tuple[float, float]:
        return _WIDTH * (predicted - low) / (high - low), _HEIGHT * (1.0 - (actual - low) / (high - low))

    most = max(dot.n_rows for dot in dots)
    points = [place(dot.predicted, dot.actual) for dot in dots]
    shapes: list[Shape] = [
        Box(0.0, 0.0, _WIDTH, _HEIGHT, "#FFFFFF", "#C8C8C8"),
        Curve((place(low, low), place(high, high)), GREY, 0.2, dashes=True),
        Curve(tuple(points), INK, 0.3),
    ]
    shapes += [
        Disc(x, y, 0.5 + 0.9 * (dot.n_rows / most) ** 0.5, INK)
        for (x, y), dot in zip(points, dots, strict=True)
    ]
    for end, mark in zip(ends, marks, strict=True):
        x, y = place(end, end)
        shapes.append(Text(x, _HEIGHT + 2.0, mark, SMALL, "middle", GREY))
        shapes.append(Text(-1.0, y, mark, SMALL, "end", GREY))
    shapes.append(Text(_WIDTH / 2.0, _HEIGHT + 2.0, across, SMALL, "middle", GREY))
    shapes.append(Text(1.0, 2.2, up, SMALL, "start", GREY))
    return move(shapes, left, 16.0)
