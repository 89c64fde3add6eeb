"""Checks of parameters, and the parameters of a fit with every ``"auto"`` replaced by its value."""

from __future__ import annotations

import copy
import math
from numbers import Integral, Real
from typing import Any

import numpy as np

from . import _core

DIRECTIONS, MEMBERSHIPS = _core.DIRECTIONS, _core.MEMBERSHIPS
BOOST_DIRECTIONS = ("mixed", "single")
GROWTHS = _core.GROWTHS
COMPACT_MEMBERSHIPS = ("constant", "linear")
REGRESSION_LOSSES = tuple(name for name, loss in _core.LOSSES.items() if not loss.is_of_classes)
OFFSETS = ("auto", *_core.OFFSETS)
CONFIDENCES = ("auto", *_core.CONFIDENCES, None)
NORMALISATIONS = ("robust", "standard", "minmax", None)
MULTI_CLASS = ("auto", "one_tree", "one_per_class")
MULTI_OUTPUT = ("auto", "one_tree", "one_per_output")
UNSEEN = ("missing", "error")
MANY_ROWS = (
    50_000  # multi_class="auto" grows trees of all classes above it, because K times as many take minutes
)
SMOOTHING = 0.1  # of leaves whose size a pilot chose; found by cross-validation on 26 data sets
_MOST_SHOWN = 100  # characters of a value in a message
MOST_THREADS = 4096  # more would not start everywhere; n_jobs may be larger


def refuse(name: str, value: object, remedy: str) -> ValueError:
    """Return the error for a parameter: its name, its value and what to pass instead."""
    shown = " ".join(line.strip() for line in repr(value).splitlines())
    shown = shown if len(shown) <= _MOST_SHOWN else f"{shown[: _MOST_SHOWN - 1]}…"
    return ValueError(f"{name}={shown} is not valid: pass {remedy}.")


def is_auto(value: object) -> bool:
    """Whether a value is to be chosen by the library."""
    return isinstance(value, str) and value == "auto"


def is_integer(value: object) -> bool:
    """Whether a value is an integer but not a bool."""
    return isinstance(value, Integral) and not isinstance(value, bool)


def check_count(name: str, value: Any, least: int) -> int:
    """Check an integer that must be at least ``least``."""
    if not is_integer(value) or value < least:
        raise refuse(name, value, f"an integer of at least {least}")
    return int(value)


def is_real(value: object) -> bool:
    """Whether a value is a finite number but not a bool."""
    if isinstance(value, bool) or not isinstance(value, Real):
        return False
    try:
        return math.isfinite(value)
    except OverflowError:  # an integer larger than every float
        return False


def choose(name: str, value: Any, allowed: tuple[Any, ...]) -> Any:
    """Return a value that must be one of the allowed names (or None)."""
    if not (value is None or isinstance(value, str)) or value not in allowed:
        raise refuse(name, value, f"one of {', '.join(map(repr, allowed))}")
    return value


def check_number(name: str, value: Any) -> float:
    """Check a finite number of at least 0."""
    if not is_real(value) or value < 0.0:
        raise refuse(name, value, "a number of at least 0")
    return float(value)


def _amount(name: str, value: Any, least: int, words: str = "") -> tuple[float, bool]:
    """Check a count of samples or a share of the training weight; return it and whether it is a share."""
    if is_integer(value) and least <= value <= 2**53:
        return float(value), False
    if is_real(value) and not is_integer(value) and 0.0 < value < 1.0:
        return float(value), True
    raise refuse(
        name, value, f"{words}an integer from {least} to 2**53 (a count) or a float between 0 and 1 (a share)"
    )


def check_flag(name: str, value: Any) -> bool:
    """Return True or False, given as such or as 0 or 1."""
    if not isinstance(value, (bool, np.bool_)) and not (is_integer(value) and value in (0, 1)):
        raise refuse(name, value, "True or False")
    return bool(value)


def check_verbose(value: Any) -> bool:
    """Whether to show a progress bar: a flag, or an integer as in scikit-learn."""
    if not isinstance(value, bool) and not (is_integer(value) and value >= 0):
        raise refuse("verbose", value, "0 or 1")
    return bool(value)


