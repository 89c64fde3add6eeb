"""LHTRegressor and LHForestRegressor: public behaviour."""

import pickle

import numpy as np
import pandas as pd
import pytest
from sklearn.base import clone
from sklearn.datasets import load_diabetes, make_friedman1
from sklearn.ensemble import RandomForestRegressor
from sklearn.linear_model import LinearRegression
from sklearn.metrics import r2_score
from sklearn.tree import DecisionTreeRegressor

import lhtree
from support.strategies import DIRECTIONS

TREE, FOREST = lhtree.LHTRegressor(), lhtree.LHForestRegressor(8, random_state=0)
BOTH = pytest.mark.parametrize("model", [TREE, FOREST], ids=["tree", "forest"])


@pytest.fixture(scope="module")
def friedman():
    return make_friedman1(600, 6, noise=0.5, random_state=0)


@pytest.mark.parametrize("membership", ["least_squares", "marginal", "constant"])
@pytest.mark.parametrize("direction", DIRECTIONS)
@BOTH
def test_predictions_follow_scale_and_shift_of_the_response(friedman, model, direction, membership):
    X, y = friedman
    model = clone(model).set_params(direction=direction, membership=membership)
    expected = clone(model).fit(X, y).predict(X)
    np.testing.assert_array_equal(clone(model).fit(X, y * 1024.0).predict(X), expected * 1024.0)
    np.testing.assert_array_equal(clone(model).fit(X, y / 2.0**900).predict(X), expected / 2.0**900)
    np.testing.assert_allclose(clone(model).fit(X, y + 37.0).predict(X) - 37.0, expected, 0, 1e-9)


@BOTH
def test_predictions_stay_within_the_responses(friedman, model):
    X, y = friedman
    fitted = clone(model).set_params(membership="least_squares").fit(X, y)
    far = np.random.default_rng(0).normal(size=(500, 6)) * 1e3
    assert y.min() <= fitted.predict(far).min() < fitted.predict(far).max() <= y.max()
    response = fitted._model.response
    assert (response.low, response.high) == (y.min(), y.max())
    assert response.mean == pytest.approx(y.mean())
    root = fitted.trees_[0].outcome[0]
    assert root == pytest.approx(y.mean() if model is TREE else root)


@BOTH
def test_degenerate_responses(model):
    X = np.random.default_rng(0).normal(size=(40, 3))
    for constant in (0.0, -3.5, 1e300):
        assert (clone(model).fit(X, np.full(40, constant)).predict(X) == constant).all()
    for y in (X[:, 0] * 1e300 / np.abs(X).max(), X[:, 0] * 1e-300, X[:, 0] * 5e-324):
        fitted = clone(model).set_params(min_samples_leaf=2).fit(X, y)
        prediction = fitted.predict(X)
        assert y.min() <= prediction.min() <= prediction.max() <= y.max()
        assert np.isfinite(fitted.feature_importances_).all()
    two = clone(model).fit(X[:2], [1.0, 2.0])
    assert ((two.predict(X) >= 1.0) & (two.predict(X) <= 2.0)).all()
    assert clone(model).fit(X[:1], [4.0]).predict(X).tolist() == [4.0] * 40


@BOTH
def test_tables_with_categories_and_gaps(model, tmp_path):
    rng = np.random.default_rng(0)
    frame = pd.DataFrame({"area": rng.normal(100, 20, 300), "city": rng.choice(["a", "b", "c"], 300)})
    y = frame["area"] * 2 + frame["city"].map({"a": 0, "b": 50, "c": -50})
    frame.loc[::9, "area"] = np.nan
    frame.loc[::11, "city"] = None
    fitted = clone(model).fit(frame, y)
    assert fitted.score(frame, y) > 0.6
    assert fitted.feature_names_in_.tolist() == ["area", "city"]
    assert fitted.n_features_in_ == 2
    assert len(fitted.feature_importances_) == 2
    lhtree.save(fitted, tmp_path / "model.lht")
    again, scorer = lhtree.load(tmp_path / "model.lht"), lhtree.load_scorer(tmp_path / "model.lht")
    for other in (again, scorer, pickle.loads(pickle.dumps(fitted))):
        np.testing.assert_array_equal(other.predict(frame), fitted.predict(frame))
    assert again.get_params() == fitted.get_params()


def test_regressors_lack_the_methods_of_classifiers(friedman, rejects):
    fitted = clone(TREE).fit(*friedman)
    for name in ("predict_proba", "classes_", "predict_wolf"):
        assert not hasattr(fitted, name)
    rejects(fitted.predict_or_abstain, friedman[0][:1], 0.5)


@pytest.mark.parametrize(
    "model",
    [
        lhtree.LHForestRegressor(3),
        lhtree.LHBoostRegressor(max_iter=3, intervals=True),
        lhtree.LHEnsembleRegressor(3, n_estimators=3, cv=2),
    ],
)
def test_models_named_by_the_errors_have_intervals(friedman, model):
    X, y = friedman
    assert model.fit(X, y).predict_interval(X[:2]).shape == (2, 2)


def test_prototypes_keep_their_responses(friedman):
    X, y = friedman
    kept = lhtree.LHTRegressor(keep_prototypes=50).fit(X, y)._model.prototypes
    assert len(kept.response) == 50
    np.testing.assert_array_equal(kept.response, y[kept.given])
    np.testing.assert_array_equal(kept.X, X[kept.given])


def test_tree_is_smaller_and_more_accurate_than_cart():
    X, y = make_friedman1(1500, 8, noise=1.0, random_state=1)
    tree = lhtree.LHTRegressor().fit(X[:1000], y[:1000])
    cart = max(
        (
            DecisionTreeRegressor(min_samples_leaf=n, random_state=0).fit(X[:1000], y[:1000])
            for n in (2, 5, 20)
        ),
        key=lambda cart: cart.score(X[1000:], y[1000:]),
    )
    assert tree.score(X[1000:], y[1000:]) > cart.score(X[1000:], y[1000:]) + 0.02
    assert tree.n_leaves_ < cart.get_n_leaves() / 2


def test_linear_response_gives_one_block():
    X = np.random.default_rng(0).normal(size=(300, 4))
    y = X @ [1.0, -2.0, 0.5, 0.0] + 0.1 * np.random.default_rng(1).normal(size=300)
    tree = lhtree.LHTRegressor().fit(X, y)
    assert tree.n_leaves_ == 1
    line = LinearRegression().fit(X, y).predict(X)
    np.testing.assert_allclose(tree.predict(X), np.clip(line, y.min(), y.max()), atol=0.02)


def test_forest_is_more_accurate_than_random_forest():
    X, y = load_diabetes(return_X_y=True)
    X, y, X_test, y_test = X[::2], y[::2], X[1::2], y[1::2]
    forest, other = lhtree.LHForestRegressor(50, random_state=0), RandomForestRegressor(50, random_state=0)
    assert r2_score(y_test, forest.fit(X, y).predict(X_test)) > other.fit(X, y).score(X_test, y_test)
