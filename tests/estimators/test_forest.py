"""LHForestClassifier: public behaviour."""

import pickle

import numpy as np
import pandas as pd
import pytest
from sklearn.base import clone
from sklearn.ensemble import RandomForestClassifier
from sklearn.exceptions import NotFittedError

from lhtree import LHForestClassifier, LHTClassifier
from support import bridge
from support.clouds import make_clouds


def fit(data, n_estimators=6, **setting):
    return LHForestClassifier(n_estimators, **{"random_state": 0} | setting).fit(*data)


@pytest.mark.parametrize("direction", ["fisher", "mixed"])
def test_trees_differ_where_no_features_are_drawn(direction):
    for n_features, params in ((1, {}), (2, {}), (5, {"max_features": None})):
        data = make_clouds(200, n_features, 2)
        first, second = fit(data, direction=direction, n_estimators=2, **params).estimators_
        assert not np.array_equal(first.predict_proba(data[0]), second.predict_proba(data[0]))


@pytest.mark.parametrize("confidence", ["last", "path", None])
def test_scores_are_means_over_the_trees(three, two, confidence):
    for X, y in (two, three):
        model = fit((X, y), confidence=confidence)
        trees = list(model.estimators_)
        for method in ("predict_wolf", "predict_membership", "predict_confidence"):
            mean = np.mean([getattr(tree, method)(X) for tree in trees], axis=0)
            np.testing.assert_allclose(getattr(model, method)(X), mean, 1e-13, 1e-15)
        wolf = model.predict_wolf(X)
        assert wolf.any(axis=1).all()
        np.testing.assert_allclose(model.predict_proba(X), wolf / wolf.sum(axis=1, keepdims=True), 1e-14)
        np.testing.assert_array_equal(model.predict(X), model.classes_[wolf.argmax(axis=1)])
        np.testing.assert_array_equal(model.apply(X), np.hstack([tree.apply(X) for tree in trees]))


def test_estimators_are_fitted_trees(three):
    X, y = three
    model = fit((pd.DataFrame(X, columns=list("abcde")), y))
    estimators = model.estimators_
    assert len(estimators) == len(list(estimators)) == 6
    assert len(estimators[1:3]) == len(estimators[:-4]) == 2
    frame = pd.DataFrame(X, columns=list("abcde"))
    np.testing.assert_array_equal(estimators[-1].apply(frame), estimators[5].apply(frame))
    np.testing.assert_array_equal(estimators[::-2][0].apply(frame), estimators[5].apply(frame))
    assert estimators[0].predict_wolf(frame).tobytes() != estimators[1].predict_wolf(frame).tobytes()
    for outside in (6, -7):
        with pytest.raises(IndexError):
            estimators[outside]
    tree = estimators[2]
    assert isinstance(tree, LHTClassifier)
    assert tree.feature_names_in_.tolist() == list("abcde")
    np.testing.assert_array_equal(tree.classes_, model.classes_)
    assert (tree.n_features_in_, len(tree.trees_)) == (5, 3)
    assert (
        pickle.loads(pickle.dumps(tree)).predict_wolf(frame).tobytes() == tree.predict_wolf(frame).tobytes()
    )
    with pytest.raises(NotFittedError):
        _ = LHForestClassifier().estimators_


@pytest.mark.parametrize("setting", [{"beta": "schedule"}, {"class_weight": "balanced_subsample"}])
def test_estimators_can_be_fitted_again(two, setting):
    assert clone(fit(two, **setting).estimators_[1]).fit(*two).score(*two) > 0.6


def test_class_weight(two):
    X, y = two
    y = np.where(np.arange(200) < 150, 0, y)
    factors = 200 / (2 * np.bincount(y))
    balanced = fit((X, y), class_weight="balanced")
    bridge.assert_same_trees(balanced, fit((X, y, factors[y])))
    bridge.assert_same_trees(balanced, fit((X, y), class_weight=dict(enumerate(factors))))
    sampled = fit((X, y), class_weight="balanced_subsample", bootstrap=True)
    for tree in sampled.trees_:
        np.testing.assert_allclose([tree.weight[0], tree.n_target[0]], [160, 80])  # 0.8 · 200 rows
    everything = fit((X, y), class_weight="balanced_subsample", max_samples=1.0)
    whole = fit((X, y), class_weight="balanced", max_samples=1.0, normalize=None)
    for tree, other in zip(everything.trees_, whole.trees_, strict=True):
        np.testing.assert_allclose(tree.weight[0], other.weight[0])


@pytest.mark.parametrize("setting", [{}, {"direction": "mixed"}])
def test_pickles_are_half_the_size_of_a_random_forest(setting):
    X, y = make_clouds(4000, 10, 2)  # as wide as MAGIC
    y = np.where(np.random.default_rng(0).random(4000) < 0.1, 1 - y, y)
    ours = LHForestClassifier(40, **setting, n_jobs=2, random_state=0).fit(X, y)
    theirs = RandomForestClassifier(40, n_jobs=2, random_state=0).fit(X, y)
    assert len(pickle.dumps(ours)) <= 0.5 * len(pickle.dumps(theirs))
