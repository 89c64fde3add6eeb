"""Bad input gets an error that names the argument, the value and the remedy, and leaves the object unchanged."""

import re

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


def of_class(values):
    return np.array(values, dtype=object)


# Rejected fits: arguments, parts of the message, and the type of error unless it is ValueError.
BAD_FITS = {
    "no rows": ((X[:0], Y[:0]), ["X", "0 sample(s)", "(0, 4)", "Pass at least one row"]),
    "no columns": ((X[:, :0], Y), ["X", "0 feature(s)", "(60, 0)", "Pass at least one column"]),
    "one class": ((X, np.full(60, 7)), ["y contains only one class", "7", "Pass rows of another class"]),
    "None among text in y": (
        (X, pd.Series(np.where(Y == 2, None, "a"))),
        ["y contains NaN", "Drop the rows"],
    ),
    "pd.NA among text in y": (
        (X, pd.Series(np.where(Y == 2, None, "a"), dtype="string")),
        ["Input y contains NaN", "Drop the rows"],
    ),
    "integers as objects in y": ((X, Y.astype(object)), ["objects (int)", "y.astype(int)"]),
    "complex y": ((X, Y * 1j), ["y: Complex data not supported. Pass real numbers"]),
    "NaN in y": ((X, np.where(Y == 2, np.nan, Y)), ["Input y contains NaN", "Drop the rows"]),
    "y missing": ((X, None), ["y", "None"]),
    "mixed y": ((X, of_class(["a", 1] * 30)), ["y mixes types", "only strings or only numbers"], TypeError),
    "continuous y": ((X, X[:, 0]), ["Unknown label type: continuous", "Bin a continuous target"]),
    "two columns in y": ((X, np.column_stack([Y, Y])), ["y", "(60, 2)"]),
    "infinity": ((with_cell(np.inf), Y), ["X contains infinity", "row 5, column 2 is inf", "Replace"]),
    "-infinity": ((with_cell(-np.inf, np.float32), Y), ["row 5, column 2 is -inf", "Replace"]),
    "strings": ((np.full((60, 2), "no"), Y), ["X", "'no'", "must be numeric", "OneHotEncoder"]),
    "text among numbers": ((with_cell("yes", object), Y), ["X", "'yes'", "OneHotEncoder"]),
    "objects": ((with_cell({}, object), Y), ["X", "'dict'", "must be numeric", "encode objects"], TypeError),
    "complex": ((X + 1j, Y), ["Complex data not supported"]),
    "sparse": ((csr_matrix(X), Y), ["Sparse data was passed for X", "toarray"], TypeError),
    "1-D X": ((X[:, 0], Y), ["X", "Expected 2D array, got 1D array", "Reshape"]),
    "3-D X": ((X.reshape(60, 2, 2), Y), ["X", "dim 3"]),
    "a number as X": ((3.0, Y), ["X", "scalar"]),
    "unequal lengths": ((X, Y[:-1]), ["X", "[60, 59]", "Pass one class"]),
    "columns of one name": ((pd.DataFrame(X, columns=[*"aacd"]), Y), ["X", "'a'", "unique"]),
    "names of two types": ((pd.DataFrame(X, columns=["a", "b", 1, 2]), Y), ["int, str", "astype"], TypeError),
    "negative weight": ((X, Y, -ONES), ["sample_weight", "-1.0", "pass non-negative weights"]),
    "all-zero weight": ((X, Y, 0 * ONES), ["sample_weight is zero for all rows", "give"]),
    "NaN weight": ((X, Y, np.nan * ONES), ["sample_weight contains NaN", "pass finite"]),
    "infinite weight": ((X, Y, np.inf * ONES), ["sample_weight", "infinity", "pass finite"]),
    "short weight": ((X, Y, ONES[1:]), ["sample_weight has 59 values", "60 rows", "pass one weight"]),
    "2-D weight": ((X, Y, ONES[:, None]), ["sample_weight has shape (60, 1)", "Pass one number per row"]),
    "text weight": ((X, Y, ["much"] * 60), ["sample_weight is not numeric", "'much'", "pass one number"]),
    "weight of one class": ((X, Y, 1.0 * (Y == 1)), ["y contains only one class", "1", "positive weight"]),
}


def state_of(model):
    """Return the state of an estimator, with arrays as bytes; the scorer is compared by identity."""
    arrays = {"scorer": model.__dict__.get("_scorer"), "forest": id(model.__dict__.get("_forest"))}
    plain = {name: value for name, value in model.__dict__.items() if not isinstance(value, np.ndarray)}
    seen = {name: value.tobytes() for name, value in model.__dict__.items() if isinstance(value, np.ndarray)}
    return arrays, {name: repr(value) for name, value in plain.items()}, seen


