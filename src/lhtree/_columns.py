"""The columns of a table, of pandas, polars or NumPy alike: what they hold, as numbers or as categories."""

from __future__ import annotations

import math
from abc import ABC, abstractmethod
from collections.abc import Iterable, Sequence
from datetime import date, time, timedelta
from decimal import Decimal
from numbers import Real
from typing import Any, NoReturn

import numpy as np
from numpy.typing import NDArray

Codes = NDArray[np.int64]
Category = str | int | float | bool

_TIMES = (date, time, timedelta, np.datetime64, np.timedelta64)
_NUMBERS = (Real, Decimal, np.bool_)
_REMEDIES = {
    "times": "turn dates and times into numbers first, for example the year, or the days since a fixed date",
    "mixed": "make it all text, or all numbers (pandas.to_numeric with errors='coerce' makes other text missing)",
    "other": "turn its values into numbers or text first",
}


class Column(ABC):
    """One column; the subclasses read it as their libraries do.

    ``kind`` is what it holds: "numbers" (True and False among them), "categories" (text, or a categorical type),
    "nothing" (objects that are all missing), or, where it cannot be used, "times", "mixed" or "other".
    """

    kind: str

    def __init__(self, values: Any, name: Any) -> None:
        self.values, self.name = values, name

    @property
    def title(self) -> str:
        """How messages call it."""
        return f"column {self.name!r}"

    @abstractmethod
    def numbers(self) -> NDArray[np.float64]:
        """Its values as float64, NaN where they are missing."""

    @abstractmethod
    def categories(self) -> tuple[Codes, list[Category]]:
        """The number of every row's category, -1 where it is missing, and the categories in order."""

    def refuse(self) -> NoReturn:
        """Raise the error for a column that can be used neither as numbers nor as categories."""
        held = {"times": "dates or times", "mixed": "text and numbers", "other": "other objects"}[self.kind]
        kind = TypeError if self.kind == "other" else ValueError
        raise kind(f"X: {self.title} holds {held}: {_REMEDIES[self.kind]}.")


class PandasColumn(Column):
    """A Series of pandas."""

    def __init__(self, values: Any, name: Any) -> None:
        super().__init__(values, name)
        dtype = values.dtype
        self._is_categorical = dtype.name == "category"
        if self._is_categorical or dtype.name in ("str", "string"):
            self.kind = "categories"
        elif dtype.kind in "biuf":
            self.kind = "numbers"
        elif dtype.kind in "Mm":
            self.kind = "times"
        else:
            self.kind = find_kind(values.dropna())

    def numbers(self) -> NDArray[np.float64]:
        numbers: NDArray[np.float64] = self.values.to_numpy(dtype=np.float64, na_value=np.nan)
        return numbers

    def categories(self) -> tuple[Codes, list[Category]]:
        if self._is_categorical:
            codes = self.values.cat.codes.to_numpy().astype(np.int64)
            return codes, list(map(settle, self.values.cat.categories))
        codes, found = self.values.factorize()
        return sort_categories(codes, found.tolist())


class PolarsColumn(Column):
    """A Series of polars."""

    def __init__(self, values: Any, name: Any) -> None:
        super().__init__(values, name)
        dtype = values.dtype
        self._type = str(dtype.base_type())
        if self._type in ("String", "Categorical", "Enum"):
            self.kind = "categories"
        elif self._type == "Object":
            self.kind = find_kind(value for value in values.to_list() if not is_missing(value))
        elif dtype.is_numeric() or self._type in ("Boolean", "Null"):
            self.kind = "numbers"
        else:
            self.kind = "times" if dtype.is_temporal() else "other"

    def numbers(self) -> NDArray[np.float64]:
        if self._type == "Object":
            return make_numbers(self.values.to_list())
        if self.kind == "categories":  # all missing
            return np.full(len(self.values), np.nan)
        numbers: NDArray[np.float64] = self.values.cast(float).to_numpy()
        return numbers

    def categories(self) -> tuple[Codes, list[Category]]:
        if self._type == "Enum":
            codes = self.values.to_physical().cast(int).fill_null(-1).to_numpy()
            return codes, self.values.dtype.categories.to_list()
        values = self.values.cast(str) if self._type == "Categorical" else self.values
        return number_categories(values.to_list())


class ArrayColumn(Column):
    """A column of an array, or of anything NumPy makes one of."""

    def __init__(self, values: NDArray[Any], name: Any) -> None:
        super().__init__(values, name)
        self._is_object = values.dtype.kind == "O"
        if self._is_object:
            self.kind = find_kind(value for value in values if not is_missing(value))
        else:
            kinds = {"U": "categories", "T": "categories", "M": "times", "m": "times"}
            self.kind = "numbers" if values.dtype.kind in "biuf" else kinds.get(values.dtype.kind, "other")

    @property
    def title(self) -> str:
        """How messages call it."""
        return super().title if isinstance(self.name, str) else f"column {self.name}"

    def numbers(self) -> NDArray[np.float64]:
        return make_numbers(self.values) if self._is_object else self.values.astype(np.float64)

    def categories(self) -> tuple[Codes, list[Category]]:
        return number_categories(self.values.tolist())


