"""Decision sheets: a compact tree on one page of A4, to print and to decide by."""

from __future__ import annotations

import io
import math
import os
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from html import escape
from pathlib import Path
from types import MappingProxyType
from typing import Any, NamedTuple

from .._extras import import_extra
from .._parameters import is_integer, refuse
from .._write import check_output, write_whole
from ..describe.outline import (
    CATEGORY,
    MISSING,
    STATISTIC,
    Outline,
    OutlineBlock,
    OutlineTerm,
    find_left,
    read_outline,
)
from ..evaluation import evaluate
from ..evaluation.classification import Evaluation
from ..evaluation.measures import write_number, write_percent
from ..evaluation.regression import RegressionEvaluation
from ..model.model import read
from ..model.numbers import ALL_DIGITS, write_probability, write_share, write_shares, write_value
from ..model.records import ResponseRecord
from .outline import colour_class, draw_outline, list_names
from .scene import (
    BOLD,
    GREY,
    INK,
    SMALL,
    WHITE,
    Box,
    Disc,
    Polyline,
    Scene,
    Shape,
    Text,
    find_bottom,
    find_width,
    fit_names,
    fit_text,
    move,
    wrap,
    write_svg,
)


@dataclass(frozen=True)
class Product:
    """A term of a block for one row."""

    term: OutlineTerm
    value: Any  # of the cell; None if it is missing
    number: float  # by which the weight is multiplied
    product: float


@dataclass(frozen=True)
class Decision:
    """A branching block on the path of a row."""

    block: OutlineBlock
    products: tuple[Product, ...]
    total: float  # sum of the products, from left to right
    is_left: bool


@dataclass(frozen=True)
class Example:
    """The path of one row and its prediction."""

    row: str  # description of the row
    decisions: tuple[Decision, ...]
    leaf: OutlineBlock
    name: str  # predicted class or number
    probability: float | None  # of the predicted class
    actual: Any = None  # class or number, if it is known


@dataclass(frozen=True)
class SheetFacts:
    """The content of a sheet."""

    title: str
    outline: Outline
    evaluation: Evaluation | RegressionEvaluation | None = None
    example: Example | None = None
    response: ResponseRecord | None = None  # of a regression


def find_facts(
    model: Any, X: Any = None, y: Any = None, *, row: int = 0, title: str | None = None
) -> SheetFacts:
    """Return the content of a sheet."""
    fitted = read(model, takes_numbers=True)
    outline = read_outline(fitted)
    if X is None and y is not None:
        raise ValueError("y was passed without X: pass both, or X alone.")
    measured: Any = None if y is None else evaluate(model, X, y)
    example = None if X is None else _find_example(model, X, y, row)
    return SheetFacts(title or "Decision sheet", outline, measured, example, fitted.response)


def _find_example(model: Any, X: Any, y: Any, row: Any) -> Example:
    fitted = read(model, takes_numbers=True)
    n_rows = len(X) if hasattr(X, "__len__") else X.shape[0]
    if not is_integer(row) or not 0 <= row < n_rows:
        raise refuse("row", row, f"an integer from 0 to {n_rows - 1}")
    one = X.iloc[[row]] if hasattr(X, "iloc") else X[row : row + 1]
    encoded = fitted.encode(one, model)[0]
    actual = None
    if y is not None:
        actual = y.iloc[row] if hasattr(y, "iloc") else y[row]
    return follow(
        read_outline(fitted),
        fitted.name_values(encoded),
        f"Row {row} of the table.",
        actual,
        features=dict(zip(fitted.feature_names, encoded.tolist(), strict=True)),
    )


