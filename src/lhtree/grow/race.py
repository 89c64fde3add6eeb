"""Settings of boosting chosen by the data: a race of a few settings on held-out rows, and the learning rate."""

from __future__ import annotations

from collections.abc import Sequence
from math import fsum, sqrt
from typing import Any, NamedTuple, Protocol

import numpy as np
from numpy.typing import NDArray

from .. import _core
from ..model.trees import Trees
from .holdout import Validation, hold_out
from .sources import MemoryRows
from .training import Training

RACED = ("max_depth", "min_samples_leaf", "subsample", "max_features", "leaf")


class Rivals(NamedTuple):
    """Parameters in which other settings of a race differ from the defaults."""

    few_rows: tuple[dict[str, Any], ...]
    many_rows: tuple[dict[str, Any], ...]

    def admit(self, n_rows: float, max_iter: int) -> tuple[dict[str, Any], ...] | None:
        """Return the rivals that take part in a race; None if rows or rounds are too few for any race."""
        if n_rows < _FEWEST_ROWS or max_iter < _FEWEST_ROUNDS:
            return None
        return self.few_rows if n_rows < _FEW_ROWS else self.many_rows


class Capacity(NamedTuple):
    """Values of parameters that are "auto", their rivals, and the learning rate of 400 rounds on many rows."""

    max_depth: int
    min_samples_leaf: int
    subsample: float
    max_features: float
    n_directions: int  # of a block, or of a level
    learning_rate: float
    rivals: Rivals

    @property
    def settings(self) -> dict[str, Any]:
        """Values of parameters that are "auto"."""
        return {name: getattr(self, name) for name in RACED if name != "leaf"}


CAPACITIES = {
    "symmetric": Capacity(
        max_depth=6,
        min_samples_leaf=1,
        subsample=1.0,
        max_features=1.0,
        n_directions=2,
        learning_rate=0.08,
        rivals=Rivals(
            few_rows=(
                {"max_depth": 3},
                {"max_depth": 4},
                {"max_depth": 4, "subsample": 0.8, "max_features": 0.5},
            ),
            many_rows=({"max_depth": 4}, {"max_depth": 8}, {"subsample": 0.8, "max_features": 0.5}),
        ),
    ),
    "free": Capacity(
        max_depth=5,
        min_samples_leaf=20,
        subsample=0.7,
        max_features=0.5,
        n_directions=1,
        learning_rate=0.05,
        rivals=Rivals(
            few_rows=({"max_depth": 3},),
            many_rows=({"max_depth": 3}, {"max_depth": 8}, {"subsample": 1.0, "max_features": 1.0}),
        ),
    ),
}
_CONSTANT = {"leaf": "constant"}  # rival of linear leaves

_HELD_OUT, _N_FOLDS = 0.25, 2
_FEWEST_ROWS = 100  # fewer have no race
_FEW_ROWS = 1_000  # fewer have two folds, and shallow rivals
MOST_RACED = 50_000  # rows; of more, a sample races
_FEWEST_ROUNDS = 40  # of a fit with a race
_HASTE = 2  # learning rate in a race, relative to the fit
_SHORTER = 4  # rounds of a fit for every round of a race
_FASTEST = 0.3  # learning rate in a race; larger steps favour settings that learn less per round
_PATIENCE = 20  # rounds
_N_FINALISTS = 2  # rivals that are left after the first leg
_N_FINALISTS_OF_FOLDS = 1
_NEAR_END = 0.9  # share of the rounds; after it, the best round may be yet to come
_FURTHER = (
    1.5  # how far a fit should go, relative to the best round of the race: it has more rows and smaller steps
)
_MANY_ROWS = 4_000  # of them or more, the rate of linear leaves may be doubled
_CERTAINTY = 1.0  # standard errors by which a rival must be better than the defaults
_CERTAINTY_OF_FOLDS = 0.5  # the same on two folds, where all rivals are simpler than the defaults


def list_rivals(growth: str, open_names: set[str], leaf: str) -> Rivals:
    """Return the other settings of a race, as changes of the defaults; only ``open_names`` may change."""
    few_rows, many_rows = CAPACITIES[growth].rivals
    more = (_CONSTANT,) if leaf == "linear" else ()
    return Rivals(_keep_open(few_rows, open_names), _keep_open((*many_rows, *more), open_names))


def _keep_open(rivals: tuple[dict[str, Any], ...], open_names: set[str]) -> tuple[dict[str, Any], ...]:
    """Return the changes of open parameters, each once."""
    kept: list[dict[str, Any]] = []
    for changes in rivals:
        own = {name: value for name, value in changes.items() if name in open_names}
        if own and own not in kept:
            kept.append(own)
    return tuple(kept)


