"""The settings that ``lhtree.tune`` tries: the defaults first, then random ones."""

from __future__ import annotations

import math
from collections.abc import Iterator
from itertools import chain, islice
from typing import Any

import numpy as np

SEARCHED = ("direction", "n_estimators", "beta", "gamma", "min_samples_leaf", "membership", "max_depth")
_DIRECTIONS = {"mean_difference": 0.3, "fisher": 0.2, "mixed": 0.5}
_MEMBERSHIPS = {"marginal": 0.5, "least_squares": 0.2, "constant": 0.3}
_TREES = (50, 100, 200, 400)
_LEAVES = (1, 5, 20, 50)  # round numbers that are tried more often than those between them
_DEPTHS = (3, 5, 8, 12)
_MOST = 100  # of gamma and min_samples_leaf

Setting = dict[str, Any]  # values of the searched parameters that the estimator has


def draw_settings(params: Setting, n_rows: int, n_settings: int, seed: int) -> Iterator[Setting]:
    """The parameters as given, the same with direction "mixed" (or without it), then random ones.

    They are the same for a seed, and none comes twice.
    """
    return islice(_find_different(params, n_rows, n_settings, seed), n_settings)


def _find_different(params: Setting, n_rows: int, n_settings: int, seed: int) -> Iterator[Setting]:
    known: list[Setting] = []
    given = {name: params[name] for name in SEARCHED if name in params}
    can_mix = params["offset"] != "purity"
    other = "mixed" if can_mix and given["direction"] != "mixed" else "mean_difference"
    generator = np.random.default_rng(seed)
    draws = (
        _draw(generator, params, n_rows) for _ in range(20 * n_settings)
    )  # there may be few different ones
    for setting in chain([given, given | {"direction": other}], draws):
        if setting not in known:
            known.append(setting)
            yield setting


def _draw(generator: np.random.Generator, params: Setting, n_rows: int) -> Setting:
    most = max(1, min(_MOST, n_rows // 10))
    shares = _DIRECTIONS if params["offset"] != "purity" else _DIRECTIONS | {"mixed": 0.0}
    direction = _choose(generator, shares)
    is_pure = direction == "mean_difference" and params["offset"] != "gini"
    gamma, leaf = _draw_count(generator, most), _draw_count(generator, most)
    if generator.random() < 0.7:
        leaf = int(generator.choice([count for count in _LEAVES if count <= most]))
    drawn = {
        "direction": direction,
        "n_estimators": int(generator.choice(_TREES)),
        "beta": "auto" if generator.random() < 0.4 else round(0.05 * int(generator.integers(1, 19)), 2),
        "gamma": gamma if is_pure else params["gamma"],  # to cuts by Gini impurity it means nothing
        "min_samples_leaf": leaf,
        "membership": _choose(generator, _MEMBERSHIPS),
        "max_depth": None if generator.random() < 0.75 else int(generator.choice(_DEPTHS)),
    }
    return {name: drawn[name] for name in SEARCHED if name in params}


def _choose(generator: np.random.Generator, shares: dict[str, float]) -> str:
    total = sum(shares.values())
    return str(generator.choice(list(shares), p=[share / total for share in shares.values()]))


def _draw_count(generator: np.random.Generator, most: int) -> int:
    """A whole number from 1 to ``most``, small ones as likely as large ones."""
    return int(np.rint(2.0 ** generator.uniform(0.0, math.log2(most))))
