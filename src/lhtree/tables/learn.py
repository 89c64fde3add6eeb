"""Learn how the columns of a table become features."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from .._parameters import is_integer, refuse
from .columns import Category, Column, Refusal, refuse_columns
from .encoding import Encoding
from .errors import TableError
from .frames import holds_numbers, read_names, split_columns, take_table
from .names import find_nearest
from .treatments import Numbers, OneHot, Treatment

MOST_CATEGORIES = 255


def learn_encoding(
    X: Any, categorical_features: Any, sample_weight: Any = None, *, owner: str = "LHTClassifier"
) -> Encoding:
    """How the columns of a table become features.

    Parameters
    ----------
    X : table of shape (n, n_columns)
        Anything that ``take_table`` takes.
    categorical_features : "from_dtype", None or list
        As for the estimators.
    sample_weight : array-like of shape (n,), optional
        Rows of weight 0 bring no categories.
    owner : str
        Who asks, for messages.

    Returns
    -------
    Encoding
    """
    X = take_table(X, owner)
    names = read_names(X)
    by_type = isinstance(categorical_features, str) and categorical_features == "from_dtype"
    if (by_type or categorical_features is None) and holds_numbers(X):
        return Encoding.plain(X.shape[1], names)
    columns = split_columns(X)
    if by_type:
        chosen = {number for number, column in enumerate(columns) if column.kind == "categories"}
    else:
        chosen = set() if categorical_features is None else _choose(columns, categorical_features)
    found = find_refused(columns, chosen, _find_kept(sample_weight, len(columns[0])))
    treatments: list[Treatment] = [
        OneHot(found[number]) if number in chosen else Numbers() for number in range(len(columns))
    ]
    told = names or [f"x{number}" for number in range(len(columns))]
    encoding = Encoding(tuple(told), tuple(treatments), names is not None)
    _check_features(encoding)
    return encoding


def find_refused(
    columns: Sequence[Column], chosen: set[int], is_kept: NDArray[np.bool_] | None = None
) -> dict[int, tuple[Category, ...]]:
    """Categories of the chosen columns; one error lists all columns that cannot be used."""
    refused: list[Refusal] = []
    found: dict[int, tuple[Category, ...]] = {}
    for number, column in enumerate(columns):
        refusal = column.find_refusal(is_category=number in chosen)
        if refusal is None and number in chosen:
            found[number] = _find_categories(column, is_kept)
            refusal = check_count(column, len(found[number]))
        elif refusal is None and column.kind == "categories":
            remedy = "name it there, or pass categorical_features='from_dtype'"
            reason = "holds text or categories, and categorical_features does not name it"
            refusal = Refusal(column, reason, remedy, {})
        refused += [] if refusal is None else [refusal]
    if refused:
        raise refuse_columns(refused)
    return found


def check_count(column: Column, n_categories: int, **options: Any) -> Refusal | None:
    """Reject a column with too many categories."""
    if n_categories <= MOST_CATEGORIES:
        return None
    remedy = "drop it if it identifies rows, merge rare categories, or convert it to numbers"
    return Refusal(column, f"has {n_categories} categories, more than {MOST_CATEGORIES}", remedy, options)


def _find_categories(column: Column, is_kept: NDArray[np.bool_] | None) -> tuple[Category, ...]:
    """The categories of the rows kept, in order."""
    codes, known = column.categories()
    if is_kept is not None:
        codes = codes[is_kept]
    is_there = np.bincount(codes[codes >= 0], minlength=len(known)) > 0
    return tuple(known[code] for code in np.flatnonzero(is_there))


def _find_kept(sample_weight: Any, n_rows: int) -> NDArray[np.bool_] | None:
    """Which rows have weight; None for all, and for invalid weights, which are reported elsewhere."""
    try:
        weight = np.asarray(sample_weight)
    except ValueError:  # rows of different lengths
        return None
    return weight != 0 if weight.dtype.kind in "biuf" and weight.shape == (n_rows,) else None


def _choose(columns: Sequence[Column], categorical_features: Any) -> set[int]:
    """Indices of the columns listed by name, by index or by a mask."""
    remedy = "'from_dtype', None, or a list of column names, of column indices or of one bool per column"
    if isinstance(categorical_features, str) or not hasattr(categorical_features, "__iter__"):
        raise refuse("categorical_features", categorical_features, remedy)
    listed = list(categorical_features)
    if listed and all(isinstance(flag, (bool, np.bool_)) for flag in listed):
        if len(listed) != len(columns):
            raise refuse(
                "categorical_features",
                categorical_features,
                f"a mask with one value for each of the {len(columns)} columns",
            )
        return set(np.flatnonzero(listed).tolist())
    names = [column.name for column in columns]
    chosen = set()
    for each in listed:
        if isinstance(each, str):
            if each not in names:
                texts = [name for name in names if isinstance(name, str)]
                hint = find_nearest(each, texts) if texts else "the columns of X have no names"
                raise refuse(
                    "categorical_features",
                    categorical_features,
                    f"names of columns: {each!r} is not one ({hint})",
                )
            chosen.add(names.index(each))
        elif is_integer(each) and -len(columns) <= each < len(columns):
            chosen.add(range(len(columns))[each])
        else:
            raise refuse("categorical_features", categorical_features, f"{remedy}: {each!r} is not a column")
    return chosen


def _check_features(encoding: Encoding) -> None:
    """Check that feature names are unique and that there is at least one."""
    seen: set[str] = set()
    for name in encoding.feature_names:
        if name in seen:
            raise TableError(
                f"X: two features would both be named {name!r}: rename a column or merge the categories."
            )
        seen.add(name)
    if not seen:
        raise TableError("X: all values are missing: pass at least one column with values.")
