"""Fits of our models and the peers on problems with a known Bayes error."""

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np

from ..common.data import Split
from ..common.models import ALL_MODELS
from ..common.results import Result, Task
from ..common.scores import score
from .problems import SCALING, SWEEPS, Clusters

OURS = ("boosted", "ensemble", "mixed_forest", "additive", "compact")
PEERS = ("logistic", "rf", "xgboost", "catboost")
COMPARED = OURS + PEERS
SIZES = (100, 300, 1000, 3000)
N_TEST = 10_000
N_SWEEP = 1000  # training rows of the sweeps
N_SEEDS = 2


class Drawn(NamedTuple):
    """Training and test rows, and Bayes' error on the distribution of the test rows."""

    split: Split
    bayes_error: float


def scaling_key(problem: str, n_rows: int) -> str:
    """Name of a problem at a size."""
    return f"{problem} {n_rows}"


def sweep_key(clusters: Clusters) -> str:
    """Name of a level of a sweep; the default is shared by all sweeps."""
    return " ".join(f"{name}={value}" for name, value in clusters._asdict().items())


_CLUSTERS = {sweep_key(clusters): clusters for levels in SWEEPS.values() for clusters in levels.values()}


def draw(key: str, seed: int, n_test: int = N_TEST) -> Drawn:
    """Draw the rows of a problem, the same for every model."""
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


def plan(sizes: Sequence[int] = SIZES, n_seeds: int = N_SEEDS) -> list[Task]:
    """Return all fits: one drawing of every problem after the other."""
    keys = [scaling_key(name, n_rows) for n_rows in sizes for name in SCALING] + list(_CLUSTERS)
    return [Task("when", key, model, seed) for seed in range(n_seeds) for key in keys for model in COMPARED]
