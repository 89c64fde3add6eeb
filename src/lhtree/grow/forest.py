"""Forests: the rows that trees draw, growing from them wherever the other rows are, and smoothed leaves."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace
from itertools import count
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from .. import _core
from .._parameters import Settled, is_integer, is_real, refuse
from ..model.model import ForestRecord, Model, Prototypes
from ..model.trees import Trees
from ..tables.normalise import Normalisation
from ..tables.rows import Encoded, split
from .passes import StreamedRows
from .training import Progress, Training

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


def grow_streamed(
    X: StreamedRows,
    n_threads: int,
    labels: Labels,
    plan: Plan,
    first_tree: int,
    betas: NDArray[np.float64],
    progress: Progress,
) -> list[dict[str, Any]]:
    """Draw the rows of all trees, read them in one pass, and grow the trees from them."""
    draws = [draw(labels, plan, first_tree + number, float(beta)) for number, beta in enumerate(betas)]
    every = np.arange(len(X)) if plan.counts is None else np.empty(0, dtype=np.int64)
    needed = np.unique(np.concatenate([every, *(own.rows for own in draws if own.rows is not None)]))
    rows, n_done = X[needed], count(1)

    def grow(own: Draw) -> dict[str, Any]:
        some = rows if own.rows is None else rows[np.searchsorted(needed, own.rows)]
        arrays = grow_drawn(some, labels, plan, own, 1)
        assert arrays is not None  # infinities were refused in the first pass
        if progress is not None:
            progress(next(n_done) * len(labels.targets))
        return arrays

    with ThreadPoolExecutor(n_threads) as pool:
        return list(pool.map(grow, draws))


def add_left_out_streamed(
    X: StreamedRows, add: Callable[..., tuple[NDArray[Any], ...]], model: Model, codes: NDArray[np.int32]
) -> tuple[NDArray[Any], ...]:
    """What ``add`` gives for all rows, batch by batch."""
    drawn = [(number, np.sort(rows)) for number, rows in draw_again(model, codes)]
    parts = []
    for where, batch in X.batches():
        left_out = []
        for number, rows in drawn:
            is_out = np.ones(len(batch), dtype=bool)
            is_out[rows[slice(*np.searchsorted(rows, (where.start, where.stop)))] - where.start] = False
            left_out.append((number, is_out))
        parts.append(add(model, batch, left_out))
    return tuple(map(np.concatenate, zip(*parts, strict=True)))


def count_kept(keep_prototypes: Any, training: Training) -> int:
    """Number of rows to keep."""
    n_rows, n_strata = len(training.X), max(1, len(training.classes))
    if isinstance(keep_prototypes, (bool, np.bool_)):
        return n_rows if keep_prototypes else 0
    if is_integer(keep_prototypes) and keep_prototypes >= n_strata:
        return min(int(keep_prototypes), n_rows)
    raise refuse(
        "keep_prototypes",
        keep_prototypes,
        f"False, True (all rows) or a number of rows, at least {n_strata}"
        f"{' (the number of classes)' if len(training.classes) else ''}",
    )


def keep_rows(n_kept: int, training: Training, seed: int) -> Prototypes | None:
    """Rows to keep: none, all, or a number of them drawn by class."""
    if not n_kept:
        return None
    n_rows = len(training.X)
    given = np.arange(n_rows) if training.row is None else training.row
    if n_kept == n_rows:
        return Prototypes(training.predict_rows(np.arange(n_rows)), training.codes, given, training.response)
    counts = spread(n_kept / n_rows, np.bincount(training.codes))
    while counts.sum() > n_kept:  # small classes have one more than their share
        counts[counts.argmax()] -= 1
    rows = _core.draw_rows(training.codes, counts, False, seed, _core.Stream.prototype_rows)
    response = None if training.response is None else training.response[rows]
    return Prototypes(training.predict_rows(rows), training.codes[rows], given[rows], response)


def spread(share: float, sizes: NDArray[np.int64]) -> NDArray[np.int64]:
    """Rows of each class: the share, rounded, and at least one of every class."""
    wanted = share * sizes
    counts: NDArray[np.int64] = np.maximum(1, np.floor(wanted).astype(np.int64))
    missing = round(share * int(sizes.sum())) - int(counts.sum())
    for cls in np.argsort(counts - wanted, kind="stable")[: max(0, missing)]:
        counts[cls] += 1
    return counts


def count_rows(
    max_samples: Any, sizes: NDArray[np.int64], *, auto: float, bootstrap: bool
) -> NDArray[np.int64] | None:
    """Rows of each class that a tree sees; None where it sees all."""
    n_rows = int(sizes.sum())
    if isinstance(max_samples, str) and max_samples == "auto":
        share = auto
    elif is_integer(max_samples) and max_samples >= 1:
        if max_samples > (2**31 - 1 if bootstrap else n_rows):
            most = "2**31 - 1" if bootstrap else f"{n_rows}, the number of rows"
            raise refuse("max_samples", max_samples, f"at most {most}, or a share such as 0.8")
        share = max_samples / n_rows
    elif is_real(max_samples) and not is_integer(max_samples) and 0.0 < max_samples <= 1.0:
        share = float(max_samples)
    else:
        raise refuse("max_samples", max_samples, "'auto', an integer of at least 1 or a float in (0, 1]")
    return None if share == 1.0 and not bootstrap else spread(share, sizes)


def smooth_leaves(trees: Trees, prior: NDArray[np.float64], smoothing: float) -> Trees:
    """Clip the membership of every leaf to what a pure leaf of its weight says, smoothed towards the prior.

    A leaf of weight n has memberships from a·p / (n + a) to (n + a·p) / (n + a), where p is the share of its target
    and a is ``smoothing``; 0 leaves the trees as they are. Of a tree of all classes, a leaf with shares s has
    memberships (n·s + a·p) / (n + a).
    """
    if smoothing == 0.0:
        return trees
    total = trees.weight + smoothing
    is_leaf = trees.left < 0
    if trees.is_joint:
        return replace(trees, prior_share=np.where(is_leaf, smoothing / total, 0.0))
    share = np.repeat(prior[trees.target], np.diff(trees.block_ptr))
    low = np.where(is_leaf, smoothing * share / total, 0.0)
    high = np.where(is_leaf, (trees.weight + smoothing * share) / total, 1.0)
    return replace(trees, low=low, high=high)
