"""Tests of the arrays that the core's `Scorer` takes and returns."""

import gc
import sys
from dataclasses import replace

import numpy as np
import pytest

import lhtree
from lhtree.tables.encoding import Encoding

METHODS = ("proba", "wolf", "membership", "confidence", "predict", "apply", "per_tree", "trace")


def results(found):
    """The arrays that a method returns."""
    return found if isinstance(found, tuple) else (found,)


def bits(found):
    return b"".join(array.tobytes() for array in results(found))


@pytest.fixture(scope="module")
def scorer():
    generator = np.random.default_rng(0)
    X = generator.normal(size=(200, 4))
    y = (X[:, 0] * X[:, 1] > 0) + (X[:, 2] > 0.5)
    return lhtree.LHTClassifier().fit(X, y)._model.scorer


@pytest.fixture(params=[1, 3, 40], ids="{} rows".format)
def rows(request):
    return np.random.default_rng(1).normal(size=(request.param, 4))


class Child(np.ndarray):
    pass


def freeze(X):
    X = X.copy()
    X.flags.writeable = False
    return X


def shift(X):
    """Return an unaligned copy."""
    room = np.zeros(X.nbytes + 1, dtype=np.uint8)
    shifted = room[1:].view(X.dtype).reshape(X.shape)
    shifted[:] = X
    return shifted


def in_records(X, dtype, name="values"):
    """Return a view of one field of a structured array."""
    records = np.zeros(len(X), dtype=dtype)
    records[name] = X
    return records[name]


AS_GOOD = {
    "columns first": np.asfortranarray,
    "upside down": lambda X: X[::-1].copy()[::-1],
    "mirrored": lambda X: X[:, ::-1].copy()[:, ::-1],
    "every other row": lambda X: np.repeat(X, 2, axis=0)[::2],
    "every other column": lambda X: np.repeat(X, 2, axis=1)[:, ::2],
    "read-only": freeze,
    "subclass": lambda X: X.view(Child),
    "aligned records": lambda X: in_records(X, [("values", X.dtype, 4), ("more", "f8")]),
}


@pytest.mark.parametrize("make", AS_GOOD.values(), ids=AS_GOOD.keys())
@pytest.mark.parametrize("dtype", [np.float64, np.float32])
def test_arrays_of_any_strides_have_the_same_scores(scorer, rows, make, dtype):
    rows = rows.astype(dtype)
    given = make(rows)
    np.testing.assert_array_equal(given, rows)
    for ask in (getattr(scorer, method) for method in METHODS):
        expected = bits(ask(rows))
        assert expected == bits(ask(given))
        # The float32 row is the same number in float64, and is scored alike.
        assert expected == bits(ask(rows.astype(np.float64)))


@pytest.mark.parametrize("method", METHODS)
@pytest.mark.parametrize("n_rows", [0, 1, 5, 100])
def test_results_are_plain_arrays_of_their_own(scorer, method, n_rows):
    X = np.ones((n_rows, 4)).view(Child)
    found = results(getattr(scorer, method)(X, n_threads=2))
    n_columns = scorer.n_trees if method in ("apply", "per_tree") else scorer.n_classes
    shape, dtypes = (n_rows, n_columns), "d"
    if method in ("predict", "apply"):
        dtypes = "l"
    if method == "predict":
        shape = (n_rows,)
    if method == "per_tree":
        dtypes = "dd"
    if method == "trace":
        dtypes, shape = "lid", None
        assert found[0].shape == (n_rows * scorer.n_trees + 1,)
        assert found[1].shape == found[2].shape == (found[0][-1],)
    assert [array.dtype.char for array in found] == list(dtypes)
    for array in found:
        assert type(array) is np.ndarray
        assert shape in (array.shape, None)
        assert array.flags.owndata
        assert array.flags.writeable
        assert array.flags.c_contiguous


