"""The parts of a decision sheet that are about a number."""

from __future__ import annotations

from ...evaluation.measures import write_number
from ...evaluation.regression import RegressionEvaluation
from ..page import GREY, SMALL, Box, Shape, Text, fit_text
from ._facts import SheetFacts
from ._parts import LINE, Dot, draw_diagonal, draw_title, draw_unmeasured

_MOST_LEAVES = 12
_BARS, _BAR = 30.0, 28.0  # where bars begin, and the longest


def draw_numbers(facts: SheetFacts) -> list[Shape]:
    """The responses of training, and the leaves from the smallest to the largest number with their share of rows."""
    outline, shapes = facts.outline, draw_title("Predictions")
    if facts.response is not None:
        low, mean, high = map(write_number, (facts.response.low, facts.response.mean, facts.response.high))
        shapes.append(Text(0.0, 5.8, fit_text(f"training rows: {low} to {high}, mean {mean}", 58.0), SMALL))
    leaves = sorted((block for block in outline.blocks if block.is_leaf), key=lambda block: block.label)
    top = 5.8 + LINE
    for x, text, anchor in (
        (0.0, "leaf", "start"),
        (28.0, "number", "end"),
        (_BARS, "share of rows", "start"),
    ):
        shapes.append(Text(x, top, text, SMALL, anchor, GREY))
    total = sum(block.weight for block in leaves)
    most = max(block.weight for block in leaves)
    for place, block in enumerate(leaves[:_MOST_LEAVES], 1):
        y = top + LINE * place
        number = "linear" if block.is_linear else outline.name_leaf(block, 6)
        length = _BAR * 0.7 * block.weight / most
        shapes += [
            Text(0.0, y, str(block.number)),
            Text(28.0, y, fit_text(number, 22.0), SMALL, "end"),
            Box(_BARS, y - 0.9, length, 1.8, "#9A9A9A"),
            Text(_BARS + length + 1.0, y, f"{block.weight / total:.3f}"),
        ]
    n_more = len(leaves) - _MOST_LEAVES
    if n_more > 0:
        shapes.append(Text(0.0, top + LINE * (_MOST_LEAVES + 1), f"and {n_more} more", SMALL, "start", GREY))
    return shapes


def draw_errors(facts: SheetFacts) -> list[Shape]:
    """Errors on held-out rows, and the mean response of rows of similar predictions."""
    evaluation, shapes = facts.evaluation, draw_title("Hold-out")
    if not isinstance(evaluation, RegressionEvaluation):
        return shapes + draw_unmeasured()
    figures = dict(evaluation.figures())
    told = [
        f"R² {figures['R²']}; {figures['rows']} rows",
        *(f"{name} {figures[name]}" for name in ("RMSE", "MAE")),
    ]
    shapes += [Text(0.0, 5.8 + LINE * place, fit_text(line, 60.0)) for place, line in enumerate(told)]
    dots = [Dot(one.predicted, one.actual, one.n_rows) for one in evaluation.ranges]
    low, high = min(min(dot[:2]) for dot in dots), max(max(dot[:2]) for dot in dots)
    if not low < high:  # all rows have one prediction, which is right
        return shapes
    marks = (write_number(low), write_number(high))
    return shapes + draw_diagonal(dots, (low, high), marks, "mean prediction", "mean actual number")
