"""The estimator that the options of a command describe."""

from __future__ import annotations

from collections.abc import Sequence
from enum import Enum
from typing import Annotated, Any

import typer

from .._parameters import BOOST_DIRECTIONS, DIRECTIONS, MEMBERSHIPS
from ..tables.names import check_known
from ._errors import ExitCode, Problem

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
}


class Kind(str, Enum):
    """What to fit."""

    TREE = "tree"
    FOREST = "forest"
    BOOST = "boost"

    @property
    def estimator(self) -> Any:
        """The class of the estimator."""
        import lhtree

        names = {"tree": "LHTClassifier", "forest": "LHForestClassifier", "boost": "LHBoostClassifier"}
        return getattr(lhtree, names[self.value])


Model = Annotated[
    Kind,
    typer.Option("--model", help="One tree per class, a forest of them, or boosted trees."),
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
    for name in MEMBERSHIPS:
        members[name.upper()] = name


class ClassWeight(str, Enum):
    """Class weights."""

    BALANCED = "balanced"


def build(kind: Kind, given: dict[str, Any], **others: Any) -> Any:
    """The unfitted estimator, with the parameters that were given (None: not given) and others where it has them."""
    known = {one: one.estimator().get_params(deep=False) for one in Kind}
    chosen = {name: value for name, value in given.items() if value is not None}
    for name in chosen:
        if name not in known[kind]:
            fitting = " or ".join(one.value for one in Kind if name in known[one])
            raise Problem(
                f"{OPTIONS[name]} does not apply to --model {kind.value}: omit it, or pass --model {fitting}",
                ExitCode.USAGE,
            )
    directions = BOOST_DIRECTIONS if kind is Kind.BOOST else DIRECTIONS
    if chosen.get("direction", directions[0]) not in directions:
        raise Problem(
            f"--direction {chosen['direction']} does not apply to --model {kind.value}: pass {' or '.join(directions)}",
            ExitCode.USAGE,
        )
    return kind.estimator(**chosen, **{name: value for name, value in others.items() if name in known[kind]})


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


def check_constraints(X: Any, path: str, **options: Sequence[str] | None) -> None:
    """Refuse constraints on columns that the table does not have, or that are categorical."""
    for option, names in options.items():
        check_known(option, names or (), list(X.columns), path)
        for name in names or ():
            if X[name].dtype.name == "category":
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
