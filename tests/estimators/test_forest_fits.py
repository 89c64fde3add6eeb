"""Out-of-bag scores, warm starts and reproducible fits of forests."""

import numpy as np
import pytest

from lhtree import LHForestClassifier
from reference import scoring as reference_scoring
from reference import trees as reference
from support import bridge
from support.bridge import training_weights
from support.clouds import make_clouds

FIXED = {"beta": 0.0, "max_samples": 0.6, "max_features": 2, "random_state": 3}


def slow_out_of_bag(model, X, y):
    """Return scores (n, K) of every row by the trees that did not see it; NaN if all did."""
    n_classes = len(model.classes_)
    result = np.full((len(X), n_classes), np.nan)
    trees, targets = bridge.trees_of(model), model._model.trees.target.tolist()
    n_targets = len(set(targets))
    Z = reference.normalise(X, model._model.normalisation.centre, model._model.normalisation.scale)
    unseen = [training_weights(model, y, number) == 0 for number in range(model.n_estimators)]
    for row in range(len(X)):
        numbers = [i for i in range(len(trees)) if unseen[i // n_targets][row]]
        if numbers:
            some = [trees[i] for i in numbers], [targets[i] for i in numbers]
            result[row] = reference_scoring.predict_proba(
                *some, n_classes, Z[[row]], model._model.confidence, model._model.prior
            )[0]
    return result


@pytest.mark.parametrize("n_classes", [2, 3])
@pytest.mark.parametrize(
    "setting", [{"max_samples": 0.7}, {"bootstrap": True}, {"direction": "mixed", "bootstrap": True}]
)
def test_out_of_bag_scores_match_the_reference(setting, n_classes):
    X, y = make_clouds(60, 4, n_classes)
    model = LHForestClassifier(6, **setting, oob_score=True, random_state=0).fit(X, y)
    expected = slow_out_of_bag(model, X, y)
    is_scored = ~np.isnan(expected[:, 0])
    assert 0 < is_scored.sum() < 60  # six trees leave some row out of none
    np.testing.assert_allclose(model.oob_decision_function_, expected, 1e-12)
    guess = model.oob_decision_function_[is_scored].argmax(axis=1)
    assert model.oob_score_ == (guess == y[is_scored]).mean()


def test_out_of_bag_where_a_share_rounds_to_all_rows():
    X, y = np.arange(10.0)[:, None], np.arange(10) % 2
    assert np.isnan(LHForestClassifier(2, max_samples=0.99, oob_score=True).fit(X, y).oob_score_)


def test_fit_without_out_of_bag_scores_removes_earlier_ones(two):
    model = LHForestClassifier(3, oob_score=True).fit(*two)
    assert not hasattr(model.set_params(oob_score=False).fit(*two), "oob_score_")


def test_out_of_bag_after_a_warm_start_with_other_draws(two):
    X, y = two
    model = LHForestClassifier(3, **FIXED, oob_score=True, warm_start=True).fit(X, y)
    first = np.isnan(model.oob_decision_function_[:, 0])
    model.set_params(max_samples=0.99, n_estimators=3).fit(X, y)  # no new tree: nothing may change
    np.testing.assert_array_equal(np.isnan(model.oob_decision_function_[:, 0]), first)


def test_out_of_bag_after_a_warm_start_from_all_rows(two):
    X, y = two
    model = LHForestClassifier(2, **FIXED | {"max_samples": 1.0}, warm_start=True).fit(X, y)
    model.set_params(n_estimators=4, max_samples=0.5, oob_score=True).fit(X, y)
    unseen = np.zeros(200, dtype=bool)
    for number in (2, 3):  # the earlier trees saw every row
        unseen |= training_weights(model, y, number) == 0
    np.testing.assert_array_equal(~np.isnan(model.oob_decision_function_[:, 0]), unseen)
