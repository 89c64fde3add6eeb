"""LHTClassifier: public behaviour."""

import joblib
import numpy as np
import pandas as pd
import pytest
from sklearn.base import clone
from sklearn.datasets import load_iris, load_wine
from sklearn.model_selection import cross_val_score

from lhtree import LHForestClassifier, LHTClassifier
from support import bridge, strategies
from support.clouds import make_clouds

NAMES = ["a", "b", "c", "d", "e"]


@pytest.mark.parametrize(("model", "least"), [(LHTClassifier(), 0.8), (LHForestClassifier(30), 0.92)])
@pytest.mark.parametrize("direction", strategies.DIRECTIONS)
def test_cross_validated_accuracy(model, least, direction):
    for load in (load_wine, load_iris):
        X, y = load(return_X_y=True)
        model = clone(model).set_params(direction=direction, random_state=0)
        assert cross_val_score(model, X, y, cv=5).mean() > least


@pytest.mark.parametrize("model", [LHTClassifier(), LHForestClassifier(6, random_state=0)])
@pytest.mark.parametrize("n_classes", [2, 3, 5])
def test_shapes_and_types(model, n_classes):
    X, y = make_clouds(150, 4, n_classes)
    model = clone(model).fit(X, y)
    targets = (list(range(n_classes)) if n_classes > 2 else [1]) * getattr(model, "n_estimators", 1)
    assert [tree.target for tree in model.trees_] == targets
    for method in ("proba", "log_proba", "wolf", "membership", "confidence"):
        values = getattr(model, f"predict_{method}")(X)
        assert (values.shape, values.dtype) == ((150, n_classes), np.float64)
    assert (model.apply(X).shape, model.apply(X).dtype) == ((150, len(targets)), np.int64)
    assert model.predict(X).shape == (150,)
    assert model.n_features_in_ == 4
    assert model.score(X, y) == (model.predict(X) == y).mean()
    assert model.n_leaves_ == sum(tree.n_leaves for tree in model.trees_)
    assert model.depth_ == max(tree.depth.max() for tree in model.trees_)


def test_log_proba_is_the_logarithm_of_proba(two):
    X, y = two
    model = LHTClassifier().fit(X, y)
    with np.errstate(divide="ignore"):
        np.testing.assert_array_equal(model.predict_log_proba(X), np.log(model.predict_proba(X)))
    assert np.isneginf(model.predict_log_proba(X)).any()  # and no warning about it


@pytest.mark.parametrize("kind", ["pandas", "polars", "pyarrow"])
def test_names_of_frames_are_kept_and_checked(kind):
    library = pytest.importorskip(kind)
    X, y = make_clouds(120, 5, 3)
    columns = dict(zip(NAMES, X.T, strict=True))
    frame = library.table(columns) if kind == "pyarrow" else library.DataFrame(columns)
    model = LHTClassifier().fit(frame, y)
    assert model.feature_names_in_.tolist() == NAMES
    assert model.trees_[0].feature_names == NAMES
    plain = LHTClassifier().fit(X, y)
    bridge.assert_same_trees(plain, model)
    for method in bridge.MODEL_METHODS:
        np.testing.assert_array_equal(getattr(model, method)(frame), getattr(plain, method)(X))


@pytest.mark.parametrize("kind", ["list", "pandas", "categories", "polars"])
def test_classes_in_series_and_lists(two, kind):
    X, y = two
    words = np.array(["no", "yes"])[y].tolist()
    make = {
        "list": list,
        "pandas": pd.Series,
        "categories": lambda words: pd.Series(pd.Categorical(words)),
        "polars": lambda words: pytest.importorskip("polars").Series(words),
    }[kind]
    model = LHTClassifier().fit(X.tolist(), make(words))
    assert model.classes_.tolist() == ["no", "yes"]
    assert set(model.predict(X)) == {"no", "yes"}


def test_models_from_read_only_memory_maps(three, tmp_path):
    X, y = three
    model = LHTClassifier().fit(X, y)
    joblib.dump(model, tmp_path / "model.joblib")
    copy = joblib.load(tmp_path / "model.joblib", mmap_mode="r")
    np.testing.assert_array_equal(copy.predict_proba(X), model.predict_proba(X))
    assert copy.trees_[0].to_frame().equals(model.trees_[0].to_frame())


def test_class_weight_multiplies_into_sample_weight(two):
    X, y = two
    weight = np.random.default_rng(0).integers(1, 5, 200)
    both = LHTClassifier(class_weight={1: 3.0}).fit(X, y, weight)
    one = LHTClassifier().fit(X, y, weight * np.where(y == 1, 3.0, 1.0))
    bridge.assert_same_trees(one, both)