NOT_TAKEN = {
    "one axis": lambda X: X[0],
    "three axes": lambda X: X[None],
    "no axis": lambda X: np.array(1.0),
    "a number": lambda X: np.float64(1.0),
    "other byte order": lambda X: X.astype(X.dtype.newbyteorder()),
    "not aligned": shift,
    "packed records": lambda X: in_records(X, [("values", "f8", 4), ("more", "f4")]),
    "integers": lambda X: X.astype(np.int64),
    "half precision": lambda X: X.astype(np.float16),
    "extended precision": lambda X: X.astype(np.longdouble),
    "complex numbers": lambda X: X.astype(complex),
    "objects": lambda X: X.astype(object),
    "text": lambda X: X.astype(str),
    "a list": lambda X: X.tolist(),
    "a buffer": memoryview,
    "None": lambda X: None,
}


@pytest.mark.parametrize("make", NOT_TAKEN.values(), ids=NOT_TAKEN.keys())
def test_inexact_arrays_are_rejected(scorer, make):
    for method in METHODS:
        with pytest.raises(TypeError, match="incompatible function arguments"):
            getattr(scorer, method)(make(np.ones((3, 4))))


@pytest.mark.parametrize("dtype", [np.float64, np.float32])
def test_takes_accepts_exact_arrays_only(scorer, rows, dtype):
    rows = rows.astype(dtype)
    assert scorer.takes(rows)
    for name, make in AS_GOOD.items():
        assert scorer.takes(make(rows)) == (name != "subclass")
    for make in NOT_TAKEN.values():
        assert not scorer.takes(make(np.ones((3, 4), dtype=dtype)))
    for shape in [(0, 4), (1, 0), (1, 3), (1, 5), (0, 0)]:
        assert not scorer.takes(np.ones(shape, dtype=dtype))


def test_estimators_prepare_only_what_the_scorer_does_not_take(monkeypatch):
    X = np.random.default_rng(3).normal(size=(60, 4))
    model = lhtree.LHTClassifier().fit(X, X[:, 0] > 0)
    expected = model.predict_proba(X)
    prepared = []
    code = Encoding.code

    def prepare(encoding, X, **options):
        prepared.append(X)
        return code(encoding, X, **options)

    monkeypatch.setattr(Encoding, "code", prepare)
    for given in (X, np.asfortranarray(X), freeze(X), np.asfortranarray(X)[:1]):
        np.testing.assert_array_equal(model.predict_proba(given), expected[: len(given)])
        np.testing.assert_array_equal(model.predict(given), model.classes_[expected[: len(given)].argmax(1)])
    assert not prepared
    for given in (X.tolist(), X.view(Child), X.astype(">f8"), shift(X)):
        np.testing.assert_array_equal(model.predict_proba(given), expected)
        assert prepared.pop() is given
    model._model = replace(model._model, encoding=Encoding.plain(4, list("abcd")))
    with pytest.warns(UserWarning, match="does not have valid feature names"):
        model.predict_proba(X)
    assert prepared.pop() is X


@pytest.mark.parametrize("n_columns", [0, 3, 5])
@pytest.mark.parametrize("n_rows", [0, 1, 100])
def test_wrong_widths_are_rejected(scorer, n_rows, n_columns, rejects):
    for method in METHODS:
        rejects(getattr(scorer, method), np.ones((n_rows, n_columns)))


@pytest.mark.parametrize("n_rows", [1, 100])
def test_scoring_leaks_no_memory(scorer, n_rows, rejects):
    X = np.ones((n_rows, 4))
    wrong = (np.full((n_rows, 4), np.inf), np.ones((n_rows, 3)), X.astype(int))

    def ask_all():
        for method in METHODS:
            ask = getattr(scorer, method)
            for array in results(ask(X)):
                assert sys.getrefcount(array) <= 3  # the result's, ours, and perhaps the argument's
            assert ask(wrong[0]) is None
            rejects(ask, wrong[1])
            with pytest.raises(TypeError, match="incompatible"):
                ask(wrong[2])

    def count():
        gc.collect()
        return [sys.getrefcount(each) for each in (X, *wrong, None, scorer, X.dtype, np.dtype(np.int64))]

    ask_all()
    before = count()
    for _ in range(50):
        ask_all()
    after = count()
    assert max(abs(b - a) for a, b in zip(before, after, strict=True)) < 50
