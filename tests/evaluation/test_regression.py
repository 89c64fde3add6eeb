"""``lhtree.evaluate`` of regressors against scikit-learn's metrics."""

import json

import numpy as np
import pytest
from sklearn import metrics
from sklearn.linear_model import LinearRegression

import lhtree
from lhtree import LHBoostRegressor, LHForestRegressor, evaluate
from lhtree.evaluation.measures import write_number
from lhtree.evaluation.regression import NumberPart, RegressionEvaluation


def make_rows(n_rows=200, seed=0):
    generator = np.random.default_rng(seed)
    X = generator.normal(size=(n_rows, 3))
    return X, 100 + 20 * X[:, 0] + 5 * X[:, 1] ** 2 + generator.normal(0, 4, n_rows)


def make_weight(n_rows):
    return np.round(np.random.default_rng(1).gamma(1.0, 2.0, n_rows), 1)


@pytest.mark.parametrize("is_weighted", [False, True])
def test_measures(is_weighted):
    X, y = make_rows()
    weight = make_weight(100) if is_weighted else None
    model, options = LHBoostRegressor(max_iter=10).fit(X[:100], y[:100]), {"sample_weight": weight}
    found = evaluate(model, X[100:], y[100:], **options)
    actual, predicted = y[100:], model.predict(X[100:])
    assert found.n_rows == (100 if weight is None else (weight > 0).sum())
    assert found.r2 == pytest.approx(metrics.r2_score(actual, predicted, **options))
    assert found.rmse == pytest.approx(metrics.root_mean_squared_error(actual, predicted, **options))
    assert found.mae == pytest.approx(metrics.mean_absolute_error(actual, predicted, **options))
    assert found.mean_error == pytest.approx(np.average(predicted - actual, weights=weight))
    mean = np.full(100, np.average(actual, weights=weight))
    assert found.baseline_rmse == pytest.approx(metrics.root_mean_squared_error(actual, mean, **options))
    other = [metrics.mean_absolute_error(actual, np.full(100, value), **options) for value in actual]
    assert found.baseline_mae == pytest.approx(min(other))
    assert found.quantile is None
    assert found.intervals is None


def test_ranges_of_predictions():
    X, y = make_rows()
    model = LHBoostRegressor(max_iter=10).fit(X[:100], y[:100])
    found = evaluate(model, X[100:], y[100:])
    assert [one.n_rows for one in found.ranges] == [10] * 10
    predicted = model.predict(X[100:])
    rows = np.argsort(predicted)[:10]
    assert found.ranges[0].predicted == pytest.approx(predicted[rows].mean())
    assert found.ranges[0].actual == pytest.approx(y[100:][rows].mean())
    assert found.ranges[0].rmse == pytest.approx(np.sqrt(np.mean((predicted - y[100:])[rows] ** 2)))
    assert np.mean([one.mae for one in found.ranges]) == pytest.approx(found.mae)
    frame = found.to_frame()
    assert frame.shape == (10, 5)


def test_pinball_loss_of_a_quantile(tmp_path):
    X, y = make_rows()
    model = LHBoostRegressor("quantile", quantile=0.9, max_iter=30).fit(X, y)
    lhtree.save(model, tmp_path / "model.lht")
    weight = make_weight(200)
    for same in (model, lhtree.load_scorer(tmp_path / "model.lht")):
        found = evaluate(same, X, y, sample_weight=weight).quantile
        wanted = metrics.mean_pinball_loss(y, model.predict(X), alpha=0.9, sample_weight=weight)
        assert found.pinball == pytest.approx(wanted)
        assert found.pinball < found.baseline
        assert found.share_below == pytest.approx(np.average(y <= model.predict(X), weights=weight))
    assert "quantile 0.9" in str(evaluate(model, X, y))
    best = min(metrics.mean_pinball_loss(y, np.full(200, value), alpha=0.9) for value in y)
    assert evaluate(model, X, y).quantile.baseline == pytest.approx(best)


def test_interval_scores():
    actual, predicted = np.arange(10.0), np.full(10, 5.0)
    interval = np.column_stack([predicted - 2, predicted + 2])
    found = RegressionEvaluation.from_parts([NumberPart(actual, predicted, interval, 0.5)])
    assert found.intervals.share == 0.5  # 3, 4, 5, 6, 7: the ends count
    assert found.intervals.width == 4.0
    assert found.intervals.low < 0.5 < found.intervals.high
    assert "in 50 % intervals" in dict(found.figures())
    weight = np.where(actual == 4, 6.0, 1.0)
    found = RegressionEvaluation.from_parts([NumberPart(actual, predicted, interval, 0.5, weight)])
    assert found.intervals.share == pytest.approx(10 / 15)


def test_intervals_of_a_forest():
    X, y = make_rows(600)
    model = LHForestRegressor(30, random_state=0).fit(X[:400], y[:400])
    found = evaluate(model, X[400:], y[400:], coverage=0.8).intervals
    low, high = model.predict_interval(X[400:], 0.8).T
    assert found.share == np.mean((low <= y[400:]) & (y[400:] <= high))
    assert 0.72 < found.share < 0.88
    assert found.width == pytest.approx(np.mean(high - low))


def test_forest_with_few_left_out_rows_is_evaluated_without_intervals(rejects):
    X, y = make_rows(8)
    model = LHForestRegressor(5, random_state=0).fit(X, y)
    assert 0 < len(model._model.response.residual) < 9
    assert evaluate(model, X, y).intervals is None
    assert evaluate(model, X, y, coverage=0.5).intervals.coverage == 0.5
    for coverage in (0.9, 0.0):
        rejects(evaluate, model, X, y, coverage=coverage)


def test_parts_give_the_same_evaluation_as_the_whole():
    generator = np.random.default_rng(0)
    actual, predicted = generator.normal(size=(2, 50))
    whole = RegressionEvaluation.from_parts([NumberPart(actual, predicted)])
    parts = [NumberPart(actual[rows], predicted[rows]) for rows in (slice(0, 20), slice(20, 50))]
    assert RegressionEvaluation.from_parts(parts).to_dict() == whole.to_dict()
    json.dumps(whole.to_dict(), allow_nan=False)


@pytest.mark.parametrize(
    ("actual", "predicted", "r2"),
    [([2.0, 2.0], [2.0, 2.0], 1.0), ([2.0, 2.0], [1.0, 2.0], 0.0), ([1e300, -1e300], [1e300, -1e300], 1.0)],
)
def test_constant_and_huge_responses(actual, predicted, r2):
    found = RegressionEvaluation.from_parts([NumberPart(np.array(actual), np.array(predicted))])
    assert found.r2 == r2
    assert np.isfinite(found.rmse)


def test_regressors_of_other_libraries():
    X, y = make_rows()
    model = LinearRegression().fit(X, y)
    assert evaluate(model, X, y).r2 == pytest.approx(model.score(X, y))


@pytest.mark.parametrize("y", [["a"] * 200, np.zeros((200, 2)), np.full(200, np.nan)])
def test_invalid_responses_are_rejected(y, rejects):
    X, known = make_rows()
    rejects(evaluate, LinearRegression().fit(X, known), X, y)


@pytest.mark.parametrize(
    ("value", "text"),
    [(214000.4, "214,000"), (0.012342, "0.01234"), (-3.14159, "-3.142"), (0.0, "0"), (9.9996, "10.00")],
)
def test_write_number(value, text):
    assert write_number(value) == text
