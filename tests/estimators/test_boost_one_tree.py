"""Boosted models with one tree per round for all classes: fits, scores, explanations, texts and files."""

from dataclasses import replace

import numpy as np
import pandas as pd
import pytest
from sklearn.datasets import load_digits, load_iris

import lhtree
from lhtree import LHBoostClassifier
from lhtree.model.shares import split_classes
from support.clouds import make_clouds


def fit(X, y, max_iter=5, **setting):
    return LHBoostClassifier(max_iter, **{"random_state": 0} | setting).fit(X, y)


@pytest.fixture(scope="module")
def data():
    return make_clouds(200, 5, 3)


@pytest.fixture(scope="module", params=["symmetric", "free"])
def model(data, request):
    return fit(*data, growth=request.param)


def split(model):
    """Return the model with a tree per class instead of each tree of all classes."""
    fitted = model._model
    return replace(fitted, trees=split_classes(fitted.trees, fitted.prior, has_values=True))


def test_a_round_grows_one_tree(data, model):
    assert len(model.trees_) == model.n_iter_ == 5
    assert {tree.target for tree in model.trees_} == {None}
    assert len(fit(*data, multi_class="one_per_class").trees_) == 15


def test_digits_are_learned():
    X, y = load_digits(return_X_y=True)
    model = fit(X[:900], y[:900], 100)
    assert model.score(X[900:], y[900:]) > 0.92
    np.testing.assert_allclose(model.predict_proba(X).sum(axis=1), 1.0, rtol=1e-12)


def test_two_classes_have_one_tree_anyway(data):
    X, y = data
    one, per_class = (
        fit(X, y > 0, multi_class=how).predict_proba(X) for how in ("one_tree", "one_per_class")
    )
    assert one.tobytes() == per_class.tobytes()


def test_linear_leaves_need_a_tree_per_class(data, rejects):
    assert len(fit(*data, leaf="linear").trees_) == 15
    rejects(fit, *data, leaf="linear", multi_class="one_tree")


def test_a_tree_per_class_with_the_same_values_scores_the_same(data, model):
    X = np.append(data[0], np.full((1, 5), np.nan), axis=0)
    per_class = split(model)
    assert per_class.n_estimators == model.n_iter_
    raw = model.decision_function(X)
    assert per_class.score("raw_score", X).tobytes() == raw.tobytes()
    for row in range(3):
        assert model.decision_function(X[row : row + 1]).tobytes() == raw[row].tobytes()
    stages = list(model.staged_decision_function(X))
    assert len(stages) == 5
    assert stages[-1].tobytes() == raw.tobytes()


def test_contributions_are_those_of_trees_per_class(data, model):
    ours, theirs = (lhtree.Scorer(one).explain_batch(data[0][:20]) for one in (model._model, split(model)))
    assert len(ours.filter(like="contribution.").columns) == 5
    pd.testing.assert_frame_equal(ours, theirs, rtol=0.0, atol=1e-12)


def test_paths_show_the_predicted_class(data, model):
    X = data[0]
    explanation = model.explain(X[0])
    label = explanation.prediction
    code = model.classes_.tolist().index(label)
    added = sum(path.leaf.added for path in explanation.paths)
    assert {path.target for path in explanation.paths} == {label}
    assert model._model.base[code] + added == pytest.approx(explanation.raw_score[label], abs=1e-12)
    for path in explanation.paths:
        changes = sum(step.change for step in path.steps)
        assert path.steps[0].value + changes == pytest.approx(path.leaf.value, abs=1e-12)


def test_views_have_the_values_of_all_classes(model, rejects):
    tree = model.trees_[0]
    leaf = int(np.flatnonzero(tree.is_leaf)[0])
    values = tree.values(leaf)
    assert list(values) == model.classes_.tolist()
    assert tree.value[leaf] == max(values.values())
    assert values[tree.heaviest[leaf]] == tree.value[leaf]
    rejects(tree.shares, leaf)


def test_warm_start_with_other_trees_is_rejected(data, rejects):
    X, y = data
    begun = fit(X, y, 2, learning_rate=0.1, warm_start=True)
    rejects(begun.set_params(multi_class="one_per_class", max_iter=7).fit, X, y)


def test_texts_name_the_class_that_a_block_raises_most():
    X, y = load_iris(return_X_y=True, as_frame=True)
    model = fit(X, np.array(["setosa", "versicolor", "virginica"])[y], 1, max_depth=2)
    text = lhtree.export_text(model)
    assert "round 0, tree of all classes" in text
    assert len(set(model.trees_[0].heaviest)) > 1
    assert all(name in text for name in model.trees_[0].heaviest)
