"""Kinds of columns of pandas, polars and NumPy: numbers or categories."""

import datetime
from decimal import Decimal

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest

from lhtree.tables.columns import ArrayColumn
from lhtree.tables.frames import take_table

NAN = float("nan")
PANDAS = {
    "float": (pd.Series([1.5, NAN]), "numbers"),
    "int": (pd.Series([1, 2]), "numbers"),
    "bool": (pd.Series([True, False]), "numbers"),
    "nullable int": (pd.Series([1, None], dtype="Int64"), "numbers"),
    "nullable bool": (pd.Series([True, None], dtype="boolean"), "numbers"),
    "sparse": (pd.Series(pd.arrays.SparseArray([0.0, 1.0])), "numbers"),
    "text": (pd.Series(["a", None]), "categories"),
    "nullable text": (pd.Series(["a", None], dtype="string"), "categories"),
    "objects of text": (pd.Series(["a", None], dtype=object), "categories"),
    "category": (pd.Series(["a", None], dtype="category"), "categories"),
    "category of numbers": (pd.Series([1, 2], dtype="category"), "categories"),
    "intervals": (pd.cut(pd.Series([1, 5]), 2), "categories"),
    "objects of numbers": (pd.Series([1, 2.5, True, Decimal("0.1"), None, pd.NA], dtype=object), "numbers"),
    "nothing": (pd.Series([None, NAN], dtype=object), "nothing"),
    "mixed": (pd.Series([1, "a"], dtype=object), "mixed"),
    "lists": (pd.Series([[1], "a"], dtype=object), "other"),
    "complex": (pd.Series([1j]), "other"),
    "time": (pd.Series(pd.to_datetime(["2020-01-01"])), "dates"),
    "time with zone": (pd.Series(pd.to_datetime(["2020-01-01"], utc=True)), "dates"),
    "time span": (pd.Series(pd.to_timedelta([1])), "times"),
    "dates": (pd.Series([datetime.date(2020, 1, 1)], dtype=object), "dates"),
}
POLARS = {
    "float": (pl.Series([1.5, None]), "numbers"),
    "int": (pl.Series([1, None]), "numbers"),
    "bool": (pl.Series([True, None]), "numbers"),
    "decimal": (pl.Series([Decimal("1.5"), None]), "numbers"),
    "null": (pl.Series([None, None]), "numbers"),
    "text": (pl.Series(["a", None]), "categories"),
    "category": (pl.Series(["a", None], dtype=pl.Categorical), "categories"),
    "enum": (pl.Series(["a", None], dtype=pl.Enum(["b", "a"])), "categories"),
    "objects of numbers": (pl.Series([1, 2.5, None], dtype=pl.Object), "numbers"),
    "objects of text": (pl.Series(["a", None], dtype=pl.Object), "categories"),
    "time": (pl.Series([datetime.datetime(2020, 1, 1)]), "dates"),
    "date": (pl.Series([datetime.date(2020, 1, 1)]), "dates"),
    "time span": (pl.Series([datetime.timedelta(1)]), "times"),
    "lists": (pl.Series([[1], [2]]), "other"),
}


def _split(table):
    return take_table(table, "LHTClassifier").columns()


ARROW = {
    "float": (pa.array([1.5, None]), "numbers"),
    "half": (pa.array([np.float16(1.5)]), "numbers"),
    "int": (pa.array([1, None]), "numbers"),
    "bool": (pa.array([True, None]), "numbers"),
    "decimal": (pa.array([Decimal("1.5"), None]), "numbers"),
    "null": (pa.array([None, None]), "numbers"),
    "text": (pa.array(["a", None]), "categories"),
    "large text": (pa.array(["a"], pa.large_string()), "categories"),
    "view of text": (pa.array(["a"], pa.string_view()), "categories"),
    "dictionary": (pa.array(["a", None]).dictionary_encode(), "categories"),
    "dictionary of numbers": (pa.array([1, None]).dictionary_encode(), "numbers"),
    "date": (pa.array([datetime.date(2020, 1, 1)]), "dates"),
    "time span": (pa.array([datetime.timedelta(1)]), "times"),
    "bytes": (pa.array([b"a"]), "other"),
    "lists": (pa.array([[1], [2]]), "other"),
}


PANDAS_OF_ARROW = {
    f"{name} of Arrow": (pd.Series(ARROW[name][0], dtype=pd.ArrowDtype(ARROW[name][0].type)), ARROW[name][1])
    for name in ("text", "int", "bool", "date")
}


