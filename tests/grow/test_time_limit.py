"""A time limit ends fits after the round or the trees in which it is reached; the clock is simulated."""

import numpy as np
import pytest

import lhtree
from lhtree.grow import deadline
from support.bridge import assert_same_model
from support.clouds import make_clouds


class Clock:
    """A clock that advances by ``step`` whenever it is read."""

    def __init__(self, step=1.0):
        self.now, self.step = 0.0, step

    def __call__(self):
        self.now += self.step
        return self.now


@pytest.fixture
def clock(monkeypatch):
    own = Clock()
    monkeypatch.setattr(deadline, "monotonic", own)
    return own


X, Y = make_clouds(300, 4, 2)
FIXED = {"learning_rate": 0.1, "max_depth": 3, "subsample": 1.0, "max_features": 1.0, "random_state": 0}


@pytest.mark.parametrize("early_stopping", [False, True])
def test_boosted_fits_end_after_the_round_that_reaches_the_limit(clock, early_stopping):
    params = FIXED | {"early_stopping": early_stopping, "n_iter_no_change": 1000}
    model = lhtree.LHBoostClassifier(60, time_limit=30.0, **params).fit(X, Y)
    assert 20 <= model.n_iter_ < 30  # the clock is read once a round, and a few times before
    short = lhtree.LHBoostClassifier(model.n_iter_, **params).fit(X, Y)
    np.testing.assert_array_equal(model.predict_proba(X), short.predict_proba(X))


def test_a_limit_of_zero_keeps_one_round(clock):
    for model in (
        lhtree.LHBoostClassifier(50, time_limit=0),
        lhtree.LHBoostRegressor(max_iter=50, time_limit=0),
    ):
        assert model.fit(X, Y).n_iter_ == 1


def test_unreached_limits_give_the_same_model():
    for model in (
        lhtree.LHBoostClassifier(50, random_state=0),
        lhtree.LHForestClassifier(7, random_state=0, direction="mixed", n_jobs=2),
        lhtree.LHForestRegressor(7, random_state=0),
    ):
        limited = type(model)(**model.get_params() | {"time_limit": 1e9}).fit(X, Y)
        assert_same_model(model.fit(X, Y).set_params(time_limit=1e9), limited)


def test_a_race_without_enough_time_decides_nothing(clock):
    model = lhtree.LHBoostClassifier(400, time_limit=60.0, random_state=0).fit(X, Y)
    assert model.chosen_["race"] == []
    assert 30 < model.n_iter_ < 60  # two thirds of the time, or more
    assert model.learning_rate_ == lhtree.LHBoostClassifier(400, time_limit=0).fit(X, Y).learning_rate_


def test_parts_of_a_fit_share_the_time(clock):
    model = lhtree.LHBoostClassifier(100, calibrate="sigmoid", time_limit=120.0, **FIXED).fit(X, Y)
    assert 10 < model.n_iter_ < 30
    assert clock.now < 160
    model = lhtree.LHBoostRegressor(max_iter=100, intervals=True, time_limit=120.0, **FIXED).fit(X, X[:, 0])
    assert 10 < model.n_iter_ < 30
    assert model.predict_interval(X[:3]).shape == (3, 2)


@pytest.mark.parametrize("n_jobs", [1, 3])
@pytest.mark.parametrize("direction", ["mean_difference", "mixed"])
def test_forests_keep_the_trees_they_have(clock, n_jobs, direction):
    params = {
        "direction": direction,
        "min_samples_leaf": 2,
        "beta": 0.1,
        "random_state": 0,
        "oob_score": True,
    }
    params |= {"max_samples": 0.7, "n_jobs": n_jobs}
    model = lhtree.LHForestClassifier(50, time_limit=8.0, **params).fit(X, Y)
    n_trees = len(model.estimators_)
    assert n_trees % n_jobs == 0
    assert 3 * n_jobs < n_trees < 8 * n_jobs
    short = lhtree.LHForestClassifier(n_trees, **params).fit(X, Y)
    assert_same_model(short.set_params(n_estimators=50, time_limit=8.0), model)


def test_forests_with_pilot_calibration_and_warm_start(clock, tmp_path):
    model = lhtree.LHForestClassifier(
        40, direction="mixed", calibrate="sigmoid", time_limit=60.0, random_state=0
    )
    assert 1 <= len(model.fit(X, Y).estimators_) < 40
    lhtree.save(model, tmp_path / "forest.lht")
    assert model._model.min_samples_leaf == 5  # the pilot ran out of time
    model = lhtree.LHForestRegressor(20, warm_start=True, time_limit=4.0, random_state=0).fit(X, X[:, 0])
    n_trees = len(model.estimators_)
    assert n_trees < 20
    assert n_trees < len(model.fit(X, X[:, 0]).estimators_) < 20


def test_errors_of_the_clock_end_the_fit(monkeypatch):
    def fail():
        raise KeyError("clock")

    model = lhtree.LHBoostClassifier(5, time_limit=9.0, **FIXED)
    monkeypatch.setattr(deadline.Deadline, "is_over", lambda self: fail())
    with pytest.raises(KeyError, match="clock"):
        model.fit(X, Y)


def test_forests_in_batches_reject_a_limit(rejects):
    rejects(lhtree.LHForestClassifier(5, max_samples=20, time_limit=5).fit_batches, (X, Y))
