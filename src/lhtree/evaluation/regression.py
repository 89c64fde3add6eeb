"""Metrics of a regressor on rows with known responses."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from .._extras import import_extra
from ..model.model import read
from ..model.numbers import write_shares
from .measures import (
    Weight,
    count_rows,
    find_interval,
    find_quantiles,
    join_parts,
    write_number,
    write_percent,
    write_table,
)

if TYPE_CHECKING:
    import pandas as pd

    from .groups import Groups

_N_RANGES = 10
_COVERAGE = 0.9  # of prediction intervals, by default


class NumberPart(NamedTuple):
    """Rows with their responses and predicted numbers; a table may consist of many parts."""

    actual: NDArray[np.float64]  # shape (n,), or (n, k) of several responses
    predicted: NDArray[np.float64]  # the same, or (n, q) of several quantiles
    interval: NDArray[np.float64] | None = None  # ends of the prediction intervals, shape (n, 2)
    coverage: float = 0.0  # share of the responses that they should contain
    weight: NDArray[np.float64] | None = None


class PredictedRange(NamedTuple):
    """Rows of similar predictions: the mean prediction and response, and the errors."""

    n_rows: int
    predicted: float
    actual: float
    rmse: float
    mae: float


class IntervalScores(NamedTuple):
    """Share of the responses inside the prediction intervals; ``low`` and ``high`` are its 95 % interval (Wilson)."""

    coverage: float  # requested
    share: float
    low: float
    high: float
    width: float  # mean


class QuantileScores(NamedTuple):
    """Scores of a predicted quantile: the pinball loss, and the share of responses up to the prediction."""

    quantile: float
    pinball: float
    baseline: float  # of the quantile of all responses
    share_below: float


@dataclass(frozen=True, eq=False)
class RegressionEvaluation:
    """Result of ``lhtree.evaluate`` for a regressor; errors are in the unit of the response.

    Attributes
    ----------
    n_rows : int
    r2 : float
        Share of the variance of the responses that is explained, as scikit-learn's ``r2_score``.
    rmse, mae : float
        Root mean squared error and mean absolute error.
    baseline_rmse, baseline_mae : float
        The same of always predicting the mean, and the median, of the responses.
    mean_error : float
        Mean of prediction minus response: above 0 if predictions are too large on average.
    quantile : QuantileScores or None
        ``quantile``, ``pinball`` loss, ``baseline`` (of the quantile of all responses) and ``share_below``, the share
        of responses up to the prediction; None unless the model predicts a quantile.
    intervals : IntervalScores or None
        ``coverage`` that was asked for, ``share`` of the responses that the prediction intervals hold, its 95 %
        interval ``low`` to ``high``, and mean ``width``; None if the model has no intervals of this coverage.
    groups : Groups or None
        Results by group, if ``by`` was passed.
    ranges : tuple of PredictedRange
        ``n_rows``, mean ``predicted`` and ``actual``, ``rmse`` and ``mae`` in up to ten ranges of the prediction with
        as many rows each.

    Examples
    --------
    >>> from sklearn.datasets import load_diabetes
    >>> from lhtree import LHForestRegressor, evaluate
    >>> X, y = load_diabetes(return_X_y=True)
    >>> model = LHForestRegressor(20, random_state=0).fit(X[:300], y[:300])
    >>> measured = evaluate(model, X[300:], y[300:], coverage=0.8)
    >>> round(measured.r2, 2), round(measured.rmse, 1), round(measured.baseline_rmse, 1)
    (0.5, 53.1, 75.3)
    >>> round(measured.intervals.share, 2)
    0.8
    """

    n_rows: int
    r2: float
    rmse: float
    mae: float
    baseline_rmse: float
    baseline_mae: float
    mean_error: float
    quantile: QuantileScores | None
    intervals: IntervalScores | None
    ranges: tuple[PredictedRange, ...]
    groups: Groups | None = None

    @classmethod
    def from_parts(cls, parts: Sequence[NumberPart], quantile: float | None = None) -> RegressionEvaluation:
        """Measure the rows of all parts; ``quantile`` is the predicted quantile, if any."""
        part: NumberPart = join_parts(parts)
        actual, predicted, weight = part.actual, part.predicted, part.weight
        error = predicted - actual
        around_mean = actual - average(actual, weight)
        rmse, baseline = find_rmse(error, weight), find_rmse(around_mean, weight)
        r2 = 1.0 - (rmse / baseline) ** 2 if baseline > 0.0 else float(rmse == 0.0)
        return cls(
            n_rows=len(actual),
            r2=r2,
            rmse=rmse,
            mae=average(np.abs(error), weight),
            baseline_rmse=baseline,
            baseline_mae=average(np.abs(actual - find_quantile(actual, 0.5, weight)), weight),
            mean_error=average(error, weight),
            quantile=None if quantile is None else _score_quantile(actual, predicted, quantile, weight),
            intervals=_score_intervals(part),
            ranges=_find_ranges(actual, predicted, weight),
        )

    def to_dict(self) -> dict[str, Any]:
        """Return all metrics as plain values that can be written as JSON."""
        return {name: getattr(self, name) for name in self.__dataclass_fields__} | {
            "quantile": None if self.quantile is None else self.quantile._asdict(),
            "intervals": None if self.intervals is None else self.intervals._asdict(),
            "ranges": [one._asdict() for one in self.ranges],
            "groups": None if self.groups is None else self.groups.to_dict(),
        }

    def to_frame(self) -> pd.DataFrame:
        """Return a row per range of predictions with its measures."""
        frame: pd.DataFrame = import_extra("pandas", "pandas").DataFrame(
            self.ranges, columns=PredictedRange._fields
        )
        return frame

    def figures(self) -> list[tuple[str, str]]:
        """Return names and texts of the main measures; for a predicted quantile, the pinball loss comes first."""
        figures = [("rows", f"{self.n_rows:,}")]
        if self.quantile is not None:
            level, loss, baseline, share = self.quantile
            compared = f"{write_number(baseline)} for that quantile of all rows"
            figures += [
                ("pinball loss", f"{write_number(loss)} (quantile {level:g}; {compared})"),
                ("below prediction", write_percent(share)),
            ]
        figures += [
            ("R²", f"{self.r2:.4f}"),
            ("RMSE", f"{write_number(self.rmse)} (always the mean: {write_number(self.baseline_rmse)})"),
            ("MAE", f"{write_number(self.mae)} (always the median: {write_number(self.baseline_mae)})"),
            ("mean error", write_number(self.mean_error)),
        ]
        return figures if self.intervals is None else figures + describe_intervals(self.intervals)

    def __str__(self) -> str:
        figures = self.figures()
        width = max(len(name) for name, _ in figures)
        lines = [f"{name:<{width}}  {text}" for name, text in figures]
        lines += ["", f"{'rows':>8}  {'predicted':>12}  {'actual':>12}  {'RMSE':>12}  {'MAE':>12}"]
        lines += [
            f"{one.n_rows:>8,}  " + "  ".join(f"{write_number(value):>12}" for value in one[1:])
            for one in self.ranges
        ]
        lines += [] if self.groups is None else ["", str(self.groups)]
        return "\n".join(lines)

    __repr__ = __str__


@dataclass(frozen=True, eq=False)
class OutputEvaluations:
    """Result of ``lhtree.evaluate`` for a regressor with several outputs: several quantiles, or several responses.

    Attributes
    ----------
    n_rows : int
    outputs : dict of str to RegressionEvaluation
        The evaluation of every output by its name. ``quantile`` of each has the pinball loss.
    intervals : IntervalScores or None
        Of quantiles: the share of the responses in the intervals of the model (``predict_interval``) or, without them,
        between the least and the largest quantile.

    Examples
    --------
    >>> from sklearn.datasets import load_diabetes
    >>> from lhtree import LHBoostRegressor, evaluate
    >>> X, y = load_diabetes(return_X_y=True)
    >>> model = LHBoostRegressor("quantile", quantile=[0.1, 0.9], max_iter=50, random_state=0)
    >>> measured = evaluate(model.fit(X[:300], y[:300]), X[300:], y[300:])
    >>> [round(one.quantile.pinball, 1) for one in measured.outputs.values()]
    [8.5, 9.5]
    >>> round(measured.intervals.coverage, 2), round(measured.intervals.share, 2)
    (0.8, 0.76)
    """

    n_rows: int
    outputs: dict[str, RegressionEvaluation]
    intervals: IntervalScores | None

    @classmethod
    def from_parts(
        cls, parts: Sequence[NumberPart], names: Sequence[str], quantiles: Sequence[float] | None = None
    ) -> OutputEvaluations:
        """Measure the rows of all parts; ``quantiles`` are the predicted quantiles, if any."""
        part: NumberPart = join_parts(parts)
        outputs = {}
        for place, name in enumerate(names):
            actual = part.actual if part.actual.ndim == 1 else part.actual[:, place]
            own = NumberPart(actual, part.predicted[:, place], weight=part.weight)
            level = None if quantiles is None else quantiles[place]
            outputs[name] = RegressionEvaluation.from_parts([own], level)
        return cls(len(part.actual), outputs, None if quantiles is None else _score_intervals(part))

    def to_dict(self) -> dict[str, Any]:
        """Return all metrics as plain values that can be written as JSON."""
        return {
            "n_rows": self.n_rows,
            "outputs": {name: one.to_dict() for name, one in self.outputs.items()},
            "intervals": None if self.intervals is None else self.intervals._asdict(),
        }

    def to_frame(self) -> pd.DataFrame:
        """Return a row per output with its measures."""
        records = []
        for one in self.outputs.values():
            of_quantile = {} if one.quantile is None else one.quantile._asdict()
            records.append(
                of_quantile | {"r2": one.r2, "rmse": one.rmse, "mae": one.mae, "mean_error": one.mean_error}
            )
        names = import_extra("pandas", "pandas").Index(list(self.outputs), name="output")
        frame: pd.DataFrame = import_extra("pandas", "pandas").DataFrame(records, index=names)
        return frame

    def figures(self) -> list[tuple[str, str]]:
        """Return names and texts of the measures of all outputs together."""
        figures = [("rows", f"{self.n_rows:,}")]
        if self.intervals is not None:
            return figures + describe_intervals(self.intervals)
        return [*figures, ("mean R²", f"{float(np.mean([one.r2 for one in self.outputs.values()])):.4f}")]

    def table(self) -> tuple[tuple[str, ...], list[tuple[str, ...]]]:
        """Return the head and the lines of a table with a line per output."""
        lines = []
        for name, one in self.outputs.items():
            if one.quantile is None:
                lines.append((name, f"{one.r2:.4f}", *map(write_number, (one.rmse, one.mae, one.mean_error))))
            else:
                _, loss, baseline, share = one.quantile
                lines.append((name, write_number(loss), write_number(baseline), write_percent(share)))
        if self.intervals is None:
            return ("response", ">R²", ">RMSE", ">MAE", ">mean error"), lines
        return ("quantile", ">pinball loss", ">of all rows", ">below prediction"), lines

    def __str__(self) -> str:
        head, lines = self.table()
        width = max(len(name) for name, _ in self.figures())
        texts = [f"{name:<{width}}  {text}" for name, text in self.figures()]
        return "\n".join([*texts, "", *write_table([title.lstrip(">") for title in head], lines)])

    __repr__ = __str__


def describe_intervals(intervals: IntervalScores) -> list[tuple[str, str]]:
    """Return names and texts of the measures of prediction intervals."""
    asked, share, low, high, width = intervals
    spread = f"95 % interval {write_shares(low, high, 2)}"
    return [
        (f"in {100 * asked:g} % intervals", f"{write_percent(share)} ({spread})"),
        ("interval width", write_number(width)),
    ]


def average(values: NDArray[np.float64], weight: Weight) -> float:
    """Return the weighted mean without overflow."""
    unit = np.abs(values).max() or 1.0
    return float(unit * np.average(values / unit, weights=weight))


def find_rmse(error: NDArray[np.float64], weight: Weight) -> float:
    """Return the root mean squared error without overflow."""
    unit = np.abs(error).max() or 1.0
    return float(unit * np.sqrt(np.average((error / unit) ** 2, weights=weight)))


def find_quantile(values: NDArray[np.float64], quantile: float, weight: Weight) -> float:
    """Return the weighted quantile: the smallest value with this share of the weight up to it."""
    return float(np.quantile(values, quantile, method="inverted_cdf", weights=weight))


def find_pinball(
    actual: NDArray[np.float64], predicted: NDArray[np.float64] | float, quantile: float, weight: Weight
) -> float:
    """Return the mean pinball loss, as scikit-learn's ``mean_pinball_loss``."""
    above = actual - predicted
    return average(np.maximum(quantile * above, (quantile - 1.0) * above), weight)


