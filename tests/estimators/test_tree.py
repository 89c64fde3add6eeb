"""LHTClassifier as its users meet it."""

import io
import pickle
import warnings

import joblib
import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest
from sklearn.base import clone
from sklearn.datasets import load_iris, load_wine
from sklearn.model_selection import GridSearchCV, cross_val_score
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

from lhtree import LHTClassifier
from support import bridge
from support.clouds import make_clouds

NAMES = ["a", "b", "c", "d", "e"]


@pytest.mark.parametrize("setting", [{}, {"direction": "fisher"}, {"direction": "mixed"}])
def test_it_learns(setting):
    for load in (load_wine, load_iris):
        X, y = load(return_X_y=True)
        assert cross_val_score(LHTClassifier(**setting), X, y, cv=5).mean() > 0.8


@pytest.mark.parametrize("n_classes", [2, 3, 5])
def test_shapes_and_types(n_classes):
    X, y = make_clouds(150, 4, n_classes)
    model = LHTClassifier().fit(X, y)
    n_trees = 1 if n_classes == 2 else n_classes
    assert len(model.trees_) == n_trees
    assert [tree.target for tree in model.trees_] == (list(range(n_classes)) if n_classes > 2 else [1])
    for method in (
        "predict_proba",
        "predict_log_proba",
        "predict_wolf",
        "predict_membership",
        "predict_confidence",
    ):
        values = getattr(model, method)(X)
        assert (values.shape, values.dtype) == ((150, n_classes), np.float64)
    assert (model.apply(X).shape, model.apply(X).dtype) == ((150, n_trees), np.int64)
    assert model.predict(X).shape == (150,)
    assert model.n_features_in_ == 4
    assert model.score(X, y) == (model.predict(X) == y).mean()


def test_scores_hang_together(two, three):
    for X, y in (two, three):
        model = LHTClassifier().fit(X, y)
        wolf, mu, d = model.predict_wolf(X), model.predict_membership(X), model.predict_confidence(X)
        np.testing.assert_array_equal(wolf, d * mu)  # one tree per class
        is_zero = ~wolf.any(axis=1)
        scores = np.where(is_zero[:, None], mu, wolf)
        scores[~scores.any(axis=1)] = np.bincount(y) / len(y)
        np.testing.assert_allclose(model.predict_proba(X), scores / scores.sum(axis=1, keepdims=True), 1e-14)
        np.testing.assert_array_equal(model.predict(X), model.classes_[scores.argmax(axis=1)])


def test_rows_that_no_tree_claims_fall_back():
    # Every tree may say no, each in a pure leaf: all memberships are zero, and the class prior is left.
    X, y = make_clouds(300, 5, 3)
    y[:150] = 0
    model = LHTClassifier(direction="fisher", membership="constant").fit(X, y)
    rows = np.random.default_rng(1).normal(size=(4000, 5)) * 6
    wolf, mu = model.predict_wolf(rows), model.predict_membership(rows)
    nobody = ~mu.any(axis=1)
    assert nobody.any()
    assert not wolf[nobody].any()
    prior = np.bincount(y) / len(y)
    np.testing.assert_allclose(model.predict_proba(rows[nobody]), np.tile(prior, (nobody.sum(), 1)), 1e-14)
    assert (model.predict(rows[nobody]) == 0).all()


def test_log_proba(two):
    X, y = two
    model = LHTClassifier().fit(X, y)
    with np.errstate(divide="ignore"):
        np.testing.assert_array_equal(model.predict_log_proba(X), np.log(model.predict_proba(X)))
    assert np.isneginf(model.predict_log_proba(X)).any()  # and no warning about it


@pytest.mark.parametrize("kind", ["pandas", "polars", "pyarrow"])
def test_names_of_frames_are_kept_and_checked(kind):
    X, y = make_clouds(120, 5, 3)
    make = {
        "pandas": lambda names: pd.DataFrame(X, columns=names),
        "polars": lambda names: pl.DataFrame(X, schema=names),
        "pyarrow": lambda names: pa.table(dict(zip(names, X.T, strict=True))),
    }[kind]
    frame = make(NAMES)
    model = LHTClassifier().fit(frame, y)
    assert model.feature_names_in_.tolist() == NAMES
    assert model.trees_[0].feature_names == NAMES
    plain = LHTClassifier().fit(X, y)
    bridge.assert_same_bits(bridge.arrays_of(plain), bridge.arrays_of(model))
    for method in bridge.MODEL_METHODS:
        np.testing.assert_array_equal(getattr(model, method)(frame), getattr(plain, method)(X))
    with pytest.raises(ValueError, match="feature names should match"):
        model.predict(make([*NAMES[:4], "z"]))


def test_classes_in_series_and_lists(two):
    X, y = two
    words = np.array(["no", "yes"])[y]
    for given in (
        words.tolist(),
        pd.Series(words),
        pd.Series(pd.Categorical(words)),
        pl.Series(words.tolist()),
    ):
        model = LHTClassifier().fit(X.tolist(), given)
        assert model.classes_.tolist() == ["no", "yes"]
        assert set(model.predict(X)) == {"no", "yes"}


def test_missing_values_of_nullable_columns(two):
    X, y = two
    X = np.round(X * 4)
    X[::7, 1] = np.nan
    frame = pd.DataFrame(X, columns=NAMES).convert_dtypes()
    model = LHTClassifier().fit(frame, y)
    plain = LHTClassifier().fit(X, y)
    bridge.assert_same_bits(bridge.arrays_of(plain), bridge.arrays_of(model))


