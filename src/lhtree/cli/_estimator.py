"""The estimator that the options of a command describe."""

from __future__ import annotations

from collections.abc import Sequence
from enum import Enum
from typing import Annotated, Any

import typer

from .._parameters import BOOST_DIRECTIONS, COMPACT_MEMBERSHIPS, DIRECTIONS, MEMBERSHIPS, REGRESSION_LOSSES
from ..io.read import FilePasses, Training
from ..model.calibration import CALIBRATORS
from ..tables.errors import check_known
from ._errors import ExitCode, Problem
from ._options import TaskName

# Parameters and the options that set them.
OPTIONS = {
    "direction": "--direction",
    "n_estimators": "--trees",
    "max_iter": "--rounds",
    "learning_rate": "--learning-rate",
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
    "calibrate": "--calibrate",
    "loss": "--loss",
    "quantile": "--quantile",
    "pruning": "--pruning",
    "max_leaf_nodes": "--leaves",
    "max_terms": "--terms",
    "penalty": "--penalty",
    "digits": "--digits",
}
_ESTIMATORS = {"tree": "LHT", "forest": "LHForest", "boost": "LHBoost", "compact": "CompactLHT"}


class Kind(str, Enum):
    """What to fit."""

    TREE = "tree"
    FOREST = "forest"
    BOOST = "boost"
    COMPACT = "compact"

    def choose(self, *, is_regression: bool) -> Any:
        """The class of the estimator."""
        import lhtree

        return getattr(lhtree, f"{_ESTIMATORS[self.value]}{'Regressor' if is_regression else 'Classifier'}")


Model = Annotated[
    Kind,
    typer.Option(
        "--model",
        metavar="KIND",
        help="tree: one per class; forest: many; boost: boosted trees; compact: one small tree that fits on a page.",
    ),
]


class Direction(str, Enum):
    """Directions of hyperplanes."""

    _ignore_ = "members name"
    members = vars()
    for name in dict.fromkeys((*DIRECTIONS, *BOOST_DIRECTIONS)):
        members[name.upper()] = name


class Membership(str, Enum):
    """Membership functions."""

    _ignore_ = "members name"
    members = vars()
    for name in dict.fromkeys((*MEMBERSHIPS, *COMPACT_MEMBERSHIPS)):
        members[name.upper()] = name


class Calibrate(str, Enum):
    """Maps of probabilities."""

    _ignore_ = "members name"
    members = vars()
    for name in CALIBRATORS:
        members[name.upper()] = name


class Loss(str, Enum):
    """Losses of a boosted regression."""

    _ignore_ = "members name"
    members = vars()
    for name in REGRESSION_LOSSES:
        members[name.upper()] = name


class ClassWeight(str, Enum):
    """Class weights."""

    BALANCED = "balanced"


def read_given(given: dict[str, Any], kind: Kind, task: TaskName | None) -> dict[str, Any]:
    """The parameters that were given (None: not given), if there is an estimator for them all."""
    chosen = {name: value for name, value in given.items() if value is not None}
    tasks = [False, True] if task is None else [task is TaskName.REGRESSION]
    _check(chosen, kind, tasks)
    allowed = {
        "direction": BOOST_DIRECTIONS if kind is Kind.BOOST else DIRECTIONS,
        "membership": COMPACT_MEMBERSHIPS if kind is Kind.COMPACT else MEMBERSHIPS,
    }
    for name, values in allowed.items():
        if chosen.get(name, values[0]) not in values:
            raise Problem(
                f"--{name} {chosen[name]} does not apply to --model {kind.value}: pass {' or '.join(values)}",
                ExitCode.USAGE,
            )
    if "quantile" in chosen and chosen["loss"] != "quantile":
        raise Problem(
            f"--quantile does not apply to --loss {chosen['loss']}: omit one of them, or pass --loss quantile",
            ExitCode.USAGE,
        )
    return chosen


def build(kind: Kind, chosen: dict[str, Any], *, is_regression: bool, **others: Any) -> Any:
    """The unfitted estimator, with the parameters that were chosen and others where it has them."""
    _check(chosen, kind, [is_regression])
    estimator = kind.choose(is_regression=is_regression)
    known = estimator().get_params(deep=False)
    return estimator(**chosen, **{name: value for name, value in others.items() if name in known})


def _check(chosen: dict[str, Any], kind: Kind, tasks: Sequence[bool]) -> None:
    """Refuse parameters that no estimator of the tasks (whether they are regressions) has."""
    known = {
        (one, task): one.choose(is_regression=task)().get_params(deep=False)
        for one in Kind
        for task in (False, True)
    }
    for name in chosen:
        if any(name in known[kind, task] for task in tasks):
            continue
        fitting = [one.value for one in Kind if any(name in known[one, task] for task in tasks)]
        others = [one.value for one in Kind if any(name in known[one, not task] for task in tasks)]
        if fitting:
            told = f"--model {kind.value}: omit it, or pass --model {' or '.join(fitting)}"
        elif kind.value in others:
            told = f"a {'regression' if tasks[0] else 'classification'}: omit it"
        else:
            told = f"--model {kind.value}: omit it"
        raise Problem(f"{OPTIONS[name]} does not apply to {told}", ExitCode.USAGE)


def read_constraints(
    increasing: Sequence[str] | None, decreasing: Sequence[str] | None
) -> dict[str, int] | None:
    """The monotonic constraints by column; None without any."""
    rising, falling = dict.fromkeys(increasing or (), 1), dict.fromkeys(decreasing or (), -1)
    for name in rising.keys() & falling.keys():
        raise Problem(
            f"--increasing {name} contradicts --decreasing {name}: pass one of them", ExitCode.USAGE
        )
    return rising | falling or None


def check_constraints(training: Training | FilePasses, path: str, **options: Sequence[str] | None) -> None:
    """Refuse constraints on columns that the table does not have, or that are categorical."""
    for option, names in options.items():
        check_known(option, names or (), training.names, path)
        for name in names or ():
            if name in training.as_categories:
                raise Problem(f"--{option} {name} is categorical: constraints are for numeric columns only")


def read_number(option: str, text: str | None, *words: str) -> float | str | None:
    """A number from the command line, integers being counts and others shares; or one of some words."""
    if text is None or text in words:
        return text
    try:
        number = float(text)
    except ValueError:
        remedy = " or ".join(("a number", *words))
        raise Problem(f"{option} {text} is not valid: pass {remedy}", ExitCode.USAGE) from None
    return int(text) if text.isdecimal() else number