def _score_quantile(
    actual: NDArray[np.float64], predicted: NDArray[np.float64], quantile: float, weight: Weight
) -> QuantileScores:
    return QuantileScores(
        quantile,
        find_pinball(actual, predicted, quantile, weight),
        find_pinball(actual, find_quantile(actual, quantile, weight), quantile, weight),
        float(np.average(actual <= predicted, weights=weight)),
    )


def _score_intervals(part: NumberPart) -> IntervalScores | None:
    if part.interval is None:
        return None
    low, high = part.interval.T
    share = float(np.average((low <= part.actual) & (part.actual <= high), weights=part.weight))
    ends = find_interval(share, count_rows(len(part.actual), part.weight))
    return IntervalScores(part.coverage, share, *ends, average(high - low, part.weight))


def _find_ranges(
    actual: NDArray[np.float64], predicted: NDArray[np.float64], weight: Weight
) -> tuple[PredictedRange, ...]:
    order = np.argsort(predicted, kind="stable")
    found = []
    for rows in np.array_split(order, min(_N_RANGES, len(order))):
        own = None if weight is None else weight[rows]
        error = predicted[rows] - actual[rows]
        found.append(
            PredictedRange(
                n_rows=len(rows),
                predicted=average(predicted[rows], own),
                actual=average(actual[rows], own),
                rmse=find_rmse(error, own),
                mae=average(np.abs(error), own),
            )
        )
    return tuple(found)


