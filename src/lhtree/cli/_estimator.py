"""The estimator that the options of a command describe."""

from __future__ import annotations

from enum import Enum
from typing import Annotated, Any

import typer

from .._parameters import BOOST_DIRECTIONS, DIRECTIONS, MEMBERSHIPS
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
    typer.Option(
        "--model", help="One tree per class, a forest of them, or boosted trees (best with mixed tables)."
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
    return kind.estimator(**chosen, **{name: value for name, value in others.items() if name in known[kind]})


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
