"""The facts of a decision sheet: the tree, the target, how well it predicts, and how it decides on one row."""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass
from types import MappingProxyType
from typing import Any

from ...describe.outline import CATEGORY, MISSING, STATISTIC, Outline, OutlineBlock, OutlineTerm
from ...evaluation.classification import Evaluation
from ...evaluation.measures import write_number
from ...evaluation.regression import RegressionEvaluation
from ...model.response import ResponseRecord


@dataclass(frozen=True)
class Product:
    """A term of a block for one row."""

    term: OutlineTerm
    value: Any  # of the cell, in words of the table; None if it is missing
    number: float  # what it counts as
    product: float  # weight times that


@dataclass(frozen=True)
class Decision:
    """A branching block on the way of a row."""

    block: OutlineBlock
    products: tuple[Product, ...]
    total: float  # their sum, from left to right
    is_left: bool


@dataclass(frozen=True)
class Example:
    """How the tree decides on one row."""

    row: str  # which row it is
    decisions: tuple[Decision, ...]
    leaf: OutlineBlock
    name: str  # of the class that is predicted, or the number
    probability: float | None  # of the class
    actual: Any = None  # its class or number, if it is known


@dataclass(frozen=True)
class SheetFacts:
    """Everything that a sheet shows."""

    title: str
    outline: Outline
    evaluation: Evaluation | RegressionEvaluation | None = None
    example: Example | None = None
    response: ResponseRecord | None = None  # of a regression


def follow(
    outline: Outline,
    row: Mapping[str, Any],
    name: str,
    actual: Any = None,
    *,
    features: Mapping[str, float] = MappingProxyType({}),
) -> Example:
    """The way of a row, a value per column, down the tree; ``features`` holds the statistics of its categories."""
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
    if outline.is_regression:
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
