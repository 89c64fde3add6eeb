"""Tables in batches, and what tests compare about models of them."""

import itertools
from dataclasses import replace

import numpy as np
import pandas as pd

from support.bridge import assert_same


def make_table(n_rows=400, seed=0):
    """Numbers with gaps, few and many categories, and two classes."""
    random = np.random.default_rng(seed)
    carrier = random.integers(0, 40, n_rows)
    X = pd.DataFrame(
        {
            "age": random.normal(50, 10, n_rows),
            "income": random.lognormal(3, 1, n_rows),
            "colour": random.choice(["red", "green", "blue", None], n_rows),
            "carrier": np.array([f"c{number:02d}" for number in range(40)], dtype=object)[carrier],
            "n_children": random.integers(0, 5, n_rows),
        }
    )
    X.loc[random.random(n_rows) < 0.1, "age"] = np.nan
    X.loc[random.random(n_rows) < 0.1, "carrier"] = None
    raw = X["age"].fillna(60) / 10 - np.log(X["income"]) + carrier / 10 + random.normal(0, 1, n_rows)
    return X, raw.to_numpy()


def cut_rows(X, y, weight, cuts):
    """A function that gives the rows in batches."""
    bounds = [0, *cuts, len(y)]

    def read():
        for first, last in itertools.pairwise(bounds):
            some = slice(first, last)
            rows = X.iloc[some] if hasattr(X, "iloc") else X[some]
            yield (rows, y[some]) if weight is None else (rows, y[some], weight[some])

    return read


def assert_same_model(one, other):
    """Assert that two estimators learned the same model to the bit."""
    # The hash of the rows is known only if they were in memory.
    assert_same(*(replace(model._model, provenance=None) for model in (one, other)))
