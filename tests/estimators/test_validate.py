"""Bad input gets an error that names the argument, the value and the remedy, and leaves the object unchanged."""

import numpy as np
import pandas as pd
import pytest
from scipy.sparse import csr_matrix
from sklearn.exceptions import NotFittedError

from lhtree import LHTClassifier
from lhtree.grow.labels import encode
from lhtree.tables.labels import check_sample_weight
from support import bridge
from support.clouds import make_clouds

X, Y = make_clouds(60, 4, 3)
ONES = np.ones(60)


def with_cell(value, dtype=np.float64):
    spoiled = X.astype(dtype)
    spoiled[5, 2] = value
    return spoiled


# Arguments of rejected fits.
BAD_FITS = {
    "no rows": (X[:0], Y[:0]),
    "no columns": (X[:, :0], Y),
    "one class": (X, np.full(60, 7)),
    "None among text in y": (X, pd.Series(np.where(Y == 2, None, "a"))),
    "pd.NA among text in y": (X, pd.Series(np.where(Y == 2, None, "a"), dtype="string")),
    "integers as objects in y": (X, Y.astype(object)),
    "complex y": (X, Y * 1j),
    "NaN in y": (X, np.where(Y == 2, np.nan, Y)),
    "y missing": (X, None),
    "mixed y": (X, np.array(["a", 1] * 30, dtype=object)),
    "continuous y": (X, X[:, 0]),
    "two columns in y": (X, np.column_stack([Y, Y])),
    "infinity": (with_cell(np.inf), Y),
    "-infinity": (with_cell(-np.inf, np.float32), Y),
    "strings": (np.full((60, 2), "no"), Y),
    "text among numbers": (with_cell("yes", object), Y),
    "objects": (with_cell({}, object), Y),
    "complex": (X + 1j, Y),
    "sparse": (csr_matrix(X), Y),
    "1-D X": (X[:, 0], Y),
    "3-D X": (X.reshape(60, 2, 2), Y),
    "a number as X": (3.0, Y),
    "unequal lengths": (X, Y[:-1]),
    "columns of one name": (pd.DataFrame(X, columns=[*"aacd"]), Y),
    "names of two types": (pd.DataFrame(X, columns=["a", "b", 1, 2]), Y),
    "negative weight": (X, Y, -ONES),
    "all-zero weight": (X, Y, 0 * ONES),
    "NaN weight": (X, Y, np.nan * ONES),
    "infinite weight": (X, Y, np.inf * ONES),
    "short weight": (X, Y, ONES[1:]),
    "2-D weight": (X, Y, ONES[:, None]),
    "text weight": (X, Y, ["much"] * 60),
    "weight of one class": (X, Y, 1.0 * (Y == 1)),
}


@pytest.mark.parametrize("case", BAD_FITS)
def test_bad_input_of_fit(case, rejects):
    named = pd.DataFrame(X, columns=list("abcd"))
    new, fitted = LHTClassifier(gamma=3), LHTClassifier(gamma=3).fit(named, Y)
    proba = fitted.predict_proba(named)
    for model in (new, fitted):
        before = dict(vars(model))
        rejects(model.fit, *BAD_FITS[case])
        assert vars(model) == before
    assert fitted.predict_proba(named).tobytes() == proba.tobytes()
    with pytest.raises(NotFittedError):
        new.predict(X)


METHODS = (*bridge.MODEL_METHODS, "predict_log_proba", "decision_path")
BAD_ROWS = {
    "too few features": X[:, :3],
    "too many features": np.column_stack([X, X]),
    "one row as 1-D": X[0],
    "3-D": X.reshape(60, 2, 2),
    "no rows": X[:0],
    "infinity": with_cell(np.inf),
    "infinity in float32": with_cell(-np.inf, np.float32),
    "infinity in a list": with_cell(np.inf).tolist(),
    "text": np.full((3, 4), "no"),
}


@pytest.mark.parametrize("case", BAD_ROWS)
def test_bad_input_of_predict(case, rejects):
    model = LHTClassifier().fit(X, Y)
    before = dict(vars(model))
    for method in METHODS:
        rejects(getattr(model, method), BAD_ROWS[case])
        assert vars(model) == before


@pytest.mark.parametrize("method", METHODS)
def test_predict_before_fit(method, rejects):
    rejects(getattr(LHTClassifier(), method), X)


@pytest.mark.parametrize("name", ["trees_", "n_leaves_", "depth_", "feature_importances_"])
def test_attributes_before_fit(name, rejects):
    rejects(getattr, LHTClassifier(), name)


def test_names_of_features_are_checked(rejects):
    frame = pd.DataFrame(X, columns=list("abcd"))
    model = LHTClassifier().fit(frame, Y)
    rejects(model.predict, frame.rename(columns={"a": "z"}))
    with pytest.warns(UserWarning, match="does not have valid feature names"):
        model.predict(X)
    with rejects, pytest.warns(UserWarning, match="feature names"):
        model.predict(X[:, :2])


def test_a_fit_without_names_forgets_those_of_an_earlier_fit():
    model = LHTClassifier().fit(pd.DataFrame(X, columns=list("abcd")), Y)
    model.fit(X, Y)
    assert not hasattr(model, "feature_names_in_")
    assert model.trees_[0].feature_names == ["x0", "x1", "x2", "x3"]


@pytest.mark.parametrize("dtype", [np.int8, np.uint8, np.int16, np.int64, np.uint64, ">i4"])
def test_encode_small_integers(dtype):
    y = np.array([7, 3, 3, 100, 7], dtype=dtype)
    classes, codes = encode(y)
    assert classes.dtype == y.dtype
    assert (classes.tolist(), codes.tolist()) == ([3, 7, 100], [1, 0, 0, 2, 1])


def test_a_number_is_a_weight_for_every_row():
    np.testing.assert_array_equal(check_sample_weight(2, 3), [2.0, 2.0, 2.0])