@pytest.mark.parametrize("is_fitted", [False, True])
@pytest.mark.parametrize("case", BAD_FITS)
def test_bad_input_of_fit(is_fitted, case):
    arguments, parts, *error = BAD_FITS[case]
    model = LHTClassifier(gamma=3)
    if is_fitted:
        named = pd.DataFrame(X, columns=list("abcd"))
        model.fit(named, Y)
        proba = model.predict_proba(named)
    before, kept = state_of(model), set(model.__dict__)
    with pytest.raises(error[0] if error else ValueError) as caught:
        model.fit(*arguments)
    for part in parts:
        assert part in str(caught.value) if part != "X" else re.search(r"\bX\b", str(caught.value)), part
    assert state_of(model) == before
    assert set(model.__dict__) == kept
    if is_fitted:
        assert model.predict_proba(named).tobytes() == proba.tobytes()
    else:
        with pytest.raises(NotFittedError):
            model.predict(X)


METHODS = (*bridge.MODEL_METHODS, "predict_log_proba", "decision_path")
BAD_ROWS = [
    ("too few features", X[:, :3], ["X has 3 features", "expecting 4 features", "Pass the columns"]),
    ("too many features", np.column_stack([X, X]), ["X has 8 features", "expecting 4", "Pass the columns"]),
    ("one row as 1-D", X[0], ["X", "Expected 2D array, got 1D array", "Reshape"]),
    ("3-D", X.reshape(60, 2, 2), ["X", "dim 3"]),
    ("no rows", X[:0], ["X", "0 sample(s)", "Pass at least one row"]),
    ("infinity", with_cell(np.inf), ["X contains infinity", "row 5, column 2 is inf", "Replace"]),
    ("infinity in float32", with_cell(-np.inf, np.float32), ["row 5, column 2 is -inf", "Replace"]),
    ("infinity in a list", with_cell(np.inf).tolist(), ["X contains infinity", "row 5, column 2", "Replace"]),
    ("text", np.full((3, 4), "no"), ["X", "'no'", "OneHotEncoder"]),
]


@pytest.mark.parametrize("method", METHODS)
@pytest.mark.parametrize(("rows", "parts"), [case[1:] for case in BAD_ROWS], ids=[c[0] for c in BAD_ROWS])
def test_bad_input_of_predict(method, rows, parts):
    model = LHTClassifier().fit(X, Y)
    before = state_of(model)
    with pytest.raises(ValueError, match=parts[-1].split("(")[0]) as caught:
        getattr(model, method)(rows)
    for part in parts:
        assert part in str(caught.value) if part != "X" else re.search(r"\bX\b", str(caught.value)), part
    assert state_of(model) == before


@pytest.mark.parametrize("method", METHODS)
def test_predict_before_fit(method):
    with pytest.raises(NotFittedError, match=r"not fitted yet. Call 'fit'"):
        getattr(LHTClassifier(), method)(X)


@pytest.mark.parametrize("name", ["trees_", "n_leaves_", "depth_", "feature_importances_"])
def test_attributes_before_fit(name):
    with pytest.raises(NotFittedError, match=r"not fitted yet. Call 'fit'"):
        getattr(LHTClassifier(), name)


def test_names_of_features_are_checked():
    frame = pd.DataFrame(X, columns=list("abcd"))
    model = LHTClassifier().fit(frame, Y)
    with pytest.raises(ValueError, match=r"(?s)feature names should match.*unseen at fit time:\n- z"):
        model.predict(frame.rename(columns={"a": "z"}))
    with pytest.raises(ValueError, match="must be in the same order"):
        model.predict(frame[list("bacd")])
    with pytest.warns(UserWarning, match="does not have valid feature names"):
        model.predict(X)
    with (
        pytest.raises(ValueError, match="Pass the columns"),
        pytest.warns(UserWarning, match="feature names"),
    ):
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


@pytest.mark.parametrize(
    "y", [[2**63 - 1, -(2**63)], [5, 10**6], [-5, -7], [2.0, 1.0], ["b", "a"], [True, False]]
)
def test_encode_whatever_is_sorted(y):
    classes, codes = encode(np.array(y))
    assert classes.tolist() == sorted(y)
    assert classes[codes].tolist() == y
    assert codes.dtype == np.int32


def test_a_number_is_a_weight_for_every_row():
    np.testing.assert_array_equal(check_sample_weight(2, 3), [2.0, 2.0, 2.0])
