"""Results by group of rows, such as the values of a column, with intervals of differences and ratios."""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import combinations
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from .._extras import import_extra
from .._parameters import refuse
from ..model.numbers import make_plain, write_share, write_shares
from ..tables.errors import find_nearest
from ..tables.frames import is_arrow, is_frame
from .classification import ClassPart
from .measures import Weight, count_rows, find_interval, rank, write_number, write_table
from .paired import Z, find_placements
from .regression import NumberPart

if TYPE_CHECKING:
    import pandas as pd

SMALL = 30  # rows; smaller groups are marked
_MOST_GROUPS = 100
_MISSING = "(missing)"
_TITLES = {
    "accuracy": "accuracy",
    "selection_rate": "selected",
    "true_positive_rate": "TPR",
    "false_positive_rate": "FPR",
    "rate": "events",
    "mean_probability": "probability",
    "calibration": "excess",
    "roc_auc": "ROC AUC",
    "actual": "actual",
    "predicted": "predicted",
    "mean_error": "mean error",
    "rmse": "RMSE",
}
_HIDDEN = ("precision", "log_loss", "brier", "mae")  # in printed tables
_SHARES = ("accuracy", "selection_rate", "true_positive_rate", "false_positive_rate", "precision", "rate")


class Estimate(NamedTuple):
    """A value and its 95 % interval; None where it is not defined."""

    value: float | None = None
    low: float | None = None
    high: float | None = None


class GroupScore(NamedTuple):
    """One measure of one group, and its difference from and ratio to the reference group."""

    by: str  # column, or columns of an intersection
    group: str
    measure: str
    n_rows: int
    is_small: bool
    is_reference: bool
    value: float | None
    low: float | None
    high: float | None
    difference: float | None
    difference_low: float | None
    difference_high: float | None
    ratio: float | None
    ratio_low: float | None
    ratio_high: float | None


class Gap(NamedTuple):
    """The largest difference between two groups, and the smallest ratio, as fairlearn's ``MetricFrame`` has them."""

    by: str
    measure: str
    difference: float
    ratio: float | None
    lowest: str  # group
    highest: str


@dataclass(frozen=True, eq=False, repr=False)
class Groups:
    """Results by group, ``Evaluation.groups``: every measure for every group and intersection.

    Rates have Wilson's 95 % intervals and Newcombe's intervals of differences; means have normal intervals, the ROC AUC
    has DeLong's, and ratios those of their logarithm. Groups of fewer than 30 rows are marked as small.

    Attributes
    ----------
    positive
        The class that rates are about; None without one.
    scores : tuple of GroupScore
        A record per group and measure. ``selection_rate`` is the share of rows predicted as the positive class,
        ``rate`` the share of rows of it, ``calibration`` the mean of probability minus event.
    reference : dict
        By column, the group that others are compared with: the largest, or the one passed.

    Examples
    --------
    >>> import numpy as np
    >>> from sklearn.datasets import load_breast_cancer
    >>> from lhtree import LHTClassifier, evaluate
    >>> X, y = load_breast_cancer(return_X_y=True, as_frame=True)
    >>> model = LHTClassifier(positive=0).fit(X[:400], y[:400])
    >>> smooth = np.where(X["mean smoothness"] < 0.095, "smooth", "rough")
    >>> groups = evaluate(model, X[400:], y[400:], by={"surface": smooth[400:]}).groups
    >>> scores = {one.group: one for one in groups.select("surface", "selection_rate")}
    >>> round(scores["rough"].value, 2), round(scores["rough"].low, 2), round(scores["rough"].high, 2)
    (0.44, 0.33, 0.55)
    """

    positive: Any
    scores: tuple[GroupScore, ...]
    reference: dict[str, str]

    def to_frame(self) -> pd.DataFrame:
        """Return a row per column, group and measure."""
        frame: pd.DataFrame = import_extra("pandas", "pandas").DataFrame(
            self.scores, columns=GroupScore._fields
        )
        return frame.set_index(["by", "group", "measure"])

    def to_dict(self) -> dict[str, Any]:
        """Return all scores as plain values that can be written as JSON."""
        return {
            "positive": make_plain(self.positive),
            "reference": self.reference,
            "scores": [one._asdict() for one in self.scores],
        }

    @property
    def measures(self) -> list[str]:
        """Names of the measures."""
        return list(dict.fromkeys(one.measure for one in self.scores))

    def select(self, by: str, measure: str) -> list[GroupScore]:
        """Return the scores of one measure for the groups of a column."""
        return [one for one in self.scores if one.by == by and one.measure == measure]

    def find_gaps(self, *, with_small: bool = False) -> list[Gap]:
        """Return the largest difference and the smallest ratio between groups, by column and measure."""
        gaps = []
        for by in self.reference:
            for measure in self.measures:
                known = [
                    (one.value, one.group)
                    for one in self.select(by, measure)
                    if one.value is not None and (with_small or not one.is_small)
                ]
                if len(known) > 1:
                    (low, lowest), (high, highest) = min(known), max(known)
                    ratio = low / high if low >= 0.0 and high > 0.0 else None
                    gaps.append(Gap(by, measure, high - low, ratio, lowest, highest))
        return gaps

    def tables(self) -> Iterator[tuple[str, list[str], list[list[str]]]]:
        """Yield, for every column and intersection, a title, the titles of a table and its rows as texts."""
        shown = [name for name in self.measures if name not in _HIDDEN]
        for by, reference in self.reference.items():
            groups: dict[str, dict[str, GroupScore]] = {}
            for one in self.scores:
                if one.by == by:
                    groups.setdefault(one.group, {})[one.measure] = one
            rows = []
            for group, scores in groups.items():
                first = next(iter(scores.values()))
                mark = " *" if first.is_reference else " (small)" if first.is_small else ""
                rows.append(
                    [f"{group}{mark}", f"{first.n_rows:,}", *(_write(scores[name]) for name in shown)]
                )
            titles = ["group", "rows", *(_TITLES[name] for name in shown)]
            yield f"By {by} (*: reference group, {reference})", titles, rows

    def __str__(self) -> str:
        texts = []
        for title, titles, rows in self.tables():
            texts.append("\n".join([title, *write_table(titles, rows, 1)]))
        return "\n\n".join(texts)

    __repr__ = __str__