def rate_by_rows(base: float, n: float, max_iter: int) -> float:
    """Return the learning rate for rows of total weight ``n``; ``base`` is that of 400 rounds on many rows."""
    return float(min(1.0, base * min(1.0, n / 8000) ** 0.35 * (400 / max_iter) ** 0.8))


def round_rate(rate: float) -> float:
    """Round to four digits: the powers of C libraries differ in the last bit."""
    return float(f"{rate:.4g}")


class FoldTrees(NamedTuple):
    """Trees of a run on the rows of a fold, and the scores before the first round."""

    trees: Trees
    first: NDArray[np.float64]


class Grow(Protocol):
    """Grows rounds of trees on the rows of a fold that are not held out."""

    def __call__(
        self, changes: dict[str, Any], rate: float, n_rounds: int, patience: int, earlier: FoldTrees | None
    ) -> dict[str, Any]:
        """Return the result of ``_core.boost_rows`` with changed settings, after the trees of ``earlier``."""


class Fold(NamedTuple):
    """Rows of a race, some of which are held out."""

    grow: Grow
    weight: NDArray[np.float64]  # of the held-out rows


class Run:
    """The rounds of a setting in a race, on every fold."""

    def __init__(self, folds: Sequence[Fold], changes: dict[str, Any], rate: float) -> None:
        self.changes, self.rate = changes, rate
        self.losses = np.empty(0)  # of the held-out rows, before the first round and after each
        self.row_losses = np.empty(0)  # of every held-out row, fold by fold, after the best round of the fold
        self.is_over = False  # the loss has not improved for a while
        self._folds = folds
        self._grown: list[FoldTrees] = []  # of every fold

    @property
    def best(self) -> int:
        """Number of rounds with the least loss."""
        return int(np.argmin(self.losses))

    @property
    def loss(self) -> float:
        """The least loss."""
        return float(self.losses.min(initial=np.inf))

    @property
    def may_improve(self) -> bool:
        """Whether the best round may be yet to come."""
        return not self.is_over and self.best >= _NEAR_END * (len(self.losses) - 1)

    def go_on(self, n_rounds: int) -> None:
        """Grow trees up to a number of rounds, unless the run is over.

        One fold stops growing when its loss has not improved for a while; two folds take equally many rounds.
        """
        n_more = n_rounds - max(len(self.losses) - 1, 0)
        if self.is_over or n_more <= 0:
            return
        patience = _PATIENCE if len(self._folds) == 1 else n_more
        earlier: Sequence[FoldTrees | None] = self._grown or [None] * len(self._folds)
        found = [
            fold.grow(self.changes, self.rate, n_more, patience, grown)
            for fold, grown in zip(self._folds, earlier, strict=True)
        ]
        total = fsum(fsum(fold.weight) for fold in self._folds)
        shares = [fsum(fold.weight) / total for fold in self._folds]
        losses = sum(share * one["validation_loss"] for share, one in zip(shares, found, strict=True))
        if losses.min() < self.loss:
            self.row_losses = np.concatenate([one["row_losses"] for one in found])
        self.losses = np.concatenate([self.losses, losses[min(len(self.losses), 1) :]])
        self.is_over = len(losses) <= n_more
        if len(self._folds) > 1:
            self.is_over = len(self.losses) - 1 - self.best >= _PATIENCE
        self._grown = [
            FoldTrees(
                Trees(**one["trees"]) if grown is None else grown.trees + Trees(**one["trees"]), one["first"]
            )
            for grown, one in zip(earlier, found, strict=True)
        ]


