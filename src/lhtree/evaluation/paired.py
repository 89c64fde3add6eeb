"""Comparison of two models on the same rows: paired differences with intervals, and rows decided differently."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, NamedTuple, TypeAlias

import numpy as np
from numpy.typing import NDArray

from .._extras import import_extra
from ..model.numbers import make_plain, write_share
from .classification import ClassPart
from .event import separate
from .measures import Weight, count_confusion, divide, find_ranks, rank, write_number, write_tables
from .regression import NumberPart

if TYPE_CHECKING:
    import pandas as pd

Z = 1.959964  # of a 95 % interval
_HIGHER = ("accuracy", "balanced_accuracy", "roc_auc", "average_precision", "ks", "r2")  # is better
Floats = NDArray[np.float64]
Part: TypeAlias = ClassPart | NumberPart


class PairedDifference(NamedTuple):
    """A measure of two models on the same rows, and challenger minus champion with its 95 % interval."""

    measure: str
    champion: float
    challenger: float
    difference: float
    low: float
    high: float
    better: str | None  # name of the model that is better beyond the interval; None: not certain
    method: str  # "DeLong" or "bootstrap"


class Moved(NamedTuple):
    """Rows of a group that two models decide differently."""

    by: str
    group: str
    n_rows: int
    n_changed: int
    n_gained: int  # only the challenger is right
    n_lost: int  # only the champion is right
    n_to_positive: int  # only the challenger predicts the positive class
    n_from_positive: int  # only the champion does


@dataclass(frozen=True, eq=False, repr=False)
class Comparison:
    """Result of ``lhtree.compare``: two models on the same rows.

    Attributes
    ----------
    names : tuple of two str
        Champion and challenger.
    n_rows : int
    positive
        The class of interest; None without one.
    differences : tuple of PairedDifference
        A record per measure: ``measure``, ``champion``, ``challenger``, ``difference`` (challenger - champion), its
        95 % interval ``low`` and ``high``, ``better`` and ``method``.
    moved : tuple of Moved
        Classifiers: rows decided differently, for all rows and by group: ``by``, ``group``, ``n_rows``, ``n_changed``,
        ``n_gained`` (only the challenger is right), ``n_lost``, ``n_to_positive`` and ``n_from_positive``.
    changed : array of int
        Row numbers of X that are decided differently; empty for regressors.

    Examples
    --------
    >>> from sklearn.datasets import load_breast_cancer
    >>> from sklearn.tree import DecisionTreeClassifier
    >>> from lhtree import LHBoostClassifier, compare
    >>> X, y = load_breast_cancer(return_X_y=True)
    >>> tree = DecisionTreeClassifier(random_state=0).fit(X[:400], y[:400])
    >>> boosted = LHBoostClassifier(random_state=0).fit(X[:400], y[:400])
    >>> compared = compare(tree, boosted, X[400:], y[400:])
    >>> compared.to_frame().loc["roc_auc", ["challenger", "better", "method"]].tolist()[1:]
    ['challenger', 'DeLong']
    >>> len(compared.changed) == compared.moved[0].n_changed
    True
    """

    names: tuple[str, str]
    n_rows: int
    positive: Any
    differences: tuple[PairedDifference, ...]
    moved: tuple[Moved, ...]
    changed: NDArray[np.int64]

    def to_frame(self) -> pd.DataFrame:
        """Return a row per measure."""
        frame: pd.DataFrame = import_extra("pandas", "pandas").DataFrame(
            self.differences, columns=PairedDifference._fields
        )
        return frame.set_index("measure")

    def moved_frame(self) -> pd.DataFrame:
        """Return a row per group: rows decided differently, and who gains and loses."""
        frame: pd.DataFrame = import_extra("pandas", "pandas").DataFrame(self.moved, columns=Moved._fields)
        return frame.set_index(["by", "group"])

    def to_dict(self) -> dict[str, Any]:
        """Return all results as plain values that can be written as JSON."""
        return {
            "names": list(self.names),
            "n_rows": self.n_rows,
            "positive": make_plain(self.positive),
            "differences": [one._asdict() for one in self.differences],
            "moved": [one._asdict() for one in self.moved],
            "changed": self.changed.tolist(),
        }

    def tables(self) -> Iterator[tuple[str, Sequence[str], list[tuple[str, ...]]]]:
        """Yield a title, the titles of a table and its rows as texts."""
        champion, challenger = self.names
        rows: list[tuple[str, ...]] = [
            (
                one.measure.replace("_", " "),
                write_number(one.champion),
                write_number(one.challenger),
                f"{one.difference:+.4g} ({one.low:+.3g} to {one.high:+.3g})",
                one.better or "not certain",
            )
            for one in self.differences
        ]
        titles = ("measure", champion, challenger, "difference (95 % interval)", "better")
        yield f"{self.n_rows:,} rows", titles, rows
        if self.moved:
            n = "rows", "changed", "gained", "lost"
            wanted = n if self.positive is None else (*n, f"to {self.positive}", f"from {self.positive}")
            counts = [
                (
                    one.group if one.by == "all" else f"{one.by}: {one.group}",
                    f"{one.n_rows:,}",
                    f"{one.n_changed:,} ({write_share(one.n_changed / one.n_rows)})",
                    *(f"{count:,}" for count in one[4 : 2 + len(wanted)]),
                )
                for one in self.moved
            ]
            title = f"Rows decided differently (gained: only {challenger} is right; lost: only {champion} is)"
            yield title, ("group", *wanted), counts

    def __str__(self) -> str:
        return write_tables(self.tables())

    __repr__ = __str__


def find_placements(score: Floats, is_event: NDArray[np.bool_]) -> tuple[Floats, Floats]:
    """Return DeLong's placements: for every event the share of other rows below it, and for these that of events above.

    Ties count half. The mean of either is the area under the ROC curve.
    """
    ranks, own, others = (find_ranks(part) for part in (score, score[is_event], score[~is_event]))
    return (
        (ranks[is_event] - own) / len(others),
        1.0 - (ranks[~is_event] - others) / len(own),
    )


def compare_areas(first: Floats, second: Floats, is_event: NDArray[np.bool_]) -> tuple[float, float]:
    """Return the difference of the ROC AUC of two scores of the same rows, and its standard error (DeLong)."""
    pairs = zip(find_placements(first, is_event), find_placements(second, is_event), strict=True)
    moves = [later - earlier for earlier, later in pairs]
    variance = sum(float(move.var(ddof=1)) / len(move) if len(move) > 1 else 0.0 for move in moves)
    return float(moves[0].mean()), math.sqrt(variance)


Measure = Callable[[Weight], float]


def _list_class_measures(part: ClassPart, event: int | None) -> dict[str, Measure]:
    """Return functions of the weights of the rows by measure; rows are in the order of the event's probability."""
    n_classes = part.proba.shape[1]
    of_truth = part.proba[np.arange(len(part.codes)), part.codes]
    loss = -np.log(np.maximum(of_truth, np.finfo(np.float64).eps))
    squares = ((part.proba**2).sum(axis=1) - 2.0 * of_truth + 1.0) / (2.0 if n_classes == 2 else 1.0)
    is_right = (part.predicted == part.codes).astype(np.float64)

    def balance(weight: Weight) -> float:
        confusion = count_confusion(part.codes, part.predicted, n_classes, weight)
        recalls = divide(confusion.diagonal(), confusion.sum(axis=1))
        return float(np.mean([one for one in recalls if one is not None]))

    measures: dict[str, Measure] = {
        "accuracy": lambda weight: float(np.average(is_right, weights=weight)),
        "balanced_accuracy": balance,
        "log_loss": lambda weight: float(np.average(loss, weights=weight)),
        "brier": lambda weight: float(np.average(squares, weights=weight)),
    }
    if event is None:
        return measures
    score, is_event = part.proba[:, event], part.codes == event

    def take(weight: Weight) -> tuple[Any, ...]:
        kept = slice(None) if weight is None else weight > 0.0
        return score[kept], is_event[kept], None if weight is None else weight[kept]

    return measures | {
        "average_precision": lambda weight: rank(*take(weight))[1] or 0.0,
        "ks": lambda weight: separate(*take(weight))[0],
    }


