"""Forests with one tree of all classes: fits, scores, explanations, texts and files."""

from dataclasses import replace

import numpy as np
import pytest
from sklearn.datasets import load_digits

import lhtree
from lhtree import LHForestClassifier, _parameters
from lhtree.model.shares import split_classes
from support.clouds import make_clouds


def fit(X, y, n_estimators=5, **setting):
    setting = {"direction": "mixed", "multi_class": "one_tree", "random_state": 0} | setting
    return LHForestClassifier(n_estimators, **setting).fit(X, y)


@pytest.fixture(scope="module")
def data():
    return make_clouds(200, 5, 3)


@pytest.fixture(scope="module", params=[0.0, 0.3], ids=["plain", "smoothed"])
def model(data, request):
    return fit(*data, min_samples_leaf=3, smoothing=request.param)


def test_classes_are_learned_with_a_tree_per_estimator():
    X, y = load_digits(return_X_y=True)
    forest = fit(X[:900], y[:900], 20)
    assert len(forest.trees_) == len(forest.estimators_) == 20
    assert forest.score(X[900:], y[900:]) > 0.9
    proba = forest.predict_proba(X)
    np.testing.assert_allclose(proba.sum(axis=1), 1.0, rtol=1e-12)
    np.testing.assert_array_equal(forest.predict(X), forest.classes_[proba.argmax(axis=1)])


def test_two_classes_share_one_tree_anyway(data):
    X, y = data
    one, per_class = (
        fit(X, y > 0, multi_class=how).predict_proba(X) for how in ("one_tree", "one_per_class")
    )
    assert one.tobytes() == per_class.tobytes()


def test_large_tables_grow_trees_of_all_classes(data, monkeypatch):
    X, y = data
    monkeypatch.setattr(_parameters, "MANY_ROWS", len(X) - 1)
    for setting, shares_classes in [
        ({}, True),
        ({"multi_class": "one_per_class"}, False),
        ({"membership": "least_squares"}, False),
        ({"direction": "fisher"}, False),
    ]:
        assert fit(X, y, 2, **{"multi_class": "auto"} | setting)._model.head.shares_classes == shares_classes
    forest = fit(X, y, 2, multi_class="auto", warm_start=True)
    monkeypatch.undo()
    assert not fit(X, y, 2, multi_class="auto")._model.head.shares_classes
    assert forest.set_params(n_estimators=3).fit(X, y)._model.head.shares_classes


def test_the_same_trees_for_each_class_score_the_same(model, data):
    fitted = model._model
    split = replace(fitted, trees=split_classes(fitted.trees, fitted.prior), forest=None)
    assert split.n_targets == 3
    assert split.score("proba", data[0]).tobytes() == model.predict_proba(data[0]).tobytes()


def test_explanations_add_up(model, data):
    X = data[0][:15]
    frame = model.explain_batch(X)
    for row in range(3):
        explanation = model.explain(X[row])
        for label in explanation.classes:
            parts = explanation.contributions[label]
            whole = explanation.base[label] + sum(parts.values())
            assert whole == pytest.approx(explanation.membership[label], abs=1e-12)
            line = frame.loc[(row, label)]
            assert [line[f"contribution.{name}"] for name in parts] == pytest.approx(list(parts.values()))
        assert {path.target for path in explanation.paths} == {explanation.prediction}
        assert len(explanation.paths) == 5
        changed = explanation.counterfactuals(n=1)
        assert not changed or changed[0].prediction != explanation.prediction
    assert "Path through the tree:" in str(model.explain(X[0]).tree(0))


def test_views_and_texts_name_classes(model):
    view = model.trees_[0]
    assert view.target is None
    assert "all classes" in repr(view)
    assert sum(view.shares(0).values()) == pytest.approx(1.0)
    assert view.outcome[0] == max(view.shares(0).values())
    assert lhtree.export_text(model, tree=0).startswith("tree of all classes: ")
    means = lhtree.weight_table(model).per_class()
    assert list(means) == model.classes_.tolist()
    assert any(weight != 0.0 for weights in means.values() for weight in weights.values())
    assert model.feature_importances_.sum() == pytest.approx(1.0)