def follow(
    outline: Outline,
    row: Mapping[str, Any],
    name: str,
    actual: Any = None,
    *,
    features: Mapping[str, float] = MappingProxyType({}),
) -> Example:
    """Return the path of a row (a value per column); ``features`` holds the target statistics of its categories."""
    decisions, block = [], outline.blocks[0]
    while not block.is_leaf:
        products = tuple(_multiply(term, row[term.column], features) for term in block.terms)
        total = 0.0
        for one in products:
            total += one.product
        is_left = total < block.bound
        decisions.append(Decision(block, products, total, is_left))
        block = outline.blocks[block.left if is_left else block.right]
    if not block.is_linear:
        probability = max(block.shares, default=None)
        return Example(name, tuple(decisions), block, outline.name_leaf(block), probability, actual)
    estimate = block.start
    for term in block.terms:
        estimate += _multiply(term, row[term.column], features).product
    estimate = min(max(estimate, block.low), block.high)
    if not outline.classes:
        return Example(name, tuple(decisions), block, write_number(estimate), None, actual)
    label = outline.class_names[int(estimate > 0.5)]
    return Example(name, tuple(decisions), block, label, max(estimate, 1.0 - estimate), actual)


def _multiply(term: OutlineTerm, value: Any, features: Mapping[str, float]) -> Product:
    is_missing = value is None or (isinstance(value, float) and math.isnan(value))
    if term.kind == MISSING:
        number = float(is_missing)
    elif term.kind == CATEGORY:
        is_known = not is_missing and value in (term.category, *term.others)
        number = float(value == term.category) if is_known else term.fill
    elif is_missing:
        number = term.fill
    else:
        number = features[term.category] if term.kind == STATISTIC else float(value)
    return Product(term, None if is_missing else value, number, term.weight * number)


# Millimetres.
WIDTH, HEIGHT, MARGIN = 210.0, 297.0, 9.0
_INSIDE = WIDTH - 2 * MARGIN
_BOTTOM = 51.0  # least room below the tree
_LINE = 2.9  # between lines of text
_PLOT = (42.0, 27.0)  # size of the calibration plot
_LEAST_MARK, _MOST_MARK = 8.0, 15.0  # width of the labels beside it
_LIST = 9.0  # where the lists of classes and of leaves begin
_CLASS, _MOST_LINES = 23.0, 3  # width of the name of a class, and number of its lines
_BARS, _LONGEST_BAR = 30.0, 19.6  # where the bars of leaves begin
_STYLE = (
    "@page { size: A4 portrait; margin: 0 } html, body { margin: 0; background: #fff } "
    f"svg {{ display: block; width: {WIDTH:g}mm; height: {HEIGHT - 0.5:g}mm; margin: 0 auto }} "
    "text { font-family: 'DejaVu Sans', Verdana, sans-serif; white-space: pre }"
)
_GUIDE = (
    "Start at block 0. In each block multiply the values by their weights and add up the products. If the sum is below "
    "the bound, the answer is yes: go left; otherwise go right. A line with “=” or “is missing” counts as 1 if it is "
    "true, else as 0. The grey number at the end of a line replaces a missing value. Bars show the effect of a usual "
    "change of a value."
)


def sheet(
    model: Any,
    path: str | os.PathLike[str],
    X: Any = None,
    y: Any = None,
    *,
    row: int = 0,
    title: str | None = None,
) -> Path:
    """Write a decision sheet of a compact tree: everything that a decision needs, on one page of A4.

    The page has the tree with the weights of every block in the user's units, what a missing value counts as, and the
    share of every class. With rows, it also shows the path of one of them; with their classes, the accuracy and the
    calibration on them. For a regressor it has the numbers of the leaves and the errors instead.

    Parameters
    ----------
    model : fitted CompactLHTClassifier or CompactLHTRegressor, or a Scorer of one
        The fitted model.
    path : str or path
        Output file: HTML, or PDF, which needs matplotlib. An existing file is replaced atomically.
    X : array-like of shape (n, m), optional
        Samples that were not used for training.
    y : array-like of shape (n,), optional
        Their class labels or responses.
    row : int, default=0
        Index of the row of X that is the example; its values are in the file.
    title : str, optional
        Title of the page.

    Returns
    -------
    pathlib.Path
        The path of the sheet.

    Examples
    --------
    >>> from sklearn.datasets import load_wine
    >>> from lhtree import CompactLHTClassifier, sheet
    >>> X, y = load_wine(return_X_y=True, as_frame=True)
    >>> model = CompactLHTClassifier(max_leaf_nodes=4).fit(X[::2], y[::2])
    >>> sheet(model, "wine.html", X[1::2], y[1::2], title="Which wine is it?").name
    'wine.html'
    """
    path = check_output(path, "sheet(model, path)", "an HTML or PDF file", (".html", ".htm", ".pdf"))
    if title is not None and not isinstance(title, str):
        raise refuse("title", title, "a string or None")
    facts = find_facts(model, X, y, row=row, title=title)
    write = _write_pdf if path.suffix.lower() == ".pdf" else _write_html
    write_whole(path, write(compose(facts), facts.title))
    return path


