"""The shapes of a decision sheet, on one page of A4."""

from __future__ import annotations

from ...describe.outline import write_number
from ..page import (
    BOLD,
    GREY,
    INK,
    SMALL,
    Box,
    Curve,
    Shape,
    Text,
    draw_tree,
    find_width,
    fit_text,
    move,
    wrap,
)
from ._classes import draw_accuracy, draw_classes
from ._facts import Decision, Example, SheetFacts
from ._numbers import draw_errors, draw_numbers
from ._parts import LINE, draw_title

WIDTH, HEIGHT, MARGIN = 210.0, 297.0, 9.0  # millimetres
_INSIDE = WIDTH - 2 * MARGIN
_BOTTOM = 51.0  # room below the tree
_GUIDE = (
    "Start at block 0. In each block multiply the values by their weights and add up the products. If the sum is below "
    "the bound, the answer is yes: go left; otherwise go right. What is a category, or “is missing”, counts as 1 or 0. "
    "The last number of a line, in grey, stands for a missing value. Bars show the effect of a usual change of a value."
)


def compose(facts: SheetFacts) -> tuple[list[Shape], float]:
    """All shapes, and the factor by which they have to shrink to fit the page, usually 1."""
    shapes = _draw_header(facts)
    top = max(_find_bottom(shape) for shape in shapes) + 1.0
    tree, height = draw_tree(facts.outline, _INSIDE, HEIGHT - 2 * MARGIN - top - _BOTTOM)
    shapes += move(tree, 0.0, top)
    top += height + 1.0
    is_regression = facts.outline.is_regression
    left = draw_numbers(facts) if is_regression else draw_classes(facts)
    middle = draw_errors(facts) if is_regression else draw_accuracy(facts)
    right = _draw_example(facts.example, _INSIDE - 130.0 + 3.0, HEIGHT - 2 * MARGIN - top)
    for x, part in ((0.0, left), (62.0, middle), (127.0, right)):
        shapes += move(part, x, top)
    total = max(_find_bottom(shape) for shape in shapes)
    factor = min(1.0, (HEIGHT - 2 * MARGIN) / total)
    return shapes, factor


def _find_bottom(shape: Shape) -> float:
    if isinstance(shape, Curve):
        return max(y for _, y in shape.points)
    if isinstance(shape, Box):
        return shape.y + shape.height
    return shape.y + 1.5


def _draw_header(facts: SheetFacts) -> list[Shape]:
    outline = facts.outline
    n_branching = len(outline.branching)
    blocks = f"{n_branching} branching block{'s' * (n_branching != 1)}"
    size = f"{outline.n_leaves} leaves, {blocks}, {outline.n_terms} terms" if n_branching else "one leaf"
    size += f"; trained on {outline.blocks[0].n_samples:,} rows"
    room = _INSIDE - find_width(size, 7.0) - 4.0
    shapes: list[Shape] = [
        Text(0.0, 2.5, fit_text(facts.title, room, 13.0, BOLD), 13.0, "start", INK, BOLD),
        Text(_INSIDE, 2.5, size, 7.0, "end", GREY),
    ]
    guide = _GUIDE
    if any(block.is_linear for block in outline.blocks):
        estimate = "number" if outline.is_regression else f"probability P of {outline.class_names[1]}"
        guide += f" In a linear leaf, the {estimate} is computed in the same way."
    if outline.is_regression:
        guide += " Violet: larger values speak for a larger number; red: for a smaller one."
    if len(outline.classes) == 2:
        guide += (
            f" Violet: larger values speak for {outline.class_names[1]}; red: for {outline.class_names[0]}."
        )
    for number, line in enumerate(wrap(guide, 0.94 * _INSIDE)):
        shapes.append(Text(0.0, 7.0 + 2.7 * number, line, SMALL, "start", GREY))
    return shapes


def _draw_example(example: Example | None, width: float, room: float) -> list[Shape]:
    """The way of one row: every sum and where it leads, with its products if there is room."""
    shapes = draw_title("Example")
    if example is None:
        lines = wrap("None: pass a table with rows.", width)
    else:
        most = int((room - 8.0) / LINE)
        lines = _tell(example, width, has_products=True)
        if len(lines) > most:
            lines = _tell(example, width, has_products=False)
    return [*shapes, *(Text(0.0, 6.0 + LINE * n, line) for n, line in enumerate(lines))]


def _tell(example: Example, width: float, *, has_products: bool) -> list[str]:
    lines = [fit_text(example.row, width)]
    for decision in example.decisions:
        lines += wrap(_tell_decision(decision, has_products), width)
    leaf = example.leaf
    sure = "" if example.probability is None else f", probability {example.probability:.2f}"
    told = f"Leaf {leaf.number}: {example.name}{sure}."
    actual = ""
    if example.actual is not None:
        is_number = example.probability is None
        what = f"number is {write_number(example.actual)}" if is_number else f"class is {example.actual}"
        actual = f" The actual {what}."
    return lines + wrap(told + actual, width)


def _tell_decision(decision: Decision, has_products: bool) -> str:
    block = decision.block
    told = f"{decision.total:.6g} is {'' if decision.is_left else 'not '}below {block.bound:.6g}: " + (
        f"{'yes' if decision.is_left else 'no'}, go to {block.left if decision.is_left else block.right}."
    )
    if has_products and len(decision.products) > 1:
        told = f"{_add(decision)} = {told}"
    elif len(decision.products) > 1:
        told = f"the sum {told}"
    elif abs(block.terms[0].weight) == 1.0:
        told = f"{'−' * (block.terms[0].weight < 0.0)}{block.terms[0].name} {told}"
    return f"Block {block.number}: {told}".replace(" -", " −")


def _add(decision: Decision) -> str:
    parts = ""
    for one in decision.products:
        size = f"{write_number(abs(one.term.weight))} × {one.number:.6g}".replace("× -", "× −")
        sign = "−" if one.term.weight < 0.0 else "+"
        parts += f" {sign} {size}" if parts else f"{sign.strip('+')}{size}"
    return parts