@pytest.mark.parametrize(
    ("make", "cases"), [(pd.DataFrame, PANDAS | PANDAS_OF_ARROW), (pl.DataFrame, POLARS), (pa.table, ARROW)]
)
def test_kinds_of_columns(make, cases):
    found = {name: _split(make({"c": values}))[0].kind for name, (values, _) in cases.items()}
    assert found == {name: kind for name, (_, kind) in cases.items()}


def test_kinds_of_arrays():
    rows = [[1, "a", None, 1.5, np.datetime64("2020-01-01")], [True, None, pd.NA, "b", None]]
    assert [column.kind for column in _split(np.array(rows, dtype=object))] == [
        "numbers", "categories", "nothing", "mixed", "dates"
    ]  # fmt: skip
    assert [ArrayColumn(np.array([value]), 0).kind for value in (1, 1.5, True, "a", 1j)] == [
        "numbers", "numbers", "numbers", "categories", "other"
    ]  # fmt: skip
    words = np.array([["a"], ["b"]], dtype=np.dtypes.StringDType())
    assert _split(words)[0].categories()[1] == ["a", "b"]


@pytest.mark.parametrize(
    "values",
    [
        pd.Series([1, None, 3], dtype="Int64"),
        pd.Series([1.0, NAN, 3.0]),
        pd.Series([1, pd.NA, Decimal(3)], dtype=object),
        pl.Series([1, None, 3]),
        pl.Series([1, None, 3], dtype=pl.Object),
        pl.Series([Decimal(1), None, Decimal(3)]),
        np.array([1, None, 3], dtype=object),
        np.array([1.0, NAN, 3.0], dtype=np.float32),
        pa.array([1, None, 3]),
        pa.chunked_array([pa.array([Decimal(1), None]), pa.array([Decimal(3)])]),
    ],
    ids=str,
)
def test_numbers(values):
    (column,) = _split(_as_table(values))
    numbers = column.numbers()
    assert numbers.dtype == np.float64
    np.testing.assert_array_equal(numbers, [1.0, NAN, 3.0])


@pytest.mark.parametrize(
    "values",
    [
        pd.Series(["b", None, "a"], dtype=object),
        pd.Series(["b", None, "a"]),
        pd.Series(["b", None, "a"], dtype="category"),
        pl.Series(["b", None, "a"]),
        pl.Series(["b", None, "a"], dtype=pl.Categorical),
        pl.Series(["b", None, "a"], dtype=pl.Object),
        np.array(["b", None, "a"], dtype=object),
        np.array(["b", NAN, "a"], dtype=object),
        np.array(["b", pd.NA, "a"], dtype=object),
        pa.array(["b", None, "a"]),
        pa.array(["b", None, "a"], pa.string_view()).dictionary_encode(),
        pa.chunked_array([pa.array(["b"]).dictionary_encode(), pa.array([None, "a"]).dictionary_encode()]),
    ],
    ids=str,
)
def test_categories_are_sorted(values):
    (column,) = _split(_as_table(values))
    codes, categories = column.categories()
    assert codes.tolist() == [1, -1, 0]
    assert categories == ["a", "b"]


def test_categories_of_a_type_keep_its_order():
    wanted = ([2, 0, -1], ["low", "middle", "high"])
    for values in (
        pd.Series(pd.Categorical(["high", "low", None], categories=wanted[1], ordered=True)),
        pl.Series(["high", "low", None], dtype=pl.Enum(wanted[1])),
    ):
        (column,) = _split(_as_table(values))
        codes, categories = column.categories()
        assert (codes.tolist(), categories) == wanted


def test_categories_that_are_numbers():
    for values in (
        np.array([3.0, NAN, 1.0, NAN]),
        pd.Series([3, None, 1, None]),
        pl.Series([3, None, 1, None]),
        pa.array([3.0, NAN, 1.0, None]),
    ):
        (column,) = _split(_as_table(values))
        codes, categories = column.categories()
        assert (codes.tolist(), categories) == ([1, -1, 0, -1], [1, 3])
        assert all(type(category) is int for category in categories)


def test_categories_that_json_cannot_hold_are_known_by_their_text():
    (column,) = _split(np.array([[np.inf], [1.5]]))
    codes, categories = column.categories()
    assert (codes.tolist(), categories) == ([1, 0], [1.5, "inf"])
    (column,) = _split(pd.DataFrame({"c": pd.cut(pd.Series([1, 9]), [0, 5, 10])}))
    assert column.categories()[1] == ["(0, 5]", "(5, 10]"]


def _as_table(values):
    if isinstance(values, np.ndarray):
        return values[:, None]
    for kind, make in ((pd.Series, pd.DataFrame), (pl.Series, pl.DataFrame)):
        if isinstance(values, kind):
            return make({"c": values})
    return pa.table({"c": values})