def _write(score: GroupScore) -> str:
    if score.value is None:
        return "–"
    if score.measure in _SHARES:
        interval = ""
        if score.low is not None and score.high is not None:
            interval = f" ({write_shares(score.low, score.high, 0)})"
        return f"{write_share(score.value, 1)}{interval}"
    if score.measure == "mean_probability":
        return write_share(score.value, 1)
    if score.measure == "calibration":
        return f"{100.0 * score.value:+.1f} %"
    return write_number(score.value)


class _Mean(NamedTuple):
    """A measure that is the mean of a value over some rows."""

    values: NDArray[np.float64]
    rows: NDArray[np.bool_]
    is_rate: bool = False  # of values 0 and 1
    is_root: bool = False  # the measure is the root of the mean

    def estimate(self, is_own: NDArray[np.bool_], weight: Weight) -> tuple[Estimate, float, float]:
        """Return the mean over the rows of a group, its variance and the effective number of rows."""
        rows = is_own & self.rows
        if not rows.any():
            return Estimate(), math.nan, 0.0
        values, own = self.values[rows], None if weight is None else weight[rows]
        n = count_rows(len(values), own)
        mean = float(np.average(values, weights=own))
        if self.is_rate:
            return Estimate(mean, *find_interval(mean, n)), mean * (1.0 - mean) / n, n
        variance = float(np.average((values - mean) ** 2, weights=own)) / max(n - 1.0, 1.0)
        half = Z * math.sqrt(variance)
        if not self.is_root:
            return Estimate(mean, mean - half, mean + half), variance, n
        root = math.sqrt(mean)
        ends = math.sqrt(max(0.0, mean - half)), math.sqrt(mean + half)
        return Estimate(root, *ends), variance / (4.0 * mean) if mean > 0.0 else 0.0, n