def test_pipeline_and_grid_search(three):
    X, y = three
    pipeline = make_pipeline(StandardScaler(), LHTClassifier())
    grid = {"lhtclassifier__gamma": [5, 0.1], "lhtclassifier__direction": ["mean_difference", "mixed"]}
    search = GridSearchCV(pipeline, grid, cv=3).fit(X, y)
    assert search.best_score_ > 0.6
    assert search.predict(X).shape == (240,)


def test_clone_and_set_params(two):
    model = LHTClassifier(gamma=3, direction="fisher").fit(*two)
    copy = clone(model)
    assert copy.get_params() == model.get_params()
    assert not hasattr(copy, "classes_")
    assert repr(copy.set_params(gamma=4)) == "LHTClassifier(direction='fisher', gamma=4)"


@pytest.mark.parametrize("is_fitted", [True, False])
def test_pickle_and_joblib_keep_every_bit(three, is_fitted, tmp_path):
    X, y = three
    model = LHTClassifier(direction="mixed", random_state=0)
    if is_fitted:
        model.fit(pd.DataFrame(X, columns=NAMES), y)
    joblib.dump(model, tmp_path / "model.joblib")
    buffer = io.BytesIO()
    pickle.dump(model, buffer)
    buffer.seek(0)
    for copy in (
        joblib.load(tmp_path / "model.joblib"),
        pickle.load(buffer),
        joblib.load(tmp_path / "model.joblib", mmap_mode=None),
    ):
        assert copy.get_params() == model.get_params()
        assert hasattr(copy, "classes_") is is_fitted
        if is_fitted:
            bridge.assert_same_bits(bridge.arrays_of(model), bridge.arrays_of(copy))
            frame = pd.DataFrame(X, columns=NAMES)
            for method in bridge.MODEL_METHODS:
                assert getattr(copy, method)(frame).tobytes() == getattr(model, method)(frame).tobytes()


def test_models_from_read_only_memory_maps(three, tmp_path):
    X, y = three
    model = LHTClassifier().fit(X, y)
    joblib.dump(model, tmp_path / "model.joblib")
    copy = joblib.load(tmp_path / "model.joblib", mmap_mode="r")
    np.testing.assert_array_equal(copy.predict_proba(X), model.predict_proba(X))
    assert copy.trees_[0].to_frame().equals(model.trees_[0].to_frame())


@pytest.mark.parametrize("dtype", [np.float64, np.float32])
@pytest.mark.parametrize("n_rows", [1, 2, 63, 64, 240])
def test_the_fast_path_is_the_slow_path(three, dtype, n_rows):
    X, y = three
    X = X.astype(dtype)
    model = LHTClassifier().fit(X, y)
    rows = X[:n_rows]
    for method in bridge.MODEL_METHODS:
        fast = getattr(model, method)(rows)
        assert (
            getattr(model, method)(rows.view(np.memmap)).tobytes() == fast.tobytes()
        )  # not exactly an ndarray
        assert getattr(model, method)(rows.tolist()).tobytes() == fast.tobytes()
        one_by_one = np.concatenate([getattr(model, method)(rows[[i]]) for i in range(n_rows)])
        assert one_by_one.tobytes() == fast.tobytes()


def test_the_fast_path_does_not_validate_exact_arrays(two, monkeypatch):
    X, y = two
    model = LHTClassifier().fit(X, y)
    monkeypatch.setattr("lhtree.tables.encoding.Encoding.encode", None)
    model.predict_proba(X)
    with pytest.raises(TypeError, match="not callable"):
        model.predict_proba(X.tolist())


def test_class_weight(two):
    X, y = two
    y = np.where(np.arange(200) < 150, 0, y)
    balanced = LHTClassifier(class_weight="balanced").fit(X, y)
    counts = np.bincount(y)
    weight = (200 / (2 * counts))[y]
    by_hand = LHTClassifier().fit(X, y, weight)
    as_dict = LHTClassifier(class_weight=dict(enumerate(200 / (2 * counts)))).fit(X, y)
    bridge.assert_same_bits(bridge.arrays_of(by_hand), bridge.arrays_of(balanced))
    bridge.assert_same_bits(bridge.arrays_of(as_dict), bridge.arrays_of(balanced))
    np.testing.assert_allclose(balanced.trees_[0].weight[0], 200.0)
    np.testing.assert_allclose(balanced.trees_[0].n_target[0], 100.0)


def test_class_weight_multiplies_into_sample_weight(two):
    X, y = two
    weight = np.random.default_rng(0).integers(1, 5, 200)
    both = LHTClassifier(class_weight={1: 3.0}).fit(X, y, weight)
    one = LHTClassifier().fit(X, y, weight * np.where(y == 1, 3.0, 1.0))
    bridge.assert_same_bits(bridge.arrays_of(one), bridge.arrays_of(both))


def test_fit_leaves_its_arguments_alone(three):
    X, y = three
    weight = np.full(240, 0.25)
    kept = X.copy(), y.copy(), weight.copy()
    model = LHTClassifier()
    assert model.fit(X, y, weight) is model
    for now, then in zip((X, y, weight), kept, strict=True):
        np.testing.assert_array_equal(now, then)


def test_refitting_forgets_the_first_fit(two, three):
    model = LHTClassifier().fit(*two).fit(*three)
    fresh = LHTClassifier().fit(*three)
    bridge.assert_same_bits(bridge.arrays_of(fresh), bridge.arrays_of(model))
    assert set(model.__dict__) == set(fresh.__dict__)


def test_nothing_warns(three):
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        LHTClassifier().fit(*three).predict_log_proba(three[0])
