"""Compact trees: one small tree in the user's units, which predicts with the printed numbers."""

import numpy as np
import pandas as pd
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from sklearn.base import clone
from sklearn.datasets import load_breast_cancer, load_diabetes, load_wine

from lhtree import CompactLHTClassifier, CompactLHTRegressor
from support.clouds import make_clouds


def walk(model, X):
    """Return the leaf of every row, computed in plain Python."""
    learned = model._model
    trees, centre = learned.trees, learned.normalisation.centre
    leaves = []
    for row in np.where(np.isnan(X), centre, X).tolist():
        block = 0
        while trees.left[block] >= 0:
            total = 0.0
            for place in range(trees.hyperplane_ptr[block], trees.hyperplane_ptr[block + 1]):
                total += trees.unit_weight[place].item() * row[trees.hyperplane_feature[place]]
            block = int(trees.left[block]) + (0 if total < trees.unit_offset[block] else 1)
        leaves.append(block)
    return np.array(leaves)


@pytest.mark.parametrize("load", [load_wine, load_breast_cancer])
def test_the_tree_is_small_and_good(load):
    X, y = load(return_X_y=True)
    model = CompactLHTClassifier(max_leaf_nodes=4, max_terms=5).fit(X, y)
    assert model.score(X, y) > 0.96
    assert model.n_leaves_ <= 4
    assert np.diff(model._model.trees.hyperplane_ptr).max() <= 5
    assert model.n_terms_ == len(model._model.trees.unit_weight)
    assert abs(model.rounding_loss_) < 0.01
    assert (np.diff(model.objective_) <= 1e-9 * len(X)).all()
    assert model.feature_importances_.sum() == pytest.approx(1.0)


@pytest.mark.parametrize("digits", [1, 3, None])
@settings(max_examples=15)
@given(seed=st.integers(0, 2**32 - 1), n_classes=st.integers(2, 4))
def test_leaves_count_their_rows(digits, seed, n_classes):
    X, y = make_clouds(80, 4, n_classes, seed=seed)
    X = X * [1e-3, 1.0, 37.0, 1e6]
    X[::9, 1] = np.nan
    model = CompactLHTClassifier(
        penalty=0.2, min_samples_leaf=3, digits=digits, max_passes=2, missing_indicator=False
    ).fit(X, y)
    trees, leaf = model._model.trees, model.apply(X)[:, 0]
    np.testing.assert_array_equal(leaf, walk(model, X))
    is_leaf = trees.left < 0
    np.testing.assert_array_equal(
        np.bincount(leaf, minlength=trees.n_blocks)[is_leaf], trees.n_samples[is_leaf]
    )
    assert trees.weight[is_leaf].min() >= 3 or trees.n_blocks == 1
    np.testing.assert_array_equal(model.decision_path(X)[0].sum(axis=1).A1 > 0, True)


def test_shares_are_smoothed_by_one_row():
    X, y = load_wine(return_X_y=True)
    model = CompactLHTClassifier().fit(X, y)
    leaf, prior = model.apply(X)[:, 0], np.bincount(y) / len(y)
    for one in np.unique(leaf):
        counts = np.bincount(y[leaf == one], minlength=3)
        shares = (counts + prior) / (counts.sum() + 1.0)
        np.testing.assert_allclose(model.predict_proba(X[leaf == one][:1])[0], shares, rtol=1e-12)


def test_numbers_have_few_digits():
    X, y = load_breast_cancer(return_X_y=True)
    trees = CompactLHTClassifier(digits=2).fit(X, y)._model.trees
    assert all(float(f"{weight:.1e}") == weight for weight in trees.unit_weight)
    for block in np.flatnonzero(trees.left >= 0):
        some = slice(trees.hyperplane_ptr[block], trees.hyperplane_ptr[block + 1])
        assert 1.0 in trees.unit_weight[some]
    exact = CompactLHTClassifier(digits=None).fit(X, y)
    assert exact.rounding_loss_ == pytest.approx(0.0, abs=0.005)


