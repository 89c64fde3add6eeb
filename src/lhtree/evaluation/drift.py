"""Drift: new rows against the training table, whose summary a model keeps, and performance against the hold-out."""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from .._extras import import_extra
from ..model.model import Model, read
from ..model.numbers import write_share
from ..model.profile import ColumnProfile, find_scores, list_columns, profile_numbers
from ..tables.frames import take_table
from .classification import Evaluation
from .measures import write_number, write_tables
from .paired import Z, find_placements

if TYPE_CHECKING:
    import pandas as pd

    from .regression import RegressionEvaluation

MODERATE, LARGE = 0.1, 0.25  # usual limits of the population stability index
_CERTAIN = 0.01  # p value below which a shift is more than chance
_LEAST_SHARE = 1e-4  # of a bin, so that logarithms are finite
_FEW = 5  # new categories that are listed
LEVELS: tuple[str, ...] = ("stable", "moderate", "large")


class ColumnDrift(NamedTuple):
    """Shift of one column, or of the score, from the training table to new rows."""

    column: str
    kind: str  # "numbers", "categories" or "score"
    psi: float  # population stability index over bins or categories and missing values
    statistic: float  # chi-squared test of homogeneity
    p_value: float
    level: str  # "stable", "moderate" (0.1) or "large" (0.25); shifts that may be chance are stable
    missing: float  # share now, and in training
    missing_before: float
    outside: float  # share outside the training range, or of new categories
    new_categories: tuple[str, ...] = ()


class PerformanceDrift(NamedTuple):
    """A measure on new rows with labels, its 95 % interval, and its value on the hold-out."""

    measure: str
    before: float | None  # None: the model keeps no hold-out results
    value: float
    low: float
    high: float
    is_worse: bool  # than the hold-out, beyond the interval


@dataclass(frozen=True, eq=False, repr=False)
class Drift:
    """Result of ``lhtree.monitor``: how new rows differ from the training table.

    Attributes
    ----------
    n_rows : int
    period : str or None
        Name of the period.
    score : ColumnDrift
        Shift of the probability of the positive class, else of the second of two classes; of the largest probability;
        or of the predicted number.
    columns : tuple of ColumnDrift
        ``column``, ``kind``, ``psi``, ``statistic``, ``p_value``, ``level``, ``missing``, ``missing_before``,
        ``outside`` and ``new_categories``; largest index first.
    basis : str
        What the score is compared with: "hold-out", or "training", whose scores are more extreme than those of new
        rows if the model has learned noise; then it does not count for ``level``.
    performance : tuple of PerformanceDrift
        With labels: ``measure``, ``before``, ``value``, ``low``, ``high`` and ``is_worse``.

    Examples
    --------
    >>> from sklearn.datasets import load_breast_cancer
    >>> from lhtree import LHBoostClassifier, monitor
    >>> X, y = load_breast_cancer(return_X_y=True, as_frame=True)
    >>> model = LHBoostClassifier(50, random_state=0).fit(X[:300], y[:300])
    >>> drift = monitor(model, X[300:].assign(**{"mean area": 1.5 * X["mean area"][300:]}))
    >>> drift.level, drift.columns[0].column
    ('large', 'mean area')
    """

    n_rows: int
    period: str | None
    score: ColumnDrift
    columns: tuple[ColumnDrift, ...]
    performance: tuple[PerformanceDrift, ...] = ()
    basis: str = "training"  # rows whose scores are compared: "hold-out" or "training"

    @property
    def level(self) -> str:
        """The largest level of all columns; "large" if the model has become worse.

        The score counts if it is compared with the hold-out: scores of training rows are more extreme than others.
        """
        if any(one.is_worse for one in self.performance):
            return LEVELS[-1]
        counted = (self.score, *self.columns) if self.basis == "hold-out" else self.columns
        return max((one.level for one in counted), key=LEVELS.index, default=LEVELS[0])

    def to_frame(self) -> pd.DataFrame:
        """Return a row for the score and for every column."""
        frame: pd.DataFrame = import_extra("pandas", "pandas").DataFrame(
            [self.score, *self.columns], columns=ColumnDrift._fields
        )
        return frame.set_index("column")

    def to_dict(self) -> dict[str, Any]:
        """Return all results as plain values that can be written as JSON."""
        return {
            "period": self.period,
            "n_rows": self.n_rows,
            "level": self.level,
            "basis": self.basis,
            "score": self.score._asdict(),
            "columns": [one._asdict() for one in self.columns],
            "performance": [one._asdict() for one in self.performance],
        }

    def tables(self) -> Iterator[tuple[str, Sequence[str], list[tuple[str, ...]]]]:
        """Yield a title, the titles of a table and its rows as texts."""
        named = "" if self.period is None else f"{self.period}: "
        rows: list[tuple[str, ...]] = [
            (
                f"score (against {self.basis} rows)" if one.kind == "score" else one.column,
                f"{one.psi:.3f}",
                f"{one.p_value:.2g}",
                one.level,
                f"{write_share(one.missing)} ({write_share(one.missing_before)})",
                write_share(one.outside),
                ", ".join(one.new_categories[:_FEW]) or "–",
            )
            for one in (self.score, *self.columns)
        ]
        titles = ("column", "PSI", "p", "shift", "missing (before)", "outside", "new categories")
        yield f"{named}{self.n_rows:,} rows, {self.level}", titles, rows
        if self.performance:
            measures: list[tuple[str, ...]] = [
                (
                    one.measure.replace("_", " "),
                    "–" if one.before is None else write_number(one.before),
                    f"{write_number(one.value)} ({write_number(one.low)} to {write_number(one.high)})",
                    "worse" if one.is_worse else "–" if one.before is None else "as before",
                )
                for one in self.performance
            ]
            yield "Performance", ("measure", "hold-out", "now (95 % interval)", "change"), measures

    def __str__(self) -> str:
        return write_tables(self.tables())

    __repr__ = __str__


