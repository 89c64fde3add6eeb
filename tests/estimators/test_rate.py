"""The automatic learning rate of boosted models, and the pilot that lowers it on noisy rows."""

import numpy as np
import pytest

import lhtree.grow.automatic
from lhtree import LHBoostClassifier, LHBoostRegressor
from support.clouds import make_clouds


def make_rows(n_rows, noise, seed=0):
    """Rows whose class or response is that of a line, more or less."""
    generator = np.random.default_rng(seed)
    X = generator.normal(size=(n_rows, 4))
    return X, X[:, 0] - X[:, 1] + noise * generator.normal(size=n_rows)


def by_rows(n_rows, max_iter=400):
    """The rate by the number of rows."""
    return min(1.0, 0.08 * min(1.0, n_rows / 8000) ** 0.35 * (400 / max_iter) ** 0.8)


@pytest.mark.parametrize(
    ("n_rows", "max_iter", "rate"), [(60, 400, 0.01443), (60, 100, 0.04375), (900, 1, 1.0)]
)
def test_without_a_pilot_it_goes_by_rows_and_rounds(n_rows, max_iter, rate):
    X, y = make_clouds(n_rows, 1, 2)
    assert LHBoostClassifier(max_iter, max_depth=1).fit(X, y).learning_rate_ == rate


def test_trees_of_all_classes_have_two_and_a_half_times_the_rate():
    X, y = make_clouds(60, 2, 3)
    one, each = (
        LHBoostClassifier(multi_class=how, max_depth=1).fit(X, y).learning_rate_
        for how in ("one_tree", "one_per_class")
    )
    assert one == pytest.approx(2.5 * each, rel=1e-3)


@pytest.mark.parametrize("noise", [0.0, 1.0, 100.0])
@pytest.mark.parametrize("max_iter", [40, 120])
def test_the_pilot_is_a_fit_that_stops_early(noise, max_iter):
    X, response = make_rows(400, noise)
    X = np.clip(np.round(2.0 * X), -3, 3)  # every value is among the training rows, so that bins are the same
    rate = by_rows(400, max_iter)
    hasty = {
        "max_iter": max_iter // 4,
        "learning_rate": min(1.0, float(f"{4 * rate:.4g}")),
        "early_stopping": True,
        "validation_fraction": 0.25,
        "n_iter_no_change": 20,
        "random_state": 3,
    }
    for estimator, y in ((LHBoostClassifier, response > 0.0), (LHBoostRegressor, response)):
        best = max(1, int(np.argmax(estimator(**hasty).fit(X, y).validation_score_)))
        expected = float(f"{rate * min(1.0, 1.25 * best / (max_iter // 4)):.4g}")
        assert estimator(max_iter=max_iter, random_state=3).fit(X, y).learning_rate_ == expected


def test_noise_makes_steps_smaller():
    rates = []
    for noise in (0.0, 3.0, 1e6):
        X, response = make_rows(1000, noise)
        rates.append(LHBoostClassifier(80, random_state=0).fit(X, response > 0.0).learning_rate_)
    assert rates[0] == float(f"{by_rows(1000, 80):.4g}")
    assert rates[0] > 2.0 * rates[1] > 2.0 * rates[2]


def test_random_labels_leave_little_more_than_the_base():
    X, _ = make_rows(1500, 0.0)
    y = np.random.default_rng(1).integers(0, 2, len(X))
    losses = []
    for rate in ("auto", by_rows(1000)):
        model = LHBoostClassifier(learning_rate=rate, random_state=0).fit(X[:1000], y[:1000])
        losses.append(-np.log(model.predict_proba(X[1000:])[np.arange(500), y[1000:]]).mean())
    assert losses[0] < 0.7  # ln 2 = 0.693
    assert losses[1] > 0.72


def test_early_stopping_needs_no_pilot():
    X, response = make_rows(1000, 1e6)
    y = response > 0.0
    held = LHBoostClassifier(80, early_stopping=True).fit(X, y)
    assert held.learning_rate_ == float(f"{by_rows(900, 80):.4g}")
    judged = LHBoostClassifier(80).fit(X, y, X_val=X[:100], y_val=y[:100])
    assert judged.learning_rate_ == float(f"{by_rows(1000, 80):.4g}")


def test_many_rows_need_no_pilot(monkeypatch):
    monkeypatch.setattr(lhtree.grow.automatic, "_MOST_BOOSTED", 999)
    X, response = make_rows(1000, 1e6)
    model = LHBoostClassifier(40).fit(X, response > 0.0)
    assert model.learning_rate_ == float(f"{by_rows(1000, 40):.4g}")


def test_a_warm_start_keeps_the_rate():
    X, response = make_rows(500, 1e6)
    model = LHBoostClassifier(40, warm_start=True, random_state=0).fit(X, response > 0.0)
    rate = model.learning_rate_
    assert rate < by_rows(500, 40)
    assert model.set_params(max_iter=80).fit(X, response > 0.0).learning_rate_ == rate
