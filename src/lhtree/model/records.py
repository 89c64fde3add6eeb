"""Records of a fit that a model keeps besides its trees: how it was fitted, its response, and its calibration."""

from __future__ import annotations

from dataclasses import asdict, dataclass, field
from itertools import pairwise
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from .. import _core
from .._parameters import is_real, refuse

CALIBRATIONS = ("sigmoid", "isotonic")  # methods of ``calibrate``
CALIBRATORS = _core.CALIBRATORS  # kinds of maps
DECLARED = ("immutable", "rising", "falling", "whole")  # what columns can be declared as


@dataclass(frozen=True)
class Prototypes:
    """Rows in original units, shape (n, m), the index of each row's class, and its row number in fit.

    In a regression, the indices are 0, and every row has its response.
    """

    X: NDArray[Any]
    codes: NDArray[np.int32]
    given: NDArray[np.int64]
    response: NDArray[np.float64] | None = None


@dataclass(frozen=True)
class Drawn:
    """Row draws of some estimators of a forest: rows per class (None: all rows), with or without replacement."""

    n_estimators: int
    counts: NDArray[np.int64] | None
    bootstrap: bool


@dataclass(frozen=True)
class ForestRecord:
    """Record of the fit of a forest, for warm starts, out-of-bag scores and single estimators."""

    betas: NDArray[np.float64]  # of every estimator
    tree_parameters: dict[str, Any]  # with which a tree would be fitted by itself, beta aside
    sizes: NDArray[np.int64]  # rows of every class; of a regression, the number of rows
    draws: tuple[Drawn, ...]
    oob_score: float | None = None
    oob_decision_function: NDArray[np.float64] | None = None
    oob_prediction: NDArray[np.float64] | None = None  # of a regression, instead


@dataclass(frozen=True)
class Bins:
    """Bins of the features in boosting (see ``bins.hpp``); the last bin of a feature is for missing values."""

    ptr: NDArray[np.int64]  # first bin of every feature, shape (m + 1,)
    edge: NDArray[np.float64]  # upper edge of every bin, as z
    value: NDArray[np.int32]  # representative of every bin, in units of 2**-12
    missing: NDArray[np.int8]  # whether a value of the feature was missing, shape (m,)


@dataclass(frozen=True)
class RacedSetting:
    """A setting of parameters in the race of a boosted fit, and its least loss on held-out rows."""

    settings: dict[str, Any]
    loss: float
    n_rounds: int  # with the least loss, in the race


@dataclass(frozen=True)
class BoostRecord:
    """Record of the fit of a boosted model, for warm starts."""

    learning_rate: float
    bins: Bins
    # Minus the loss, before the first round and after each; empty: not taken.
    train_score: NDArray[np.float64]
    validation_score: NDArray[np.float64]
    settings: dict[str, Any]  # values in use of the parameters that a race can choose
    race: tuple[RacedSetting, ...] = ()  # the defaults first

    def describe(self) -> dict[str, Any]:
        """Return the settings and the runs of the race as plain values."""
        return {"settings": dict(self.settings), "race": [asdict(run) for run in self.race]}


@dataclass(frozen=True)
class CompactRecord:
    """Record of the fit of a compact tree."""

    penalty: float  # in use: given, or chosen
    rounding_loss: float  # training accuracy (R² of a regression) that rounding cost
    objective: tuple[float, ...]  # of every tree that was kept, in turn


@dataclass(frozen=True)
class AdditiveRecord:
    """Record of the fit of an additive model, and of its edits."""

    learning_rate: float
    n_iter: tuple[int, ...]  # cycles of every bag that were kept
    band: NDArray[np.float64]  # standard error of the value of every leaf, by the jackknife over bags; else 0
    edits: tuple[dict[str, Any], ...] = ()


@dataclass(frozen=True)
class OutputRecord:
    """One of several outputs of a model: a quantile, or one of several responses."""

    name: str
    low: float  # least, largest and weighted mean training response
    high: float
    mean: float


