"""The shapes of a decision sheet, on one page of A4."""

from __future__ import annotations

from ..evaluation.classification import Evaluation
from ..evaluation.measures import write_percent
from ..outline import write_number
from ..page import (
    BOLD,
    GREY,
    INK,
    SMALL,
    Box,
    Curve,
    Disc,
    Shape,
    Text,
    colour_class,
    draw_tree,
    fit_text,
    move,
    wrap,
)
from ._facts import Decision, Example, SheetFacts

WIDTH, HEIGHT, MARGIN = 210.0, 297.0, 9.0  # millimetres
_INSIDE = WIDTH - 2 * MARGIN
_LINE = 2.9
_BOTTOM = 51.0  # room below the tree
_MOST_CLASSES = 14
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
    left = _draw_classes(facts)
    middle = _draw_quality(facts.evaluation)
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
    trained = f"trained on {outline.blocks[0].n_samples:,} rows"
    shapes: list[Shape] = [
        Text(0.0, 2.5, fit_text(facts.title, _INSIDE - 95.0, 13.0, BOLD), 13.0, "start", INK, BOLD),
        Text(_INSIDE, 2.5, f"{size}; {trained}", 7.0, "end", GREY),
    ]
    guide = _GUIDE
    if any(block.is_linear for block in outline.blocks):
        guide += (
            f" In a linear leaf, the probability P of {outline.class_names[1]} is computed in the same way."
        )
    if len(outline.classes) == 2:
        guide += (
            f" Violet: larger values speak for {outline.class_names[1]}; red: for {outline.class_names[0]}."
        )
    for number, line in enumerate(wrap(guide, 0.94 * _INSIDE)):
        shapes.append(Text(0.0, 7.0 + 2.7 * number, line, SMALL, "start", GREY))
    return shapes


def _draw_title(text: str) -> list[Shape]:
    return [Text(0.0, 2.0, text, 8.0, "start", INK, BOLD)]


def _draw_classes(facts: SheetFacts) -> list[Shape]:
    """The share of every class in training and, where rows were held out, its recall and precision."""
    outline, shapes = facts.outline, _draw_title("Classes")
    scores = facts.evaluation.classes if facts.evaluation else ()
    for x, text in ((36.0, "share"), *(((47.0, "recall"), (58.0, "precision")) if scores else ())):
        shapes.append(Text(x, 5.6, text, SMALL, "end", GREY))
    shown = list(enumerate(zip(outline.class_names, outline.prior, strict=True)))[:_MOST_CLASSES]
    for place, (code, (label, share)) in enumerate(shown):
        y = 9.0 + _LINE * place
        shapes += [
            Box(0.0, y - 1.0, 2.0, 2.0, colour_class(code)),
            Text(3.0, y, fit_text(label, 23.0)),
            Text(36.0, y, f"{share:.3f}", SMALL, "end"),
        ]
        if scores:
            shapes.append(Text(47.0, y, _percent(scores[code].recall), SMALL, "end"))
            shapes.append(Text(58.0, y, _percent(scores[code].precision), SMALL, "end"))
    n_more = len(outline.classes) - len(shown)
    if n_more:
        shapes.append(Text(3.0, 9.0 + _LINE * len(shown), f"and {n_more} more classes", SMALL, "start", GREY))
    return shapes


def _percent(share: float | None) -> str:
    return "–" if share is None else f"{100.0 * share:.1f} %"


def _draw_quality(evaluation: Evaluation | None) -> list[Shape]:
    """Accuracy on held-out rows, and how often predictions of some probability are right."""
    shapes = _draw_title("Hold-out")
    if evaluation is None:
        lines = wrap("Not measured: pass a table of rows that were not used for training.", 56.0)
        return [
            *shapes,
            *(Text(0.0, 6.0 + _LINE * n, line, SMALL, "start", GREY) for n, line in enumerate(lines)),
        ]
    interval = f"95 % interval {100 * evaluation.accuracy_low:.1f} to {100 * evaluation.accuracy_high:.1f}"
    shapes += [
        Text(0.0, 5.8, f"accuracy {write_percent(evaluation.accuracy)} ({interval})"),
        Text(0.0, 5.8 + _LINE, f"{evaluation.n_rows:,} rows; log loss {evaluation.log_loss:.3f}", SMALL),
        Text(0.0, 5.8 + 2 * _LINE, f"most frequent class {write_percent(evaluation.most_frequent)}", SMALL),
    ]
    return shapes + move(_draw_calibration(evaluation), 10.0, 16.0)


def _draw_calibration(evaluation: Evaluation) -> list[Shape]:
    """The accuracy of predictions by their probability; on the dashed line they are right as often as they say."""
    bins = evaluation.calibration
    low = min([0.5, *(one.probability for one in bins), *(one.accuracy for one in bins)])
    low = int(low * 10.0) / 10.0
    width, height = 42.0, 27.0

    def place(probability: float, accuracy: float) -> tuple[float, float]:
        return width * (probability - low) / (1.0 - low), height * (1.0 - (accuracy - low) / (1.0 - low))

    shapes: list[Shape] = [
        Box(0.0, 0.0, width, height, "#FFFFFF", "#C8C8C8"),
        Curve((place(low, low), place(1.0, 1.0)), GREY, 0.2, dashes=True),
    ]
    most = max(one.n_rows for one in bins)
    points = [place(one.probability, one.accuracy) for one in bins]
    shapes.append(Curve(tuple(points), INK, 0.3))
    shapes += [
        Disc(x, y, 0.5 + 0.9 * (one.n_rows / most) ** 0.5, INK)
        for (x, y), one in zip(points, bins, strict=True)
    ]
    for end in (low, 1.0):
        x, y = place(end, end)
        shapes.append(Text(x, height + 2.0, f"{end:.1f}", SMALL, "middle", GREY))
        shapes.append(Text(-1.0, y, f"{end:.1f}", SMALL, "end", GREY))
    shapes.append(Text(width / 2.0, height + 2.0, "probability of the prediction", SMALL, "middle", GREY))
    shapes.append(Text(1.0, 2.2, "share that is right", SMALL, "start", GREY))
    return shapes


def _draw_example(example: Example | None, width: float, room: float) -> list[Shape]:
    """The way of one row: every sum and where it leads, with its products if there is room."""
    shapes = _draw_title("Example")
    if example is None:
        lines = wrap("None: pass a table with rows.", width)
    else:
        most = int((room - 8.0) / _LINE)
        lines = _tell(example, width, has_products=True)
        if len(lines) > most:
            lines = _tell(example, width, has_products=False)
    return [*shapes, *(Text(0.0, 6.0 + _LINE * n, line) for n, line in enumerate(lines))]


def _tell(example: Example, width: float, *, has_products: bool) -> list[str]:
    lines = [fit_text(example.row, width)]
    for decision in example.decisions:
        lines += wrap(_tell_decision(decision, has_products), width)
    leaf = example.leaf
    told = f"Leaf {leaf.number}: {example.name}, probability {example.probability:.2f}."
    actual = "" if example.actual is None else f" The actual class is {example.actual}."
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
