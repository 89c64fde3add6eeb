"""Fitted regressors of every kind, with rows and responses."""

from functools import cache

import numpy as np
import pandas as pd

from lhtree import LHBoostRegressor, LHForestRegressor, LHTRegressor

KINDS = ("tree", "flat", "forest", "boosted", "median", "gamma")


def make_houses(n_rows=300, seed=0):
    """Prices of houses, in the ten thousands, with a category and gaps."""
    generator = np.random.default_rng(seed)
    area, age = generator.uniform(40, 250, n_rows).round(), generator.uniform(0, 90, n_rows).round()
    garden = generator.random(n_rows) < 0.4
    town = generator.choice(["north", "south", "west"], n_rows)
    price = 1200 * area - 900 * age + 40_000 * garden + np.where(town == "south", 60_000, 0) + 80_000
    price = (price + np.where(area > 150, 50_000, 0) + generator.normal(0, 8000, n_rows)).round(-2)
    age[generator.random(n_rows) < 0.1] = np.nan
    columns = {"living area": area, "age": age, "garden": garden.astype(float), "town": pd.Categorical(town)}
    return pd.DataFrame(columns), price.clip(20_000)


@cache
def fit_regression(kind):
    """A model of a kind with its rows and responses; do not change it."""
    X, y = make_houses()
    maker = {
        "tree": lambda: LHTRegressor(keep_prototypes=True),
        "flat": lambda: LHTRegressor(membership="constant", min_samples_leaf=5),
        "forest": lambda: LHForestRegressor(
            12, membership="least_squares", min_samples_leaf=8, random_state=0
        ),
        "boosted": lambda: LHBoostRegressor(max_iter=20, learning_rate=0.2, random_state=0),
        "median": lambda: LHBoostRegressor("absolute_error", max_iter=20, learning_rate=0.2, random_state=0),
        "gamma": lambda: LHBoostRegressor("gamma", max_iter=20, learning_rate=0.2, random_state=0),
    }[kind]
    return maker().fit(X, y), X, y
