"""Forests of tables in batches: each tree's rows are read in one pass, and the model is that of fit, to the bit."""

import numpy as np
import pytest

from lhtree import LHForestClassifier, LHForestRegressor
from lhtree.tables import rows as sample
from support.batches import assert_same_model, cut_rows, make_table

FEW = {"n_estimators": 4, "max_samples": 60, "random_state": 0}


def fit_both(model, params, X, y, weight=None, cuts=(70, 71, 200)):
    whole = model(**params).fit(X, y, weight)
    return whole, model(**params).fit_batches(cut_rows(X, y, weight, cuts))


@pytest.mark.parametrize("n_classes", [2, 3])
@pytest.mark.parametrize(
    "params",
    [
        {},
        {"direction": "mixed", "bootstrap": True, "oob_score": True},  # a pilot chooses the leaf size
        {
            "direction": "mixed",
            "multi_class": "one_tree",
            "min_samples_leaf": 2,
            "class_weight": "balanced_subsample",
        },
        {"direction": "fisher", "missing_indicator": True, "normalize": "standard"},
    ],
)
@pytest.mark.parametrize("weights", [False, True])
def test_classifiers_equal_those_of_fit(n_classes, params, weights):
    X, raw = make_table()
    X["age"] = X["age"].where(
        X["age"].isna() | (np.arange(400) % 3 > 0) | (raw < np.median(raw))
    )  # informative missing values
    y = np.digitize(raw, np.quantile(raw, np.linspace(0, 1, n_classes + 1)[1:-1]))
    weight = np.random.default_rng(1).integers(0, 3, 400) if weights else None
    assert_same_model(*fit_both(LHForestClassifier, FEW | params, X, y, weight))


@pytest.mark.parametrize("params", [{}, {"oob_score": True, "bootstrap": True, "n_jobs": 2}])
def test_regressors_equal_those_of_fit(params, monkeypatch):
    monkeypatch.setattr(sample, "MOST_SAMPLED", 100)
    X, raw = make_table()
    whole, batched = fit_both(LHForestRegressor, FEW | params, X, raw)
    assert_same_model(whole, batched)
    np.testing.assert_array_equal(whole.predict_interval(X.iloc[:5]), batched.predict_interval(X.iloc[:5]))


@pytest.mark.parametrize("indicator", [True, False, "auto"])
def test_arrays_give_the_model_of_fit(indicator):
    random = np.random.default_rng(2)
    X = random.normal(size=(300, 4))
    y = (X[:, 0] + X[:, 1] > 0).astype(int)
    X[(random.random(300) < 0.4) & (y == 1), 3] = np.nan
    X[random.random(300) < 0.2, 2] = np.nan
    params = FEW | {"direction": "mixed", "missing_indicator": indicator, "min_samples_leaf": 3}
    whole = LHForestClassifier(**params).fit(X, y)
    assert_same_model(whole, LHForestClassifier(**params).fit_batches((X, y), batch_rows=77))


def test_drawing_all_rows_gives_the_model_of_fit():
    X, raw = make_table()
    params = FEW | {"max_samples": 400}
    assert_same_model(*fit_both(LHForestRegressor, params, X, raw))


@pytest.mark.parametrize(
    "params",
    [
        {"max_samples": 0.5},
        {"max_samples": "auto"},
        {"max_samples": 10, "warm_start": True},
        {"max_samples": 10, "calibrate": "sigmoid"},
        {"max_samples": 2, "keep_prototypes": 3},
        {"max_samples": 10_000},
    ],
)
def test_unsupported_settings_are_rejected(params, rejects):
    rejects(LHForestClassifier(**params).fit_batches, (np.zeros((4, 1)), np.array([0, 1, 0, 1])))


@pytest.mark.parametrize("model", [LHForestClassifier, LHForestRegressor])
@pytest.mark.parametrize("later", [slice(0, 100), slice(0, 400), slice(200, 400)])
def test_a_function_that_gives_other_rows_in_a_later_pass(model, later, rejects, monkeypatch):
    monkeypatch.setattr(sample, "MOST_SAMPLED", 100)
    X, raw = make_table()
    y = raw if model is LHForestRegressor else np.where(raw > np.median(raw), "high", "low")
    parts = [slice(0, 200), later, later, later]

    def read():
        part = parts.pop(0)
        yield X[part][:90], y[part][:90]
        yield X[part][90:], y[part][90:]

    rejects(model(**FEW).fit_batches, read)
