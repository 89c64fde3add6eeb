"""Trees of a forest from the rows that each of them draws, wherever the other rows are."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from .. import _core
from .._parameters import Settled
from ..model.model import ForestRecord, Model
from ..tables.coded import Encoded, split
from ..tables.normalise import Normalisation

Rows = NDArray[np.int64]


class Labels(NamedTuple):
    """What growing needs of all rows, beside their features."""

    codes: NDArray[np.int32]
    weight: NDArray[np.float64] | None
    response: NDArray[np.float64] | None  # scaled, of a regression
    targets: NDArray[np.int32]


class Plan(NamedTuple):
    """How to grow: what ``Growth`` says, and what all trees have in common."""

    settled: Settled
    normalisation: Normalisation
    seed: int
    counts: NDArray[np.int64] | None
    bootstrap: bool
    balances: bool
    is_joint: bool


class Draw(NamedTuple):
    """The rows of one tree, ascending, and how often each counts; None: all, and once."""

    tree: int
    beta: float
    rows: Rows | None
    times: NDArray[np.int32] | None


def draw(labels: Labels, plan: Plan, tree: int, beta: float) -> Draw:
    """Draw the rows of a tree."""
    if plan.counts is None:
        return Draw(tree, beta, None, None)
    rows = _core.draw_rows(labels.codes, plan.counts, plan.bootstrap, plan.seed, tree).astype(np.int64)
    times = _core.draw_times(labels.codes, plan.counts, plan.seed, tree) if plan.bootstrap else None
    return Draw(tree, beta, rows, times)


def draw_again(model: Model, codes: NDArray[np.int32]) -> Iterator[tuple[int, Rows]]:
    """Number and rows of every estimator of a forest that did not see all rows."""
    record: ForestRecord = model.forest  # type: ignore[assignment]  # it is a forest
    number = 0
    for drawn in record.draws:
        for _ in range(drawn.n_estimators):
            if drawn.counts is not None:  # else the tree saw every row
                rows = _core.draw_rows(codes, drawn.counts, drawn.bootstrap, model.seed, number)
                yield number, rows.astype(np.int64)
            number += 1


def grow_drawn(X: Encoded, labels: Labels, plan: Plan, drawn: Draw, n_threads: int) -> dict[str, Any] | None:
    """Grow the trees of a draw, one per target, from its rows ``X``; what ``_core.grow_forest`` gives.

    It draws feature by feature as the whole forest would; all rows it is given take part.
    """
    rows = slice(None) if drawn.rows is None else drawn.rows
    codes = labels.codes[rows]
    weight = None if labels.weight is None else labels.weight[rows]
    if drawn.times is not None:
        weight = drawn.times.astype(np.float64) if weight is None else weight * drawn.times
    targets, counts = labels.targets, None
    if labels.response is None:
        responses: NDArray[Any] = (codes == targets[:, None]).astype(np.uint8)
    else:
        responses = labels.response[None, rows]
    if plan.is_joint:
        targets, responses = np.array([-1], dtype=np.int32), responses[:0]
    if plan.balances:
        counts = np.bincount(codes, minlength=int(labels.codes.max()) + 1)
    arrays: dict[str, Any] | None = _core.grow_forest(
        **split(X),
        centre=plan.normalisation.centre,
        scale=plan.normalisation.scale,
        responses=responses,
        targets=targets,
        weight=weight,
        options=plan.settled.options,
        betas=np.array([drawn.beta]),
        seed=plan.seed,
        first_tree=drawn.tree,
        strata=codes,
        counts=counts,
        bootstrap=False,
        balances=plan.balances,
        n_threads=n_threads,
    )
    return arrays
