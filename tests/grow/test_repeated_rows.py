"""Integer weights give the model of repeated rows, up to rounding, unless rows are drawn."""

import numpy as np
import pandas as pd
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from sklearn.base import is_classifier

import lhtree
from support.attacks import predict

LEAF = {"min_samples_leaf": 2}  # "auto" compares sizes on rows that it draws
ROUNDS = {"subsample": 1.0, "learning_rate": 0.1, "random_state": 0}  # "auto" holds rows out
CLASSIFIERS = [
    lhtree.LHTClassifier(),
    lhtree.LHTClassifier(missing_indicator=True),
    lhtree.LHTClassifier(direction="fisher", **LEAF),
    lhtree.LHTClassifier(direction="mixed", class_weight={0: 2, 1: 3}, **LEAF),
    lhtree.LHForestClassifier(3, max_samples=1.0, random_state=0),
    lhtree.LHForestClassifier(3, direction="mixed", max_samples=1.0, random_state=0, **LEAF),
    lhtree.LHBoostClassifier(5, **ROUNDS),
    lhtree.CompactLHTClassifier(penalty=1.0, random_state=0),
]
REGRESSORS = [
    lhtree.LHTRegressor(),
    lhtree.LHTRegressor(missing_indicator=True, min_samples_leaf=4),
    lhtree.LHForestRegressor(3, max_samples=1.0, random_state=0),
    lhtree.LHBoostRegressor(max_iter=5, **ROUNDS),
    lhtree.LHBoostRegressor("absolute_error", max_iter=5, **ROUNDS),
    lhtree.LHBoostRegressor("poisson", max_iter=5, **ROUNDS),
    lhtree.CompactLHTRegressor(penalty=1.0, random_state=0),
]


@st.composite
def tables(draw):
    """Numbers with gaps that may matter, few categories, a number from 0 to about 30, and weights of 1 to 4."""
    random = np.random.default_rng(draw(st.integers(0, 2**32 - 1)))
    n_rows = draw(st.integers(8, 60))
    X = pd.DataFrame(random.normal(size=(n_rows, 3)), columns=["a", "b", "c"])
    for name in X:
        X.loc[random.random(n_rows) < draw(st.sampled_from([0.0, 0.1, 0.3])), name] = np.nan
    X["colour"] = random.choice(np.array(["red", "green", None], dtype=object), n_rows)
    y = np.exp(X["a"].fillna(2.0) / 2 + (X["colour"] == "red")).to_numpy() + random.uniform(size=n_rows)
    return X, y, random.integers(1, 5, n_rows)


@pytest.mark.parametrize("model", CLASSIFIERS + REGRESSORS, ids=str)
@settings(max_examples=20)
@given(table=tables())
def test_weights_count_as_repeated_rows(model, table):
    X, y, weight = table
    if is_classifier(model):
        y = np.digitize(y, np.quantile(y, [0.4, 0.7]) if len(y) % 2 else [np.median(y)])
    place = np.repeat(np.arange(len(y)), weight)
    weighted = predict(model.fit(X, y, sample_weight=weight), X)
    features = model._model.feature_names
    importances = model.feature_importances_
    repeated = predict(model.fit(X.iloc[place].reset_index(drop=True), y[place]), X)
    assert features == model._model.feature_names
    np.testing.assert_allclose(weighted, repeated, rtol=1e-6, atol=1e-6)
    np.testing.assert_allclose(importances, model.feature_importances_, rtol=1e-5, atol=1e-6)


@pytest.mark.parametrize("weight", [1, 3])
@pytest.mark.parametrize("n_missing", [1, 2, 4, 5])
def test_indicators_need_five_missing_values_by_weight(weight, n_missing):
    X = np.random.default_rng(0).normal(size=(40, 2))
    X[:n_missing, 0] = np.nan
    model = lhtree.LHTRegressor(missing_indicator=True).fit(X, X[:, 1], np.full(40, weight))
    assert model._model.n_features == 2 + (weight * n_missing >= 5)
