"""Effect of every part of the boosted model, changed alone, on accuracy and log loss."""

import argparse
import functools
from typing import Any

import numpy as np

from .common import data as datasets
from .common.draw import make_axes, save
from .common.pages import Docs, markdown_table
from .common.results import Result, Results, Task, keep_complete, values
from .common.scores import score
from .common.statistics import Mean, subtract, summarise
from .runner import Args, Fits

_N_SPLITS = {
    "spambase": 3,
    "eeg": 2,
    "magic": 2,
    "skin": 2,
}  # keeps the run at a quarter of an hour on one core
_N_SMALL_SPLITS = 6
_N_ROWS = 20_000
# Grouped by question; the first setting is the default.
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


@functools.lru_cache(maxsize=9)
def load(name: str) -> datasets.Data:
    """Read one of the nine data sets: at most 20,000 rows, drawn by class; rows of skin that recur count once."""
    from sklearn.model_selection import train_test_split

    data = datasets.load(name)
    if name == "skin":
        data = datasets.drop_copies(data)
    if len(data.y) <= _N_ROWS:
        return data
    X, _, y, _ = train_test_split(data.X, data.y, train_size=_N_ROWS, stratify=data.y, random_state=0)
    return datasets.Data(name, X, y)


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
        return score(model, datasets.split(load(task.data), task.seed))

    def page(self, results: Results, docs: Docs) -> dict[str, str]:
        return render(results, docs)


class Parts:
    """Every setting beside the defaults, on the splits that all have."""

    def __init__(self, results: Results) -> None:
        self.keys = [say(params) for group in SETTINGS.values() for params in group]
        self.results = keep_complete(results, self.keys)
        self.names = [name for name in datasets.NAMES if any(key[0] == name for key in self.results)]

    def means(self, key: str, metric: str) -> np.ndarray:
        """Return the mean of a metric on every set."""
        return np.array([np.mean(values(self.results, name, key, metric)) for name in self.names])

    def points(self, key: str) -> Mean:
        """Points of accuracy above the defaults, over the sets."""
        found = [subtract(self.results, name, key, self.keys[0], test_share=0.0).mean for name in self.names]
        return summarise([100 * one for one in found], test_share=0.0)

    def log_ratio(self, key: str, metric: str) -> Mean:
        """Logarithm of a metric as a multiple of the defaults', over the sets."""
        return summarise(np.log(self.means(key, metric) / self.means(self.keys[0], metric)), test_share=0.0)

    def table(self) -> str:
        """Return the table of means over the sets: settings down."""
        rows = []
        for question, group in SETTINGS.items():
            for key in map(say, group):
                if key == self.keys[0]:
                    rows.append([question, "", "", "", "1.00×"])
                    continue
                points, loss = self.points(key), self.log_ratio(key, "log_loss")
                cells = [f"{points.mean:+.2f} ± {points.half:.2f}", f"{100 * np.expm1(loss.mean):+.1f} %"]
                cells[1] = cells[1] if loss.is_level else f"**{cells[1]}**"
                time = np.exp(self.log_ratio(key, "fit_seconds").mean)
                rows.append([question, f"`{key}`", *cells, f"{time:.2f}×"])
        return markdown_table(["what", "setting", "points of accuracy", "log loss", "fit"], rows)

    def losses(self) -> str:
        """Return the table of log losses: settings down, sets across."""
        names = ["defaults", *(f"`{key}`" for key in self.keys[1:])]
        losses = [[f"{loss:.4f}" for loss in self.means(key, "log_loss")] for key in self.keys]
        rows = [[name, *row] for name, row in zip(names, losses, strict=True)]
        return markdown_table(["setting", *self.names], rows)

    def draw(self, docs: Docs) -> None:
        """Draw the log loss of every setting as a multiple of the defaults'."""
        keys = self.keys[1:]
        figure, grid = make_axes(1, 1, 7.5, 0.26 * len(keys) + 1.2)
        ax = grid[0, 0]
        for at, key in enumerate(keys):
            found = self.log_ratio(key, "log_loss")
            bounds = 100 * np.expm1([found.mean - found.half, found.mean, found.mean + found.half])
            colour = "#9a9a9a" if found.is_level else "#238b45" if found.mean < 0 else "#cb181d"
            spread = [[bounds[1] - bounds[0]], [bounds[2] - bounds[1]]]
            ax.errorbar(bounds[1], at, xerr=spread, fmt="o", markersize=4, linewidth=1, color=colour)
        ax.axvline(0, color="black", linewidth=0.8)
        ax.set_yticks(range(len(keys)), keys, fontsize=8)
        ax.set_ylim(len(keys) - 0.5, -0.5)
        ax.set_xlabel(
            "log loss against the defaults, %\n(geometric mean over the sets with its 95 % interval)"
        )
        ax.grid(visible=True, axis="x", alpha=0.3)
        save(figure, docs.pages, "boosting")


def render(results: Results, docs: Docs) -> dict[str, str]:
    """Draw the picture and return the tables."""
    parts = Parts(results)
    parts.draw(docs)
    counts = {name: len(values(parts.results, name, parts.keys[0])) for name in parts.names}
    sizes = ", ".join(f"{name} {n}" for name, n in counts.items())
    return {"sizes": sizes, "parts": parts.table(), "losses": parts.losses()}


QUESTION = Boosting()