@dataclass(frozen=True)
class ResponseRecord:
    """Summary of the training responses, and the errors on rows that trees were not grown from."""

    low: float  # least, largest and weighted mean response; of all of them if there are several
    high: float
    mean: float
    # Errors on rows that were left out, ascending, and the weights of the rows (None: 1 each). Of a forest:
    # |response - prediction of the trees that leave a row out|, times a factor for their number. Of a boosted model:
    # errors of five models; with several quantiles, how far a response is outside the least and the largest, less than
    # 0 if it is inside.
    residual: NDArray[np.float64] | None = None
    residual_weight: NDArray[np.float64] | None = None

    @classmethod
    def of(cls, response: NDArray[np.float64], weight: NDArray[np.float64] | None) -> ResponseRecord:
        """Return the record of training responses."""
        low, high = float(response.min()), float(response.max())
        scaled, exponent = scale_down(response)
        mean = float(np.mean(np.ldexp(np.average(scaled, axis=0, weights=weight), exponent)))
        return cls(low, high, min(max(mean, low), high))

    def reaches(self, coverage: float) -> bool:
        """Whether there are residuals, and enough of them for intervals of this coverage."""
        n = 0 if self.residual is None else len(self.residual)
        return coverage * (n + 1) * (1.0 - 1e-12) <= n  # the new row is one of them

    def interval(self, prediction: NDArray[np.float64], coverage: Any) -> NDArray[np.float64]:
        """Return intervals that contain a share ``coverage`` of new responses, shape (n, 2).

        Conformal: predictions, or the least and the largest of several quantiles, are moved outwards by the quantile of
        the residuals at ``coverage``.
        """
        if self.residual is None:
            raise AttributeError(
                "there are no intervals: fit an LHBoostRegressor with intervals=True, an LHEnsembleRegressor, or an "
                "LHForestRegressor whose trees leave rows out (max_samples < 1, and more than two rows)."
            )
        if not is_real(coverage) or not 0.0 < coverage < 1.0:
            raise refuse("coverage", coverage, "a number between 0 and 1")
        n = len(self.residual)
        if not self.reaches(coverage):
            raise refuse(
                "coverage", coverage, f"at most {n / (n + 1):.4g}, or fit more rows: there are {n} residuals"
            )
        weight = np.ones(n) if self.residual_weight is None else self.residual_weight
        reached = np.cumsum(weight)
        needed = coverage * (reached[-1] + reached[-1] / n)
        half = self.residual[min(int(np.searchsorted(reached, needed * (1.0 - 1e-12))), n - 1)]
        low, high = (
            (prediction, prediction) if prediction.ndim == 1 else (prediction[:, 0], prediction[:, -1])
        )
        low, high = low - half, high + half
        middle = (
            low / 2.0 + high / 2.0
        )  # of quantiles that are moved inwards by more than half of their distance
        return np.column_stack([np.minimum(low, middle), np.maximum(high, middle)])


@dataclass(frozen=True)
class Provenance:
    """Origin of a model: its target and table, the settings in use, versions, and results on held-out rows."""

    target: str | None = None  # name of the response
    fingerprint: str | None = None  # hash of encoded rows and responses; None if they were not in memory
    settings: dict[str, Any] = field(default_factory=dict)  # in use: numbers instead of "auto"
    versions: dict[str, str] = field(default_factory=dict)  # of the libraries, by name
    date: str | None = None  # of the fit, ISO 8601; only the command line records it
    source: dict[str, Any] | None = None  # path and SHA-256 of the file
    holdout: dict[str, Any] | None = None  # how rows were held out, measures, and bins of their scores

    def figures(self) -> list[tuple[str, str]]:
        """Return names and texts of the known facts, without the settings."""
        source, held = self.source or {}, self.holdout or {}
        pairs = {
            "target": self.target,
            "table": source.get("path"),
            "table sha256": source.get("sha256"),
            "rows hash": self.fingerprint,
            "fitted": self.date,
            "fitted with": ", ".join(f"{name} {version}" for name, version in self.versions.items()),
            "hold-out": _write_holdout(held) if held else None,
        }
        return [(name, text) for name, text in pairs.items() if text]


def _write_holdout(holdout: dict[str, Any]) -> str:
    names = ("accuracy", "roc_auc", "gini", "ks", "log_loss", "r2", "rmse")
    shown = ((name, holdout.get(name)) for name in names)
    figures = ", ".join(f"{name.replace('_', ' ')} {value:.4g}" for name, value in shown if value is not None)
    return f"{holdout['n_rows']:,} rows ({holdout['how']}): {figures}"


def scale_down(response: NDArray[np.float64]) -> tuple[NDArray[np.float64], Any]:
    """Scale a response by a power of two so that its largest value is from 1/2 to 1, and return the exponent.

    So squares of 1e300 do not overflow, and a response times a power of two grows the same trees. Several responses,
    shape (n, k), have an array of exponents.
    """
    exponent = np.frexp(np.abs(response).max(axis=0))[1]
    return np.ldexp(response, -exponent), int(exponent) if response.ndim == 1 else exponent


class Knots(NamedTuple):
    """The map of one target: slope and intercept of a sigmoid, or the corners of lines."""

    x: NDArray[np.float64]
    y: NDArray[np.float64]


@dataclass(frozen=True, eq=False)
class Calibration:
    """A map of the second of two classes, or of every class.

    It maps the raw score of a boosted model, else the uncalibrated probability.

    A sigmoid is 1 / (1 + exp(-(x·score + y))). Lines join ascending corners; beyond them the map is
    constant. Of two classes the first has the rest; of more, the probabilities are divided by their sum.
    """

    kind: str  # one of CALIBRATORS
    ptr: NDArray[np.int64]  # first knot of every map, shape (n_maps + 1,)
    x: NDArray[np.float64]
    y: NDArray[np.float64]

    @classmethod
    def of(cls, kind: str, knots: list[Knots]) -> Calibration:
        """Join the maps of the targets."""
        ptr = np.cumsum([0, *(len(one.x) for one in knots)], dtype=np.int64)
        return cls(
            kind, ptr, np.concatenate([one.x for one in knots]), np.concatenate([one.y for one in knots])
        )

    @property
    def n_maps(self) -> int:
        """Number of maps: one for two classes, else one per class."""
        return len(self.ptr) - 1

    @property
    def knots(self) -> list[Knots]:
        """The corners of every map."""
        bounds = self.ptr.tolist()
        return [Knots(self.x[a:b], self.y[a:b]) for a, b in pairwise(bounds)]

    @property
    def parts(self) -> tuple[str, Any, Any, Any]:
        """As the core takes it."""
        return self.kind, self.ptr, self.x, self.y