def _write_html(scene: Scene, title: str) -> bytes:
    """Return an HTML file that needs no other files and no scripts."""
    return (
        f'<!doctype html>\n<html lang="en">\n<head>\n<meta charset="utf-8">\n<title>{escape(title)}</title>\n'
        f"<style>{_STYLE}</style>\n</head>\n<body>\n{write_svg(scene, '')}\n</body>\n</html>\n"
    ).encode()


def _write_pdf(scene: Scene, title: str) -> bytes:
    from .figure import draw_scene, new_page

    file = io.BytesIO()
    figure: Any = draw_scene(
        new_page(import_extra("matplotlib.figure", "plot").Figure, WIDTH, HEIGHT), scene
    ).figure
    figure.savefig(file, format="pdf", metadata={"Title": title, "CreationDate": None})
    return file.getvalue()


def compose(facts: SheetFacts) -> Scene:
    """Return the page; its shapes are shrunk if the tree has no room otherwise."""
    shapes = _draw_header(facts)
    top = find_bottom(shapes) + 1.0
    room = HEIGHT - 2 * MARGIN
    bottom = max(_BOTTOM, _LIST + _LINE * _count_needed(facts.outline) + 1.0)
    tree, height = draw_outline(facts.outline, _INSIDE, room - top - bottom)
    shapes += move(tree, 0.0, top)
    top += height + 1.0
    left, middle = (_draw_classes, _draw_accuracy) if facts.outline.classes else (_draw_numbers, _draw_errors)
    example = _draw_example(facts, _INSIDE - 127.0, room - top)
    for x, part in ((0.0, left(facts, room - top)), (62.0, middle(facts)), (127.0, example)):
        shapes += move(part, x, top)
    # Browsers break a page of the full height.
    return Scene(tuple(shapes), WIDTH, HEIGHT - 0.5, MARGIN, min(1.0, (room - 0.5) / find_bottom(shapes)))


def _count_needed(outline: Outline) -> int:
    """Return the number of lines that the classes which leaves predict need, or the leaves of a regression."""
    if not outline.classes:
        return outline.n_leaves
    names, predicted = _fit_classes(outline), outline.predicted
    return sum(len(names[code]) for code in predicted) + (len(predicted) < len(outline.classes))


def _fit_classes(outline: Outline) -> list[list[str]]:
    """Return the lines of the name of every class."""
    fit = fit_names(outline.class_names, (_MOST_LINES - 0.5) * _CLASS)
    return [wrap(fit[name], _CLASS) or [""] for name in outline.class_names]