class _Area(NamedTuple):
    """The ROC AUC of the event."""

    score: NDArray[np.float64]
    is_event: NDArray[np.bool_]
    is_rate: bool = False

    def estimate(self, is_own: NDArray[np.bool_], weight: Weight) -> tuple[Estimate, float, float]:
        """Return the area of a group with DeLong's variance; with weights, without an interval."""
        score, is_event = self.score[is_own], self.is_event[is_own]
        own = None if weight is None else weight[is_own]
        area = rank(score, is_event, own)[0]
        if area is None or own is not None:
            return Estimate(area), math.nan, float(len(score))
        variance = sum(
            float(part.var(ddof=1)) / len(part) if len(part) > 1 else math.nan
            for part in find_placements(score, is_event)
        )
        if math.isnan(variance):
            return Estimate(area), math.nan, float(len(score))
        half = Z * math.sqrt(variance)
        return Estimate(area, max(0.0, area - half), min(1.0, area + half)), variance, float(len(score))


def _find_class_measures(part: ClassPart, positive: int | None) -> dict[str, _Mean | _Area]:
    n = len(part.codes)
    every = np.ones(n, dtype=bool)
    of_truth = np.maximum(part.proba[np.arange(n), part.codes], np.finfo(np.float64).eps)
    measures: dict[str, _Mean | _Area] = {
        "accuracy": _Mean((part.predicted == part.codes).astype(np.float64), every, True)
    }
    if positive is not None:
        selected = (part.predicted == positive).astype(np.float64)
        is_event, probability = part.codes == positive, part.proba[:, positive]
        event = is_event.astype(np.float64)
        measures |= {
            "selection_rate": _Mean(selected, every, True),
            "true_positive_rate": _Mean(selected, is_event, True),
            "false_positive_rate": _Mean(selected, ~is_event, True),
            "precision": _Mean(event, selected > 0.0, True),
            "rate": _Mean(event, every, True),
            "mean_probability": _Mean(probability, every),
            "calibration": _Mean(probability - event, every),
            "roc_auc": _Area(probability, is_event),
        }
    squares = (part.proba**2).sum(axis=1) - 2.0 * part.proba[np.arange(n), part.codes] + 1.0
    return measures | {
        "log_loss": _Mean(-np.log(of_truth), every),
        "brier": _Mean(squares / 2.0 if part.proba.shape[1] == 2 else squares, every),
    }


def _find_number_measures(part: NumberPart) -> dict[str, _Mean | _Area]:
    every, error = np.ones(len(part.actual), dtype=bool), part.predicted - part.actual
    return {
        "actual": _Mean(part.actual, every),
        "predicted": _Mean(part.predicted, every),
        "mean_error": _Mean(error, every),
        "mae": _Mean(np.abs(error), every),
        "rmse": _Mean(error**2, every, is_root=True),
    }


def measure_groups(
    part: ClassPart | NumberPart,
    columns: Mapping[str, NDArray[Any]],
    positive: int | None,
    labels: Sequence[Any],
    reference: Mapping[str, Any] | None = None,
) -> Groups:
    """Measure every group of the rows; ``columns`` have the group of every row as text, by name."""
    measures = (
        _find_number_measures(part) if isinstance(part, NumberPart) else _find_class_measures(part, positive)
    )
    scores: list[GroupScore] = []
    compared: dict[str, str] = {}
    for names in (chosen for size in range(1, len(columns) + 1) for chosen in combinations(columns, size)):
        by, own = " × ".join(names), _join([columns[name] for name in names])
        groups, place, sizes = np.unique(own, return_inverse=True, return_counts=True)
        chosen = str(groups[sizes.argmax()])
        if len(names) == 1 and reference is not None and by in reference:
            chosen = str(reference[by])
            if chosen not in groups:
                raise refuse(
                    "reference", dict(reference), f"groups of {by!r} that have rows: {_list(groups)}"
                )
        compared[by] = chosen
        first = int(np.flatnonzero(groups == chosen)[0])
        for measure, how in measures.items():
            found = [how.estimate(place == number, part.weight) for number in range(len(groups))]
            for number, one in enumerate(found):
                scores.append(
                    GroupScore(
                        by,
                        str(groups[number]),
                        measure,
                        int(sizes[number]),
                        bool(sizes[number] < SMALL),
                        number == first,
                        *one[0],
                        *_find_difference(one, found[first], is_rate=how.is_rate),
                        *_find_ratio(one, found[first]),
                    )
                )
    label = None if positive is None else labels[positive]
    order = {name: number for number, name in enumerate(compared)}
    return Groups(label, tuple(sorted(scores, key=lambda one: (order[one.by], one.group))), compared)


