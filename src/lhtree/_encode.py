"""Tables with categories become numbers: one feature per number column, one per category of the others."""

from __future__ import annotations

import difflib
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ._columns import ArrayColumn, Category, Column, holds_numbers, is_frame, name_infinity, split_columns
from ._parameters import is_integer, refuse

MOST_CATEGORIES = 255


@dataclass(frozen=True)
class Encoding:
    """How the columns of a table become features.

    A column of numbers is one feature. A column of categories has one feature per category, 1 in the rows of that
    category and 0 in the others; where the category is missing, or was not there in training, all of them are NaN.
    """

    names: tuple[str, ...]  # of the columns
    categories: tuple[tuple[Category, ...] | None, ...]  # of every column; None where it holds numbers

    @cached_property
    def ptr(self) -> NDArray[np.int64]:
        """First feature of every column, and the number of features."""
        return np.cumsum([0] + [1 if some is None else len(some) for some in self.categories])

    @cached_property
    def column(self) -> NDArray[np.int64]:
        """Number of every feature's column, shape (m,)."""
        return np.repeat(np.arange(len(self.names)), np.diff(self.ptr))

    @cached_property
    def is_category(self) -> NDArray[np.bool_]:
        """Which features stand for a category, shape (m,)."""
        return np.array([some is not None for some in self.categories])[self.column]

    @cached_property
    def feature_names(self) -> list[str]:
        """Names of the features, "colour = red" where one stands for a category."""
        return [
            feature
            for name, some in zip(self.names, self.categories, strict=True)
            for feature in ([name] if some is None else [f"{name} = {category}" for category in some])
        ]

    @property
    def n_features(self) -> int:
        """Number of features."""
        return int(self.ptr[-1])

    def features_of(self, column: int) -> slice:
        """The features of a column."""
        return slice(int(self.ptr[column]), int(self.ptr[column + 1]))

    def sum_columns(self, values: NDArray[np.float64]) -> NDArray[np.float64]:
        """Add up the features of every column along the last axis."""
        summed = np.zeros((*values.shape[:-1], len(self.names)))
        for feature, column in enumerate(self.column):
            summed[..., column] += values[..., feature]
        return summed

    def encode(self, X: Any) -> NDArray[np.float64]:
        """Rows of a table as numbers, shape (n, m)."""
        columns = split_columns(X)
        if len(columns) != len(self.names):
            raise ValueError(
                f"X has {len(columns)} columns and the model has {len(self.names)}: pass the columns it was fitted "
                "with, in the same order."
            )
        return self._encode_columns(columns)

    def _encode_columns(self, columns: Sequence[Column]) -> NDArray[np.float64]:
        n_rows = len(columns[0].values)
        if not n_rows:
            raise ValueError("X has 0 rows: pass at least one row.")
        encoded = np.zeros((n_rows, self.n_features))
        for number, (column, some) in enumerate(zip(columns, self.categories, strict=True)):
            if some is None:
                encoded[:, self.ptr[number]] = _take_numbers(column)
            else:
                _mark(encoded[:, self.features_of(number)], column, some)
        return encoded

    def encode_row(self, values: Sequence[Any]) -> NDArray[np.float64]:
        """One row, a value per column, as numbers, shape (m,)."""
        columns = [
            ArrayColumn(np.array([value], dtype=object), name)
            for name, value in zip(self.names, values, strict=True)
        ]
        row: NDArray[np.float64] = self._encode_columns(columns)[0]
        return row

    def decode(self, x: NDArray[Any]) -> dict[str, Any]:
        """The values of a row by column; None where a category is missing."""
        row: dict[str, Any] = {}
        for number, (name, some) in enumerate(zip(self.names, self.categories, strict=True)):
            own = x[self.features_of(number)]
            if some is None:
                row[name] = float(own[0])
            else:
                row[name] = some[int(own.argmax())] if (own == 1.0).any() else None
        return row

    def to_dict(self) -> dict[str, Any]:
        """The names and categories in plain Python values, fit for JSON."""
        return {
            "names": list(self.names),
            "categories": [None if some is None else list(some) for some in self.categories],
        }

    @classmethod
    def from_dict(cls, facts: dict[str, Any]) -> Encoding:
        """The encoding that ``to_dict`` described."""
        some = (None if values is None else tuple(values) for values in facts["categories"])
        return cls(tuple(facts["names"]), tuple(some))


def learn_encoding(X: Any, categorical_features: Any, sample_weight: Any = None) -> Encoding | None:
    """How the columns of X become features; None where all hold numbers. Rows of weight 0 bring no categories."""
    if isinstance(categorical_features, str) and categorical_features == "from_dtype":
        if not is_frame(X) or holds_numbers(X):
            return None
        columns = split_columns(X)
        chosen = {number for number, column in enumerate(columns) if column.kind == "categories"}
    elif categorical_features is None:
        return None
    else:
        columns = split_columns(X)
        chosen = _choose(columns, categorical_features)
    for number, column in enumerate(columns):
        if number not in chosen and column.kind == "categories":
            raise ValueError(
                f"X: {column.title} holds text or categories, and categorical_features does not name it: name it "
                "there, or pass categorical_features='from_dtype'."
            )
        if column.kind in ("times", "other") or (number not in chosen and column.kind == "mixed"):
            column.refuse()
    if not chosen:
        return None
    is_kept = _find_kept(sample_weight, len(columns[0].values))
    found = tuple(
        _learn_categories(column, is_kept) if number in chosen else None
        for number, column in enumerate(columns)
    )
    names = tuple(
        column.name if isinstance(column.name, str) else f"x{i}" for i, column in enumerate(columns)
    )
    encoding = Encoding(names, found)
    _check_names(encoding)
    return encoding


