"""The search of ``lhtree tune``: the defaults first, then random settings, each measured fold by fold."""

from __future__ import annotations

import math
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import nullcontext
from dataclasses import dataclass, field
from itertools import islice
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from ._folds import Measure, Score, Split, measure, summarise

_MOST_GAMMA = 100
_TREES = (50, 100, 200, 400)
N_DEFAULTS = 2  # settings that come first
DEFAULT_TREES = 100
DEFAULT_GAMMA = 10


class Setting(NamedTuple):
    """What a candidate is fitted with; ``trees`` is None for a single tree, ``gamma`` where it has no effect."""

    direction: str
    trees: int | None
    beta: float | str = "auto"
    gamma: int | None = None

    def build(self, seed: int, n_threads: int | None = None) -> Any:
        """The estimator, not fitted."""
        from lhtree import LHForestClassifier, LHTClassifier

        chosen = self.parameters() | {"random_state": seed, "n_jobs": n_threads}
        return LHTClassifier(**chosen) if self.trees is None else LHForestClassifier(**chosen)

    def parameters(self) -> dict[str, Any]:
        """Parameters of the estimator."""
        chosen: dict[str, Any] = {"direction": self.direction, "beta": self.beta}
        if self.trees is not None:
            chosen["n_estimators"] = self.trees
        if self.gamma is not None:
            chosen["gamma"] = self.gamma
        return chosen

    def options(self) -> list[str]:
        """Options of ``lhtree fit`` for the same."""
        options = ["--direction", self.direction]
        if self.trees is None:
            options += ["--model", "tree"]
        elif self.trees != DEFAULT_TREES:
            options += ["--trees", str(self.trees)]
        if self.beta != "auto":
            options += ["--beta", f"{self.beta:g}"]
        if self.gamma not in (None, DEFAULT_GAMMA):
            options += ["--gamma", str(self.gamma)]
        return options


@dataclass(eq=False)  # a candidate is itself
class Candidate:
    """A setting and what was measured: a value per fold, and seconds of the fits."""

    setting: Setting
    folds: list[Measure] = field(default_factory=list)
    seconds: list[float] = field(default_factory=list)
    is_behind: bool = False  # and was left before its last fold

    @property
    def score(self) -> Score:
        """Figures over the folds so far."""
        return summarise(self.folds)


class Task(NamedTuple):
    """What is searched: rows, classes, folds, and how fits are made."""

    X: Any
    y: NDArray[Any]
    splits: Sequence[Split]
    seed: int = 0
    n_threads: int | None = None


class OutOfTimeError(Exception):
    """The limit ended a fit."""


def search(
    task: Task,
    settings: Iterator[Setting],
    seconds: float,
    tell: Callable[[list[Candidate]], None] = lambda found: None,
) -> list[Candidate]:
    """Measure settings until there are no more or the time is over, which ends the fit under way.

    The first fold of the first setting is finished whatever the time, so that there is a result. ``tell`` hears of
    the candidates so far after every fold.
    """
    end = time.monotonic() + seconds
    found: list[Candidate] = []
    try:
        for candidate in _race(task, settings, end, found):
            if candidate not in found:
                found.append(candidate)
            tell(found)
    except OutOfTimeError:
        _even_out(found)
    return found


def _race(task: Task, settings: Iterator[Setting], end: float, found: list[Candidate]) -> Iterator[Candidate]:
    """Candidates, each after every one of its folds.

    The defaults take turns, fold by fold, so that they can be compared even if there is no time for more. Those after
    them go through their folds one by one, until they are done or behind.
    """
    defaults = [Candidate(setting) for setting in islice(settings, N_DEFAULTS)]
    for split in task.splits:
        for candidate in defaults:
            _measure(task, candidate, split, end if found else math.inf)
            yield candidate
    for setting in settings:
        leader, candidate = find_best(found), Candidate(setting)
        for split in task.splits:
            _measure(task, candidate, split, end)
            candidate.is_behind = _is_behind(candidate, leader)
            yield candidate
            if candidate.is_behind:
                break