def test_a_category_is_one_term():
    random = np.random.default_rng(0)
    colour = random.choice(["red", "green", "blue"], 300)
    X = pd.DataFrame({"colour": pd.Categorical(colour), "size": random.normal(size=300)})
    y = np.where((colour == "red") & (random.random(300) < 0.95), "yes", "no")
    model = CompactLHTClassifier().fit(X, y)
    names = [model._model.feature_names[f] for f in model._model.trees.hyperplane_feature]
    assert "colour = red" in names
    assert model.score(X, y) > 0.9
    assert model.predict(pd.DataFrame({"colour": ["purple"], "size": [0.0]})).tolist() == ["no"]


def test_gaps_count_as_the_rounded_centre():
    X, y = load_breast_cancer(return_X_y=True)
    model = CompactLHTClassifier().fit(X, y)
    centre = model._model.normalisation.centre
    row = X[:1].copy()
    row[0, ::2] = np.nan
    filled = np.where(np.isnan(row), centre, row)
    np.testing.assert_array_equal(model.predict_proba(row), model.predict_proba(filled))
    assert max(len(repr(value)) for value in centre.tolist()) <= 9


def make_noisy(n_rows, seed=0):
    """Rows of two classes that one feature of eight and a category explain a little."""
    random = np.random.default_rng(seed)
    frame = pd.DataFrame(random.normal(size=(n_rows, 8)), columns=[f"x{i}" for i in range(8)])
    frame["plan"] = random.choice(["a", "b", "c", "d"], n_rows)
    score = frame["x0"] + (frame["plan"] == "a")
    return frame, (random.random(n_rows) < 1.0 / (1.0 + np.exp(-score))).astype(int)


def measure_log_loss(model, X, y):
    return -np.log(model.predict_proba(X)[np.arange(len(y)), y]).mean()


def test_default_penalty_is_larger_for_noisy_rows():
    X, y = make_noisy(600)
    X_test, y_test = make_noisy(2000, seed=1)
    model, fixed = CompactLHTClassifier().fit(X, y), CompactLHTClassifier(penalty=1.0).fit(X, y)
    assert model.penalty_ > 1.0
    assert fixed.penalty_ == 1.0
    assert measure_log_loss(model, X_test, y_test) < measure_log_loss(fixed, X_test, y_test) - 0.05
    again = CompactLHTClassifier(penalty=model.penalty_).fit(X, y)
    np.testing.assert_array_equal(again.predict_proba(X), model.predict_proba(X))


def test_default_penalty_is_not_random():
    X, y = make_noisy(300)
    fits = [CompactLHTClassifier(random_state=seed).fit(X, y) for seed in (None, None, 7)]
    assert len({model.penalty_ for model in fits}) == 1
    for model in fits[1:]:
        np.testing.assert_array_equal(model.predict_proba(X), fits[0].predict_proba(X))


def test_default_penalty_of_few_rows_and_of_clear_classes_is_1():
    assert CompactLHTClassifier().fit(*load_breast_cancer(return_X_y=True)).penalty_ == 1.0
    X, y = make_noisy(40)
    assert CompactLHTClassifier().fit(X, y).penalty_ == 1.0
    assert CompactLHTRegressor().fit(X, y + 0.5).penalty_ == 1.0


def test_default_penalty_of_a_noisy_response_is_larger():
    X, _ = make_noisy(600)
    random = np.random.default_rng(2)
    y, other = (X["x0"] + 3.0 * random.normal(size=600) for _ in range(2))
    model, fixed = CompactLHTRegressor().fit(X, y), CompactLHTRegressor(penalty=1.0).fit(X, y)
    assert model.penalty_ > 1.0
    assert model.score(X, other) > fixed.score(X, other) + 0.05


def test_linear_leaves_of_two_classes():
    random = np.random.default_rng(0)
    X = random.uniform(size=(500, 3))
    y = (random.random(500) < X[:, 0]).astype(int)
    constant = CompactLHTClassifier(max_leaf_nodes=2).fit(X, y)
    linear = clone(constant).set_params(membership="linear").fit(X, y)
    trees = linear._model.trees
    assert trees.has_slopes
    assert len(np.unique(linear.predict_proba(X)[:, 1])) > 50
    assert (
        np.abs(linear.predict_proba(X)[:, 1] - X[:, 0]).mean()
        < np.abs(constant.predict_proba(X)[:, 1] - X[:, 0]).mean()
    )
    leaf = linear.apply(X)[:, 0]
    for row in range(0, 500, 50):
        some = slice(trees.membership_ptr[leaf[row]], trees.membership_ptr[leaf[row] + 1])
        total = trees.unit_intercept[leaf[row]]
        for slope, feature in zip(trees.unit_slope[some], trees.membership_feature[some], strict=True):
            total = total + slope * X[row, feature]
        total = min(max(total, trees.low[leaf[row]]), trees.high[leaf[row]])
        assert linear._model.score("membership", X[[row]])[0, 1] == total


