"""What every part of the compact tree brings: each changed alone, in accuracy and log loss."""

import functools
from typing import Any

import numpy as np

from ..common import data as datasets
from ..common.pages import Docs
from ..common.results import Result, Results, Task
from ..common.scores import score
from ..runner import Args, Fits

_N_SPLITS = dict.fromkeys(("rice", "spambase", "eeg", "magic", "skin"), 3)  # a few minutes on one core
_N_SMALL_SPLITS = 10
_MOST_ROWS = 5_000  # for training
# Small tables with much noise: where a tree of 16 leaves learns what is not there.
NOISY = ("diabetes", "plane_200", "plane_600")
# The first one is the default.
SETTINGS: tuple[dict[str, Any], ...] = (
    {},
    {"max_passes": 0},
    {"max_terms": 4},
    {"max_terms": 12},
    {"penalty": 0.5},
    {"penalty": "cv"},
    {"digits": 2},
    {"membership": "linear"},
)


def say(params: dict[str, Any]) -> str:
    """Return a setting as it is written in Python."""
    return ", ".join(f"{name}={value!r}" for name, value in params.items()) or "defaults"


BY_KEY = {say(params): params for params in SETTINGS}
LINEAR = say({"membership": "linear"})


def make_plane(n_rows: int, n_features: int) -> datasets.Data:
    """Return normal rows of two classes, parted by a plane of three features; a quarter of the classes is wrong."""
    random = np.random.default_rng(0)
    X = random.standard_normal((n_rows, n_features))
    y = (X[:, 0] + X[:, 1] - X[:, 2] > 0).astype(np.int64)
    return datasets.Data(f"plane_{n_rows}", X, np.where(random.random(n_rows) < 0.25, 1 - y, y))


@functools.cache
def load(name: str) -> datasets.Data:
    """Read one of the nine data sets, or make a noisy one."""
    if name == "diabetes":  # whether the disease went on by more than the median
        from sklearn.datasets import load_diabetes

        X, response = load_diabetes(return_X_y=True)
        return datasets.Data(name, X, (response > np.median(response)).astype(np.int64))
    if name in NOISY:
        return make_plane(*{"plane_200": (200, 10), "plane_600": (600, 30)}[name])
    return datasets.load(name)


class Compact(Fits):
    """The question. The data of a fit is the name of a set, the model a setting."""

    name = "compact"
    fills = "compact.md"
    quick = "two splits of the sets below 3000 rows"

    def plan(self, args: Args) -> list[Task]:
        names = (*datasets.NAMES[:4], *NOISY) if args.quick else (*NOISY, *datasets.NAMES)
        return [
            Task(self.name, name, key, seed)
            for seed in range(2 if args.quick else _N_SMALL_SPLITS)
            for name in names
            if seed < _N_SPLITS.get(name, _N_SMALL_SPLITS)
            for key in BY_KEY
            if key != LINEAR or load(name).y.max() == 1  # linear leaves need two classes
        ]

    def measure(self, task: Task) -> Result:
        from lhtree import CompactLHTClassifier

        part = datasets.split(load(task.data), task.seed)
        # The split shuffles: the first rows are drawn at random.
        part = part._replace(X=part.X[:_MOST_ROWS], y=part.y[:_MOST_ROWS])
        model = CompactLHTClassifier(n_jobs=1, random_state=task.seed, **BY_KEY[task.model])
        return score(model, part) | {
            "leaves": model.n_leaves_,
            "terms": model.n_terms_,
            "penalty": model.penalty_,
        }

    def page(self, results: Results, docs: Docs) -> dict[str, str]:
        from .page import render

        return render(results)


QUESTION = Compact()
