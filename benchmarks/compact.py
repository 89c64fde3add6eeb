"""Effect of every part of the compact tree, changed alone, on accuracy and log loss."""

import functools
from collections.abc import Sequence
from typing import Any

import numpy as np

from .common import data as datasets
from .common.pages import Docs, markdown_table
from .common.results import Result, Results, Task, keep_complete, values
from .common.scores import score
from .common.statistics import Mean, subtract, summarise
from .runner import Args, Fits

_N_SPLITS = dict.fromkeys(("rice", "spambase", "eeg", "magic", "skin"), 3)  # a few minutes on one core
_N_SMALL_SPLITS = 10
_MOST_ROWS = 5_000  # for training
# Small noisy tables, which a tree of 16 leaves overfits.
NOISY = ("diabetes", "plane_200", "plane_600")
BASE = {"penalty": 1.0}  # of all settings that name no other penalty
SETTINGS: tuple[dict[str, Any], ...] = (
    {},
    {"max_passes": 0},
    {"max_terms": 4},
    {"max_terms": 12},
    {"penalty": 0.5},
    {"penalty": "auto"},
    {"digits": 2},
    {"membership": "linear"},
)


def say(params: dict[str, Any]) -> str:
    """Return a setting as it is written in Python."""
    return ", ".join(f"{name}={value!r}" for name, value in (params or BASE).items())


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
        model = CompactLHTClassifier(n_jobs=1, random_state=task.seed, **BASE | BY_KEY[task.model])
        return score(model, part) | {
            "leaves": model.n_leaves_,
            "terms": model.n_terms_,
            "penalty": model.penalty_,
        }

    def page(self, results: Results, docs: Docs) -> dict[str, str]:
        return render(results)


_FIXED = say({})
_CHOICES = ("auto",)


def _mean(results: Results, names: Sequence[str], key: str, metric: str) -> float:
    """Mean over the sets of the means over their splits."""
    return float(np.mean([np.mean(values(results, name, key, metric)) for name in names]))


def _compare(results: Results, names: Sequence[str], key: str) -> list[str]:
    """A setting beside ``BASE``: means over the sets, and the difference in accuracy with its interval."""
    differences = [subtract(results, name, key, _FIXED).mean for name in names]
    overall = summarise(differences, test_share=0.0)
    fits = [
        np.mean(values(results, name, key, "fit_seconds"))
        / np.mean(values(results, name, _FIXED, "fit_seconds"))
        for name in names
    ]
    return [
        f"{_mean(results, names, key, 'accuracy'):.4f}",
        "" if key == _FIXED else f"{100 * overall.mean:+.2f} ± {100 * overall.half:.2f}",
        f"{_mean(results, names, key, 'log_loss'):.4f}",
        f"{_mean(results, names, key, 'leaves'):.1f}",
        f"{_mean(results, names, key, 'terms'):.0f}",
        f"{np.exp(np.mean(np.log(fits))):.2f}×",
    ]


def settings_table(results: Results) -> str:
    """Return all settings on the nine sets; linear leaves, which need two classes, beside ``BASE`` on fewer."""
    names = [name for name in datasets.NAMES if (name, _FIXED) in results]
    two = [name for name in names if (name, LINEAR) in results]
    rows = [[f"`{key}`", *_compare(results, names, key)] for key in BY_KEY if key != LINEAR]
    rows += [
        [f"two classes ({len(two)} sets): `{key}`", *_compare(results, two, key)] for key in (_FIXED, LINEAR)
    ]
    return markdown_table("setting | accuracy | points | log loss | leaves | terms | fit", rows)


def _say(difference: Mean, scale: float, digits: int) -> str:
    return f"{scale * difference.mean:+.{digits}f} ± {abs(scale) * difference.half:.{digits}f}"


def penalty_table(results: Results) -> str:
    """Return the penalties that were chosen less the fixed one, set by set."""
    keys = [say({"penalty": choice}) for choice in _CHOICES]
    rows = []
    complete = keep_complete(results, [_FIXED, *keys])
    for name in [name for name in (*datasets.NAMES, *NOISY) if (name, _FIXED) in complete]:
        row = [
            name,
            len(values(complete, name, _FIXED)),
            f"{_mean(complete, [name], _FIXED, 'log_loss'):.4f}",
        ]
        for key in keys:
            row += [
                # Lower is better: the difference counts the other way round.
                _say(subtract(complete, name, key, _FIXED, "log_loss"), -1, 4),
                _say(subtract(complete, name, key, _FIXED), 100, 2),
                f"{float(np.median(values(complete, name, key, 'penalty'))):g}",
                f"{_mean(complete, [name], key, 'leaves'):.1f}",
            ]
        rows.append(row)
    head = "data | splits | log loss, `penalty=1`"
    for choice in _CHOICES:
        head += f' | log loss, `"{choice}"` | points | penalty | leaves'
    return markdown_table(head, rows)


def render(results: Results) -> dict[str, str]:
    """Return the tables by their marks."""
    return {"settings": settings_table(results), "penalty": penalty_table(results)}


QUESTION = Compact()