def _list_number_measures(part: NumberPart) -> dict[str, Measure]:
    error = part.predicted - part.actual

    def explain(weight: Weight) -> float:
        spread = np.average((part.actual - np.average(part.actual, weights=weight)) ** 2, weights=weight)
        return float(1.0 - np.average(error**2, weights=weight) / spread) if spread > 0.0 else 0.0

    return {
        "rmse": lambda weight: float(np.sqrt(np.average(error**2, weights=weight))),
        "mae": lambda weight: float(np.average(np.abs(error), weights=weight)),
        "r2": explain,
    }


def _sort(part: ClassPart, order: NDArray[np.int64]) -> ClassPart:
    weight = None if part.weight is None else part.weight[order]
    return ClassPart(
        part.codes[order], part.predicted[order], part.proba[order], part.sureness[order], weight
    )


def compare_parts(
    first: Part,
    second: Part,
    *,
    names: tuple[str, str],
    labels: Sequence[Any] = (),
    positive: int | None = None,
    columns: Mapping[str, NDArray[Any]] | None = None,
    rows: NDArray[np.int64] | None = None,
    n_resamples: int = 500,
    seed: int = 0,
) -> Comparison:
    """Compare the predictions of two models for the same rows; ``rows`` are their numbers."""
    weight, n_rows = first.weight, len(first.predicted)
    moved: list[Moved] = []
    changed = np.empty(0, dtype=np.int64)
    differences: list[PairedDifference] = []
    if isinstance(first, ClassPart) and isinstance(second, ClassPart):
        event = positive if positive is not None or len(labels) != 2 else 1
        if event is not None and len(np.unique(first.codes == event)) < 2:
            event = None  # rows of one kind have no ranks to compare
        orders = [
            np.argsort(-part.proba[:, event], kind="stable") if event is not None else np.arange(n_rows)
            for part in (first, second)
        ]
        listed = [
            _list_class_measures(_sort(part, order), event)
            for part, order in zip((first, second), orders, strict=True)
        ]
        if event is not None and weight is None:
            differences.append(_compare_event(first, second, event, names))
        is_moved = first.predicted != second.predicted
        places = np.arange(n_rows) if rows is None else rows
        changed = places[is_moved]
        moved = list(_find_moved(first, second, positive, columns or {}))
    else:
        assert isinstance(first, NumberPart)
        assert isinstance(second, NumberPart)
        orders = [np.arange(n_rows)] * 2
        listed = [_list_number_measures(first), _list_number_measures(second)]
    resampled = _resample(listed, orders, weight, n_resamples, seed)
    for number, measure in enumerate(listed[0]):
        values = [
            one[measure](None if weight is None else weight[order])
            for one, order in zip(listed, orders, strict=True)
        ]
        low, high = np.quantile(resampled[:, number], [0.025, 0.975]).tolist()
        differences.append(_describe(measure, values[0], values[1], low, high, names, "bootstrap"))
    label = None if positive is None else labels[positive]
    return Comparison(names, n_rows, label, tuple(differences), tuple(moved), changed)


