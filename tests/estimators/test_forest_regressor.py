"""Out-of-bag predictions and prediction intervals of LHForestRegressor."""

import numpy as np
import pytest
from sklearn.datasets import make_friedman1

from lhtree import LHForestRegressor, LHTRegressor, save
from lhtree.estimators.forest import _correct
from lhtree.model.records import ResponseRecord
from reference import trees as reference


@pytest.fixture(scope="module")
def data():
    return make_friedman1(300, 5, noise=1.0, random_state=0)


@pytest.fixture(scope="module")
def forest(data):
    return LHForestRegressor(12, oob_score=True, random_state=3).fit(*data)


def test_estimators_are_trees(data, forest):
    X, _ = data
    trees = list(forest.estimators_)
    assert len(trees) == 12
    assert all(type(tree) is LHTRegressor for tree in trees)
    mean = sum(tree.predict(X) for tree in trees) / 12
    np.testing.assert_array_equal(forest.predict(X), mean)


def test_out_of_bag_predictions(data, forest):
    X, y = data
    total, n = np.zeros(300), np.zeros(300)
    for number, tree in enumerate(forest.estimators_):
        left_out = reference.draw_rows(np.zeros(300, int), [240], False, forest._model.seed, number) == 0
        total[left_out] += tree.predict(X[left_out])
        n[left_out] += 1
    expected = np.where(n > 0, total / np.maximum(n, 1), np.nan)
    np.testing.assert_array_equal(forest.oob_prediction_, expected)
    some = n > 0
    errors = y[some] - expected[some]
    assert forest.oob_score_ == pytest.approx(1 - (errors**2).sum() / ((y[some] - y[some].mean()) ** 2).sum())
    residual = forest._model.response.residual
    np.testing.assert_allclose(residual, residual[-1] * np.sort(np.abs(errors)) / np.abs(errors).max())


def test_rows_of_weight_0_have_no_prediction(data):
    X, y = data
    weight = np.ones(300)
    weight[:5] = 0
    fitted = LHForestRegressor(12, oob_score=True, random_state=3).fit(X, y, weight)
    assert len(fitted.oob_prediction_) == 300
    assert np.isnan(fitted.oob_prediction_[:5]).all()
    assert fitted._model.response.residual_weight is None
    weight[:5] = 0.5
    fitted.fit(X, y, weight)
    assert sorted(set(fitted._model.response.residual_weight)) == [0.5, 1.0]


@pytest.mark.parametrize("bootstrap", [False, True])
@pytest.mark.parametrize("coverage", [0.5, 0.9])
def test_intervals_cover_their_share(coverage, bootstrap):
    shares = []
    for seed in range(4):
        X, y = make_friedman1(2500, 5, noise=1.0, random_state=seed)
        forest = LHForestRegressor(40, bootstrap=bootstrap, min_samples_leaf=3, random_state=seed).fit(
            X[:500], y[:500]
        )
        low, high = forest.predict_interval(X[500:], coverage=coverage).T
        shares.append(((low <= y[500:]) & (y[500:] <= high)).mean())
    assert abs(np.mean(shares) - coverage) < 0.02


def test_intervals_by_hand(rejects):
    residual = np.array([1.0, 2.0, 3.0, 4.0])
    record, prediction = ResponseRecord(0.0, 1.0, 0.5, residual), np.array([10.0, 20.0])
    for coverage, half in ((0.2, 1.0), (0.4, 2.0), (0.41, 3.0), (0.8, 4.0)):  # 5 · coverage rows, rounded up
        expected = [[10 - half, 10 + half], [20 - half, 20 + half]]
        assert record.interval(prediction, coverage).tolist() == expected
    weighted = ResponseRecord(0.0, 1.0, 0.5, residual, np.array([1.0, 1.0, 6.0, 1.0]))
    assert weighted.interval(prediction, 0.2)[0].tolist() == [7.0, 13.0]  # 9 / 4 more for the new row
    for coverage in (0.81, 0.0, 1.0, "0.9", np.nan, True):
        rejects(record.interval, prediction, coverage)


@pytest.mark.parametrize("seed", [19, 20, 22, 52, 58])
def test_intervals_of_two_trees_are_finite(seed, tmp_path):
    random = np.random.default_rng(seed)
    X, y = random.normal(size=(12, 2)), random.integers(0, 2, 12).astype(float)
    forest = LHForestRegressor(2, min_samples_leaf=1, random_state=seed).fit(X, y)
    assert np.isfinite(forest.predict_interval(X, coverage=0.1)).all()
    save(forest, tmp_path / "forest.lht")


def test_intervals_keep_a_width_where_trees_differ_more_than_they_err():
    error, spread, n = np.array([0.0, 1.0]), np.array([2.0, 0.0]), np.array([2.0, 1.0])
    # One row has two trees, which differ by 2 and err by 0: s² = 2, of which s² / 2 - s² / 4 is too much.
    assert _correct(error, spread, n, n_trees=4) == pytest.approx(np.sqrt(0.5))
    assert _correct(error, np.zeros(2), n, n_trees=4) == 1.0


def test_no_intervals_without_out_of_bag_rows(data, rejects):
    X, y = data
    full = LHForestRegressor(3, max_samples=1.0, random_state=0).fit(X, y)
    rejects(full.predict_interval, X)
    with rejects:
        _ = full.oob_prediction_


def test_no_intervals_after_a_warm_start_with_other_rows(data, rejects):
    X, y = data
    grown = LHForestRegressor(5, oob_score=True, warm_start=True, random_state=3).fit(X, y)
    grown.set_params(n_estimators=6, oob_score=False).fit(X[:200], y[:200])
    rejects(grown.predict_interval, X)  # the rows that the trees saw are unknown