def draw_seed(random_state: Any) -> int:
    """Return a seed for the core from a random state of scikit-learn."""
    from sklearn.utils import check_random_state  # only estimators need scikit-learn

    try:
        return int(check_random_state(random_state).randint(np.iinfo(np.int32).max))
    except (ValueError, TypeError):
        raise refuse(
            "random_state", random_state, "None, an integer from 0 to 2**32 - 1 or a numpy RandomState"
        ) from None


def count_features(max_features: Any, n_features: int, *, is_oblique_forest: bool) -> int:
    """Return the number of features that a block considers; 0 means all."""
    if max_features is None:
        return 0
    if isinstance(max_features, str):
        if max_features == "auto":
            if not is_oblique_forest:
                return 0
            # At least two: a hyperplane of one feature is not oblique.
            return min(n_features, max(2, min(7, math.ceil(n_features / 2)), math.isqrt(n_features)))
        if max_features == "sqrt":
            return max(1, math.isqrt(n_features))
    elif is_integer(max_features) and max_features >= 1:
        return min(int(max_features), n_features)
    elif is_real(max_features) and not is_integer(max_features) and 0.0 < max_features <= 1.0:
        return max(1, int(max_features * n_features))
    raise refuse(
        "max_features",
        max_features,
        "'auto', 'sqrt', None (all), an integer of at least 1 or a float in (0, 1]",
    )


def settle_multi_class(params: dict[str, Any], n_classes: int, n_rows: int, *, earlier: bool | None) -> bool:
    """Whether a forest grows one tree of all classes instead of one per class; "auto" keeps the ``earlier`` kind."""
    how = choose("multi_class", params["multi_class"], MULTI_CLASS)
    if how == "one_tree" and params["direction"] != "mixed":
        raise refuse("multi_class", how, "'one_per_class' or 'auto', or direction='mixed' as well")
    # The memberships of trees of all classes are constant.
    if how == "one_tree" and params["membership"] == "least_squares":
        raise refuse(
            "multi_class",
            how,
            "'one_per_class' or 'auto', or a membership other than 'least_squares' as well",
        )
    if how == "auto" and earlier is not None:
        return earlier
    if how == "auto" and n_rows > MANY_ROWS and params["direction"] == "mixed":
        return n_classes > 2 and params["membership"] != "least_squares"
    return how == "one_tree" and n_classes > 2


def settle_one_tree(
    name: str, params: dict[str, Any], *, is_several: bool, auto: bool, earlier: bool | None
) -> bool:
    """Whether a round of boosting grows one tree of all classes or outputs; "auto" keeps the ``earlier`` kind.

    ``name`` is "multi_class" or "multi_output".
    """
    allowed = MULTI_CLASS if name == "multi_class" else MULTI_OUTPUT
    how = choose(name, params.get(name, "auto"), allowed)  # a regressor has no multi_class
    if how == "one_tree" and params["leaf"] == "linear":
        raise refuse(name, how, f"{allowed[-1]!r} or 'auto', or another leaf than 'linear' as well")
    wanted = how == "one_tree" and is_several
    if how == "auto":
        wanted = auto if earlier is None else earlier
    if earlier is not None and earlier != wanted:
        kind = "one_tree" if earlier else allowed[-1]
        raise refuse(name, how, f"{kind!r}, as in the earlier fit, with warm_start=True")
    return wanted


