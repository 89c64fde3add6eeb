"""The leaf size of trees and forests, chosen by pilot fits."""

from __future__ import annotations

from dataclasses import replace
from typing import Protocol

import numpy as np
from numpy.typing import NDArray

from .. import _core
from .._parameters import Settled
from ..model.model import Model
from .deadline import Deadline, OutOfTimeError
from .forest import Growth, spread
from .holdout import mark_rows
from .labels import Progress
from .training import Training, shift

_SIZES = (1, 5, 20, 50)
_SHARE = 0.125  # of the weight of the pilot's training rows, above which a leaf size is not tried
_MOST_TREES = 30
_FEW_TREES, _MANY_ROWS = (
    10,
    3_000,
)  # above this number of rows of the pilot, trees take longer, and losses are more certain
_MOST_TRIED = 3  # leaf sizes
_MOST_ROWS = 10_000  # of the pilot, so that it takes at most a third of the time on large data
_HELD_OUT = 0.25
_SMOOTHING = 0.01  # added to every probability: a row that is certainly wrong must not decide alone


class Build(Protocol):
    """Grow trees on some rows: a model that can be scored."""

    def __call__(self, training: Training, settled: Settled, growth: Growth, progress: Progress) -> Model:
        """Return the model."""


class Pilot:
    """Rows and trees of a pilot, and the sizes it compares."""

    def __init__(self, training: Training, growth: Growth, seed: int, *, continues: bool = False) -> None:
        rows = _sample(training, seed)
        n_held = max(1, round(_HELD_OUT * len(rows)))
        is_held = mark_rows(
            training.codes[rows], len(training.classes), n_held, seed, _core.Stream.pilot_validation_rows
        )
        pilot = training.take(rows)  # rows in batches are read once
        self.held = pilot.take(np.flatnonzero(is_held))
        self.training = pilot.take(np.flatnonzero(~is_held))
        weight = self.training.weight
        total = self.training.n_rows if weight is None else float(weight.sum())
        self.sizes = _SIZES[:1] + tuple(size for size in _SIZES[1:] if size < _SHARE * total)
        if not is_held.any():
            self.sizes = _SIZES[:1]
        most_trees = _MOST_TREES if len(rows) <= _MANY_ROWS else _FEW_TREES
        if continues and len(growth.betas) < most_trees:  # more trees are to come, all with the same beta
            growth = replace(growth, betas=np.full(most_trees, growth.betas[0]))
        self.growth = scale_draws(growth, training, self.training, most_trees)

    @property
    def n_trees(self) -> int:
        """Trees that the pilot grows at most."""
        n_tried = min(len(self.sizes), _MOST_TRIED) if self._climbs else len(self.sizes)
        return 0 if n_tried == 1 else n_tried * self.growth.count_trees(self.held.n_targets)

    @property
    def _climbs(self) -> bool:
        """Whether losses are even enough to follow them; losses of few trees are not."""
        return len(self.growth.betas) >= _FEW_TREES

    def choose(
        self, settled: Settled, build: Build, progress: Progress, n_threads: int, deadline: Deadline
    ) -> int:
        """Return the size with the least log loss, the smallest of equals.

        Losses fall and then rise with the size: unless trees are few, the search begins at the second size and
        follows them. A pilot that reaches the deadline returns the second size.
        """
        if len(self.sizes) == 1:
            return self.sizes[0]
        losses: dict[int, float] = {}
        n_each = self.growth.count_trees(self.held.n_targets)

        def measure(place: int) -> float:
            own = settled.with_leaf_size(self.sizes[place])
            model = build(self.training, own, self.growth, shift(progress, len(losses) * n_each))
            deadline.check()  # other models have more trees
            losses[place] = measure_loss(self.held.X.score(model, "proba", n_threads), self.held)
            return losses[place]

        try:
            if self._climbs:
                place = 1
                measure(place)
                while place + 1 < len(self.sizes) and measure(place + 1) < losses[place]:
                    place += 1
                if place == 1:
                    measure(0)
            else:
                for place in range(len(self.sizes)):
                    measure(place)
        except OutOfTimeError:
            return self.sizes[1]
        return self.sizes[min(sorted(losses), key=losses.__getitem__)]


def measure_loss(proba: NDArray[np.float64], rows: Training) -> float:
    """Return the log loss of smoothed probabilities."""
    true = proba[np.arange(len(proba)), rows.codes]
    smoothed = (true + _SMOOTHING) / (1.0 + _SMOOTHING * proba.shape[1])
    return float(np.average(-np.log(smoothed), weights=rows.weight))


def _sample(training: Training, seed: int) -> NDArray[np.int64]:
    """Return all rows, or a sample drawn by class."""
    n_rows = len(training.X)
    if n_rows <= _MOST_ROWS:
        return np.arange(n_rows)
    counts = spread(_MOST_ROWS / n_rows, np.bincount(training.codes))
    rows, _ = _core.draw_rows(training.codes, counts, False, seed, _core.Stream.pilot_rows)
    return np.sort(rows).astype(np.int64)


def scale_draws(growth: Growth, training: Training, part: Training, most_trees: int) -> Growth:
    """Return the settings for at most ``most_trees`` trees on a part of the rows, with the same share of each class."""
    n_trees = len(growth.betas)
    chosen = np.linspace(0, n_trees - 1, min(n_trees, most_trees)).round().astype(np.int64)
    counts = None
    if growth.counts is not None:
        share = np.bincount(part.codes) / np.bincount(training.codes)
        counts = np.maximum(1, np.rint(growth.counts * share).astype(np.int64))
    return replace(growth, betas=growth.betas[chosen], first_tree=0, counts=counts, record=None)
