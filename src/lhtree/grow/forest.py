"""Forests: the rows that trees draw, growing from them wherever the other rows are, and smoothed leaves."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from .. import _core
from .._parameters import Settled, is_integer, is_real, refuse
from ..model.model import Model
from ..model.records import ForestRecord, Prototypes
from ..model.trees import Trees
from ..tables.normalise import Normalisation
from ..tables.rows import EncodedRows
from .labels import Progress

if TYPE_CHECKING:
    from .training import Training

RowNumbers = NDArray[np.int64]


@dataclass(frozen=True)
class Growth:
    """The trees to grow: for every beta one tree per target, from ``counts`` rows of each class (None: all rows)."""

    betas: NDArray[np.float64]
    first_tree: int = 0
    counts: NDArray[np.int64] | None = None
    bootstrap: bool = False
    balances: bool = False
    record: ForestRecord | None = None  # of all estimators, including an earlier fit
    shares_classes: bool = False  # one tree of all classes instead of one per target

    def count_trees(self, n_targets: int) -> int:
        """Return the number of trees."""
        return len(self.betas) * (1 if self.shares_classes else n_targets)

    def keep(self, n_estimators: int) -> Growth:
        """Return the first estimators only."""
        n_less, record = len(self.betas) - n_estimators, self.record
        if record is None or n_less == 0:
            return self
        *draws, last = record.draws
        last = replace(last, n_estimators=last.n_estimators - n_less)
        record = replace(record, betas=record.betas[:-n_less], draws=(*draws, last))
        return replace(self, betas=self.betas[:n_estimators], record=record)


class TreeLabels(NamedTuple):
    """Labels of all rows for growing trees."""

    codes: NDArray[np.int32]
    weight: NDArray[np.float64] | None
    response: NDArray[np.float64] | None  # scaled, of a regression
    targets: NDArray[np.int32]


class ForestPlan(NamedTuple):
    """Labels and settings that all trees of a forest have in common."""

    labels: TreeLabels
    settled: Settled
    normalisation: Normalisation
    seed: int
    counts: NDArray[np.int64] | None
    bootstrap: bool
    balances: bool
    shares_classes: bool


class Draw(NamedTuple):
    """The rows of one tree, ascending, and how often each counts; None: all, and once."""

    tree: int
    beta: float
    rows: RowNumbers | None
    times: NDArray[np.int32] | None


def draw(plan: ForestPlan, tree: int, beta: float) -> Draw:
    """Draw the rows of a tree."""
    if plan.counts is None:
        return Draw(tree, beta, None, None)
    codes = plan.labels.codes
    rows, times = _core.draw_rows(codes, plan.counts, plan.bootstrap, plan.seed, tree)
    return Draw(tree, beta, rows.astype(np.int64), times if plan.bootstrap else None)


def draw_again(model: Model, codes: NDArray[np.int32]) -> Iterator[tuple[int, RowNumbers]]:
    """Number and rows of every estimator of a forest that did not see all rows."""
    record: ForestRecord = model.forest  # type: ignore[assignment]  # it is a forest
    number = 0
    for drawn in record.draws:
        for _ in range(drawn.n_estimators):
            if drawn.counts is not None:  # else the tree saw every row
                rows, _ = _core.draw_rows(codes, drawn.counts, drawn.bootstrap, model.seed, number)
                yield number, rows.astype(np.int64)
            number += 1


def grow_forest(
    X: EncodedRows,
    plan: ForestPlan,
    first_tree: int,
    betas: NDArray[np.float64],
    n_threads: int = 1,
    progress: Progress = None,
) -> dict[str, Any]:
    """Grow trees, one per target for each beta, from all rows, or from rows that the core draws."""
    labels, targets = plan.labels, plan.labels.targets
    if labels.response is None:
        responses: NDArray[Any] = (labels.codes == targets[:, None]).astype(np.uint8)
    else:
        responses = labels.response[None]
    if plan.shares_classes:  # the core takes the classes from the strata
        targets, responses = np.array([-1], dtype=np.int32), responses[:0]
    arrays: dict[str, Any] | None = _core.grow_forest(
        **X.arguments(),
        centre=plan.normalisation.centre,
        scale=plan.normalisation.scale,
        responses=responses,
        targets=targets,
        weight=labels.weight,
        options=plan.settled.options,
        betas=betas,
        seed=plan.seed,
        first_tree=first_tree,
        strata=labels.codes,
        counts=plan.counts,
        bootstrap=plan.bootstrap,
        balances=plan.balances,
        n_threads=n_threads,
        progress=progress,
    )
    assert arrays is not None  # infinities are refused before
    return arrays


def grow_drawn(X: EncodedRows, plan: ForestPlan, drawn: Draw) -> dict[str, Any]:
    """Grow the trees of a draw, one per target, from its rows ``X``: ``grow_forest`` grows the same trees."""
    labels = plan.labels
    rows = slice(None) if drawn.rows is None else drawn.rows
    codes = labels.codes[rows]
    weight = None if labels.weight is None else labels.weight[rows]
    if drawn.times is not None:
        weight = drawn.times.astype(np.float64) if weight is None else weight * drawn.times
    response = None if labels.response is None else labels.response[rows]
    counts = np.bincount(codes, minlength=int(labels.codes.max()) + 1) if plan.balances else None
    own = TreeLabels(codes, weight, response, labels.targets)
    plan = plan._replace(labels=own, counts=counts, bootstrap=False)
    return grow_forest(X, plan, drawn.tree, np.array([drawn.beta]))


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
    """Return rows to keep: none, all, or a number of them drawn by class."""
    if not n_kept:
        return None
    n_rows = len(training.X)
    given = np.arange(n_rows) if training.row is None else training.row
    if n_kept == n_rows:
        return Prototypes(training.predict_rows(np.arange(n_rows)), training.codes, given, training.response)
    counts = spread(n_kept / n_rows, np.bincount(training.codes))
    while counts.sum() > n_kept:  # small classes have one more than their share
        counts[counts.argmax()] -= 1
    rows, _ = _core.draw_rows(training.codes, counts, False, seed, _core.Stream.prototype_rows)
    response = None if training.response is None else training.response[rows]
    return Prototypes(training.predict_rows(rows), training.codes[rows], given[rows], response)


def spread(share: float, sizes: NDArray[np.int64]) -> NDArray[np.int64]:
    """Return rows of each class: the share, rounded, and at least one of every class."""
    wanted = share * sizes
    counts: NDArray[np.int64] = np.maximum(1, np.floor(wanted).astype(np.int64))
    missing = round(share * int(sizes.sum())) - int(counts.sum())
    for cls in np.argsort(counts - wanted, kind="stable")[: max(0, missing)]:
        counts[cls] += 1
    return counts


def count_rows(
    max_samples: Any, sizes: NDArray[np.int64], *, auto: float, bootstrap: bool
) -> NDArray[np.int64] | None:
    """Return rows of each class that a tree sees; None where it sees all."""
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
    """Clip the membership of every leaf to the smoothed shares of a pure leaf of its weight.

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
