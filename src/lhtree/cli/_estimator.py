"""Estimators from the options of a command."""

from __future__ import annotations

from collections.abc import Sequence
from enum import Enum
from itertools import pairwise
from typing import Annotated, Any

import typer

from .._parameters import (
    BOOST_DIRECTIONS,
    COMPACT_MEMBERSHIPS,
    DIRECTIONS,
    GROWTHS,
    MEMBERSHIPS,
    REGRESSION_LOSSES,
)
from ..model.records import CALIBRATIONS
from ._errors import ExitCode, Problem
from ._options import TaskName

# Parameters and the options that set them.
OPTIONS = {
    "direction": "--direction",
    "n_estimators": "--trees",
    "max_iter": "--rounds",
    "learning_rate": "--learning-rate",
    "growth": "--growth",
    "early_stopping": "--early-stopping",
    "monotonic_cst": "--increasing or --decreasing",
    "beta": "--beta",
    "gamma": "--gamma",
    "min_samples_leaf": "--min-samples-leaf",
    "membership": "--membership",
    "max_depth": "--max-depth",
    "n_directed": "--n-directed",
    "l2_regularization": "--l2-regularization",
    "class_weight": "--class-weight",
    "positive": "--positive",
    "calibrate": "--calibrate",
    "loss": "--loss",
    "quantile": "--quantile",
    "intervals": "--intervals",
    "pruning": "--pruning",
    "max_leaf_nodes": "--leaves",
    "max_terms": "--terms",
    "penalty": "--penalty",
    "interactions": "--interactions",
    "smoothing": "--smoothing",
    "max_steps": "--steps",
}
_ESTIMATORS = {
    "tree": "LHT",
    "forest": "LHForest",
    "boost": "LHBoost",
    "ensemble": "LHEnsemble",
    "compact": "CompactLHT",
    "additive": "AdditiveLHT",
}
_ENDINGS = {TaskName.CLASSIFICATION: "Classifier", TaskName.REGRESSION: "Regressor"}


class Kind(str, Enum):
    """Family of the estimator."""

    TREE = "tree"
    FOREST = "forest"
    BOOST = "boost"
    ENSEMBLE = "ensemble"
    COMPACT = "compact"
    ADDITIVE = "additive"

    def find_class(self, task: str) -> Any:
        """Return the class of the estimator for a task."""
        import lhtree

        return getattr(lhtree, _ESTIMATORS[self.value] + _ENDINGS[TaskName(task)])


Model = Annotated[
    Kind,
    typer.Option(
        "--model",
        metavar="KIND",
        help="boost: boosted trees, good predictions and probabilities; ensemble: boosted trees and a forest, the best "
        "predictions, six times as slow; forest: many trees per class; tree: one per class; compact: one "
        "small tree that fits on a page; additive: a curve for every column.",
    ),
]


def read_given(given: dict[str, Any], kind: Kind, task: TaskName | None) -> dict[str, Any]:
    """Return the given parameters; reject parameters that the family does not have for the task."""
    chosen = {name: value for name, value in given.items() if value is not None}
    _check(chosen, kind, list(TaskName) if task is None else [task])
    allowed: dict[str, Sequence[str]] = {
        "direction": BOOST_DIRECTIONS if kind is Kind.BOOST else DIRECTIONS,
        "membership": COMPACT_MEMBERSHIPS if kind is Kind.COMPACT else MEMBERSHIPS,
        "growth": GROWTHS,
        "loss": REGRESSION_LOSSES,
        "calibrate": CALIBRATIONS,
        "class_weight": ("balanced",),
    }
    for name, values in allowed.items():
        if chosen.get(name, values[0]) not in values:
            raise Problem(
                f"{OPTIONS[name]} {chosen[name]} does not apply to --model {kind.value}: pass {' or '.join(values)}",
                ExitCode.USAGE,
            )
    if "quantile" in chosen and chosen["loss"] != "quantile":
        raise Problem(
            f"--quantile does not apply to --loss {chosen['loss']}: omit one of them, or pass --loss quantile",
            ExitCode.USAGE,
        )
    return chosen


def build(kind: Kind, chosen: dict[str, Any], task: str, **others: Any) -> Any:
    """Return the unfitted estimator with the chosen parameters, and with parameters of ``others`` that it has."""
    _check(chosen, kind, [TaskName(task)])
    estimator = kind.find_class(task)
    known = estimator().get_params(deep=False)
    return estimator(**chosen, **{name: value for name, value in others.items() if name in known})


def _check(chosen: dict[str, Any], kind: Kind, tasks: Sequence[TaskName]) -> None:
    """Reject parameters that no estimator of the family has for any of the tasks."""
    known = {(one, task): one.find_class(task)().get_params(deep=False) for one in Kind for task in TaskName}
    for name in chosen:
        having = [(one, task) for one, task in known if name in known[one, task]]
        if any((kind, task) in having for task in tasks):
            continue
        fitting = dict.fromkeys(one.value for one, task in having if task in tasks)
        if fitting:
            reason = f"--model {kind.value}: omit it, or pass --model {' or '.join(fitting)}"
        elif kind in [one for one, _ in having]:
            reason = f"a {tasks[0].value}: omit it"
        else:
            reason = f"--model {kind.value}: omit it"
        raise Problem(f"{OPTIONS[name]} does not apply to {reason}", ExitCode.USAGE)


def read_quantiles(text: str | None) -> float | list[float] | None:
    """Parse a quantile, or several with commas between them."""
    if text is None:
        return None
    try:
        some = [float(part) for part in text.split(",")]
    except ValueError:
        some = []
    if not some or not all(0.0 < one < 1.0 for one in some) or any(a >= b for a, b in pairwise(some)):
        raise Problem(
            f"--quantile {text} is not valid: pass a share between 0 and 1, or several in ascending order, such as "
            "0.05,0.5,0.95",
            ExitCode.USAGE,
        )
    return some[0] if len(some) == 1 else some


def read_number(option: str, text: str | None, *words: str) -> float | str | None:
    """Parse a number, an integer where it has no decimal point; or return one of some words."""
    if text is None or text in words:
        return text
    try:
        number = float(text)
    except ValueError:
        remedy = " or ".join(("a number", *words))
        raise Problem(f"{option} {text} is not valid: pass {remedy}", ExitCode.USAGE) from None
    return int(text) if text.isdecimal() else number