def _join(columns: Sequence[NDArray[Any]]) -> NDArray[Any]:
    if len(columns) == 1:
        return columns[0]
    return np.array([" × ".join(parts) for parts in zip(*columns, strict=True)])


Found = tuple[Estimate, float, float]


def _find_difference(one: Found, other: Found, *, is_rate: bool) -> Estimate:
    """Return the difference of two independent groups; of rates with Newcombe's interval, else a normal one."""
    (value, low, high), variance, _ = one
    (base, base_low, base_high), base_variance, _ = other
    if value is None or base is None:
        return Estimate()
    difference = value - base
    if low is None or high is None or base_low is None or base_high is None:
        return Estimate(difference)
    if is_rate:
        below = math.hypot(value - low, base_high - base)
        above = math.hypot(high - value, base - base_low)
        return Estimate(difference, difference - below, difference + above)
    half = Z * math.sqrt(variance + base_variance)
    return Estimate(difference, difference - half, difference + half)


def _find_ratio(one: Found, other: Found) -> Estimate:
    """Return the ratio of two independent positive values with the normal interval of its logarithm."""
    (value, *_), variance, _ = one
    (base, *_), base_variance, _ = other
    if value is None or base is None or value < 0.0 or base <= 0.0:
        return Estimate()
    ratio = value / base
    if value == 0.0 or math.isnan(variance + base_variance):
        return Estimate(ratio)
    factor = math.exp(Z * math.sqrt(variance / value**2 + base_variance / base**2))
    return Estimate(ratio, ratio / factor, ratio * factor)


def take_groups(by: Any, X: Any, n_rows: int) -> dict[str, NDArray[Any]]:
    """Return the group of every row as text, by column, from the argument ``by``."""
    found: dict[str, NDArray[Any]] = {}
    for name, values in _find_columns(by, X, n_rows):
        if len(values) != n_rows:
            raise ValueError(
                f"by: {name!r} has {len(values)} values, but there are {n_rows} rows: pass one per row."
            )
        found[name] = name_groups(values, name)
    return found


def _find_columns(by: Any, X: Any, n_rows: int) -> Iterator[tuple[str, Any]]:
    if isinstance(by, str):
        by = [by]
    if isinstance(by, Mapping):
        yield from ((str(name), np.asarray(values, dtype=object)) for name, values in by.items())
    elif is_frame(by):
        yield from ((str(name), np.asarray(by[name], dtype=object)) for name in by.columns)
    elif (
        isinstance(by, (list, tuple))
        and by
        and all(isinstance(name, str) for name in by)
        and len(by) != n_rows
    ):
        if not is_frame(X):
            raise refuse("by", by, "a dict from a name to one value per row: X has no names of columns")
        names = list(X.column_names if is_arrow(X) else X.columns)
        for name in by:
            if name not in names:
                hint = find_nearest(name, [one for one in names if isinstance(one, str)])
                raise refuse(
                    "by", name, f"a column of X, or a dict from a name to one value per row ({hint})"
                )
            yield name, np.asarray(X[name].to_pylist() if is_arrow(X) else X[name], dtype=object)
    else:
        values = np.asarray(by, dtype=object)
        if values.ndim != 1 or not len(values):
            raise refuse("by", by, "the name of a column, a list of names, or one value per row")
        yield str(getattr(by, "name", None) or "group"), values


def name_groups(values: NDArray[Any], name: str) -> NDArray[Any]:
    """Return the group of every row as text; missing values are a group."""
    texts = [_MISSING if value is None or value != value else str(value) for value in values.tolist()]
    groups = np.unique(texts)
    if len(groups) > _MOST_GROUPS:
        raise ValueError(
            f"by: {name!r} has {len(groups):,} groups, more than {_MOST_GROUPS}: merge them, for example with "
            f"by={{{name!r}: pandas.cut(X[{name!r}], 5)}}."
        )
    if groups.tolist() == [_MISSING]:
        raise ValueError(
            f"by: {name!r} has only missing values, so there are no groups: pass another column."
        )
    return np.array(texts)


def _list(groups: NDArray[Any]) -> str:
    return ", ".join(map(repr, groups.tolist()[:10]))
