"""Fits of a forest beyond the first: out-of-bag scores, warm starts, the same model whoever grows it."""

import pickle
import subprocess
import sys

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
    """Scores (n, K) of every row by the trees that did not see it, NaN where all did."""
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
def test_out_of_bag(setting, n_classes):
    X, y = make_clouds(60, 4, n_classes)
    model = LHForestClassifier(6, **setting, oob_score=True, random_state=0).fit(X, y)
    expected = slow_out_of_bag(model, X, y)
    is_scored = ~np.isnan(expected[:, 0])
    assert 0 < is_scored.sum() < 60  # six trees leave some row out of none
    np.testing.assert_allclose(model.oob_decision_function_, expected, 1e-12)
    guess = model.oob_decision_function_[is_scored].argmax(axis=1)
    assert model.oob_score_ == (guess == y[is_scored]).mean()


def test_out_of_bag_is_near_the_accuracy_on_new_rows():
    X, y = make_clouds(1200, 5, 3)
    model = LHForestClassifier(60, oob_score=True, random_state=0).fit(X[:600], y[:600])
    assert abs(model.oob_score_ - model.score(X[600:], y[600:])) < 0.05
    assert not np.isnan(model.oob_decision_function_).any()


@pytest.mark.parametrize("setting", [{"max_samples": 1.0}, {"direction": "mixed"}, {"max_samples": 200}])
def test_out_of_bag_is_refused_where_no_row_is_left_out(two, setting):
    with pytest.raises(ValueError, match=r"oob_score=True is not valid: pass max_samples < 1"):
        LHForestClassifier(3, **setting, oob_score=True).fit(*two)
    with pytest.raises(ValueError, match="oob_score=True is not valid"):
        LHForestClassifier(3, **setting, class_weight="balanced_subsample", oob_score=True).fit(*two)


CRASH = """
import numpy as np
from lhtree import LHForestClassifier
X, y = np.arange(10.0)[:, None], np.arange(10) % 2
try:
    assert np.isnan(LHForestClassifier(2, max_samples=0.99, oob_score=True).fit(X, y).oob_score_)
except ValueError as error:
    assert "oob_score" in str(error)
"""


def test_out_of_bag_where_a_share_rounds_to_all_rows():
    assert subprocess.run([sys.executable, "-c", CRASH]).returncode == 0


def test_a_fit_without_out_of_bag_scores_forgets_earlier_ones(two):
    model = LHForestClassifier(3, oob_score=True).fit(*two)
    assert not hasattr(model.set_params(oob_score=False).fit(*two), "oob_score_")


@pytest.mark.parametrize("n_classes", [2, 3])
@pytest.mark.parametrize(
    "setting",
    [
        {},
        {"bootstrap": True},
        {"direction": "mixed", "min_samples_leaf": 1},  # a pilot goes by the number of trees
        {"oob_score": True},
        {"class_weight": "balanced_subsample"},
    ],
)
def test_a_warm_start_is_a_fit_from_scratch(n_classes, setting):
    X, y = make_clouds(90, 5, n_classes)
    arguments = FIXED | setting
    model = LHForestClassifier(2, **arguments, warm_start=True).fit(X, y)
    for n_estimators in (3, 3, 7):  # the same number adds nothing
        model.set_params(n_estimators=n_estimators).fit(X, y)
        assert len(model.estimators_) == n_estimators
    scratch = LHForestClassifier(7, **arguments).fit(X, y)
    bridge.assert_same_bits(bridge.arrays_of(scratch), bridge.arrays_of(model))
    for method in bridge.MODEL_METHODS:
        assert getattr(model, method)(X).tobytes() == getattr(scratch, method)(X).tobytes()
    if "oob_score" in setting:
        np.testing.assert_array_equal(model.oob_decision_function_, scratch.oob_decision_function_)


@pytest.mark.parametrize(
    ("change", "X", "y", "message"),
    [
        ({"n_estimators": 2}, None, None, r"n_estimators=2 is not valid: pass at least 4"),
        ({"beta": "schedule"}, None, None, r"warm_start=True is not valid: pass a fixed beta"),
        ({"beta": "auto"}, None, None, r"warm_start=True is not valid: pass a fixed beta"),
        ({}, np.zeros((200, 4)), None, r"X has 4 features, but .* is expecting 5.* Pass the columns"),
        ({}, None, np.arange(200) % 3, r"y has the classes \[0, 1, 2\], but the model has \[0, 1\]: pass"),
        ({}, None, np.arange(200) % 2 + 1, r"y has the classes \[1, 2\], but the model has \[0, 1\]: pass"),
    ],
)
def test_what_a_warm_start_refuses(two, change, X, y, message):
    model = LHForestClassifier(4, **FIXED, warm_start=True).fit(*two)
    before = bridge.arrays_of(model)
    model.set_params(**({"n_estimators": 6} | change))
    with pytest.raises(ValueError, match=message):
        model.fit(two[0] if X is None else X, two[1] if y is None else y)
    bridge.assert_same_bits(before, bridge.arrays_of(model))
    model.set_params(warm_start=False).fit(two[0] if X is None else X, two[1] if y is None else y)
    assert len(model.estimators_) == model.n_estimators


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
    for number in (2, 3):  # those before saw every row
        unseen |= training_weights(model, y, number) == 0
    np.testing.assert_array_equal(~np.isnan(model.oob_decision_function_[:, 0]), unseen)


@pytest.mark.parametrize("n_rows", [40, 150])
def test_out_of_bag_after_a_warm_start_with_other_rows(two, n_rows):
    X, y = two
    model = LHForestClassifier(2, **FIXED, oob_score=True, warm_start=True).fit(X, y)
    with pytest.raises(ValueError, match=r"oob_score|warm_start"):
        model.set_params(n_estimators=4).fit(X[:n_rows], y[:n_rows])


@pytest.mark.parametrize(
    "setting", [{}, {"direction": "mixed"}, {"direction": "fisher", "bootstrap": True, "oob_score": True}]
)
def test_the_same_seed_is_the_same_model(three, setting):
    X, y = three
    models = [
        LHForestClassifier(12, **setting, n_jobs=n_jobs, random_state=5).fit(X, y)
        for n_jobs in (None, 1, 2, -1)
    ]
    models.append(pickle.loads(pickle.dumps(models[0])))
    for model in models[1:]:
        bridge.assert_same_bits(bridge.arrays_of(models[0]), bridge.arrays_of(model))
        for method in bridge.MODEL_METHODS:
            assert getattr(model, method)(X).tobytes() == getattr(models[0], method)(X).tobytes()
        if "oob_score" in setting:
            assert model.oob_decision_function_.tobytes() == models[0].oob_decision_function_.tobytes()
    rows = X[:, ::-1]  # new ones: trees without limits agree on those they were grown from
    seeds = (5, 6, None, None)
    answers = [
        LHForestClassifier(12, **setting, random_state=seed).fit(X, y).predict_proba(rows) for seed in seeds
    ]
    assert len({answer.tobytes() for answer in answers}) == 4
