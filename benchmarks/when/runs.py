"""Fits of our models and the peers on problems with a known Bayes error, and on pieces of EEG."""

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np

from ..common.data import Data, Split, load
from ..common.models import ALL_MODELS
from ..common.results import Result, Task
from ..common.scores import score
from .problems import SCALING, SWEEPS, Clusters

OURS = ("boosted", "ensemble", "mixed_forest", "additive", "compact")
PEERS = ("logistic", "rf", "xgboost", "catboost")
COMPARED = OURS + PEERS
SIZES = (100, 300, 1000, 3000, 10_000)
N_TEST = 10_000
N_SWEEP = 1000  # training rows of the sweeps
N_SEEDS = {"scaling": 3, "sweep": 4}
EEG = "eeg by time"  # a recording of two minutes, cut into pieces; each piece is tested once
N_PIECES = 5


class Drawn(NamedTuple):
    """Training and test rows, and Bayes' error on the test rows' distribution where it is known."""

    split: Split
    bayes_error: float | None


def scaling_key(problem: str, n_rows: int) -> str:
    """Name of a problem at a size."""
    return f"{problem} {n_rows}"


def sweep_key(clusters: Clusters) -> str:
    """Name of a level of a sweep; the default is shared by all sweeps."""
    return " ".join(f"{name}={value}" for name, value in clusters._asdict().items())


_CLUSTERS = {sweep_key(clusters): clusters for levels in SWEEPS.values() for clusters in levels.values()}


def cut_out(data: Data, piece: int) -> Split:
    """Test on one of the pieces that follow each other, and train on the others."""
    is_test = np.arange(len(data.y)) * N_PIECES // len(data.y) == piece
    return Split(data.X[~is_test], data.y[~is_test], data.X[is_test], data.y[is_test])


def draw(key: str, seed: int, n_test: int = N_TEST) -> Drawn:
    """Draw the rows of a problem, the same for every model."""
    if key == EEG:
        return Drawn(cut_out(load("eeg"), seed), None)
    random = np.random.default_rng([seed, 0])
    if key in _CLUSTERS:
        clusters = _CLUSTERS[key]
        train, _ = clusters.draw(seed, random, N_SWEEP)
        test, bayes_error = clusters.draw(seed, random, n_test)
        return Drawn(Split(*train, *test), bayes_error)
    name, n_rows = key.split()
    problem = SCALING[name]
    train = problem.draw(random, int(n_rows))
    return Drawn(Split(*train, *problem.draw(random, n_test)), problem.bayes_error)


def measure(task: Task) -> Result:
    """Fit and score one model on one drawing."""
    drawn = draw(task.data, task.seed)
    result = score(ALL_MODELS[task.model].build(task.seed), drawn.split)
    return result | {"bayes_error": drawn.bayes_error}


def plan(sizes: Sequence[int] = SIZES, most_seeds: int | None = None) -> list[Task]:
    """Return all fits: the pieces of EEG, then one drawing of every problem after the other."""
    keys = {scaling_key(name, n_rows): N_SEEDS["scaling"] for n_rows in sizes for name in SCALING}
    keys |= dict.fromkeys(_CLUSTERS, N_SEEDS["sweep"])
    pieces = [(EEG, piece) for piece in range(most_seeds or N_PIECES)]
    drawings = [
        (key, seed)
        for seed in range(most_seeds or max(N_SEEDS.values()))
        for key, n_seeds in keys.items()
        if seed < n_seeds
    ]
    return [Task("when", key, model, seed) for key, seed in pieces + drawings for model in COMPARED]