@pytest.mark.parametrize("membership", ["constant", "linear"])
def test_numbers_are_predicted_within_their_range(membership):
    X, y = load_diabetes(return_X_y=True)
    model = CompactLHTRegressor(membership=membership).fit(X, y)
    assert model.score(X, y) > 0.45
    assert model.predict(X * 1e6).min() >= y.min()
    assert model.predict(X * 1e6).max() <= y.max()
    large = CompactLHTRegressor(membership=membership).fit(X, y * 2.0**600)
    np.testing.assert_allclose(large.predict(X), model.predict(X) * 2.0**600, rtol=2e-3)  # rounded otherwise
    exact, far = (
        CompactLHTRegressor(digits=None, membership=membership).fit(X, response)
        for response in (y, y * 2.0**600)
    )
    np.testing.assert_array_equal(far.predict(X), exact.predict(X) * 2.0**600)


@pytest.mark.parametrize("factor", [1e-4, 1.0, 1000.0])
def test_numbers_of_leaves_have_few_digits(factor):
    X, y = load_diabetes(return_X_y=True, scaled=False)
    y = y * factor
    for model in (CompactLHTRegressor(), CompactLHTRegressor(membership="linear", penalty=0.3)):
        trees = model.fit(X, y)._model.trees
        is_constant = (trees.left < 0) & (np.diff(trees.membership_ptr) == 0)
        assert is_constant.any()
        tenths = trees.intercept[is_constant] / factor * 10.0  # the standard deviation is 77
        np.testing.assert_allclose(tenths, tenths.round(), atol=1e-6)
        for slope in trees.unit_slope.tolist():
            assert slope == float(f"{slope:.2e}")
        assert abs(model.rounding_loss_) < 0.01
    assert len(trees.unit_slope)
    rough, exact = (CompactLHTRegressor(digits=digits).fit(X, y) for digits in (1, None))
    assert rough.score(X, y) == pytest.approx(exact.score(X, y) - rough.rounding_loss_, abs=0.01)


def test_leaf_values_are_shrunk_towards_the_mean():
    X = np.repeat([[0.0], [1.0], [2.0]], 20, axis=0)
    y = np.repeat([7.123456, 107.654321, 207.111111], 20)
    model = CompactLHTRegressor().fit(X, y)
    assert model.n_leaves_ == 3
    bounds = zip(y[::20], model.predict(X[::20]), y.mean() - y[::20], strict=True)
    for actual, predicted, shrunk in bounds:
        assert 0.0 <= (predicted - actual) * np.sign(shrunk) <= abs(shrunk) / 21.0 * 1.01


def test_constant_response_gives_one_leaf():
    X = np.arange(20.0)[:, None]
    model = CompactLHTRegressor().fit(X, np.full(20, 7.5))
    assert model.n_leaves_ == 1
    np.testing.assert_allclose(model.predict(X), 7.5)


def test_limits_may_exceed_64_bits():
    X, y = make_clouds(40, 2, 2)
    some = CompactLHTClassifier(max_terms=2, max_passes=50).fit(X, y)
    most = CompactLHTClassifier(max_terms=10**30, max_passes=10**30).fit(X, y)
    np.testing.assert_array_equal(most.predict_proba(X), some.predict_proba(X))


@pytest.mark.parametrize("size", [1e-300, 1e300])
def test_columns_of_any_size(size):
    X, y = make_clouds(80, 3, 2)
    X[:, 0] *= size
    model = CompactLHTClassifier(penalty=0.3).fit(X, y)
    assert np.isfinite(model._model.trees.unit_weight).all()
    assert model.score(X, y) > 0.6