def _even_out(found: Sequence[Candidate]) -> None:
    """Compare the defaults on the folds that both saw, where the time ended between them."""
    defaults = found[:N_DEFAULTS]
    n_seen = min(len(candidate.folds) for candidate in defaults)
    for candidate in defaults:
        del candidate.folds[n_seen:], candidate.seconds[n_seen:]


def find_best(found: Sequence[Candidate]) -> Candidate:
    """The best of the candidates that saw the most folds."""
    return min(found, key=find_rank)


def find_rank(candidate: Candidate) -> tuple[float, ...]:
    """A key that sorts the best first: by folds seen, then accuracy; of equals that of the least log loss."""
    return -len(candidate.folds), -candidate.score.accuracy, candidate.score.log_loss


def _is_behind(candidate: Candidate, leader: Candidate) -> bool:
    """Whether a candidate is behind by more than the leader's folds differ by chance, on the folds both saw."""
    n_folds = len(candidate.folds)
    if n_folds >= len(leader.folds):
        return False
    gap = summarise(leader.folds[:n_folds]).accuracy - candidate.score.accuracy
    return gap > leader.score.spread / math.sqrt(n_folds)


def _measure(task: Task, candidate: Candidate, split: Split, end: float) -> None:
    """Fit on a fold's training rows and measure on the others; the seconds are those of the fit."""
    train, test = split
    model = _make_stoppable(candidate.setting.build(task.seed, task.n_threads), end)
    begin = time.monotonic()
    if begin >= end:
        raise OutOfTimeError
    model.fit(task.X.iloc[train], task.y[train])
    candidate.seconds.append(time.monotonic() - begin)
    proba = model.predict_proba(task.X.iloc[test])
    candidate.folds.append(measure(proba, model.classes_, task.y[test]))


def _make_stoppable(model: Any, end: float) -> Any:
    """The same estimator, whose fit ends in OutOfTimeError once the time is over."""

    def check(n_done: int) -> None:
        if time.monotonic() >= end:
            raise OutOfTimeError

    # A fit is made by a double of the estimator's own class, so the check belongs to a class.
    class Stoppable(type(model)):  # type: ignore[misc]
        def _progress(self, n_tasks: int) -> Any:
            return nullcontext(check)

    return Stoppable(**model.get_params(deep=False))


def draw_settings(kind: str, n_rows: int, n_settings: int, seed: int) -> Iterator[Setting]:
    """The paper's defaults, our best ones, then random ones: the same for a seed, none of them twice."""
    trees = DEFAULT_TREES if kind == "forest" else None
    defaults = [Setting("mean_difference", trees, gamma=DEFAULT_GAMMA), Setting("mixed", trees)][:n_settings]
    known = set(defaults)
    yield from defaults
    generator = np.random.default_rng(seed)
    n_left = n_settings - len(defaults)
    for _ in range(20 * n_left):  # there are fewer single trees than somebody may ask for
        setting = _draw(generator, kind, n_rows)
        if setting not in known and n_left > 0:
            known.add(setting)
            n_left -= 1
            yield setting


def _draw(generator: np.random.Generator, kind: str, n_rows: int) -> Setting:
    direction = str(generator.choice(["mean_difference", "fisher", "mixed"], p=[0.3, 0.2, 0.5]))
    trees = int(generator.choice(_TREES)) if kind == "forest" else None
    is_paper = direction == "mean_difference"
    beta = "auto" if generator.random() < 0.4 else round(0.05 * int(generator.integers(1, 19)), 2)
    gamma = None
    if is_paper:  # the other directions cut by Gini impurity, to which gamma means nothing
        highest = math.log2(max(2, min(_MOST_GAMMA, n_rows // 10)))
        gamma = round(2.0 ** generator.uniform(0.0, highest))
    return Setting(direction, trees, beta, gamma)
