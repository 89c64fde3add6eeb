"""How the columns of a table in parts become features: every part is looked at where it is."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from .._parameters import check_count
from ..tables.columns import Category, Column
from ..tables.encoders import Numbers, Treatment
from ..tables.encoding import Encoding
from ..tables.errors import TableError
from ..tables.frames import take_table
from ..tables.learn import check_features, choose_columns, has_gaps, refuse_unusable, treat_counts


class ColumnLook(NamedTuple):
    """What a part says of a column."""

    title: str
    kind: str  # as ``Column.kind``
    is_category: bool
    keeps_order: bool
    counts: dict[Category, int]  # rows of every category, in order; 0 where only the type names it
    n_missing: int
    n_rows: int


class Look(NamedTuple):
    """What a part says of the columns of a table."""

    names: list[str] | None
    columns: list[ColumnLook]


def look_at(X: Any, categorical_features: Any, is_kept: NDArray[np.bool_] | None, owner: str) -> Look:
    """Look at the rows of a part, those that are not kept left out."""
    X = take_table(X, owner)
    names = X.names
    if (categorical_features is None or isinstance(categorical_features, str)) and X.holds_numbers():
        array = X.array()
        told: list[Any] = names or list(range(array.shape[1]))
        return Look(
            names, [_look_at_numbers(repr(name), array[:, i], is_kept) for i, name in enumerate(told)]
        )
    columns = X.columns()
    chosen = choose_columns(columns, categorical_features)
    refuse_unusable(columns, chosen)
    return Look(
        names,
        [
            _look_at_categories(column, is_kept)
            if number in chosen
            else _look_at_numbers(column.title, column.numbers(), is_kept)._replace(kind=column.kind)
            for number, column in enumerate(columns)
        ],
    )


def _look_at_categories(column: Column, is_kept: NDArray[np.bool_] | None) -> ColumnLook:
    codes, known = column.categories()
    codes = codes if is_kept is None else codes[is_kept]
    n_rows = np.bincount(codes[codes >= 0], minlength=len(known)).tolist()
    counts = dict(zip(known, n_rows, strict=True))
    return ColumnLook(column.title, column.kind, True, column.keeps_order, counts, 0, len(codes))


def _look_at_numbers(title: str, numbers: NDArray[Any], is_kept: NDArray[np.bool_] | None) -> ColumnLook:
    is_missing = np.isnan(numbers if is_kept is None else numbers[is_kept])
    return ColumnLook(title, "numbers", False, False, {}, int(is_missing.sum()), len(is_missing))


def settle_encoding(looks: Sequence[Look], *, max_one_hot: int, missing_indicator: bool) -> Encoding:
    """How columns become features, from looks at all parts in their order: as ``learn_encoding`` of all rows."""
    check_count("max_one_hot", max_one_hot, 0)
    names, n_columns = looks[0].names, len(looks[0].columns)
    for number, look in enumerate(looks):
        if (look.names, len(look.columns)) != (names, n_columns):
            raise TableError(f"X: partition {number} has other columns than the first: give all the same.")
    treatments = [
        _treat(parts, max_one_hot, missing_indicator)
        for parts in zip(*(look.columns for look in looks), strict=True)
    ]
    listed = names or [f"x{number}" for number in range(n_columns)]
    encoding = Encoding(tuple(listed), tuple(treatments), names is not None)
    return check_features(encoding)


def _treat(parts: Sequence[ColumnLook], max_one_hot: int, missing_indicator: bool) -> Treatment:
    told = [part for part in parts if part.kind != "nothing" and part.n_rows] or list(parts[:1])
    if len({part.is_category for part in told}) > 1:
        raise TableError(
            f"X: {told[0].title} holds text in some partitions and numbers in others: make it all text, or all numbers."
        )
    if not told[0].is_category:
        n_missing, n_rows = sum(part.n_missing for part in parts), sum(part.n_rows for part in parts)
        return Numbers(has_indicator=missing_indicator and has_gaps(n_missing, n_rows))
    counts: Counter[Category] = Counter()
    for part in told:
        counts.update(part.counts)
    found = [category for category, n_rows in counts.items() if n_rows]
    if not all(part.keeps_order for part in told):
        found.sort(key=lambda category: (isinstance(category, str), category))
    return treat_counts("X", told[0].title, found, counts.total(), max_one_hot)