def _draw_header(facts: SheetFacts) -> list[Shape]:
    outline = facts.outline
    n_branching = len(outline.branching)
    blocks = f"{n_branching} branching block{'s' * (n_branching != 1)}"
    size = f"{outline.n_leaves} leaves, {blocks}, {outline.n_terms} terms" if n_branching else "one leaf"
    size += f"; trained on {outline.blocks[0].n_samples:,} rows"
    room = _INSIDE - find_width(size, 7.0) - 4.0
    shapes: list[Shape] = [
        Text(0.0, 2.5, facts.title, 13.0, weight=BOLD, room=room),
        Text(_INSIDE, 2.5, size, 7.0, "end", GREY),
    ]
    guide, names = _GUIDE, outline.class_names
    if any(block.is_linear for block in outline.blocks):
        estimate = f"probability P of {names[1]}" if names else "number"
        guide += f" In a linear leaf, the {estimate} is computed in the same way."
    if not names:
        guide += " Violet: larger values speak for a larger number; red: for a smaller one."
    if len(names) == 2:
        guide += f" Violet: larger values speak for {names[1]}; red: for {names[0]}."
    return shapes + _write_lines(wrap(guide, 0.94 * _INSIDE), 7.0, GREY, 2.7)


def _write_lines(lines: Sequence[str], y: float, colour: str = INK, step: float = _LINE) -> list[Shape]:
    return [Text(0.0, y + step * number, line, colour=colour) for number, line in enumerate(lines)]


def _draw_title(text: str) -> list[Shape]:
    return [Text(0.0, 2.0, text, 8.0, weight=BOLD)]


def _draw_classes(facts: SheetFacts, room: float) -> list[Shape]:
    """Draw the share of every class in training, and its recall and precision if they were measured.

    All classes that a leaf predicts are listed, and as many others as there is room for.
    """
    outline, shapes = facts.outline, _draw_title("Classes")
    scores = facts.evaluation.classes if isinstance(facts.evaluation, Evaluation) else ()
    columns = [(36.0, "share"), *([(47.0, "recall"), (58.0, "precision")] if scores else [])]
    shapes += [Text(x, 5.6, text, SMALL, "end", GREY) for x, text in columns]
    names, shown = _fit_classes(outline), set(outline.predicted)
    left = int((room - _LIST) / _LINE) - sum(len(names[code]) for code in shown)
    n_others = sum(len(lines) for code, lines in enumerate(names) if code not in shown)
    for code, lines in enumerate(names):
        if code not in shown and len(lines) <= left - (
            n_others > left
        ):  # the last line counts those left out
            shown.add(code)
            left, n_others = left - len(lines), n_others - len(lines)
    y = _LIST
    for code in sorted(shown):
        cells = [f"{outline.prior[code]:.3f}"]
        if scores:
            cells += [_write_share(scores[code].recall), _write_share(scores[code].precision)]
        shapes.append(Box(0.0, y - 1.0, 2.0, 2.0, colour_class(code)))
        shapes += [Text(x, y, cell, SMALL, "end") for (x, _), cell in zip(columns, cells, strict=True)]
        for line in names[code]:
            shapes.append(Text(3.0, y, line))
            y += _LINE
    if n_more := len(names) - len(shown):
        more = f"and {n_more} more class{'es' * (n_more != 1)}, which no leaf predicts"
        shapes.append(Text(3.0, y, more, colour=GREY))
    return shapes


def _write_share(share: float | None) -> str:
    return "–" if share is None else write_share(share)


def _draw_accuracy(facts: SheetFacts) -> list[Shape]:
    """Draw the accuracy on the given rows, and how often predictions of some probability are right."""
    evaluation = facts.evaluation
    if not isinstance(evaluation, Evaluation):
        return _write_unmeasured()
    interval = f"95 % interval {write_shares(evaluation.accuracy_low, evaluation.accuracy_high)}"
    lines = [
        f"accuracy {write_percent(evaluation.accuracy)} ({interval})",
        f"log loss {evaluation.log_loss:.3f}",
        f"most frequent class {write_percent(evaluation.most_frequent)}",
    ]
    dots = [_Dot(one.probability, one.accuracy, one.n_rows) for one in evaluation.calibration]
    low = int(10.0 * min([0.5, *(min(dot[:2]) for dot in dots)])) / 10.0
    names = ("probability of the prediction", "share that is right")
    return [
        *_draw_title(_name_results(evaluation.n_rows)),
        *_write_lines(lines, 5.8),
        *_draw_diagonal(dots, (low, 1.0), (f"{low:.1f}", "1.0"), names),
    ]