class Race:
    """A race between the defaults and their rivals, all with the same rows and bins.

    ``rate`` is the learning rate of a fit with the defaults. Shallow trees learn less, so they take larger steps.
    """

    def __init__(self, folds: Sequence[Fold], defaults: dict[str, Any], rate: float, max_iter: int) -> None:
        self._folds = folds
        self._weight = np.concatenate([fold.weight for fold in folds])
        self._defaults = defaults
        self._rate, self._full_way = rate, rate * max_iter
        self._n_rounds = max_iter // _SHORTER

    def start(self, changes: dict[str, Any]) -> Run:
        """Return a run without rounds."""
        rate = self._rate * self._find_pace(changes)
        return Run(self._folds, changes, min(1.0, round_rate(min(max(rate, _FASTEST), _HASTE * rate))))

    def run(self, rivals: Sequence[dict[str, Any]]) -> tuple[Run, list[Run]]:
        """Return the winner and all runs, the defaults first.

        All settings start. After a quarter of the rounds, the defaults and the best rivals continue. A rival wins if it
        is better than the defaults by more than chance. The winner continues if its best round may be yet to come.
        """
        has_folds = len(self._folds) > 1
        n_finalists = _N_FINALISTS_OF_FOLDS if has_folds else _N_FINALISTS
        certainty = _CERTAINTY_OF_FOLDS if has_folds else _CERTAINTY
        runs = [self.start(changes) for changes in ({}, *rivals)]
        for run in runs:
            run.go_on(self._n_rounds // 4)
        for run in (runs[0], *sorted(runs[1:], key=lambda run: run.loss)[:n_finalists]):
            run.go_on(self._n_rounds)
        ahead = min(runs, key=lambda run: run.loss)
        winner = ahead if self.compare(ahead, runs[0]).is_gain(certainty) else runs[0]
        if winner.may_improve:
            winner.go_on(2 * self._n_rounds)
        return winner, runs

    def compare(self, run: Run, other: Run) -> Difference:
        """Compare two runs row by row."""
        return Difference.of(run.row_losses - other.row_losses, self._weight)

    def find_factor(self, winner: Run, n_raced: int, n_rows: int) -> float:
        """Return the factor of the rate by the number of rows; more rows than raced allow a longer way.

        Large steps of linear leaves follow few rows too closely. The shallow rivals of few rows may go further.
        """
        way = _FURTHER * self._find_way(winner, n_raced, n_rows)
        is_linear = (self._defaults | winner.changes)["leaf"] == "linear"
        most = 1.0 + (min(1.0, n_raced / _MANY_ROWS) if is_linear else 1.0)
        if n_raced < _FEW_ROWS:
            most *= self._find_pace(winner.changes)
        return float(min(most, max(way, 1.0) if winner.may_improve else way))

    def find_cautious_factor(self, winner: Run, n_raced: int, n_rows: int) -> float:
        """Return a factor of at most 1 with which a fit goes as far as the best round of the race."""
        return min(1.0, self._find_way(winner, n_raced, n_rows))

    def _find_pace(self, changes: dict[str, Any]) -> float:
        """Return the learning rate of a setting, relative to that of the defaults."""
        depth = self._defaults["max_depth"]
        return sqrt(depth / changes.get("max_depth", depth))

    def _find_way(self, winner: Run, n_raced: int, n_rows: int) -> float:
        """Return the way to the best round of the race, relative to a fit with the rate by the number of rows."""
        return float(winner.rate * max(winner.best, 1) / self._full_way * (n_rows / n_raced) ** 0.35)


class Difference(NamedTuple):
    """Mean difference of the losses of the same rows, and its standard error."""

    mean: float
    standard_error: float

    @classmethod
    def of(cls, differences: NDArray[np.float64], weight: NDArray[np.float64]) -> Difference:
        """Return the weighted mean; exact sums do not depend on the machine."""
        total = fsum(weight)
        mean = fsum(weight * differences) / total
        return cls(mean, sqrt(fsum((weight * (differences - mean)) ** 2)) / total)

    def is_gain(self, certainty: float) -> bool:
        """Whether losses decrease by more than ``certainty`` standard errors."""
        return self.mean < -certainty * self.standard_error


class RacedRows(NamedTuple):
    """Rows of a race, in memory, and the held-out rows of every fold."""

    training: Training
    folds: tuple[Validation, ...]

    @classmethod
    def draw(cls, training: Training, validation: Validation | None, seed: int) -> RacedRows | None:
        """Draw rows from the sample of the bins, without rows that are held out for early stopping.

        Return None if all responses to learn from are 0: losses with a log link have no initial score then.
        """
        sample = training.X.sample(seed)
        places = _core.sample_rows(len(sample.X), seed, MOST_RACED)
        if validation is not None:
            is_held = validation.held if sample.rows is None else validation.held[sample.rows]
            places = places[is_held[places] == 0]
        rows = places if sample.rows is None else sample.rows[places]
        raced = training._replace(
            X=MemoryRows(sample.X[places]),
            codes=training.codes[rows],
            weight=None if training.weight is None else training.weight[rows],
            response=None if training.response is None else training.response[rows],
            row=None,
            levels=None,
        )
        n_folds = _N_FOLDS if raced.n_rows < _FEW_ROWS else 1
        folds = [hold_out(raced, _HELD_OUT, seed, turn) for turn in range(n_folds)]
        known = tuple(fold for fold in folds if fold is not None and has_response(raced, fold))
        return cls(raced, known) if known else None

    def held_weight(self, fold: Validation) -> NDArray[np.float64]:
        """Weights of the rows that are held out in a fold."""
        weight, is_held = self.training.weight, fold.held == 1
        return np.ones(int(is_held.sum())) if weight is None else weight[is_held]


def has_response(training: Training, validation: Validation) -> bool:
    """Whether the rows that are not held out have a class, or a response other than 0."""
    return training.response is None or bool(training.response[validation.held == 0].any())
