"""Log loss of models without calibration, with each method of ours and in scikit-learn's wrapper."""

import functools
from typing import Any

import numpy as np
from numpy.typing import NDArray

from .common import data as datasets
from .common.models import OURS
from .common.pages import Docs, markdown_table
from .common.results import Result, Results, Task, keep_complete, values
from .common.scores import log_losses, score
from .runner import Args, Fits

CHURN = "churn"
_SETS = (CHURN, *datasets.NAMES)
_MODELS = ("paper_tree", "mixed_forest", "boosted")
_N_SPLITS = dict.fromkeys(_SETS, 2) | dict.fromkeys(
    ("wine", "seeds", "wdbc"), 6
)  # a quarter of an hour on one core
_MOST_ROWS = 2_500  # for training
# ``calibrate``, or the method of scikit-learn's wrapper at its defaults: five models whose probabilities are averaged.
METHODS = {
    "none": (None, None),
    "sigmoid": ("sigmoid", None),
    "isotonic": ("isotonic", None),
    "wrapped sigmoid": (None, "sigmoid"),
    "wrapped isotonic": (None, "isotonic"),
}


@functools.cache
def load(name: str) -> datasets.Data:
    """Read one of the nine data sets, or make a noisy one: 27 % of 5,000 customers leave, and few can be foreseen."""
    if name != CHURN:
        return datasets.load(name)
    random = np.random.default_rng(0)
    X = random.standard_normal((5_000, 12))
    X[:, :4] = X[:, :4] > 0.3  # contracts and services are yes or no
    raw = 1.5 * X[:, 4] - 0.8 * X[:, 5] * X[:, 0] + 0.9 * X[:, 1] + 0.5 * np.abs(X[:, 6]) - 2.2
    y = random.random(len(X)) < 1.0 / (1.0 + np.exp(-raw))
    return datasets.Data(name, X, y.astype(np.int64))


def build(model: str, method: str, seed: int) -> Any:
    """Return a model with a method of calibration."""
    from sklearn.calibration import CalibratedClassifierCV

    own, wrapped = METHODS[method]
    estimator = OURS[model].build(seed, calibrate=own)
    return CalibratedClassifierCV(estimator, method=wrapped) if wrapped else estimator


class Calibrations(Fits):
    """The question. The model of a fit is the name of a model and a method."""

    name = "calibration"
    fills = "probabilities.md"
    metric = "log_loss"
    quick = "one split of the sets below 3000 rows"

    def plan(self, args: Args) -> list[Task]:
        return [
            Task(self.name, name, f"{model}, {method}", seed)
            for name in (datasets.NAMES[:4] if args.quick else _SETS)
            for seed in range(1 if args.quick else _N_SPLITS[name])
            for model in _MODELS
            for method in METHODS
        ]

    def measure(self, task: Task) -> Result:
        model, method = task.model.split(", ")
        part = datasets.split(load(task.data), task.seed)
        # The split shuffles: the first rows are drawn at random.
        part = part._replace(X=part.X[:_MOST_ROWS], y=part.y[:_MOST_ROWS])
        estimator = build(model, method, task.seed)
        result = score(estimator, part)
        if METHODS[method][0]:
            plain = build(model, "none", task.seed).fit(part.X, part.y)
            after, before = (
                log_losses(one.predict_proba(part.X_test), part.y_test) for one in (estimator, plain)
            )
            result["change_error"] = float((after - before).std(ddof=1) / np.sqrt(len(part.y_test)))
        return result

    def page(self, results: Results, docs: Docs) -> dict[str, str]:
        return {"losses": render(results)}


def _say(losses: NDArray[np.float64], errors: NDArray[np.float64]) -> list[str]:
    """Return the losses, and the changes by our methods with their standard errors."""
    changes = zip(losses[1:3] - losses[0], errors, strict=True)
    return [
        *(f"{loss:.4f}" for loss in losses),
        *(f"{change:+.4f} ± {error:.4f}" for change, error in changes),
    ]


def _pool(errors: NDArray[np.float64]) -> NDArray[np.float64]:
    """Return the standard errors of means of changes that do not depend on each other."""
    pooled: NDArray[np.float64] = np.sqrt((errors**2).sum(axis=0)) / len(errors)
    return pooled


def render(results: Results) -> str:
    """Return a table of log losses: models and sets down, methods across, and the change by our methods.

    A line below the table lists the sets whose mean change is above its standard error.
    """
    rows, harmed = [], []
    for model in _MODELS:
        keys = [f"{model}, {method}" for method in METHODS]
        both = keep_complete(results, keys)
        names = [name for name in _SETS if (name, keys[0]) in both]
        table = np.array([[np.mean(values(both, name, key, "log_loss")) for key in keys] for name in names])
        errors = np.array(
            [
                [_pool(np.array(values(both, name, key, "change_error"))) for key in keys[1:3]]
                for name in names
            ]
        )
        title = OURS[model].title
        for name, losses, error in zip(names, table, errors, strict=True):
            rows.append([title, name, *_say(losses, error)])
            is_harm = np.round(losses[1:3] - losses[0], 4) > error  # as printed
            harmed += [
                f"{title}, {name}, {method}"
                for method, is_one in zip(list(METHODS)[1:3], is_harm, strict=True)
                if is_one
            ]
        if names:
            rows.append([f"**{title}**", "**mean**", *_say(table.mean(axis=0), _pool(errors))])
    head = "model | data | none | sigmoid | isotonic | wrapped sigmoid | wrapped isotonic"
    table_text = markdown_table(f"{head} | change by sigmoid | change by isotonic", rows)
    return f"{table_text}\n\nLosses that rise by more than one standard error: {'; '.join(harmed) or 'none'}."


QUESTION = Calibrations()