def find_drift(model: Any, X: Any, period: str | None = None, score: ColumnProfile | None = None) -> Drift:
    """Compare rows with the training table of a model; ``score`` has the scores of the hold-out, if they are known."""
    learned = read(model, takes_numbers=True)
    profile = learned.profile
    if profile is None:
        raise ValueError(
            "the model keeps no summary of its training table (it was saved by an earlier version, or has more than "
            "1,000 columns): fit it again."
        )
    n_unseen: Counter[str] = Counter()
    rows = learned.encoding.code(X, unseen="missing", n_unseen=n_unseen, owner=type(model).__name__)
    if not len(rows):
        raise ValueError("X has no rows: pass at least one.")
    new = _find_new_categories(learned, X, n_unseen)
    columns = []
    for number, values in list_columns(learned.encoding, rows):
        known, name = profile.columns[number], learned.encoding.names[number]
        if known is not None:
            outside = _find_outside(learned, number, values, n_unseen[name])
            n_before = profile.n_rows if values.dtype.kind == "f" else learned.n_rows or profile.n_rows
            kind = "numbers" if values.dtype.kind == "f" else "categories"
            columns.append(
                _compare(name, kind, known, values, n_before, outside, new.get(name, ()), n_unseen[name])
            )
    before, scores = score or profile.score, find_scores(learned, rows)
    return Drift(
        len(rows),
        period,
        _compare("score", "score", before, scores, profile.n_rows, _find_beyond(before, scores)),
        tuple(sorted(columns, key=lambda one: -one.psi)),
        basis="training" if score is None else "hold-out",
    )


def _compare(
    name: str,
    kind: str,
    profile: ColumnProfile,
    values: NDArray[Any],
    n_before: int,
    outside: float,
    new: tuple[str, ...] = (),
    n_unseen: int = 0,
) -> ColumnDrift:
    counts = profile.count_rows(values)
    before = np.append(np.array(profile.shares) * (1.0 - profile.missing), profile.missing)
    before = before / before.sum()
    psi = find_psi(before, counts)
    statistic, p_value = compare_counts(before * n_before, counts)
    is_certain = p_value < _CERTAIN
    level = LEVELS[(psi >= MODERATE) + (psi >= LARGE)] if is_certain else LEVELS[0]
    missing = float((counts[-1] - n_unseen) / len(values))  # new categories are not missing
    return ColumnDrift(name, kind, psi, statistic, p_value, level, missing, profile.missing, outside, new)


def find_psi(before: NDArray[np.float64], counts: NDArray[np.int64]) -> float:
    """Return the population stability index of counts against shares before.

    An empty bin counts as half a row, and before as a share of at least 0.0001.
    """
    first = np.maximum(before, _LEAST_SHARE)
    second = np.maximum(counts, 0.5) / counts.sum()
    is_used = (before > 0.0) | (counts > 0)
    return float(((second - first) * np.log(second / first))[is_used].sum())


def compare_counts(before: NDArray[np.float64], counts: NDArray[Any]) -> tuple[float, float]:
    """Return the chi-squared statistic of two rows of counts and its p value; bins empty in both do not count."""
    table = np.array([before, counts], dtype=np.float64)
    table = table[:, table.sum(axis=0) > 0.0]
    if table.shape[1] < 2:
        return 0.0, 1.0
    expected = table.sum(axis=1, keepdims=True) * table.sum(axis=0) / table.sum()
    statistic = float(((table - expected) ** 2 / expected).sum())
    return statistic, find_tail(statistic, table.shape[1] - 1)


