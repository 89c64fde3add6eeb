"""Learn how the columns of a table become features."""

from __future__ import annotations

import warnings
from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from .._parameters import check_count, is_integer, refuse
from .columns import Category, Column, Refusal, refuse_columns
from .encoding import Encoding
from .errors import TableError, TableWarning
from .frames import holds_numbers, read_names, split_columns, take_table
from .names import find_nearest
from .treatments import Dropped, LevelNumbers, Numbers, OneHot, Treatment

_MAX_ONE_HOT = 20
_MOST_NAMES = 50  # up to this many categories never count as names of the rows
_FEWEST_GAPS = 5  # missing values that an indicator needs
_CALLER = 6  # who called fit
_NAMING = 0.9  # share of the rows that have a category of their own


def learn_encoding(
    X: Any,
    categorical_features: Any,
    sample_weight: Any = None,
    *,
    max_one_hot: int = _MAX_ONE_HOT,
    missing_indicator: bool = False,
    owner: str = "LHTClassifier",
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
    max_one_hot : int
        A column of more categories becomes the number of its category, which ``cross_fit`` makes a target statistic.
    missing_indicator : bool
        Whether columns of numbers with missing values get a feature for them.
    owner : str
        Who asks, for messages.

    Returns
    -------
    Encoding
    """
    check_count("max_one_hot", max_one_hot, 0)
    X = take_table(X, owner)
    names = read_names(X)
    by_type = isinstance(categorical_features, str) and categorical_features == "from_dtype"
    if (by_type or categorical_features is None) and holds_numbers(X):
        plain = Encoding.plain(X.shape[1], names)
        if not missing_indicator:
            return plain
        array = plain.encode(X, owner=owner)
        is_kept = _find_kept(sample_weight, len(array))
        treatments = [_treat_numbers(array[:, column], is_kept) for column in range(array.shape[1])]
        return check_features(Encoding(plain.names, tuple(treatments), plain.has_names))
    columns = split_columns(X)
    chosen = choose_columns(columns, categorical_features)
    is_kept = _find_kept(sample_weight, len(columns[0]))
    refuse_unusable(columns, chosen)
    treatments = []
    for number, column in enumerate(columns):
        if number in chosen:
            treatments.append(_treat_categories(column, is_kept, max_one_hot))
        else:
            treatments.append(_treat_numbers(column.numbers(), is_kept) if missing_indicator else Numbers())
    told = names or [f"x{number}" for number in range(len(columns))]
    return check_features(Encoding(tuple(told), tuple(treatments), names is not None))


def refuse_unusable(columns: Sequence[Column], chosen: set[int]) -> None:
    """One error lists all columns that cannot be used."""
    refused: list[Refusal] = []
    for number, column in enumerate(columns):
        refusal = column.find_refusal(is_category=number in chosen)
        if refusal is None and number not in chosen and column.kind == "categories":
            remedy = "name it there, or pass categorical_features='from_dtype'"
            reason = "holds text or categories, and categorical_features does not name it"
            refusal = Refusal(column, reason, remedy, {})
        refused += [] if refusal is None else [refusal]
    if refused:
        raise refuse_columns(refused)


def _treat_categories(column: Column, is_kept: NDArray[np.bool_] | None, max_one_hot: int) -> Treatment:
    """The treatment of a column of categories, by how many of them the rows kept have."""
    codes, known = column.categories()
    if is_kept is not None:
        codes = codes[is_kept]
    n_rows = np.bincount(codes[codes >= 0], minlength=len(known))
    found = [known[code] for code in np.flatnonzero(n_rows)]
    return treat_counts(column.origin, column.title, found, int(n_rows.sum()), max_one_hot)


def treat_counts(
    origin: str, title: str, found: Sequence[Category], n_rows: int, max_one_hot: int
) -> Treatment:
    """The treatment of a column of these categories, by how many there are in how many rows."""
    if len(found) > max(_MOST_NAMES, _NAMING * n_rows):
        warnings.warn(
            f"{origin}: {title} has {len(found):,} categories in {n_rows:,} rows, so it names rows "
            "and is ignored: drop it, or merge its categories.",
            TableWarning,
            stacklevel=_CALLER,
        )
        return Dropped()
    return OneHot(tuple(found)) if len(found) <= max_one_hot else LevelNumbers(tuple(found))


def _treat_numbers(numbers: NDArray[Any], is_kept: NDArray[np.bool_] | None) -> Treatment:
    """Numbers, with an indicator where enough of the rows kept have a number and enough have none."""
    is_missing = np.isnan(numbers if is_kept is None else numbers[is_kept])
    return Numbers(has_indicator=has_gaps(int(is_missing.sum()), len(is_missing)))


def has_gaps(n_missing: int, n_rows: int) -> bool:
    """Whether enough rows of a column have a number, and enough have none."""
    return min(n_missing, n_rows - n_missing) >= _FEWEST_GAPS


def _find_kept(sample_weight: Any, n_rows: int) -> NDArray[np.bool_] | None:
    """Which rows have weight; None for all, and for invalid weights, which are reported elsewhere."""
    try:
        weight = np.asarray(sample_weight)
    except ValueError:  # rows of different lengths
        return None
    return weight != 0 if weight.dtype.kind in "biuf" and weight.shape == (n_rows,) else None


def choose_columns(columns: Sequence[Column], categorical_features: Any) -> set[int]:
    """Indices of the columns of categories: by their types, or listed by name, by index or by a mask."""
    if isinstance(categorical_features, str) and categorical_features == "from_dtype":
        return {number for number, column in enumerate(columns) if column.kind == "categories"}
    if categorical_features is None:
        return set()
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


def check_features(encoding: Encoding) -> Encoding:
    """Check that feature names are unique and that there is at least one."""
    seen: set[str] = set()
    for name in encoding.feature_names:
        if name in seen:
            raise TableError(
                f"X: two features would both be named {name!r}: rename a column or merge the categories."
            )
        seen.add(name)
    if not seen:
        raise TableError(
            "X: no column is left: pass at least one column with values, other than names of the rows."
        )
    return encoding
