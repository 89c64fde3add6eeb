"""Ensembles of boosted trees and a forest."""

import numpy as np
import pandas as pd
import pytest
from hypothesis import given
from hypothesis import strategies as st
from sklearn.base import clone

from lhtree import LHEnsembleClassifier, LHEnsembleRegressor
from lhtree.estimators.ensemble import pool_numbers, pool_scores
from reference.pooling import penalised_loss, pool_row
from support.clouds import make_clouds

ENSEMBLE = LHEnsembleClassifier(8, n_estimators=5, cv=3, random_state=0)


def make_table(n_classes, n_rows=150):
    """Rows with gaps and two kinds of categorical columns."""
    X, y = make_clouds(n_rows, 4, n_classes)
    random = np.random.default_rng(0)
    frame = pd.DataFrame(X, columns=[f"x{i}" for i in range(X.shape[1])])
    frame = frame.mask(random.random(frame.shape) < 0.1)
    frame["few"] = random.choice(["a", "b", "c"], n_rows)
    frame["many"] = random.choice([f"shop {i}" for i in range(30)], n_rows)
    return frame, y


@pytest.fixture(scope="module", params=[2, 4])
def fitted(request):
    X, y = make_table(request.param)
    return clone(ENSEMBLE).fit(X, y), X, y


def test_raw_scores_are_the_weighted_sum_of_the_members(fitted):
    model, X, _ = fitted
    own = model.boost_.decision_function(X).reshape(len(X), -1)
    membership = model.forest_.predict_membership(X)
    expected = [pool_row(raw, shares, model.weights_[1]) for raw, shares in zip(own, membership, strict=True)]
    raw_score = model.decision_function(X).reshape(len(X), -1)
    np.testing.assert_allclose(raw_score, expected, rtol=1e-12, atol=1e-12)
    scores = np.hstack([np.zeros((len(X), 1)), raw_score]) if raw_score.shape[1] == 1 else raw_score
    assert (model.predict(X) == model.classes_[scores.argmax(axis=1)]).all()
    proba = np.exp(scores) / np.exp(scores).sum(axis=1, keepdims=True)
    np.testing.assert_allclose(model.predict_proba(X), proba, rtol=1e-9)


def test_contributions_add_up_to_raw_scores(fitted):
    model, X, _ = fitted
    frame = model.explain_batch(X)
    total = frame["base"] + frame.filter(like="contribution.").sum(axis=1)
    np.testing.assert_allclose(total, frame["raw_score"], rtol=1e-9, atol=1e-9)
    explanation = model.explain(X.iloc[0])
    for label in model.classes_.tolist():
        parts = explanation.base[label] + sum(explanation.contributions[label].values())
        assert parts == pytest.approx(explanation.raw_score[label], abs=1e-9)


def test_threads_do_not_change_the_model(fitted):
    model, X, y = fitted
    other = clone(model).set_params(n_jobs=2).fit(X, y)
    np.testing.assert_array_equal(other.predict_proba(X), model.predict_proba(X))


def test_importances_are_the_weighted_mean_of_the_members(fitted):
    model, _, _ = fitted
    members = [model.boost_.feature_importances_, model.forest_.feature_importances_]
    expected = np.average(members, axis=0, weights=model.weights_)
    np.testing.assert_allclose(model.feature_importances_, expected, rtol=1e-12)


def test_out_of_fold_score_is_close_to_that_of_new_rows():
    X, y = make_clouds(600, 4, 3)
    model = LHEnsembleClassifier(40, n_estimators=20, cv=3, random_state=0).fit(X[:300], y[:300])
    proba = model.predict_proba(X[300:])
    new = np.mean(np.log(proba[np.arange(300), np.searchsorted(model.classes_, y[300:])]))
    assert model.cv_score_ == pytest.approx(new, abs=0.15)


def test_a_class_of_one_row_is_never_held_out():
    X, y = make_clouds(60, 4, 2)
    y = np.where(np.arange(60) == 7, 9, y)
    model = clone(ENSEMBLE).fit(X, y)
    assert model.predict_proba(X).shape == (60, 3)
    assert np.isfinite(model.cv_score_)


