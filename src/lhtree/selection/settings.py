"""Settings that ``lhtree.tune`` tries: the defaults first, then random ones."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator
from itertools import chain, islice
from typing import Any

import numpy as np

_OF_TREES = (
    *("direction", "n_estimators", "beta", "gamma", "min_samples_leaf", "membership", "max_depth"),
    "pruning",  # regression trees only
)
_PRUNING = (0.5, 1.0, 2.0, 4.0)
_DIRECTIONS = {"mean_difference": 0.3, "fisher": 0.2, "mixed": 0.5}
_MEMBERSHIPS = {"marginal": 0.5, "least_squares": 0.2, "constant": 0.3}
_TREES = (50, 100, 200, 400)
_LEAVES = (1, 5, 20, 50)  # values that are tried more often than others
_DEPTHS = (3, 5, 8, 12)
_MOST = 100  # largest gamma and min_samples_leaf

_BOOST_DIRECTIONS = {"mixed": 0.85, "single": 0.15}
_GROWTHS = {"symmetric": 0.75, "free": 0.25}
_BOOST_ROUNDS = (100, 200, 400, 800)
_BOOST_DEPTHS = (2, 3, 4, 5, 6, 8)
_BOOST_LEAVES = (1, 5, 10, 20, 50, 100)
_BOOST_L2 = (0.1, 1.0, 3.0, 10.0)
_BOOST_DIRECTED = (2, 3, 4, 6, 8)

_COMPACT_LEAVES = (4, 8, 16)
_COMPACT_TERMS = (2, 4, 8)
_COMPACT_PENALTIES = (0.3, 1.0, 3.0, 10.0)

_ENSEMBLE_ROUNDS = (200, 400, 800)
_ADDITIVE_PAIRS = ("auto", 0, 2, 5, 10, 20)
_ADDITIVE_SMOOTHINGS = (0.5, 1.0, 3.0, 10.0)
_ADDITIVE_LEAVES = (2, 5, 10, 20, 50)

Setting = dict[str, Any]  # values of the searched parameters that the estimator has
Draw = Callable[[np.random.Generator, Setting, int], Setting]


def draw_settings(params: Setting, n_rows: int, n_settings: int, seed: int) -> Iterator[Setting]:
    """Yield the parameters as given, then with another direction ("mixed" by default), then random ones.

    Settings depend on the seed only and are distinct.
    """
    return islice(_find_different(params, n_rows, n_settings, seed), n_settings)


def _find_different(params: Setting, n_rows: int, n_settings: int, seed: int) -> Iterator[Setting]:
    known: list[Setting] = []
    generator = np.random.default_rng(seed)
    draw = _choose_draw(params)
    # More than needed, because some are equal.
    draws = [draw(generator, params, n_rows) for _ in range(20 * n_settings)]
    given = {name: params[name] for name in draws[0]}
    first = [given, given | {"direction": _choose_other(params)}] if "direction" in given else [given]
    for setting in chain(first, draws):
        if setting not in known:
            known.append(setting)
            yield setting


def _choose_draw(params: Setting) -> Draw:
    """Return the function that draws settings for the estimator with these parameters."""
    if "max_terms" in params:
        return _draw_compact
    if "cv" in params:
        return _draw_ensemble
    if "interactions" in params:
        return _draw_additive
    return _draw_boost if "max_iter" in params else _draw_trees


def _choose_other(params: Setting) -> str:
    """Return another direction than the given one, if the estimator has one."""
    if params.get("multi_class") == "one_tree" and "max_iter" not in params:
        return "mixed"
    if params["direction"] != "mixed" and params.get("offset") != "purity":
        return "mixed"
    return "single" if "max_iter" in params else "mean_difference"


def _draw_trees(generator: np.random.Generator, params: Setting, n_rows: int) -> Setting:
    most = max(1, min(_MOST, n_rows // 10))
    shares = _DIRECTIONS if params.get("offset") != "purity" else _DIRECTIONS | {"mixed": 0.0}
    direction, membership = _choose(generator, shares), _choose(generator, _MEMBERSHIPS)
    # Trees of all classes have no other direction and no slopes.
    if params.get("multi_class") == "one_tree":
        direction, membership = "mixed", params["membership"]
    is_pure = direction == "mean_difference" and params.get("offset") != "gini"
    gamma, leaf = _draw_count(generator, most), _draw_count(generator, most)
    if generator.random() < 0.7:
        leaf = int(generator.choice([count for count in _LEAVES if count <= most]))
    drawn = {
        "direction": direction,
        "n_estimators": int(generator.choice(_TREES)),
        "beta": "auto" if generator.random() < 0.4 else round(0.05 * int(generator.integers(1, 19)), 2),
        "gamma": gamma if is_pure else params.get("gamma"),  # without effect on cuts by Gini impurity
        "min_samples_leaf": leaf,
        "membership": membership,
        "max_depth": None if generator.random() < 0.75 else int(generator.choice(_DEPTHS)),
    }
    if "pruning" in params:
        drawn["pruning"] = float(generator.choice(_PRUNING))
    return {name: drawn[name] for name in _OF_TREES if name in params}


def _draw_boost(generator: np.random.Generator, params: Setting, n_rows: int) -> Setting:
    direction = _choose(generator, _BOOST_DIRECTIONS)
    rate = float(f"{0.01 * 30.0 ** generator.random():.2g}")  # 0.01 to 0.3
    leaves = [count for count in _BOOST_LEAVES if count <= max(1, n_rows // 10)]
    n_directed = int(generator.choice(_BOOST_DIRECTED))
    return {
        "direction": direction,
        "growth": _choose(generator, _GROWTHS),
        "max_iter": int(generator.choice(_BOOST_ROUNDS)),
        "learning_rate": "auto" if generator.random() < 0.5 else rate,
        "max_depth": int(generator.choice(_BOOST_DEPTHS)),
        "min_samples_leaf": int(generator.choice(leaves)),
        "l2_regularization": float(generator.choice(_BOOST_L2)),
        "n_directed": n_directed if direction == "mixed" else params["n_directed"],
    }


def _draw_ensemble(generator: np.random.Generator, params: Setting, n_rows: int) -> Setting:
    return {
        "max_iter": int(generator.choice(_ENSEMBLE_ROUNDS)),
        "n_estimators": int(generator.choice(_TREES)),
    }


def _draw_compact(generator: np.random.Generator, params: Setting, n_rows: int) -> Setting:
    leaves = [count for count in _BOOST_LEAVES[1:] if count <= max(5, n_rows // 10)]
    return {
        "max_leaf_nodes": int(generator.choice(_COMPACT_LEAVES)),
        "max_terms": int(generator.choice(_COMPACT_TERMS)),
        "penalty": float(generator.choice(_COMPACT_PENALTIES)),
        "min_samples_leaf": int(generator.choice(leaves)),
    }


def _draw_additive(generator: np.random.Generator, params: Setting, n_rows: int) -> Setting:
    leaves = [count for count in _ADDITIVE_LEAVES if count <= max(2, n_rows // 10)]
    return {
        "interactions": _ADDITIVE_PAIRS[generator.integers(len(_ADDITIVE_PAIRS))],
        "smoothing": float(generator.choice(_ADDITIVE_SMOOTHINGS)),
        "min_samples_leaf": int(generator.choice(leaves)),
        "l2_regularization": float(generator.choice(_BOOST_L2)),
    }


def _choose(generator: np.random.Generator, shares: dict[str, float]) -> str:
    total = sum(shares.values())
    return str(generator.choice(list(shares), p=[share / total for share in shares.values()]))


def _draw_count(generator: np.random.Generator, most: int) -> int:
    """Draw a whole number from 1 to ``most``, uniformly on a logarithmic scale."""
    return int(np.rint(2.0 ** generator.uniform(0.0, math.log2(most))))
