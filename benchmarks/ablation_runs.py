"""The ablation runs: every setting on the same few splits of the nine data sets."""

from __future__ import annotations

import functools
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np

from . import accuracy_runs
from . import data as datasets
from .ablation_settings import BASES, Setting, all_settings
from .models import version_key
from .report import RESULTS

# What keeps the run at about twenty minutes on one core.
N_SPLITS = {"rice": 5, "spambase": 5, "eeg": 3, "magic": 3, "skin": 5}
_N_SMALL_SPLITS = 20
N_ROWS = 20_000  # more than eight of the sets have
_SETTINGS = {setting.key: setting for setting in all_settings()}


class Task(accuracy_runs.Task):
    """One fit: the data is the name of a set and how many of its rows are used, the model the key of a setting."""

    __slots__ = ()

    @property
    def path(self) -> Path:
        """Where its result is kept."""
        folder = RESULTS / "ablations" / self.data / version_key("paper_forest")
        return folder / self.model / f"{self.seed}.json"


def draw_rows(data: datasets.Data, n_rows: int) -> datasets.Data:
    """Draw rows of a set by class, or take it whole where it has no more; rows of skin that recur count once."""
    from sklearn.model_selection import train_test_split

    if data.name == "skin":
        rows = np.unique(np.column_stack([data.X, data.y]), axis=0)
        data = datasets.Data(data.name, np.ascontiguousarray(rows[:, :-1]), rows[:, -1].astype(np.int64))
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
    return N_SPLITS.get(name, _N_SMALL_SPLITS)


def build(setting: Setting, seed: int) -> Any:
    """Return the forest of a setting."""
    from lhtree import LHForestClassifier

    return LHForestClassifier(n_jobs=1, random_state=seed, **setting.params)


@functools.cache
def _warm_up() -> None:
    """Fit something once: whatever a first fit imports is not part of its time."""
    for base in BASES:
        build(Setting(base), 0).fit(np.eye(4), [0, 1, 0, 1]).predict_proba(np.eye(4))


def measure(task: Task) -> dict[str, Any]:
    """Fit and score one setting on one split, and keep the result."""
    _warm_up()
    estimator = build(_SETTINGS[task.model], task.seed)
    name, n_rows = task.data.split()
    result = accuracy_runs.score(estimator, datasets.split(load(name, int(n_rows)), task.seed))
    accuracy_runs.keep(task.path, result)
    return result


def plan(
    names: Sequence[str], settings: Sequence[Setting], most_splits: int | None = None, n_rows: int = N_ROWS
) -> list[accuracy_runs.Task]:
    """Return all fits, one split of every set after the other: cut short, a run has all sets on fewer splits."""
    most = most_splits or max(n_splits(name) for name in names)
    sizes = {name: len(load(name, n_rows).y) for name in names}
    return [
        Task(f"{name} {sizes[name]}", setting.key, seed)
        for seed in range(most)
        for name in names
        if seed < n_splits(name)
        for setting in settings
    ]
