"""Unusual but valid input gives the same models as the same data in their usual form."""

import numpy as np
import pandas as pd
import pytest
from sklearn.ensemble import AdaBoostClassifier

from lhtree import LHForestClassifier, LHTClassifier, evaluate
from support import bridge
from support.clouds import make_clouds

SETTINGS = [
    {},
    {"gamma": 1, "normalize": None},
    {"direction": "fisher", "membership": "least_squares"},
    {"direction": "mixed", "max_features": "sqrt", "random_state": 0},
    {"normalize": "standard", "confidence": "path", "offset": "gini"},
    {"normalize": "minmax", "beta": 0.5},
]
every_setting = pytest.mark.parametrize("setting", SETTINGS, ids=str)


def check(model, X, y):
    """Finite scores, probabilities that sum to 1, and every row in the leaf it was grown in."""
    proba = model.predict_proba(X)
    assert np.isfinite(model.predict_wolf(X)).all()
    np.testing.assert_allclose(proba.sum(axis=1), 1.0, 1e-12)
    assert set(model.predict(X)) <= set(y)
    for tree, leaf in zip(model.trees_, model.apply(X).T, strict=True):
        count = np.bincount(leaf, minlength=tree.n_blocks)
        np.testing.assert_array_equal(count[tree.is_leaf], tree.n_samples[tree.is_leaf])
    return model


def fit(setting, X, y, weight=None):
    return check(LHTClassifier(**setting).fit(X, y, weight), X, y)


@every_setting
def test_exclusive_or(setting):
    X = np.tile([[0.0, 0.0], [0.0, 1.0], [1.0, 0.0], [1.0, 1.0]], (10, 1))
    model = fit(setting, X, np.tile([0, 1, 1, 0], 10))
    if model.direction == "mixed":
        assert model.score(X, np.tile([0, 1, 1, 0], 10)) == 1.0


@every_setting
def test_more_features_than_rows_and_one_row_in_a_class(setting):
    X, y = make_clouds(12, 300, 3)
    assert fit(setting | {"gamma": 1}, X, y).score(X, y) == 1.0
    X, y = make_clouds(60, 3, 2)
    y[7] = 2
    X[7] += 50
    assert fit(setting | {"gamma": 1}, X, y).predict(X[7:8])[0] == 2


def as_memory_map(X, path):
    np.save(path / "rows.npy", X)
    return np.load(path / "rows.npy", mmap_mode="r")


def in_records(X, path):
    records = np.zeros(len(X), dtype=[("tag", "i1"), ("x", X.dtype, (X.shape[1],))])
    records["x"] = X
    return records["x"]


def unaligned(X, path):
    raw = np.frombuffer(b"?" + X.tobytes(), dtype=np.uint8)
    return raw[1:].view(X.dtype).reshape(X.shape)


FORMS = {
    "Fortran order": lambda X, path: np.asfortranarray(X),
    "strided slice": lambda X, path: np.repeat(np.repeat(X, 2, axis=0), 3, axis=1)[::2, ::3],
    "negative strides": lambda X, path: X[::-1, ::-1].copy()[::-1, ::-1],
    "transposed": lambda X, path: X.T.copy().T,
    "big-endian": lambda X, path: X.astype(X.dtype.newbyteorder(">")),
    "read-only": lambda X, path: np.frombuffer(X.tobytes(), dtype=X.dtype).reshape(X.shape),
    "read-only memory map": as_memory_map,
    "field of records": in_records,
    "unaligned": unaligned,
    "list": lambda X, path: X.tolist(),
    "objects": lambda X, path: X.astype(object),
    "DataFrame without names": lambda X, path: pd.DataFrame(X),
}


@pytest.mark.parametrize("dtype", [np.float64, np.float32])
@pytest.mark.parametrize("form", FORMS)
def test_layout_in_memory_does_not_matter(form, dtype, tmp_path):
    X, y = make_clouds(300, 5, 3)
    X = (np.round(X * 8) / 8).astype(dtype)
    other = FORMS[form](X, tmp_path)
    usual, model = LHTClassifier().fit(X, y), LHTClassifier().fit(other, y)
    bridge.assert_same_trees(usual, model)
    for method in bridge.MODEL_METHODS:
        np.testing.assert_array_equal(getattr(usual, method)(X), getattr(usual, method)(other))