def refuse_infinity(X: NDArray[Any], given: NDArray[np.int64] | None = None) -> NoReturn:
    """Raise the error for rows that hold an infinity; ``given`` says where the rows were given."""
    row, column = np.argwhere(np.isinf(X))[0]
    name_infinity(int(row if given is None else given[row]), f"column {column}", X[row, column])


def name_infinity(row: int, title: str, value: Any) -> NoReturn:
    """Raise the error for an infinity of a column."""
    raise ValueError(
        f"Input X contains infinity: row {row}, {title} is {value}. "
        "Replace infinities by NaN, which counts as missing, or by a finite number."
    )


def is_frame(X: Any) -> bool:
    """Whether X is a frame of pandas or polars."""
    return is_polars(X) or (hasattr(X, "iloc") and hasattr(X, "columns"))


def is_polars(X: Any) -> bool:
    """Whether X is a frame of polars."""
    return type(X).__module__.partition(".")[0] == "polars" and hasattr(X, "to_series")


def refuse_lazy(X: Any) -> None:
    """Raise an error for a LazyFrame of polars, which has no rows yet."""
    if hasattr(X, "collect_schema") and not is_polars(X):
        raise ValueError("X is a LazyFrame of polars: pass a table with one row per sample, X.collect().")


def holds_numbers(X: Any) -> bool:
    """Whether all of a frame is of types of numbers that NumPy has; looks at no values."""
    if is_polars(X):
        return all(dtype.is_integer() or dtype.is_float() for dtype in X.dtypes)
    return all(isinstance(dtype, np.dtype) and dtype.kind in "biuf" for dtype in X.dtypes)


def split_columns(X: Any) -> list[Column]:
    """The columns of a table."""
    if is_polars(X):
        return [PolarsColumn(X.to_series(i), name) for i, name in enumerate(X.columns)]
    if is_frame(X):
        return [PandasColumn(X.iloc[:, i], name) for i, name in enumerate(X.columns)]
    refuse_lazy(X)
    values = X if isinstance(X, np.ndarray) else np.array(X, dtype=object)
    if values.ndim != 2:
        raise ValueError(
            f"X has the shape {values.shape}: pass a table: one row per sample, one column per feature."
        )
    return [ArrayColumn(values[:, i], i) for i in range(values.shape[1])]


def find_kind(values: Iterable[Any]) -> str:
    """What objects are, those that are missing left out."""
    types = set(map(type, values))
    if not types:
        return "nothing"
    if all(issubclass(kind, str) for kind in types):
        return "categories"
    if all(issubclass(kind, _NUMBERS) for kind in types):
        return "numbers"
    if any(issubclass(kind, _TIMES) for kind in types):
        return "times"
    return "mixed" if all(issubclass(kind, (str, *_NUMBERS)) for kind in types) else "other"


def is_missing(value: Any) -> bool:
    """Whether an object is None, NaN, or what pandas writes for a missing value."""
    if value is None or isinstance(value, str):
        return value is None
    if type(value).__name__ in ("NAType", "NaTType"):
        return True
    return isinstance(value, (float, np.floating, Decimal)) and bool(value != value)


def make_numbers(values: Iterable[Any]) -> NDArray[np.float64]:
    """Objects that are numbers, or missing, as float64."""
    return np.array([np.nan if is_missing(value) else value for value in values], dtype=np.float64)


def number_categories(values: Sequence[Any]) -> tuple[Codes, list[Category]]:
    """Number the categories of objects."""
    table: dict[Any, int] = {}
    codes = np.array([table.setdefault(value, len(table)) for value in values], dtype=np.int64)
    found = np.array([not is_missing(value) for value in table], dtype=bool)
    number = np.where(found, np.cumsum(found) - 1, -1)
    return sort_categories(
        number[codes], [value for value, is_found in zip(table, found, strict=True) if is_found]
    )


def sort_categories(codes: Codes, found: list[Any]) -> tuple[Codes, list[Category]]:
    """The same categories in ascending order: numbers first, then text."""
    settled = [settle(value) for value in found]
    order = sorted(range(len(found)), key=lambda i: (isinstance(settled[i], str), settled[i]))
    rank = np.empty(len(found) + 1, dtype=np.int64)
    rank[order], rank[-1] = np.arange(len(found)), -1
    return rank[codes], [settled[i] for i in order]


def settle(value: Any) -> Category:
    """A category as it is kept: text, a finite number, True or False; anything else by its text."""
    if isinstance(value, np.generic):
        value = value.item()
    if isinstance(value, float):
        return int(value) if value.is_integer() else value if math.isfinite(value) else str(value)
    return value if isinstance(value, (str, int)) else str(value)
