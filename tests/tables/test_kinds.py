"""What columns hold: numbers or categories, of pandas, polars and NumPy alike."""

import datetime
from decimal import Decimal

import numpy as np
import pandas as pd
import polars as pl
import pytest
from hypothesis import given
from hypothesis import strategies as st

from lhtree.tables.frames import split_columns

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
    "time": (pd.Series(pd.to_datetime(["2020-01-01"])), "times"),
    "time with zone": (pd.Series(pd.to_datetime(["2020-01-01"], utc=True)), "times"),
    "time span": (pd.Series(pd.to_timedelta([1])), "times"),
    "dates": (pd.Series([datetime.date(2020, 1, 1)], dtype=object), "times"),
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
    "time": (pl.Series([datetime.datetime(2020, 1, 1)]), "times"),
    "date": (pl.Series([datetime.date(2020, 1, 1)]), "times"),
    "time span": (pl.Series([datetime.timedelta(1)]), "times"),
    "lists": (pl.Series([[1], [2]]), "other"),
}


@pytest.mark.parametrize("name", PANDAS)
def test_kinds_of_pandas(name):
    values, kind = PANDAS[name]
    (column,) = split_columns(pd.DataFrame({"c": values}))
    assert column.kind == kind


@pytest.mark.parametrize(
    ("values", "name", "kind"),
    [
        (["a", None], "string", "categories"),
        ([1, None], "int64", "numbers"),
        ([True, None], "bool_", "numbers"),
        ([datetime.date(2020, 1, 1)], "date32", "times"),
    ],
)
def test_kinds_of_arrow_in_pandas(values, name, kind):
    dtype = pd.ArrowDtype(getattr(pytest.importorskip("pyarrow"), name)())
    (column,) = split_columns(pd.DataFrame({"c": pd.Series(values, dtype=dtype)}))
    assert column.kind == kind


@pytest.mark.parametrize("name", POLARS)
def test_kinds_of_polars(name):
    values, kind = POLARS[name]
    (column,) = split_columns(pl.DataFrame({"c": values}))
    assert column.kind == kind


def test_kinds_of_arrays():
    rows = [[1, "a", None, 1.5, np.datetime64("2020-01-01")], [True, None, pd.NA, "b", None]]
    assert [column.kind for column in split_columns(np.array(rows, dtype=object))] == [
        "numbers", "categories", "nothing", "mixed", "times"
    ]  # fmt: skip
    assert [split_columns(np.array([[value]]))[0].kind for value in (1, 1.5, True, "a", 1j)] == [
        "numbers", "numbers", "numbers", "categories", "other"
    ]  # fmt: skip
    words = np.array([["a"], ["b"]], dtype=np.dtypes.StringDType())
    assert split_columns(words)[0].categories()[1] == ["a", "b"]


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
    ],
    ids=lambda values: f"{type(values).__module__.partition('.')[0]} {values.dtype}",
)
def test_numbers(values):
    (column,) = split_columns(_as_table(values))
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
    ],
    ids=lambda values: f"{type(values).__module__.partition('.')[0]} {values.dtype}",
)
def test_categories_are_sorted(values):
    (column,) = split_columns(_as_table(values))
    codes, categories = column.categories()
    assert codes.tolist() == [1, -1, 0]
    assert categories == ["a", "b"]


def test_categories_of_a_type_keep_its_order():
    wanted = ([2, 0, -1], ["low", "middle", "high"])
    for values in (
        pd.Series(pd.Categorical(["high", "low", None], categories=wanted[1], ordered=True)),
        pl.Series(["high", "low", None], dtype=pl.Enum(wanted[1])),
    ):
        (column,) = split_columns(_as_table(values))
        codes, categories = column.categories()
        assert (codes.tolist(), categories) == wanted


def test_categories_that_are_numbers():
    for values in (
        np.array([3.0, NAN, 1.0, NAN]),
        pd.Series([3, None, 1, None]),
        pl.Series([3, None, 1, None]),
    ):
        (column,) = split_columns(_as_table(values))
        codes, categories = column.categories()
        assert (codes.tolist(), categories) == ([1, -1, 0, -1], [1, 3])
        assert all(type(category) is int for category in categories)


def test_categories_that_json_cannot_hold():
    (column,) = split_columns(np.array([[np.inf], [1.5]]))
    codes, categories = column.categories()
    assert (codes.tolist(), categories) == ([1, 0], [1.5, "inf"])


def test_other_categories_are_known_by_their_text():
    (column,) = split_columns(pd.DataFrame({"c": pd.cut(pd.Series([1, 9]), [0, 5, 10])}))
    assert column.categories()[1] == ["(0, 5]", "(5, 10]"]


@given(st.lists(st.none() | st.text(max_size=3), min_size=1, max_size=30))
def test_every_library_gives_the_same(values):
    objects = np.array([values], dtype=object).T
    tables = [
        objects,
        pd.DataFrame({"c": pd.Series(values, dtype=object)}),
        pl.DataFrame({"c": pl.Series(values, dtype=pl.String)}),
    ]
    found = [split_columns(table)[0].categories() for table in tables]
    for codes, categories in found:
        assert categories == sorted({value for value in values if value is not None})
        assert [None if code < 0 else categories[code] for code in codes] == values


def _as_table(values):
    if isinstance(values, np.ndarray):
        return values[:, None]
    return pd.DataFrame({"c": values}) if isinstance(values, pd.Series) else pl.DataFrame({"c": values})
