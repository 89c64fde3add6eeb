"""Goals of counterfactuals: another class, or a range of numbers."""

from __future__ import annotations

from collections.abc import Hashable, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from .._parameters import is_real, refuse
from ..model.model import Model
from ..model.numbers import write_value
from ._paths import Trace, sum_targets

Floats = NDArray[np.float64]


@dataclass(frozen=True)
class ClassGoal:
    """Another class than the one predicted."""

    fitted: Model
    code: int  # predicted
    wanted: int | None  # None: any other
    unit = 1.0  # of values and slopes

    def sort(self, rows: Floats) -> NDArray[np.int64]:
        """Return the code of the class of every row."""
        codes: Any = self.fitted.scorer.predict(rows)
        return np.asarray(codes)

    def is_reached(self, rows: Floats) -> NDArray[np.bool_]:
        """Return whether the model predicts another class (the wanted one)."""
        codes = self.sort(rows)
        return np.asarray(codes != self.code if self.wanted is None else codes == self.wanted)

    def leads(self, rows: Floats) -> Floats:
        """Return the lead of the predicted class of the row over the others (over the wanted one).

        The lead is measured in raw scores, if they decide, which differ even if all probabilities are near 0 or 1.
        Calibrated probabilities may decide otherwise than raw scores.
        """
        fitted = self.fitted
        has_raw = "raw_score" in fitted.head.scores and fitted.calibration is None
        score: Any = (
            fitted.head.spread(fitted.score("raw_score", rows), np.negative)
            if has_raw
            else fitted.score("proba", rows)
        )
        others = np.delete(score, self.code, axis=1) if self.wanted is None else score[:, [self.wanted]]
        return np.asarray(score[:, self.code] - others.max(axis=1))

    def favour(self, target: NDArray[np.int32]) -> Floats:
        """Return, for hyperplanes of these targets, 1 if more of the target leads to the goal, -1 if less does."""
        if self.fitted.n_classes == 2:  # one tree serves both, and its target is the second class
            return np.full(len(target), 1.0 if self.code == 0 else -1.0)
        is_wanted = target != self.code if self.wanted is None else target == self.wanted
        return np.where(target == self.code, -1.0, np.where(is_wanted, 1.0, 0.0))

    def find_level(self, slopes: Floats, trace: Trace) -> tuple[Floats, float, int]:
        """Return the hyperplane on which two classes are level by their slopes: weights, lead of a class, its code."""
        assert self.fitted.base is not None
        raw_score = self.fitted.base + sum_targets(self.fitted, trace.membership)
        if self.fitted.n_targets == 1:  # positive where the second class is predicted
            return slopes[0], float(raw_score[0]), 1
        first, second = np.argsort(-raw_score, kind="stable")[:2]
        return slopes[first] - slopes[second], float(raw_score[first] - raw_score[second]), int(first)


@dataclass(frozen=True)
class RangeGoal:
    """A prediction from ``low`` to ``high``."""

    fitted: Model
    before: float  # predicted
    low: float
    high: float

    @property
    def unit(self) -> float:
        """Unit of values and slopes: the range of the training responses, or 1 for logarithms."""
        response = self.fitted.response
        if response is None or self.fitted.head.is_log:
            return 1.0
        return response.high - response.low or abs(response.high) or 1.0

    @property
    def edge(self) -> float:
        """End of the range that is nearer to the row."""
        return self.low if self.before < self.low else self.high

    def predict(self, rows: Floats) -> Floats:
        """Return the predicted number of every row."""
        numbers: Floats = self.fitted.score("value", rows)
        return numbers

    def sort(self, rows: Floats) -> NDArray[np.int64]:
        """Return 0 for every row: all rows in the range are of one kind."""
        return np.zeros(len(rows), dtype=np.int64)

    def is_reached(self, rows: Floats) -> NDArray[np.bool_]:
        """Return whether the prediction is in the range."""
        numbers = self.predict(rows)
        return np.asarray((numbers >= self.low) & (numbers <= self.high))

    def leads(self, rows: Floats) -> Floats:
        """Return the distance of predictions from the range, relative to that of the row; below 0 inside of it."""
        numbers, unit = self.predict(rows), abs(self.edge - self.before)
        return np.asarray(np.maximum(self.low - numbers, numbers - self.high) / unit)

    def is_before(self, rows: Floats) -> NDArray[np.bool_]:
        """Return whether predictions are on the same side of the range as the row."""
        numbers = self.predict(rows)
        return np.asarray(numbers < self.low if self.before < self.low else numbers > self.high)

    def favour(self, target: NDArray[np.int32]) -> Floats:
        """Return 1 if larger values lead to the goal, else -1, for every hyperplane."""
        return np.full(len(target), 1.0 if self.before < self.low else -1.0)

    def find_level(self, slopes: Floats, trace: Trace) -> tuple[Floats, float, int]:
        """Return the hyperplane on which slopes reach the end of the range: weights, distance of the row, 0."""
        fitted, total = self.fitted, float(sum_targets(self.fitted, trace.membership)[0])
        if fitted.base is None:
            slopes, total = slopes / fitted.n_estimators, total / fitted.n_estimators
        else:
            total += float(fitted.base[0])
        edge = float(np.log(self.edge)) if fitted.head.is_log else self.edge
        return slopes[0] / self.unit, (total - edge) / self.unit, 0


Goal = ClassGoal | RangeGoal


def take_goal(fitted: Model, x: Floats, to: Any) -> Goal:
    """Return the goal of a row from the argument ``to``."""
    if not fitted.labels:
        return _take_range(fitted, float(fitted.score("value", x[None])[0]), to)
    code = int(fitted.score("predict", x[None])[0])
    if to is None:
        return ClassGoal(fitted, code, None)
    if not isinstance(to, Hashable) or to not in fitted.labels:
        raise refuse("to", to, f"None (any other class) or one of {', '.join(map(repr, fitted.labels))}")
    wanted = fitted.labels.index(to)
    if wanted == code:
        raise refuse("to", to, "another class: this one is already predicted")
    return ClassGoal(fitted, code, wanted)


def _take_range(fitted: Model, before: float, to: Any) -> RangeGoal:
    expected = (
        "a range (low, high) of predictions to reach, where None is no limit: (200, None) is 200 or more"
    )
    if isinstance(to, str) or not isinstance(to, Sequence | np.ndarray) or len(to) != 2:
        raise refuse("to", to, expected)
    ends = [
        None if end is None or end == none else end for end, none in zip(to, (-np.inf, np.inf), strict=True)
    ]
    if any(end is not None and not is_real(end) for end in ends) or all(end is None for end in ends):
        raise refuse("to", to, expected)
    low, high = (
        (-np.inf if ends[0] is None else float(ends[0])),
        (np.inf if ends[1] is None else float(ends[1])),
    )
    if not low <= high:
        raise refuse("to", to, f"{expected}; low at most high")
    if fitted.head.is_log and high <= 0.0:
        raise refuse("to", to, "a range above 0, where all predictions of this model are")
    if low <= before <= high:
        raise refuse("to", to, f"another range: the prediction, {write_value(before)}, is already in it")
    return RangeGoal(fitted, before, low, high)