def find_tail(statistic: float, n_free: int) -> float:
    """Return the probability of a larger value of the chi-squared distribution with ``n_free`` degrees of freedom.

    For whole degrees of freedom it is a finite sum.
    """
    half = statistic / 2.0
    if half <= 0.0:
        return 1.0
    is_odd = n_free % 2
    total = math.erfc(math.sqrt(half)) if is_odd else 0.0
    for place in range(n_free // 2):
        power = place + 0.5 * is_odd
        total += math.exp(power * math.log(half) - half - math.lgamma(power + 1.0))
    return min(total, 1.0)


def _find_outside(learned: Model, number: int, values: NDArray[Any], n_unseen: int) -> float:
    """Return the share of values outside the range of training, or of categories that it did not have."""
    if values.dtype.kind != "f":
        return n_unseen / len(values)
    feature = learned.encoding.features_of(number).start
    low, high = learned.span.low[feature], learned.span.high[feature]
    return float(((values < low) | (values > high)).mean())


def _find_beyond(profile: ColumnProfile, score: NDArray[np.float64]) -> float:
    """Return the share of scores beyond the outermost edges in excess of that in training."""
    if not profile.edges:
        return 0.0
    expected = profile.shares[0] + profile.shares[-1]
    share = float(((score <= profile.edges[0]) | (score > profile.edges[-1])).mean())
    return max(0.0, share - expected)


def _find_new_categories(learned: Model, X: Any, n_unseen: Counter[str]) -> dict[str, tuple[str, ...]]:
    """Return up to five categories that training did not have, by column, the most frequent first."""
    found: dict[str, tuple[str, ...]] = {}
    if not any(n_unseen.values()):
        return found
    columns = take_table(X, "monitor").columns()
    for name, own, column in zip(learned.encoding.names, learned.encoding.categories, columns, strict=True):
        if not n_unseen[name]:
            continue
        codes, categories = column.categories()
        known = set(map(str, own or ()))
        counts = np.bincount(codes[codes >= 0], minlength=len(categories))
        order = np.argsort(-counts, kind="stable")
        new = [str(categories[place]) for place in order if str(categories[place]) not in known]
        found[name] = tuple(new[:_FEW])
    return found


def summarise_holdout(
    measured: Evaluation | RegressionEvaluation, scores: NDArray[np.float64], how: str
) -> dict[str, Any]:
    """Return results on held-out rows as plain values, which the provenance of a model keeps."""
    facts: dict[str, Any] = {"how": how, "n_rows": measured.n_rows}
    if isinstance(measured, Evaluation):
        facts |= {name: getattr(measured, name) for name in ("accuracy", "roc_auc", "log_loss", "brier")}
        if measured.event is not None:
            facts |= {"roc_auc": measured.event.roc_auc, "gini": measured.event.gini, "ks": measured.event.ks}
            facts["calibration"] = measured.event.probability - measured.event.rate
    else:
        facts |= {name: getattr(measured, name) for name in ("r2", "rmse", "mae")}
    known = profile_numbers(scores)
    return facts | {
        "score": {"missing": known.missing, "edges": list(known.edges), "shares": list(known.shares)}
    }


def read_score(holdout: dict[str, Any] | None) -> ColumnProfile | None:
    """Return the scores of the hold-out; None if a model keeps none."""
    own = None if holdout is None else holdout.get("score")
    return None if own is None else ColumnProfile(own["missing"], tuple(own["edges"]), tuple(own["shares"]))


def compare_performance(
    measured: Evaluation | RegressionEvaluation,
    proba: NDArray[np.float64] | None,
    is_event: Any,
    before: dict[str, Any] | None,
) -> tuple[PerformanceDrift, ...]:
    """Return measures of new rows with intervals, and the same measures of the hold-out, if it is known."""
    held = before or {}
    found: list[PerformanceDrift] = []

    def add(measure: str, value: float, low: float, high: float, *, is_higher_better: bool) -> None:
        earlier = held.get(measure)
        is_worse = earlier is not None and (high < earlier if is_higher_better else low > earlier)
        found.append(PerformanceDrift(measure, earlier, value, low, high, is_worse))

    if not isinstance(measured, Evaluation):
        half = Z * measured.rmse / math.sqrt(2.0 * measured.n_rows)
        add("rmse", measured.rmse, measured.rmse - half, measured.rmse + half, is_higher_better=False)
        return tuple(found)
    ends = measured.accuracy_low, measured.accuracy_high
    add("accuracy", measured.accuracy, *ends, is_higher_better=True)
    event = measured.event
    if event is not None and event.roc_auc is not None and proba is not None:
        parts = find_placements(proba, is_event)
        variance = sum(float(part.var(ddof=1)) / len(part) if len(part) > 1 else 0.0 for part in parts)
        half = Z * math.sqrt(variance)
        area = event.roc_auc
        add("roc_auc", area, max(0.0, area - half), min(1.0, area + half), is_higher_better=True)
    if event is not None and proba is not None:
        excess = proba - is_event
        half = Z * float(excess.std()) / math.sqrt(len(excess))
        mean = float(excess.mean())
        # The event against its probability: 0 is calibrated.
        is_off = mean - half > 0.0 or mean + half < 0.0
        earlier = held.get("calibration")
        is_worse = is_off and (earlier is None or abs(mean) - half > abs(earlier))
        found.append(PerformanceDrift("calibration", earlier, mean, mean - half, mean + half, is_worse))
    return tuple(found)
