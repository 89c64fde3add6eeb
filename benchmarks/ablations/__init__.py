"""What every parameter is worth: each changed alone, from the paper's forest and from our mixed one."""

import argparse
import functools
from typing import Any

import numpy as np

from ..common import data as datasets
from ..common.pages import Docs
from ..common.results import Result, Results, Task
from ..common.scores import score
from ..runner import Args, Fits
from .settings import BASES, Setting, all_settings

# What keeps the run at about twenty minutes on one core.
_N_SPLITS = {"rice": 5, "spambase": 5, "eeg": 3, "magic": 3, "skin": 5}
_N_SMALL_SPLITS = 20
_N_ROWS = 20_000  # more than eight of the sets have
_SETTINGS = {setting.key: setting for setting in all_settings()}


def draw_rows(data: datasets.Data, n_rows: int) -> datasets.Data:
    """Draw rows of a set by class, or take it whole where it has no more; rows of skin that recur count once."""
    from sklearn.model_selection import train_test_split

    if data.name == "skin":
        data = datasets.drop_copies(data)
    if len(data.y) <= n_rows:
        return data
    X, _, y, _ = train_test_split(data.X, data.y, train_size=n_rows, stratify=data.y, random_state=0)
    return datasets.Data(data.name, X, y)


@functools.lru_cache(maxsize=9)
def load(name: str, n_rows: int) -> datasets.Data:
    """Read at most so many rows of one of the nine data sets."""
    return draw_rows(datasets.load(name), n_rows)


def n_splits(name: str) -> int:
    """Return the number of splits of a set."""
    return _N_SPLITS.get(name, _N_SMALL_SPLITS)


def build(setting: Setting, seed: int) -> Any:
    """Return the forest of a setting."""
    from lhtree import LHForestClassifier

    return LHForestClassifier(n_jobs=1, random_state=seed, **setting.params)


@functools.cache
def _warm_up() -> None:
    """Fit something once: whatever a first fit imports is not part of its time."""
    for base in BASES:
        build(Setting(base), 0).fit(np.eye(4), [0, 1, 0, 1]).predict_proba(np.eye(4))


class Ablations(Fits):
    """The question. The data of a fit is the name of a set and the number of its rows, the model a setting's key."""

    name = "ablations"
    fills = "benchmarks/ablations.md"
    quick = "two splits of the sets below 3000 rows"

    def add_arguments(self, parser: argparse.ArgumentParser) -> None:
        super().add_arguments(parser)
        parser.add_argument("--data", nargs="+", choices=datasets.NAMES, default=datasets.NAMES)
        parser.add_argument("--splits", type=int, default=_N_SMALL_SPLITS, help="maximum per data set")
        parser.add_argument("--rows", type=int, default=_N_ROWS, help="maximum per data set")

    def is_draft(self, args: Args) -> bool:
        return args.quick or len(args.data) < len(datasets.NAMES)

    def plan(self, args: Args) -> list[Task]:
        names = datasets.NAMES[:4] if args.quick else args.data
        sizes = {name: len(load(name, args.rows).y) for name in names}
        return [
            Task(self.name, f"{name} {sizes[name]}", key, seed)
            for seed in range(2 if args.quick else args.splits)
            for name in names
            if seed < n_splits(name)
            for key in _SETTINGS
        ]

    def measure(self, task: Task) -> Result:
        _warm_up()
        name, n_rows = task.data.split()
        part = datasets.split(load(name, int(n_rows)), task.seed)
        return score(build(_SETTINGS[task.model], task.seed), part)

    def page(self, results: Results, docs: Docs) -> dict[str, str]:
        from .page import render

        return render(results, docs)


QUESTION = Ablations()
