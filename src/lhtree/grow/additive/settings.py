"""Parameters of additive models, checked."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from ... import _core
from ..._parameters import UNSEEN, check_count, check_number, choose, is_auto, is_integer, is_real, refuse
from ..boosting import find_groups, find_monotonic
from ..objective import Objective
from ..training import Training

Pair = tuple[int, int]

LEARNING_RATE = 0.2  # of learning_rate="auto"
_GROWTH = 0.01  # of the learning rate of curves in every cycle, relative to the first one
_MOST_ROUNDS = 2**31 - 1  # which the core counts; no fit lasts that long
_SMOOTHER = 10.0  # smoothing of the first cycles of curves, relative to that of the others
_PENALTIES = (1.0, 0.1)  # tried by l2_regularization="auto"; surfaces have the first
_MOST_SMOOTHING = 1e300  # a finite number
_MOST_LEVELS = 254  # of a column: a slot holds them


class CurveSteps(NamedTuple):
    """Options of the steps of curves: of the first cycles, which are smoother, and of the others."""

    smooth: _core.StepOptions
    sharp: _core.StepOptions


@dataclass(frozen=True)
class AdditiveSettings:
    """Parameters of one fit, checked."""

    objective: Objective
    max_iter: int
    learning_rate: float
    max_bins: int
    n_bags: int
    patience: int
    interactions: int | list[Pair] | None  # pairs of columns; None: "auto"
    groups: list[set[int]]  # of columns that may form surfaces; empty: all
    max_steps: int | None  # of a curve
    merges: bool  # whether max_steps is "auto"
    signs: NDArray[np.int8] | None  # of every feature
    curve_steps: list[CurveSteps]  # to try
    step: _core.StepOptions  # of surfaces

    @classmethod
    def of(cls, params: dict[str, Any], training: Training) -> AdditiveSettings:
        """The settings for these parameters and rows."""
        rate, max_bins, smoothing = params["learning_rate"], params["max_bins"], params["smoothing"]
        if not is_auto(rate) and not (is_real(rate) and 0.0 < rate <= 1.0):
            raise refuse("learning_rate", rate, "'auto' or a number in (0, 1]")
        if not is_integer(max_bins) or not 2 <= max_bins <= _core.MOST_BINS:
            raise refuse("max_bins", max_bins, f"an integer from 2 to {_core.MOST_BINS}")
        if not is_real(smoothing) or not 0.0 < smoothing < np.inf:
            raise refuse("smoothing", smoothing, "a positive number")
        choose("unseen", params["unseen"], UNSEEN)
        max_steps = params["max_steps"]
        if max_steps is not None and not is_auto(max_steps):
            if not is_integer(max_steps) or max_steps < 2:
                raise refuse("max_steps", max_steps, "'auto', None or an integer of at least 2")
            max_steps = int(max_steps)
        if training.encoding.levels.max(initial=0) > _MOST_LEVELS:
            raise refuse(
                "max_one_hot", params["max_one_hot"], f"at most {_MOST_LEVELS} for an additive model"
            )
        rate = LEARNING_RATE if isinstance(rate, str) else float(rate)
        signs = find_monotonic(params["monotonic_cst"], training)
        objective = Objective.of(params, training)
        if objective.outputs:
            raise refuse("quantile", params["quantile"], "one quantile for an additive model")
        l2 = params["l2_regularization"]
        penalties = _PENALTIES if is_auto(l2) else (check_number("l2_regularization", l2),)
        least = float(check_count("min_samples_leaf", params["min_samples_leaf"], 1))

        def step(penalty: float, smoothing: float, rate: float, growth: float) -> _core.StepOptions:
            return _core.StepOptions(
                learning_rate=rate,
                l2_regularization=penalty,
                min_samples_leaf=least,
                smoothing=smoothing,
                growth=growth,
            )

        smoother = min(_SMOOTHER * smoothing, _MOST_SMOOTHING)
        return cls(
            objective=objective,
            max_iter=min(check_count("max_iter", params["max_iter"], 1), _MOST_ROUNDS),
            learning_rate=rate,
            max_bins=int(max_bins),
            n_bags=check_count("n_bags", params["n_bags"], 1),
            patience=min(check_count("n_iter_no_change", params["n_iter_no_change"], 1), _MOST_ROUNDS),
            interactions=_read_interactions(params["interactions"], training, signs),
            groups=[set(group) for group in find_groups(params["interaction_cst"], training)],
            max_steps=None if isinstance(max_steps, str) else max_steps,
            merges=isinstance(max_steps, str),
            signs=signs,
            curve_steps=[
                CurveSteps(step(own, smoother, rate, _GROWTH), step(own, float(smoothing), rate, _GROWTH))
                for own in penalties
            ],
            step=step(penalties[0], float(smoothing), rate / 2.0, 0.0),
        )

    @property
    def surface_rate(self) -> float:
        """Learning rate of surfaces."""
        return self.learning_rate / 2.0

    @property
    def surface_patience(self) -> int:
        """Cycles of surfaces without a lower held-out loss after which boosting stops."""
        return -(-self.patience // 2)

    def allows(self, first: int, second: int) -> bool:
        """Whether two columns may form a surface."""
        return not self.groups or any({first, second} <= group for group in self.groups)


def _read_interactions(
    value: Any, training: Training, signs: NDArray[np.int8] | None
) -> int | list[Pair] | None:
    """Return the number of pairs, or the pairs of columns; None for "auto"."""
    if is_auto(value):
        return None
    if is_integer(value) and value >= 0:
        return int(value)
    wanted = "'auto', a number of pairs, or a list of pairs of columns"
    if isinstance(value, str) or not hasattr(value, "__iter__"):
        raise refuse("interactions", value, wanted)
    names, pairs = list(training.encoding.names), []
    for pair in value:
        if isinstance(pair, str) or not hasattr(pair, "__len__") or len(pair) != 2:
            raise refuse("interactions", value, wanted)
        columns = []
        for one in pair:
            if is_integer(one) and 0 <= one < len(names):
                columns.append(int(one))
            elif one in names:
                columns.append(names.index(one))
            else:
                raise refuse("interactions", value, f"columns of X only: {one!r} is not one")
        first, second = sorted(columns)
        if first == second:
            raise refuse("interactions", value, f"pairs of different columns, not {names[first]!r} twice")
        for column in columns:
            if signs is not None and signs[training.encoding.features_of(column)].any():
                raise refuse(
                    "interactions",
                    value,
                    f"pairs without {names[column]!r}: a surface could break its monotonic constraint",
                )
        pairs.append((first, second))
    return list(dict.fromkeys(pairs))