def _draw_numbers(facts: SheetFacts, room: float) -> list[Shape]:
    """Draw the range of the responses, and the leaves in order of their numbers with their share of rows."""
    shapes, top = _draw_title("Predictions"), 5.8 + _LINE
    if facts.response is not None:
        low, mean, high = map(write_number, (facts.response.low, facts.response.mean, facts.response.high))
        shapes.append(Text(0.0, 5.8, f"training rows: {low} to {high}, mean {mean}", room=58.0))
    leaves = sorted((block for block in facts.outline.blocks if block.is_leaf), key=lambda block: block.label)
    for x, text, anchor in (
        (0.0, "leaf", "start"),
        (28.0, "number", "end"),
        (_BARS, "share of rows", "start"),
    ):
        shapes.append(Text(x, top, text, SMALL, anchor, GREY))
    total, most = sum(block.weight for block in leaves), max(block.weight for block in leaves)
    for place, block in enumerate(leaves, 1):
        y, length = top + _LINE * place, _LONGEST_BAR * block.weight / most
        number = "linear" if block.is_linear else facts.outline.name_leaf(block, 6)
        shapes += [
            Text(0.0, y, str(block.number)),
            Text(28.0, y, number, SMALL, "end", room=22.0),
            Box(_BARS, y - 0.9, length, 1.8, "#9A9A9A"),
            Text(_BARS + length + 1.0, y, f"{block.weight / total:.3f}"),
        ]
    return shapes


def _draw_errors(facts: SheetFacts) -> list[Shape]:
    """Draw the errors on the given rows, and the mean response of rows with similar predictions."""
    evaluation = facts.evaluation
    if not isinstance(evaluation, RegressionEvaluation):
        return _write_unmeasured()
    shapes = _draw_title(_name_results(evaluation.n_rows))
    figures = dict(evaluation.figures())
    lines = [
        f"R² {figures['R²']}",
        f"RMSE {figures['RMSE']}",
        f"MAE {figures['MAE']}",
    ]
    shapes += _write_lines([fit_text(line, 60.0) for line in lines], 5.8)
    dots = [_Dot(one.predicted, one.actual, one.n_rows) for one in evaluation.ranges]
    low, high = min(min(dot[:2]) for dot in dots), max(max(dot[:2]) for dot in dots)
    if not low < high:  # all rows have the same prediction, and it is right
        return shapes
    marks, names = (write_number(low), write_number(high)), ("mean prediction", "mean actual number")
    return shapes + _draw_diagonal(dots, (low, high), marks, names)


def _name_results(n_rows: int) -> str:
    return f"Results on {n_rows:,} given row{'s' * (n_rows != 1)}"


def _write_unmeasured() -> list[Shape]:
    text = "Not measured: pass a table of rows that were not used for training."
    return _draw_title("Results") + _write_lines(wrap(text, 56.0), 6.0, GREY)


class _Dot(NamedTuple):
    """Rows with similar predictions: mean prediction, mean outcome and number of rows."""

    predicted: float
    actual: float
    n_rows: int