@pytest.mark.parametrize("dtype", ["f2", "i1", "u1", ">i4", "i8", "u8", "?", "g"])
def test_dtypes_of_numbers_do_not_matter(dtype):
    X, y = make_clouds(200, 5, 2)
    X = np.clip(np.abs(X) * 10, 0, 127).astype(dtype)
    same = LHTClassifier().fit(X.astype(np.float64), y)
    model = fit({}, X, y)
    bridge.assert_same_trees(same, model)


@pytest.mark.parametrize(
    "y", [list("ab"), [True, False], [-1, 1], [0.0, 1.0], [10**12, -(10**12)], [np.str_("x"), "y"]]
)
def test_classes_keep_their_type(y):
    X, codes = make_clouds(100, 3, 2)
    labels = np.array(y)[codes]
    model = fit({}, X, labels)
    assert model.classes_.tolist() == sorted(y)
    assert model.predict(X).dtype == labels.dtype


@pytest.mark.parametrize(
    ("y", "name", "dtype"),
    [
        ([2**60, 2**60 + 1], "Int64", np.int64),
        ([2**60, 2**60 + 1], "int64[pyarrow]", np.int64),
        ([3, 200], "UInt8", np.uint8),
        ([False, True], "boolean", np.bool_),
        ([0.0, 1.0], "Float64", np.float64),
    ],
)
@pytest.mark.parametrize("container", [pd.array, pd.Series])
def test_nullable_classes_keep_their_type(y, name, dtype, container):
    X, codes = make_clouds(100, 3, 2)
    labels = container(np.array(y)[codes], dtype=name)
    model = LHTClassifier().fit(X, labels)
    assert model.classes_.tolist() == y
    assert model.classes_.dtype == model.predict(X).dtype == dtype
    assert evaluate(model, X, labels).accuracy > 0.6
    labels[3] = pd.NA
    with pytest.raises(ValueError, match="contains NaN"):
        LHTClassifier().fit(X, labels)


@pytest.mark.parametrize("n_rows", range(90, 110))
def test_equal_weights_that_sum_to_one_are_no_weights(n_rows):
    # 1/n and its inverse are rounded; a row must not weigh less than min_samples_leaf = 1.
    X, y = make_clouds(n_rows, 2, 2)
    plain = LHTClassifier(gamma=1).fit(X, y)
    weighted = LHTClassifier(gamma=1).fit(X, y, np.full(n_rows, 1 / n_rows))
    np.testing.assert_array_equal(plain.apply(X), weighted.apply(X))


@pytest.mark.parametrize("size", [1e-300, 1e-9, 1e9, 1e155, 1e300])
def test_tiny_and_huge_weights(size):
    X, y = make_clouds(100, 3, 2)
    assert fit({}, X, y, np.full(100, size)).score(X, y) > 0.6


@pytest.mark.parametrize("class_weight", ["balanced", "balanced_subsample"])
def test_weights_whose_ratio_is_beyond_every_float(class_weight):
    X, y = make_clouds(100, 3, 2)
    weight = np.where(y == 0, 1e-200, 1e120)
    forest = LHForestClassifier(5, class_weight=class_weight, n_jobs=10**30, random_state=0)
    assert forest.fit(X, y, weight).score(X, y) > 0.6
    if class_weight == "balanced":
        model = fit({"class_weight": class_weight, "gamma": 1}, X, y, weight)
        assert model.trees_[0].n_target[0] == pytest.approx(model.trees_[0].weight[0] / 2)


def test_trees_work_in_adaboost():
    X, y = make_clouds(150, 4, 3)
    boosted = AdaBoostClassifier(LHTClassifier(max_depth=2), n_estimators=5, random_state=0)
    assert boosted.fit(X, y).score(X, y) > 0.6