def _resample(
    listed: Sequence[dict[str, Measure]],
    orders: Sequence[NDArray[np.int64]],
    weight: Weight,
    n_resamples: int,
    seed: int,
) -> Floats:
    """Return second minus first model for every resample of the rows and measure, shape (n_resamples, n_measures)."""
    rng, n_rows = np.random.default_rng(seed), len(orders[0])
    moves = np.empty((n_resamples, len(listed[0])))
    for number in range(n_resamples):
        mass = np.bincount(rng.integers(n_rows, size=n_rows), minlength=n_rows).astype(np.float64)
        if weight is not None:
            mass *= weight
        first, second = (
            np.array([measure(mass[order]) for measure in one.values()])
            for one, order in zip(listed, orders, strict=True)
        )
        moves[number] = second - first
    return moves


def _compare_event(
    first: ClassPart, second: ClassPart, event: int, names: tuple[str, str]
) -> PairedDifference:
    is_event = first.codes == event
    scores = [part.proba[:, event] for part in (first, second)]
    areas = [float(find_placements(score, is_event)[0].mean()) for score in scores]
    difference, error = compare_areas(scores[0], scores[1], is_event)
    ends = difference - Z * error, difference + Z * error
    return _describe("roc_auc", areas[0], areas[1], *ends, names, "DeLong")


def _describe(
    measure: str, first: float, second: float, low: float, high: float, names: tuple[str, str], method: str
) -> PairedDifference:
    is_up, is_down = low > 0.0, high < 0.0
    better = None
    if is_up or is_down:
        better = names[1] if is_up == (measure in _HIGHER) else names[0]
    return PairedDifference(measure, first, second, second - first, low, high, better, method)


def _find_moved(
    first: ClassPart, second: ClassPart, positive: int | None, columns: Mapping[str, NDArray[Any]]
) -> Iterator[Moved]:
    """Yield the rows decided differently: of all, and of every group."""
    is_right, was_right = second.predicted == second.codes, first.predicted == first.codes
    is_positive, was_positive = (
        (np.zeros(len(first.codes), dtype=bool),) * 2
        if positive is None
        else (second.predicted == positive, first.predicted == positive)
    )
    counted = (
        first.predicted != second.predicted,
        is_right & ~was_right,
        was_right & ~is_right,
        is_positive & ~was_positive,
        was_positive & ~is_positive,
    )
    yield Moved("all", "all rows", len(first.codes), *(int(one.sum()) for one in counted))
    for by, groups in columns.items():
        for group in np.unique(groups).tolist():
            own = groups == group
            yield Moved(by, str(group), int(own.sum()), *(int(one[own].sum()) for one in counted))