def _draw_diagonal(
    dots: Sequence[_Dot], ends: tuple[float, float], marks: tuple[str, str], names: tuple[str, str]
) -> list[Shape]:
    """Draw outcomes against predictions, with names of both axes; on the dashed line they agree."""
    (low, high), (width, height) = ends, _PLOT
    marks = fit_text(marks[0], _MOST_MARK), fit_text(marks[1], _MOST_MARK)

    def place(predicted: float, actual: float) -> tuple[float, float]:
        return width * (predicted - low) / (high - low), height * (1.0 - (actual - low) / (high - low))

    most = max(dot.n_rows for dot in dots)
    points = [place(dot.predicted, dot.actual) for dot in dots]
    shapes: list[Shape] = [
        Box(0.0, 0.0, width, height, WHITE, "#C8C8C8"),
        Polyline((place(low, low), place(high, high)), GREY, 0.2, dashes=True),
        Polyline(tuple(points), INK, 0.3),
    ]
    radii = [0.5 + 0.9 * (dot.n_rows / most) ** 0.5 for dot in dots]
    shapes += [Disc(x, y, radius, INK) for (x, y), radius in zip(points, radii, strict=True)]
    for end, mark in zip(ends, marks, strict=True):
        x, y = place(end, end)
        shapes.append(Text(x, height + 2.0, mark, SMALL, "middle", GREY))
        shapes.append(Text(-1.0, y, mark, SMALL, "end", GREY))
    shapes.append(Text(width / 2.0, height + 2.0, names[0], SMALL, "middle", GREY))
    shapes.append(Text(1.0, 2.2, names[1], colour=GREY))
    return move(shapes, 2.0 + max(_LEAST_MARK, *map(find_width, marks)), 16.0)


def _draw_example(facts: SheetFacts, width: float, room: float) -> list[Shape]:
    """Write the path of one row: every sum and its answer, with the products if there is room."""
    example = facts.example
    if example is None:
        lines = wrap("None: pass a table with rows.", width)
    else:
        lines = _describe_example(facts.outline, example, width, has_products=True)
        if len(lines) > int((room - 8.0) / _LINE):
            lines = _describe_example(facts.outline, example, width, has_products=False)
    return _draw_title("Example") + _write_lines(lines, 6.0)


def _describe_example(outline: Outline, example: Example, width: float, *, has_products: bool) -> list[str]:
    lines = [fit_text(example.row, width)]
    names = fit_names(list_names(outline), _MOST_LINES * width)
    for decision in example.decisions:
        lines += wrap(_describe_decision(decision, names, has_products), width)
    classes = fit_names([*dict.fromkeys([*outline.class_names, example.name])], _MOST_LINES * width)
    result = f"Leaf {example.leaf.number}: {classes[example.name]}"
    is_class = example.probability is not None
    if example.probability is not None:
        result += f", probability {write_probability(example.probability)}"
    result += "."
    if example.actual is not None:
        result += " The actual "
        result += f"class is {example.actual}." if is_class else f"number is {write_value(example.actual)}."
    return lines + wrap(result, width)


def _describe_decision(decision: Decision, names: dict[str, str], has_products: bool) -> str:
    block, is_left = decision.block, decision.is_left
    answer = f"{'yes' if is_left else 'no'}, go to {block.left if is_left else block.right}."
    left, term = find_left(block), block.terms[0]
    text = (
        f"{write_value(decision.total)} is {'not ' * (not is_left)}below {write_value(block.bound)}: {answer}"
    )
    if left.sign not in "<>":  # a category alone
        value = "missing" if decision.products[0].value is None else decision.products[0].value
        text = f"{term.column} is {value}: {answer}"
    elif len(decision.products) > 1:
        text = f"{_write_products(decision)} = {text}" if has_products else f"the sum {text}"
    elif abs(term.weight) == 1.0:
        text = f"{'−' * (term.weight < 0.0)}{names[term.name]} {text}"
    return f"Block {block.number}: {text}".replace(" -", " −")


def _write_products(decision: Decision) -> str:
    text = ""
    for one in decision.products:
        size = f"{write_value(abs(one.term.weight), ALL_DIGITS)} × {write_value(one.number)}".replace(
            "× -", "× −"
        )
        sign = "−" if one.term.weight < 0.0 else "+"
        text += f" {sign} {size}" if text else f"{sign.strip('+')}{size}"
    return text