def judge_numbers(
    model: Any,
    X: Any,
    actual: NDArray[np.float64],
    weight: NDArray[np.float64] | None = None,
    coverage: float | None = None,
) -> NumberPart:
    """Predict rows of the responses ``actual``, with intervals if the model has them.

    By default, intervals have a coverage of 0.9, and there are none if the model has too few residuals for it.
    """
    predicted = np.asarray(model.predict(X), dtype=np.float64)
    quantiles = find_quantiles(model)
    if predicted.shape != (actual.shape if quantiles is None else (len(actual), len(quantiles))):
        raise ValueError(
            f"the model predicts numbers of shape {predicted.shape} for {len(actual)} responses: pass one per row."
        )
    least = 0.0 if coverage is not None else _COVERAGE  # a coverage that is asked for may be rejected
    coverage = _COVERAGE if coverage is None else coverage
    interval = model.predict_interval(X, coverage) if has_intervals(model, least) else None
    if interval is None and quantiles is not None:
        interval, coverage = predicted[:, [0, -1]], quantiles[-1] - quantiles[0]
    rows = slice(None) if weight is None else weight > 0.0
    return NumberPart(
        actual[rows],
        predicted[rows],
        None if interval is None else interval[rows],
        coverage,
        None if weight is None else weight[rows],
    )


def has_intervals(model: Any, coverage: float = 0.0) -> bool:
    """Whether a model is a regressor of lhtree with prediction intervals of this coverage; 0: of any."""
    if not hasattr(type(model), "_read"):
        return False
    response = read(model, takes_numbers=True, takes_several=True).response
    return response is not None and response.residual is not None and response.reaches(coverage)
