"""Facts of a decision sheet: the tree, its evaluation, and its decisions for one row."""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass
from types import MappingProxyType
from typing import Any

from .._parameters import is_integer, refuse
from ..describe.outline import CATEGORY, MISSING, STATISTIC, Outline, OutlineBlock, OutlineTerm, read_outline
from ..evaluation import evaluate
from ..evaluation.classification import Evaluation
from ..evaluation.measures import write_number
from ..evaluation.regression import RegressionEvaluation
from ..model.model import read
from ..model.records import ResponseRecord


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