class Settled:
    """Checked parameters of one fit."""

    def __init__(
        self, params: dict[str, Any], n_features: int, *, is_forest: bool, is_regressor: bool = False
    ) -> None:
        direction = choose("direction", params["direction"], DIRECTIONS)
        is_paper = direction == "mean_difference"
        offset = choose("offset", params["offset"], OFFSETS)
        if offset == "auto":
            offset = "purity" if is_paper else "gini"
        if direction == "mixed" and offset != "gini":
            raise refuse(
                "offset", offset, "'gini' or 'auto' with direction='mixed', which compares Gini cuts"
            )
        gamma = _amount("gamma", params["gamma"], 1)
        min_split = params["min_samples_split"]
        words = "" if is_regressor else "'auto', "  # only classifiers choose them
        if words and isinstance(min_split, str) and min_split == "auto":
            min_split_amount = gamma if is_paper else (2.0, False)
        else:
            min_split_amount = _amount("min_samples_split", min_split, 1, words)
        leaf_size = params["min_samples_leaf"]
        is_auto = bool(words) and isinstance(leaf_size, str) and leaf_size == "auto"
        self.chooses_leaf_size = is_auto and not is_paper  # by a pilot
        size, is_share = min_leaf = _amount("min_samples_leaf", 1 if is_auto else leaf_size, 1, words)
        self.min_samples_leaf: float = size if is_share else int(size)
        self.smoothing = self._settle_smoothing(params.get("smoothing", 0.0), auto=self.chooses_leaf_size)
        max_depth = params["max_depth"]
        if max_depth is not None and not (is_integer(max_depth) and max_depth >= 1):
            raise refuse("max_depth", max_depth, "None (no limit) or an integer of at least 1")

        choose("unseen", params["unseen"], UNSEEN)
        self.normalize: str | None = choose("normalize", params["normalize"], NORMALISATIONS)
        confidence = choose("confidence", params["confidence"], CONFIDENCES)
        self.confidence: str | None = ("last" if is_paper else None) if confidence == "auto" else confidence
        self.beta = self._settle_beta(params["beta"], is_paper=is_paper, is_forest=is_forest)
        n_considered = count_features(
            params["max_features"], n_features, is_oblique_forest=is_forest and not is_paper
        )
        # If blocks draw no features, only drawn rows make the trees differ.
        self.max_samples = 1.0 if not is_paper and 0 < n_considered < n_features else 0.8
        self._core = {
            "direction": direction,
            "offset": offset,
            "membership": choose("membership", params["membership"], MEMBERSHIPS),
            "alpha": check_number("alpha", params["alpha"]),
            "gamma": gamma,
            "min_samples_split": min_split_amount,
            "min_samples_leaf": min_leaf,
            "max_depth": -1 if max_depth is None else min(int(max_depth), 2**62),
            "max_features": n_considered,
            "shrinkage": check_number("shrinkage", params["shrinkage"]),
            # Only single trees are read block by block; for forests, it would cost time and memory.
            "branching_membership": not is_forest,
        }

    @property
    def options(self) -> _core.Options:
        """Return the options of the core."""
        return _core.Options(beta=0.0, **self._core)

    def tree_params(self) -> dict[str, Any]:
        """Return the parameters, except beta, with which a single tree equals a tree of the forest."""
        names = ("direction", "offset", "membership")
        return {name: self._core[name] for name in names} | {
            "confidence": self.confidence,
            "max_features": self._core["max_features"] or None,
            "min_samples_leaf": self.min_samples_leaf,
            "smoothing": self.smoothing,
        }

    def with_leaf_size(self, n: float) -> Settled:
        """Return a copy with another ``min_samples_leaf``."""
        other = copy.copy(self)
        other.min_samples_leaf = n
        other._core = self._core | {"min_samples_leaf": _amount("min_samples_leaf", n, 1)}
        return other

    @staticmethod
    def _settle_smoothing(smoothing: Any, *, auto: bool) -> float:
        """Return the number of rows of the prior that are added to a leaf."""
        if isinstance(smoothing, str) and smoothing == "auto":
            return SMOOTHING if auto else 0.0
        if not is_real(smoothing) or smoothing < 0.0:
            raise refuse("smoothing", smoothing, "'auto' or a number of at least 0")
        return float(smoothing)

    @staticmethod
    def _settle_beta(beta: Any, *, is_paper: bool, is_forest: bool) -> float | None:
        """Return a fixed beta, or None for the paper's schedule."""
        names = "'auto', 'schedule'" if is_forest else "'auto'"
        if isinstance(beta, str) and beta == "auto":
            return None if is_forest and is_paper else 0.0
        if isinstance(beta, str) and beta == "schedule" and is_forest:
            return None
        if not is_real(beta) or not 0.0 <= beta < 1.0:
            raise refuse("beta", beta, f"{names} or a number in [0, 1)")
        return float(beta)