def _find_kept(sample_weight: Any, n_rows: int) -> NDArray[np.bool_] | None:
    """Which rows have weight; None for all, and where the weights are wrong, which is said elsewhere."""
    try:
        weight = np.asarray(sample_weight)
    except ValueError:  # rows of different lengths
        return None
    return weight != 0 if weight.dtype.kind in "biuf" and weight.shape == (n_rows,) else None


def find_plain_encoding(X: Any) -> Encoding | None:
    """How to read a table of numbers column by column; None where its types say that NumPy can read it at once.

    NumPy would fail at ``pd.NA``, and take text of digits and times for numbers.
    """
    if is_frame(X):
        is_plain = holds_numbers(X)
    else:
        is_plain = not (isinstance(X, np.ndarray) and X.ndim == 2 and X.dtype.kind in "mM")
    return (
        None if is_plain else Encoding(("",) * X.shape[1], (None,) * X.shape[1])
    )  # columns know their names


def _choose(columns: Sequence[Column], categorical_features: Any) -> set[int]:
    """Numbers of the columns listed by name, by number or by a mask."""
    remedy = "'from_dtype', None, or a list of names, of numbers or of one True or False per column"
    if isinstance(categorical_features, str) or not hasattr(categorical_features, "__iter__"):
        raise refuse("categorical_features", categorical_features, remedy)
    listed = list(categorical_features)
    if listed and all(isinstance(flag, (bool, np.bool_)) for flag in listed):
        if len(listed) != len(columns):
            raise refuse(
                "categorical_features", categorical_features, f"a mask of {len(columns)}, one per column"
            )
        return set(np.flatnonzero(listed).tolist())
    names = [column.name for column in columns]
    chosen = set()
    for each in listed:
        if isinstance(each, str):
            if each not in names:
                near = difflib.get_close_matches(
                    each, [name for name in names if isinstance(name, str)], 1, 0.0
                )
                hint = f", the nearest is {near[0]!r}" if near else ": the columns of X have no names"
                raise refuse(
                    "categorical_features", categorical_features, f"known names: {each!r} is none{hint}"
                )
            chosen.add(names.index(each))
        elif is_integer(each) and -len(columns) <= each < len(columns):
            chosen.add(range(len(columns))[each])
        else:
            raise refuse("categorical_features", categorical_features, f"{remedy}: {each!r} is no column")
    return chosen


def _learn_categories(column: Column, is_kept: NDArray[np.bool_] | None) -> tuple[Category, ...]:
    """The categories of the rows kept, in order."""
    codes, known = column.categories()
    if is_kept is not None:
        codes = codes[is_kept]
    is_there = np.bincount(codes[codes >= 0], minlength=len(known)) > 0
    found = tuple(dict.fromkeys(known[code] for code in np.flatnonzero(is_there)))
    if len(found) > MOST_CATEGORIES:
        raise ValueError(
            f"X: {column.title} has {len(found)} categories, more than {MOST_CATEGORIES}: leave it out if it names the "
            "rows, merge rare categories into one, or, if it holds numbers as text, turn it into numbers."
        )
    return found


def _check_names(encoding: Encoding) -> None:
    """Features are told apart by their names, and there is at least one."""
    seen: set[str] = set()
    for name in encoding.feature_names:
        if name in seen:
            raise ValueError(
                f"X: two features would be called {name!r}: rename a column, or merge the categories."
            )
        seen.add(name)
    if not seen:
        raise ValueError("X: every value of every column is missing: pass at least one column with values.")


def _take_numbers(column: Column) -> NDArray[np.float64]:
    """The numbers of a column; an error where it holds text, or an infinity."""
    if column.kind in ("times", "mixed", "other"):
        column.refuse()
    if column.kind == "categories":
        codes, known = column.categories()
        if (codes >= 0).any():
            some = known[codes[codes >= 0][0]]
            raise ValueError(
                f"X: {column.title} holds text or categories, such as {some!r}, where the model takes numbers: "
                "pass numbers there, for example with pandas.to_numeric, or fit with categorical_features."
            )
        return np.full(len(codes), np.nan)
    try:
        numbers = column.numbers()
    except OverflowError:
        raise ValueError(
            f"X: {column.title} holds a number that no float can hold: pass smaller numbers."
        ) from None
    is_infinite = np.isinf(numbers)
    if is_infinite.any():
        row = int(is_infinite.argmax())
        name_infinity(row, column.title, numbers[row])
    return numbers


def _mark(encoded: NDArray[np.float64], column: Column, known: Sequence[Category]) -> None:
    """Write 1 where a row has a category, and NaN for rows without a known one; ``encoded`` is 0."""
    if column.kind in ("times", "other"):
        column.refuse()
    codes, found = column.categories()
    is_text = {isinstance(category, str) for category in known}
    is_given_text = {isinstance(found[code], str) for code in np.unique(codes[codes >= 0])}
    if is_text and is_given_text and not is_text & is_given_text:
        raise ValueError(
            f"X: {column.title} holds {'text' if True in is_given_text else 'numbers'} where the model was fitted with "
            f"{'text' if True in is_text else 'numbers'}, such as {known[0]!r}: convert it to what it was in fit."
        )
    place = {category: number for number, category in enumerate(known)}
    table = np.array([*(place.get(category, -1) for category in found), -1])
    own = table[codes]
    rows = np.flatnonzero(own >= 0)
    encoded[rows, own[rows]] = 1.0
    encoded[own < 0] = np.nan