def test_tables_without_rows_to_hold_out_are_rejected(rejects):
    rejects(clone(ENSEMBLE).fit, [[0.0], [1.0]], ["no", "yes"])
    rejects(LHEnsembleRegressor(5, cv=2).fit, [[0.0]], [1.0])


@given(st.integers(2, 4), st.integers(3, 60), st.booleans(), st.floats(0.0, 3.0), st.integers(0, 2**32 - 1))
def test_no_other_weights_have_a_smaller_loss(n_classes, n_rows, is_weighted, noise, seed):
    random = np.random.default_rng(seed)
    codes = random.integers(0, n_classes, n_rows)
    codes[:n_classes] = np.arange(n_classes)[:n_rows]
    sign = np.where(codes[:, None] == np.arange(n_classes), 1.0, -1.0)
    raw_score = sign + noise * random.normal(size=sign.shape)
    raw_score = raw_score[:, 1:] if n_classes == 2 else raw_score
    membership = np.abs(random.dirichlet(np.ones(n_classes), n_rows) + 0.2 * sign)
    weight = random.uniform(0.1, 2.0, n_rows) if is_weighted else None
    found = pool_scores(raw_score, membership, codes, weight)
    rows = raw_score.tolist(), membership.tolist(), codes.tolist()
    own = np.ones(n_rows) if weight is None else weight
    least = penalised_loss((found.boost, found.forest), *rows, own)
    for step in ((0.01, 0.0), (-0.01, 0.0), (0.0, 0.01), (0.0, -0.01), (0.3, -0.2), (-0.2, 0.3)):
        near = max(found.boost + step[0], 0.0), max(found.forest + step[1], 0.0)
        assert least <= penalised_loss(near, *rows, own) + 1e-7


@pytest.fixture(scope="module")
def numbers():
    X, _ = make_table(2, 400)
    random = np.random.default_rng(1)
    y = 3.0 * X["x0"].fillna(0.0) + (X["few"] == "a") + random.normal(size=len(X))
    return LHEnsembleRegressor(8, n_estimators=5, cv=3, random_state=0).fit(X[:200], y[:200]), X, y


class TestNumbers:
    def test_predictions_are_the_weighted_mean_of_the_members(self, numbers):
        model, X, _ = numbers
        forest = model.forest_.predict(X)
        expected = model.boost_.predict(X) + model.weights_[1] * forest  # its trees have their weight already
        np.testing.assert_allclose(model.predict(X), expected, rtol=1e-12, atol=1e-12)
        assert model.weights_.sum() == pytest.approx(1.0)

    def test_contributions_add_up_to_predictions(self, numbers):
        model, X, _ = numbers
        frame = model.explain_batch(X)
        parts = frame["base"] + frame.get("clipped", 0.0) + frame.filter(like="contribution.").sum(axis=1)
        np.testing.assert_allclose(parts, frame["prediction"], rtol=1e-9, atol=1e-9)

    def test_intervals_cover_new_rows(self, numbers):
        model, X, y = numbers
        low, high = model.predict_interval(X[200:], coverage=0.8).T
        assert np.mean((low <= y[200:]) & (y[200:] <= high)) == pytest.approx(0.8, abs=0.07)

    @given(st.integers(2, 40), st.booleans(), st.integers(0, 2**32 - 1))
    def test_no_other_weights_have_a_smaller_error(self, n_rows, is_weighted, seed):
        random = np.random.default_rng(seed)
        y, first, second = random.normal(size=(3, n_rows)) + random.normal(size=n_rows)
        weight = random.uniform(0.1, 2.0, n_rows) if is_weighted else None
        found = pool_numbers(first, second, y, weight)
        own = np.ones(n_rows) if weight is None else weight

        def measure(forest):
            return sum(own * (y - (1.0 - forest) * first - forest * second) ** 2)

        for step in (0.001, 0.01, 0.3):
            for near in (found.forest - step, found.forest + step):
                assert measure(found.forest) <= measure(min(max(near, 0.0), 1.0)) + 1e-6
