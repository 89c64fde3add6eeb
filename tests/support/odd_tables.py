"""Hypothesis strategies: small tables of odd columns, with weights, for every estimator."""

from typing import NamedTuple

import numpy as np
import pandas as pd
from hypothesis import strategies as st

from lhtree import (
    AdditiveLHTClassifier,
    AdditiveLHTRegressor,
    CompactLHTClassifier,
    CompactLHTRegressor,
    LHBoostClassifier,
    LHBoostRegressor,
    LHEnsembleClassifier,
    LHEnsembleRegressor,
    LHForestClassifier,
    LHForestRegressor,
    LHTClassifier,
    LHTRegressor,
)

# Functions of a random generator and a number of rows that return a column.
COLUMNS = {
    "normal": lambda g, n: g.normal(size=n),
    "whole": lambda g, n: g.integers(0, 5, n).astype(float),
    "counts": lambda g, n: g.integers(10_000, 90_000, n).astype(float),
    "flag": lambda g, n: g.integers(0, 2, n).astype(float),
    "prices": lambda g, n: np.round(g.uniform(0, 100, n), 2),
    "constant": lambda g, n: np.full(n, 3.5),
    "ulps": lambda g, n: np.where(g.random(n) < 0.5, 1.0, np.nextafter(1.0, 2.0)),
    "huge": lambda g, n: g.normal(size=n) * 1e300,
    "tiny": lambda g, n: g.normal(size=n) * 1e-300,
    "wide": lambda g, n: g.normal(size=n) * 10.0 ** g.uniform(-8, 8, n),
    "shifted": lambda g, n: 1e9 + g.normal(size=n),
    "empty": lambda g, n: np.full(n, np.nan),
    "text": lambda g, n: g.choice(["red", "blue", "a = b", ""], n).astype(object),
    "one text": lambda g, n: np.full(n, "same", dtype=object),
    "many texts": lambda g, n: np.array([f"shop {i}" for i in g.integers(0, 40, n)], dtype=object),
    "no text": lambda g, n: pd.Categorical([None] * n, categories=["u", "v"]),
}
CLASSIFIERS = [
    lambda: LHTClassifier(),
    lambda: LHTClassifier(direction="mixed", membership="least_squares", min_samples_leaf=1),
    lambda: LHForestClassifier(3, random_state=0),
    lambda: LHForestClassifier(3, direction="mixed", multi_class="one_tree", random_state=0),
    lambda: LHBoostClassifier(5, min_samples_leaf=1, random_state=0),
    lambda: LHBoostClassifier(5, min_samples_leaf=1, leaf="linear", random_state=0),
    lambda: LHEnsembleClassifier(3, n_estimators=2, cv=2, random_state=0),
    lambda: CompactLHTClassifier(random_state=0),
    lambda: AdditiveLHTClassifier(1, max_iter=9, n_bags=2, min_samples_leaf=1, random_state=0),
]
REGRESSORS = [
    lambda: LHTRegressor(),
    lambda: LHForestRegressor(3, random_state=0),
    lambda: LHBoostRegressor(max_iter=5, min_samples_leaf=1, random_state=0),
    lambda: LHBoostRegressor(max_iter=5, min_samples_leaf=1, leaf="linear", random_state=0),
    lambda: LHBoostRegressor(loss="poisson", max_iter=5, min_samples_leaf=1, random_state=0),
    lambda: LHEnsembleRegressor(3, n_estimators=2, cv=2, random_state=0),
    lambda: CompactLHTRegressor(random_state=0),
    lambda: AdditiveLHTRegressor(interactions=1, max_iter=9, n_bags=2, min_samples_leaf=1, random_state=0),
]


class OddTable(NamedTuple):
    """Rows, their classes or responses, their weights (or None) and an estimator that is not fitted."""

    X: pd.DataFrame
    y: np.ndarray
    weight: np.ndarray | None
    model: object


@st.composite
def odd_tables(draw, max_rows=60):
    """Tables of 1 to ``max_rows`` rows; classifiers have two rows at least, and two classes."""
    model = draw(st.sampled_from(CLASSIFIERS + REGRESSORS))()
    is_class = hasattr(model, "predict_proba")
    n_rows = draw(st.integers(2 if is_class else 1, max_rows))
    generator = np.random.default_rng(draw(st.integers(0, 2**32 - 1)))
    kinds = draw(st.lists(st.sampled_from(sorted(COLUMNS)), min_size=1, max_size=5))
    X = pd.DataFrame({f"{kind} {i}": COLUMNS[kind](generator, n_rows) for i, kind in enumerate(kinds)})
    X["number"] = generator.normal(size=n_rows)  # no table consists of empty columns only
    share_missing = draw(st.sampled_from([0.0, 0.0, 0.2]))
    X = X.mask(generator.random(X.shape) < share_missing)
    weight = draw(st.sampled_from([None, None, "floats", "zeros"]))
    if weight is not None:
        weight = generator.uniform(0.1, 3.0, n_rows) * (
            generator.random(n_rows) < 0.7 if weight == "zeros" else 1.0
        )
    if is_class:
        n_classes = draw(st.integers(2, min(4, n_rows)))
        y = generator.permutation(
            np.concatenate([np.arange(n_classes), generator.integers(0, n_classes, n_rows - n_classes)])
        )
        if weight is not None:
            weight[np.unique(y, return_index=True)[1]] = 1.0  # every class has weight
        y = y if draw(st.booleans()) else np.array(["no", "yes", "maybe", "a b"])[y]
        return OddTable(X, y, weight, model)
    y = generator.normal(size=n_rows) * 10.0 ** draw(st.sampled_from([0, 0, 3, -9, 9]))
    if draw(st.booleans()):
        y = np.round(y)
    if weight is not None:
        weight[0] = 1.0
    if getattr(model, "loss", None) == "poisson":
        y = np.abs(y)
        y[0] += 1.0
    return OddTable(X, y, weight, model)
