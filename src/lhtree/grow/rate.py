"""The learning rate of boosted trees: ``learning_rate="auto"``.

Few rows need small steps, and so do noisy ones, on which many steps learn noise. So a pilot runs a quarter of the
rounds at four times the rate on three quarters of the rows; if the loss of the others is least before its last round,
all rounds together go only a little further than that.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, Protocol

import numpy as np

from ..tables.sample import MOST_SAMPLED
from .holdout import Validation, hold_out
from .training import Training

Progress = Callable[[float], None] | None

_HASTE = 4  # how much faster the pilot is
_FURTHER = 1.25  # how far to go, relative to the best round of the pilot: it has fewer rows and larger steps
_HELD_OUT = 0.25
_PATIENCE = 20  # rounds of the pilot
_FEWEST_ROUNDS = 40  # of a fit with a pilot
_FEWEST_ROWS, _MOST_ROWS = 100, 50_000  # with fewer, too few are held out; with more, there is little to gain


class Run(Protocol):
    """Grow rounds of trees; ``validation_loss`` is the loss of the rows held out before the first and after each."""

    def __call__(
        self, rate: float, n_rounds: int, validation: Validation | None, patience: int, progress: Progress
    ) -> dict[str, Any]:
        """Return what the core returns."""


def choose_rate(
    training: Training, validation: Validation | None, max_iter: int, run: Run | None, seed: int
) -> float:
    """The rate for these rows, those of ``validation`` aside; without ``run``, by their number alone."""
    is_learned = slice(None) if validation is None else validation.held == 0
    weight = training.weight
    n = float(len(training.codes[is_learned]) if weight is None else weight[is_learned].sum())
    rate = min(1.0, 0.05 * min(1.0, n / 8000) ** 0.35 * (400 / max_iter) ** 0.8)
    may_try = max_iter >= _FEWEST_ROUNDS and training.n_rows <= MOST_SAMPLED
    if run is not None and may_try and _FEWEST_ROWS <= n <= _MOST_ROWS:
        rate *= _share_of_way(training, max_iter, rate, run, seed)
    return float(f"{rate:.4g}")  # the powers of C libraries differ in the last bit


def _share_of_way(training: Training, max_iter: int, rate: float, run: Run, seed: int) -> float:
    """How far the rounds should go, relative to the rate by the number of rows."""
    n_rounds = max_iter // _HASTE
    hasty = min(1.0, float(f"{_HASTE * rate:.4g}"))
    losses = run(hasty, n_rounds, hold_out(training, _HELD_OUT, seed), _PATIENCE, None)["validation_loss"]
    return min(1.0, _FURTHER * max(int(np.argmin(losses)), 1) / n_rounds)
