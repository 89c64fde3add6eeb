"""shap: its plots read our contributions, and its explainers call our models."""

import pickle
import sys

import numpy as np
import pandas as pd
import pytest

from lhtree import LHBoostClassifier, LHBoostRegressor, LHForestClassifier, LHForestRegressor, LHTClassifier
from support.adult import make_adult
from support.clouds import make_clouds

pytestmark = pytest.mark.usefixtures("closing")


@pytest.fixture(scope="module")
def shap():
    return pytest.importorskip("shap")


def find_sum(model, X):
    """Return the sum of base and contributions, by class."""
    if model._is_regressor:
        return model.predict(X)
    if not isinstance(model, LHBoostClassifier):
        return model.predict_membership(X)
    raw_score = model.decision_function(X)
    return np.column_stack([-raw_score, raw_score]) if raw_score.ndim == 1 else raw_score


@pytest.mark.parametrize(
    "model",
    [
        *(LHTClassifier(), LHForestClassifier(3, random_state=0), LHBoostClassifier(5, leaf="linear")),
        *(LHForestRegressor(3, random_state=0), LHBoostRegressor(max_iter=5)),
    ],
    ids=str,
)
@pytest.mark.parametrize("n_classes", [2, 3])
def test_values_add_up(shap, model, n_classes):
    X, y = make_clouds(120, 4, n_classes)
    model.fit(X, y.astype(float) if model._is_regressor else y)
    explanation = model.explain_batch(X[:50]).to_shap()
    assert isinstance(explanation, shap.Explanation)
    assert explanation.feature_names == ["x0", "x1", "x2", "x3"]
    assert explanation.shape == ((50, 4) if model._is_regressor else (50, 4, n_classes))
    assert np.array_equal(explanation.data, X[:50])
    added = explanation.values.sum(axis=1) + explanation.base_values
    np.testing.assert_allclose(added, find_sum(model, X[:50]), atol=1e-9)


def test_plots_take_categories_and_names_of_classes(shap):
    X, y = make_adult(200)
    model = LHBoostClassifier(5, random_state=0).fit(X, y)
    explanation = model.explain_batch(X[:60]).to_shap()
    wanted = X[:60].astype(object)
    wanted = wanted.where(wanted.notna(), None).to_numpy()
    shown = np.where(pd.isna(explanation.data), None, explanation.data)
    assert (shown == wanted).all()
    of_class = explanation[:, :, ">50K"]
    frame = model.explain_batch(X[:60]).xs(">50K", level="class")
    np.testing.assert_array_equal(of_class.values[:, 0], frame["contribution.age"])
    assert shap.plots.beeswarm(of_class, show=False) is not None
    assert shap.plots.waterfall(of_class[3], show=False) is not None
    assert shap.plots.bar(of_class, show=False) is not None
    shap.plots.scatter(of_class[:, "age"], x_jitter=0, show=False)


def test_the_frame_stays_a_frame():
    X, y = make_clouds(60, 3, 2)
    model = LHTClassifier().fit(X, y)
    frame = model.explain_batch(X)
    assert isinstance(frame, pd.DataFrame)
    assert type(frame.head()) is type(frame[["base"]]) is type(frame.copy()) is pd.DataFrame
    again = pickle.loads(pickle.dumps(frame))
    pd.testing.assert_frame_equal(again, frame)


@pytest.mark.parametrize("n_features", [3, 12])  # shap computes exact values, and permutes
def test_explainers_call_models(shap, n_features):
    X, y = make_clouds(80, n_features, 2)
    for model in (LHForestClassifier(3, random_state=0), LHForestRegressor(3, random_state=0)):
        model.fit(X, y)
        explained = shap.Explainer(model, X[:20])(X[:2])
        wanted = model.predict(X[:2]) if model._is_regressor else model.predict_proba(X[:2])
        assert explained.shape == (2, n_features, *wanted.shape[1:])
        np.testing.assert_allclose(explained.values.sum(axis=1) + explained.base_values, wanted, atol=1e-9)


def test_missing_shap_is_named(monkeypatch, rejects):
    monkeypatch.setitem(sys.modules, "shap", None)
    X, y = make_clouds(60, 3, 2)
    rejects(LHTClassifier().fit(X, y).explain_batch(X).to_shap)
