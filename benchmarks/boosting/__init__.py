"""What every part of the boosted model brings: each changed alone, in accuracy and log loss."""

import argparse
from typing import Any

from ..ablations import load
from ..common import data as datasets
from ..common.pages import Docs
from ..common.results import Result, Results, Task
from ..common.scores import score
from ..runner import Args, Fits

_N_SPLITS = {
    "spambase": 3,
    "eeg": 2,
    "magic": 2,
    "skin": 2,
}  # keeps the run at a quarter of an hour on one core
_N_SMALL_SPLITS = 6
_N_ROWS = 20_000
# By what they ask; the first of all is the default.
SETTINGS: dict[str, list[dict[str, Any]]] = {
    "defaults": [{}],
    "hyperplanes": [{"direction": "single"}],
    "features of a hyperplane": [{"n_directed": n} for n in (2, 3, 6, 8)],
    "learning rate": [{"learning_rate": 0.05}, {"learning_rate": 0.1, "max_iter": 100}, {"max_iter": 100}],
    "rows of a round": [{"subsample": 1.0}, {"subsample": 0.5}],
    "depth": [{"max_depth": n} for n in (3, 4, 6)],
    "single features of a block": [{"max_features": 1.0}, {"max_features": 0.25}],
    "rows of a leaf": [{"min_samples_leaf": n} for n in (5, 50)],
    "regularisation": [{"l2_regularization": value} for value in (0.0, 5.0)],
    "bins": [{"max_bins": 63}],
}


def say(params: dict[str, Any]) -> str:
    """Return a setting as it is written in Python."""
    return ", ".join(f"{name}={value!r}" for name, value in params.items()) or "defaults"


_BY_KEY = {say(params): params for group in SETTINGS.values() for params in group}


class Boosting(Fits):
    """The question. The data of a fit is the name of a set, the model a setting."""

    name = "boosting"
    fills = "benchmarks/boosting.md"
    quick = "two splits of the sets below 3000 rows"

    def add_arguments(self, parser: argparse.ArgumentParser) -> None:
        super().add_arguments(parser)
        parser.add_argument("--data", nargs="+", choices=datasets.NAMES, default=datasets.NAMES)

    def is_draft(self, args: Args) -> bool:
        return args.quick or len(args.data) < len(datasets.NAMES)

    def plan(self, args: Args) -> list[Task]:
        return [
            Task(self.name, name, key, seed)
            for seed in range(2 if args.quick else _N_SMALL_SPLITS)
            for name in (datasets.NAMES[:4] if args.quick else args.data)
            if seed < _N_SPLITS.get(name, _N_SMALL_SPLITS)
            for key in _BY_KEY
        ]

    def measure(self, task: Task) -> Result:
        from lhtree import LHBoostClassifier

        model = LHBoostClassifier(n_jobs=1, random_state=task.seed, **_BY_KEY[task.model])
        return score(model, datasets.split(load(task.data, _N_ROWS), task.seed))

    def page(self, results: Results, docs: Docs) -> dict[str, str]:
        from .page import render

        return render(results, docs)


QUESTION = Boosting()
