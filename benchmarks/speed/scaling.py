"""How fit and batch time grow with rows, features, trees, classes and threads."""

from collections.abc import Callable, Mapping, Sequence
from functools import partial
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from ..common import data as datasets
from ..common.models import MODELS, one_thread
from ..common.results import Result
from ..common.timing import Timing, take_turns
from ..runner import Args, Tell
from .threads import measure_threads

_CAP = 3.0  # seconds; a model leaves a series when its next call would take longer
_QUICK_CAP = 1.0
_DEPTH = 8
_BATCH = 10_000


class Series(NamedTuple):
    """One line of a plot: a model and its parameters; ``counts`` is the parameter that takes the axis' value."""

    model: str
    params: dict[str, Any]
    counts: str = ""

    def build(self, value: int) -> Any:
        """Build the model for a place on the axis."""
        return MODELS[self.model].build(0, **self.params, **{self.counts: value} if self.counts else {})


class Axis(NamedTuple):
    """The varied quantity, its values, and the data and models."""

    values: Sequence[int]
    make: Callable[[int], tuple[NDArray[Any], NDArray[Any]]]
    series: dict[str, Series]
    scores_own: bool = True  # whether rows to score vary with the axis; else models are fitted once


_N_TREES = 10
_OF_DEPTH = {
    "paper tree": Series("paper_tree", {"max_depth": _DEPTH}),
    "mixed forest": Series("mixed_forest", {"max_depth": _DEPTH, "n_estimators": _N_TREES}),
    "CART": Series("cart", {"max_depth": _DEPTH}),
    "LightGBM": Series("lightgbm", {"n_estimators": _N_TREES}),
}


def _spambase(_: int) -> tuple[NDArray[Any], NDArray[Any]]:
    data = datasets.load("spambase")
    return data.X, data.y


def list_axes(args: Args) -> dict[str, Axis]:
    """Return the axes of the short or the full form."""
    rows = (1000, 4000, 16_000, 64_000, 250_000, 1_000_000, 2_000_000)
    features = (5, 10, 20, 50, 100, 200, 500, 1000, 2000)
    trees = (1, 3, 10, 30, 100, 300)
    classes = (2, 3, 5, 10, 20)
    if args.quick:
        rows, features, trees, classes = rows[:4], features[2:7:2], trees[:3], classes[:3:2]
    forests = ("paper_forest", "mixed_forest", "rf", "lightgbm", "xgboost")
    counted = {MODELS[name].title: Series(name, {}, "n_estimators") for name in forests}
    return {
        "rows": Axis(rows, lambda n: datasets.make_rows(n, 20), _OF_DEPTH, scores_own=False),
        "features": Axis(features, lambda m: datasets.make_rows(4000, m), _OF_DEPTH),
        "trees": Axis(trees, _spambase, counted),
        "classes": Axis(classes, lambda k: datasets.make_rows(20_000, 20, k), _OF_DEPTH),
    }


def exponent(values: Sequence[float], seconds: Sequence[float]) -> float:
    """Slope of log time over log value, by least squares over the upper half of the values."""
    half = max(2, (len(values) + 1) // 2)
    return float(np.polyfit(np.log(values[-half:]), np.log(seconds[-half:]), 1)[0])


class _Growing:
    """Times of one kind of call along an axis; models whose next call would pass the cap are left out."""

    def __init__(self, cap: float) -> None:
        self.cap = cap
        self.points: dict[str, list[tuple[int, Timing]]] = {}

    def allows(self, name: str, value: int) -> bool:
        """Whether the next call stays below the cap, if time grows with the value."""
        if not (before := self.points.get(name)):
            return True
        last, timing = before[-1]
        return timing.cpu * value / last < self.cap

    def add(self, value: int, calls: Mapping[str, Callable[[], Any]], args: Args) -> None:
        """Time calls at one place of the axis."""
        n_rounds, seconds = (3, 0.5) if args.quick else (7, 1.5)
        for name, timing in take_turns(calls, n_rounds=n_rounds, seconds=seconds).items():
            self.points.setdefault(name, []).append((value, timing))

    def keep(self) -> Result:
        """Points and exponent of every line."""
        kept = {}
        for name, points in self.points.items():
            values = [value for value, _ in points]
            slope = exponent(values, [timing.cpu for _, timing in points]) if len(values) > 1 else None
            times = [timing._asdict() for _, timing in points]
            kept[name] = {"values": values, "times": times, "exponent": slope}
        return kept


def _fit_kept(kept: dict[str, Any], name: str, series: Series, value: int, data: Any) -> None:
    kept[name] = series.build(value).fit(*data)


def _measure_axis(tell: Tell, name: str, axis: Axis, args: Args) -> Result:
    """Fit and batch times along one axis."""
    cap = _QUICK_CAP if args.quick else _CAP
    fits, batches = _Growing(cap), _Growing(cap)
    fixed: dict[str, Any] = {}
    if not axis.scores_own:
        X, y = axis.make(axis.values[2])
        fixed = {key: one.build(0).fit(X, y) for key, one in axis.series.items()}
    for value in axis.values:
        tell(f"{name}: {value:,}")
        X, y = axis.make(value)
        allowed = {key: one for key, one in axis.series.items() if fits.allows(key, value)}
        fitted: dict[str, Any] = {}
        calls = {key: partial(_fit_kept, fitted, key, one, value, (X, y)) for key, one in allowed.items()}
        fits.add(value, calls, args)
        rows = X[np.arange(_BATCH) % len(X)] if axis.scores_own else X
        scorers = fitted if axis.scores_own else fixed
        calls = {
            key: partial(one_thread(axis.series[key].model, model), rows)
            for key, model in scorers.items()
            if batches.allows(key, value)
        }
        batches.add(value, calls, args)
    return {"fit": fits.keep(), "batch": batches.keep()}


def measure(tell: Tell, args: Args) -> Result:
    """Return times along every axis, and with two threads."""
    axes = {name: _measure_axis(tell, name, axis, args) for name, axis in list_axes(args).items()}
    return {"axes": axes, "threads": measure_threads(tell, args)}
