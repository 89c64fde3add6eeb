"""Champion and challenger: DeLong's test against all pairs of rows, the bootstrap, and rows decided differently."""

import numpy as np
import pandas as pd
import pytest
from sklearn import metrics
from sklearn.linear_model import LinearRegression, LogisticRegression, RidgeClassifier

from lhtree import LHBoostClassifier, LHTClassifier, LHTRegressor, compare, evaluate
from lhtree.evaluation.paired import compare_areas
from support.clouds import make_clouds


@pytest.fixture(scope="module")
def models():
    X, y = make_clouds(500, 3, 2, seed=1)
    X = X + np.random.default_rng(1).normal(0, 1.5, X.shape)
    return (
        LogisticRegression().fit(X[:200], y[:200]),
        LHBoostClassifier(15, random_state=0, positive=0).fit(X[:200], y[:200]),
        X[200:],
        y[200:],
    )


def test_delong_equals_the_covariances_of_all_pairs():
    generator = np.random.default_rng(0)
    is_event = generator.random(80) < 0.3
    scores = [np.round(generator.normal(is_event * shift, 1.0), 1) for shift in (0.5, 1.0)]
    wins = []
    for score in scores:
        pairs = score[is_event][:, None] - score[~is_event][None]
        wins.append((pairs > 0) + 0.5 * (pairs == 0))
    placements = [(win.mean(axis=1), win.mean(axis=0)) for win in wins]
    covariance = sum(np.cov(placements[0][i], placements[1][i]) / len(placements[0][i]) for i in (0, 1))
    variance = covariance[0, 0] + covariance[1, 1] - 2 * covariance[0, 1]
    difference, error = compare_areas(*scores, is_event)
    areas = [metrics.roc_auc_score(is_event, score) for score in scores]
    assert difference == pytest.approx(areas[1] - areas[0])
    assert error == pytest.approx(np.sqrt(variance))


def test_values_are_those_of_evaluate_and_intervals_surround_them(models):
    *pair, X, y = models
    compared = compare(*pair, X, y, n_resamples=200)
    measured = [evaluate(model, X, y, positive=0) for model in pair]
    for one in compared.differences:
        values = [getattr(each.event if one.measure == "ks" else each, one.measure) for each in measured]
        assert (one.champion, one.challenger) == pytest.approx(tuple(values)), one.measure
        assert one.low <= one.difference <= one.high
    assert compared.positive == 0


def test_bootstrap_of_a_mean_has_its_normal_interval(models):
    *pair, X, y = models
    compared = {one.measure: one for one in compare(*pair, X, y, n_resamples=2000).differences}
    proba = [model.predict_proba(X)[np.arange(len(y)), y] for model in pair]
    loss = np.log(proba[0]) - np.log(proba[1])
    half = 1.96 * loss.std() / np.sqrt(len(y))
    found = compared["log_loss"]
    assert (found.low, found.high) == pytest.approx((loss.mean() - half, loss.mean() + half), abs=0.15 * half)


def test_rows_decided_differently_are_counted_by_group(models):
    first, second, X, y = models
    group = np.where(X[:, 0] > 0, "a", "b")
    compared = compare(first, second, X, y, by={"half": group}, n_resamples=10, threshold=(0.5, 0.3))
    a = np.where(first.predict_proba(X)[:, 0] >= 0.5, 0, 1)
    b = np.where(second.predict_proba(X)[:, 0] >= 0.3, 0, 1)
    np.testing.assert_array_equal(compared.changed, np.flatnonzero(a != b))
    for moved in compared.moved:
        own = np.ones(len(y), dtype=bool) if moved.by == "all" else group == moved.group
        assert moved[3:] == (
            (a != b)[own].sum(),
            ((b == y) & (a != y))[own].sum(),
            ((a == y) & (b != y))[own].sum(),
            ((b == 0) & (a != 0))[own].sum(),
            ((a == 0) & (b != 0))[own].sum(),
        )


def test_regressors_and_frames_with_other_columns():
    generator = np.random.default_rng(0)
    X = pd.DataFrame(generator.normal(size=(300, 3)), columns=list("abc"))
    y = X["a"] + 2 * X["b"] + generator.normal(size=300)
    linear = LinearRegression().fit(X[["a"]][:200], y[:200])
    tree = LHTRegressor().fit(X[["b", "c"]][:200], y[:200])
    compared = compare(linear, tree, X[200:], y[200:], names=("linear", "tree"))
    frame = compared.to_frame()
    assert frame.loc["rmse", "champion"] == pytest.approx(
        metrics.root_mean_squared_error(y[200:], linear.predict(X[["a"]][200:]))
    )
    assert frame.loc["r2", "challenger"] == pytest.approx(tree.score(X[["b", "c"]][200:], y[200:]))
    assert frame.loc["rmse", "better"] == "tree"
    assert len(compared.changed) == 0


def test_bad_models_and_rows_name_the_remedy(models, rejects):
    first, second, X, y = models
    rejects(compare, first, RidgeClassifier().fit(X, y), X, y)
    rejects(compare, first, LinearRegression().fit(X, y), X, y)
    rejects(compare, first, LHTClassifier().fit(X, y + 1), X, y)
    rejects(compare, first, second, X[y == 0], y[y == 0])
    rejects(compare, first, second, X, y, positive="x")
