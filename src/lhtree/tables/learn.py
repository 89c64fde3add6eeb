"""Learn how the columns of a table become features, from the whole table or from parts of it.

A summary of a part can be merged with those of other parts. It also numbers the categories of every column, so that
rows are encoded without looking at the categories again.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from .._parameters import check_count, is_integer, refuse
from .columns import Category, Column, Refusal, refuse_columns
from .encoders import ColumnEncoder, Dates, Dropped, LevelNumbers, Levels, Numbers, OneHot, divide_days
from .encoding import MOST_FEATURE_LETTERS, MOST_LETTERS, Encoding
from .errors import TableError, TableWarning, find_nearest, shorten, warn_caller
from .frames import Table, refuse_infinity, take_table
from .normalise import Span
from .rows import EncodedRows, find_whole

Kept = NDArray[np.int64] | None  # places of the rows of a part that have weight; None: all

_MAX_ONE_HOT = 20
_MOST_NAMES = 50  # up to this many categories never count as names of the rows
_NAMING = 0.9  # share of distinct categories from which a column identifies rows
_ROWS_AT_ONCE = 1 << 14
_NOTHING = np.empty(0)
_NO_PARTS, _NO_COUNTS = np.full(3, np.nan), np.zeros(0, dtype=np.int64)  # of new summaries


class Wanted(NamedTuple):
    """Options for learning the columns of a table.

    Parameters
    ----------
    categorical_features : "from_dtype", None or list
        As for the estimators.
    missing_indicator : bool
        Whether columns of numbers with missing values get a feature for them.
    as_categories : set of str, optional
        Of a file: the columns that hold categories.
    parts : str
        What messages call parts of the table; empty where it is in one piece, and ranges are not needed.
    """

    categorical_features: Any
    missing_indicator: bool = False
    as_categories: set[str] | None = None
    parts: str = ""

    @property
    def goes_by_type(self) -> bool:
        """Whether the types of the columns decide."""
        wanted = self.categorical_features
        return wanted is None or (isinstance(wanted, str) and wanted == "from_dtype")

    def choose(self, columns: Sequence[Column]) -> set[int]:
        """Return the indices of the columns of categories."""
        if self.as_categories is not None:
            return {number for number, column in enumerate(columns) if column.name in self.as_categories}
        return choose_columns(columns, self.categorical_features)


class PartValues(NamedTuple):
    """Values of the rows of a part: by column numbers, or numbers of categories (-1: missing); or all as an array."""

    columns: list[NDArray[Any]]
    array: NDArray[Any] | None = None

    @property
    def n_rows(self) -> int:
        """Number of rows."""
        return len(self.columns[0] if self.array is None else self.array)

    def take(self, rows: Any) -> PartValues:
        """Return some of the rows."""
        own = None if self.array is None else self.array[rows]
        return PartValues([column[rows] for column in self.columns], own)

    def without_numbers(self) -> PartValues:
        """Return the values without columns of numbers, which can be read again; columns that are all missing stay."""
        columns = [c if c.dtype.kind == "i" or np.isnan(c).all() else _NOTHING for c in self.columns]
        return PartValues(columns)

    @classmethod
    def join(cls, parts: Sequence[PartValues]) -> PartValues:
        """Join the rows of some parts."""
        arrays = [part.array for part in parts if part.array is not None]
        if len(arrays) == len(parts):
            return cls([], np.concatenate(arrays))
        columns = [part.columns if part.array is None else list(part.array.T) for part in parts]
        return cls([np.concatenate(own) for own in zip(*columns, strict=True)])


class TableSummary:
    """Facts about the columns of a table that decide how they are encoded.

    Parts are added, or merged, in the order of the rows.
    """

    def __init__(self, wanted: Wanted) -> None:
        self.wanted, self.n_rows = wanted, 0
        self.names: list[str] | None = None
        self.columns: list[ColumnSummary] = []

    def add(self, table: Table, kept: Kept = None, first_row: int = 0) -> PartValues:
        """Add the rows of a part that are kept; return the values of all of its rows.

        Of a table in one piece, columns of numbers are empty: they can be read again.
        """
        self._check_columns(table.names, table.n_columns)
        self.n_rows += len(table) if kept is None else len(kept)
        if self.wanted.goes_by_type and self.wanted.as_categories is None and table.holds_numbers():
            return PartValues([], self._add_array(table.array(), kept, first_row))
        columns = table.columns()
        chosen = self.wanted.choose(columns)
        for column in columns:
            column.first_row = first_row
        refuse_unusable(columns, chosen, is_file=self.wanted.as_categories is not None)
        values: list[NDArray[Any]] = []
        for number, (column, known) in enumerate(zip(columns, self.columns, strict=True)):
            if number in chosen:
                values.append(known.add_categories(column, kept, self.wanted.parts))
            elif column.kind == "dates":
                values.append(known.add_dates(column, kept, self.wanted.parts))
            elif self.wanted.parts or self.wanted.missing_indicator:
                numbers = column.numbers()
                own = numbers if kept is None else numbers[kept]
                low, high = np.fmin.reduce(own, initial=np.nan), np.fmax.reduce(own, initial=np.nan)
                n_missing, is_whole = int(np.isnan(own).sum()), bool(find_whole(own[:, None])[0])
                known.add_numbers(column, float(low), float(high), is_whole, n_missing, self.wanted.parts)
                values.append(numbers if self.wanted.parts else _NOTHING)
            else:
                values.append(_NOTHING)
        return PartValues(values)

    def _check_columns(self, names: list[str] | None, n_columns: int) -> None:
        if not self.columns:
            self.names, self.columns = names, [ColumnSummary() for _ in range(n_columns)]
        elif (names, n_columns) != (self.names, len(self.columns)):
            raise TableError("X: batches differ in their columns: give all of them the same names and types.")

    def _add_array(self, array: NDArray[Any], kept: Kept, first_row: int) -> NDArray[Any]:
        if not self.wanted.parts and not self.wanted.missing_indicator:
            return array
        rows = array if kept is None else array[kept]
        n_missing = _count_missing(rows)
        span = Span.unknown(array.shape[1])
        if self.wanted.parts and len(rows):
            span = span.widen(EncodedRows.plain(rows))
            if span.is_infinite():
                given = np.arange(first_row, first_row + len(array))
                refuse_infinity(rows, given if kept is None else given[kept])
        for number, known in enumerate(self.columns):
            name = number if self.names is None else self.names[number]
            low, high, is_whole = (
                float(span.low[number]),
                float(span.high[number]),
                bool(span.is_whole[number]),
            )
            n = int(n_missing[number])
            known.add_numbers(None, low, high, is_whole, n, self.wanted.parts, title=f"column {name!r}")
        return array

    def has_same_columns(self, other: TableSummary) -> bool:
        """Whether two summaries can be merged."""
        return (self.names, len(self.columns)) == (other.names, len(other.columns))

    def merge(self, other: TableSummary) -> None:
        """Add the summary of later rows."""
        self._check_columns(other.names, len(other.columns))
        self.n_rows += other.n_rows
        for known, more in zip(self.columns, other.columns, strict=True):
            known.merge(more, self.wanted.parts)

    def finish(self, max_one_hot: int = _MAX_ONE_HOT) -> Encoding:
        """Return the encoding of all rows; columns of more categories than ``max_one_hot`` get ``LevelNumbers``."""
        check_count("max_one_hot", max_one_hot, 0)
        is_text, n_rows = self.wanted.as_categories is not None, self.n_rows
        encoders: list[ColumnEncoder] = []
        for known in self.columns:
            if known.is_category:
                encoders.append(known.finish(max_one_hot, is_text))
            elif known.kind == "dates":
                encoders.append(Dates(int(known.high)))
            else:
                encoders.append(Numbers(self.wanted.missing_indicator and known.has_gaps(n_rows)))
        names = self.names or [f"x{number}" for number in range(len(encoders))]
        return _check_features(Encoding(tuple(names), tuple(encoders), self.names is not None))

    def encode(self, encoding: Encoding, values: PartValues, table: Table | None = None) -> EncodedRows:
        """Encode the rows of a part from the values that ``add`` returned; of a table in one piece, with the table."""
        if values.array is not None:
            return encoding.code_numbers(values.array)
        columns = [] if table is None else table.columns()
        encoded, places = encoding.allocate(len(columns[0] if columns else values.columns[0]))
        for number, (encoder, place) in enumerate(zip(encoding.encoders, places, strict=True)):
            own, values.columns[number] = (
                values.columns[number],
                _NOTHING,
            )  # memory is free for the next columns
            if isinstance(encoder, Levels):
                encoder.write(self.columns[number].renumber(encoder, own), place)
            elif isinstance(encoder, Numbers):
                encoder.write(columns[number].numbers() if columns else own, place)
            elif isinstance(encoder, Dates):
                encoder.write(columns[number].days() if columns else own, place)
        return encoded

    def count_missing(self) -> dict[str, int]:
        """Return missing values by column, where there are any."""
        pairs = zip(self.names or (), self.columns, strict=False)
        return {name: column.n_missing for name, column in pairs if column.n_missing}

    def span(self, encoding: Encoding) -> Span:
        """Return ranges of all features; unknown of columns that become target statistics."""
        span = Span.unknown(encoding.n_features)
        for number, (encoder, known) in enumerate(zip(encoding.encoders, self.columns, strict=True)):
            own = encoding.features_of(number)
            if isinstance(encoder, Numbers):  # an indicator is 0 in some rows and 1 in others
                span.low[own] = [known.low, 0.0][: encoder.n_features]
                span.high[own] = [known.high, 1.0][: encoder.n_features]
                span.is_whole[own] = [known.is_whole, True][: encoder.n_features]
            elif isinstance(encoder, Dates):
                span.low[own] = [encoder.newest - known.high, *known.low_parts]
                span.high[own] = [encoder.newest - known.low, *known.high_parts]
                span.is_whole[own] = True
            elif isinstance(encoder, OneHot) and encoder.n_features:
                counts = known.count(encoder)
                span.low[own], span.high[own] = counts == counts.sum(), counts > 0
        return span


class ColumnSummary:
    """Facts about one column; its categories are numbered in the order in which they appear."""

    def __init__(self) -> None:
        self.kind: str | None = (
            None  # "numbers", "categories" or "dates"; None: all values were missing so far
        )
        self.low = self.high = np.nan  # of dates, in days since 1970-01-01
        self.low_parts = self.high_parts = _NO_PARTS  # years, months and weekdays of dates
        self.is_whole = True  # as long as no other number appears
        self.n_missing = 0
        self._place: dict[Category, int] = {}
        self._counts = _NO_COUNTS
        self._order: list[Category] | None = None  # where the type of the column defines one
        self._keeps_order = True
        self._origin, self._title = "X", ""

    @property
    def is_category(self) -> bool:
        """Whether the column holds categories."""
        return self.kind == "categories"

    def add_dates(self, column: Column, kept: Kept, parts: str) -> NDArray[np.float64]:
        """Add the dates of some rows; return the dates of all rows in days since 1970-01-01."""
        self._name(column.origin, column.title)
        days = column.days()
        own = days if kept is None else days[kept]
        self.n_missing += int(np.isnan(own).sum())
        if not np.isnan(own).all():
            divided = divide_days(own)
            self._widen(
                np.nanmin(own), np.nanmax(own), np.nanmin(divided, axis=0), np.nanmax(divided, axis=0)
            )
            self._set_kind("dates", parts)
        return days

    def _widen(self, low: Any, high: Any, low_parts: Any, high_parts: Any) -> None:
        self.low, self.high = float(np.fmin(self.low, low)), float(np.fmax(self.high, high))
        self.low_parts = np.fmin(self.low_parts, low_parts)
        self.high_parts = np.fmax(self.high_parts, high_parts)

    def add_numbers(
        self,
        column: Column | None,
        low: float,
        high: float,
        is_whole: bool,
        n_missing: int,
        parts: str,
        title: str = "",
    ) -> None:
        """Add the range, the kind and the number of missing values of some rows."""
        self._name("X" if column is None else column.origin, title if column is None else column.title)
        self.low, self.high = float(np.fmin(self.low, low)), float(np.fmax(self.high, high))
        self.is_whole = self.is_whole and is_whole
        self.n_missing += n_missing
        if not np.isnan(low):
            self._set_kind("numbers", parts)

    def add_categories(self, column: Column, kept: Kept, parts: str) -> NDArray[np.int32]:
        """Add the categories of some rows; return the number of every row's category, -1 where it is missing."""
        self._name(column.origin, column.title)
        codes, known = column.categories()
        own = codes if kept is None else codes[kept]
        if not len(own):
            return np.full(len(codes), -1, dtype=np.int32)
        self._set_kind("categories", parts)
        counts = np.bincount(own[own >= 0], minlength=len(known))
        self.n_missing += len(own) - int(counts.sum())
        self._keep_order(known if column.keeps_order else None)
        table = np.full(len(known) + 1, -1, dtype=np.int32)
        table[:-1] = self._count(known, counts)
        return table[codes]

    def _keep_order(self, order: list[Category] | None) -> None:
        if self._order is None:
            self._order = order
        self._keeps_order = self._keeps_order and order is not None and self._order == order

    def _join_orders(self, other: ColumnSummary) -> None:
        """Join the orders of types that differ, as Dask joins partitions."""
        self._keeps_order = self._keeps_order and other._keeps_order
        self._order = list(dict.fromkeys([*(self._order or ()), *(other._order or ())]))

    def _count(self, known: Sequence[Category], counts: NDArray[np.int64]) -> NDArray[np.int64]:
        """Add counts of categories; return the number of each, -1 where the count is 0."""
        table = np.full(len(known), -1)
        for number in np.flatnonzero(counts).tolist():
            table[number] = self._place.setdefault(known[number], len(self._place))
        new = np.zeros(len(self._place) - len(self._counts), dtype=np.int64)
        self._counts = np.concatenate([self._counts, new])
        np.add.at(self._counts, table[counts > 0], counts[counts > 0])
        return table

    def _name(self, origin: str, title: str) -> None:
        self._origin, self._title = origin, title

    def _set_kind(self, kind: str, parts: str) -> None:
        if self.kind not in (None, kind):
            first, second = sorted("text" if one == "categories" else one for one in (self.kind, kind) if one)
            raise TableError(
                f"{self._origin}: {self._title} holds {first} in some {parts} and {second} in others: make it all "
                f"{second}, or all {first}."
            )
        self.kind = kind

    def merge(self, other: ColumnSummary, parts: str) -> None:
        """Add the summary of later rows."""
        if other.kind is None:
            self.n_missing += other.n_missing
            if not self._title:
                self._name(other._origin, other._title)
            return
        if other.kind == "dates":
            self.n_missing += other.n_missing
            self._widen(other.low, other.high, other.low_parts, other.high_parts)
        else:
            own = other.low, other.high, other.is_whole, other.n_missing
            self.add_numbers(None, *own, parts, other._title)
        self._name(other._origin, other._title)
        self._set_kind(other.kind, parts)
        if other.is_category:
            self._join_orders(other)
            self._count(list(other._place), other._counts)

    def has_gaps(self, n_rows: int) -> bool:
        """Whether some rows have a number, and some have none; ``drop_indicators`` decides by their weights."""
        return 0 < self.n_missing < n_rows

    def finish(self, max_one_hot: int, is_text: bool) -> ColumnEncoder:
        """Return the encoder of a column of categories; of a file, they are text."""
        found, n_rows = list(self._place), int(self._counts.sum())
        if len(found) > max(_MOST_NAMES, _NAMING * n_rows):
            warn_caller(
                f"{self._origin}: {self._title} has {len(found):,} categories in {n_rows:,} rows, so it names rows "
                "and is ignored: drop it, or merge its categories.",
                TableWarning,
            )
            return Dropped()
        if is_text:
            found = sorted(str(category) for category in found)
        elif self._keeps_order and self._order is not None:
            found = [category for category in self._order if category in self._place]
        else:
            found.sort(key=lambda category: (isinstance(category, str), category))
        return OneHot(tuple(found)) if len(found) <= max_one_hot else LevelNumbers(tuple(found))

    def _find_places(self, encoder: Levels) -> NDArray[np.int64]:
        """Return the number in the encoder of every category, and -1 for a missing one."""
        place = {category: number for number, category in enumerate(encoder.categories)}
        own = [place[one] if one in place else place[str(one)] for one in self._place]
        return np.array([*own, -1], dtype=np.int64)

    def renumber(self, encoder: Levels, codes: NDArray[Any]) -> NDArray[np.int64]:
        """Return numbers of categories as in the encoder; parts in which all values are missing may be NaN."""
        own: NDArray[np.int64] = np.nan_to_num(codes, nan=-1.0).astype(np.int64)
        return self._find_places(encoder)[own]

    def count(self, encoder: Levels) -> NDArray[np.int64]:
        """Return rows of every category of the encoder."""
        counts = np.zeros(len(encoder.categories), dtype=np.int64)
        counts[self._find_places(encoder)[:-1]] = self._counts
        return counts


def learn_encoding(
    X: Any,
    categorical_features: Any,
    sample_weight: Any = None,
    *,
    max_one_hot: int = _MAX_ONE_HOT,
    missing_indicator: bool = False,
    owner: str = "LHTClassifier",
) -> Encoding:
    """Return how the columns of a table become features; rows of weight 0 bring no categories."""
    table = take_table(X, owner)
    summary = TableSummary(Wanted(categorical_features, missing_indicator))
    summary.add(table, find_kept(sample_weight, len(table)))
    return summary.finish(max_one_hot)


def find_kept(sample_weight: Any, n_rows: int) -> Kept:
    """Return the rows that have weight; None for all, and for invalid weights, which are reported elsewhere."""
    try:
        weight = np.asarray(sample_weight)
    except ValueError:  # rows of different lengths
        return None
    is_valid = weight.dtype.kind in "biuf" and weight.shape == (n_rows,) and weight.any()
    return np.flatnonzero(weight) if is_valid and not weight.all() else None


def _count_missing(array: NDArray[Any]) -> NDArray[np.int64]:
    """Return missing values of every column, in little memory."""
    n_missing = np.zeros(array.shape[1], dtype=np.int64)
    for first in range(0, len(array), _ROWS_AT_ONCE):
        is_missing = np.isnan(array[first : first + _ROWS_AT_ONCE])
        if is_missing.any():
            n_missing += is_missing.sum(axis=0)
    return n_missing


def refuse_unusable(columns: Sequence[Column], chosen: set[int], *, is_file: bool = False) -> None:
    """Raise one error for all columns that cannot be used; text of a file is classified by all of its rows."""
    refused: list[Refusal] = []
    for number, column in enumerate(columns):
        if is_file and column.is_text:
            continue
        refusal = column.find_refusal(is_category=number in chosen)
        if refusal is None and number not in chosen and column.kind == "categories":
            remedy = "name it there, or pass categorical_features='from_dtype'"
            reason = "holds text or categories, and categorical_features does not name it"
            refusal = Refusal(column, reason, remedy, {})
        refused += [] if refusal is None else [refusal]
    if refused:
        raise refuse_columns(refused)


def choose_columns(columns: Sequence[Column], categorical_features: Any) -> set[int]:
    """Return indices of the columns of categories: by their types, or listed by name, by index or by a mask."""
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


def _check_features(encoding: Encoding) -> Encoding:
    """Check that feature names are unique and not too long, and that there is at least one."""
    n_letters = 0
    for name, encoder in zip(encoding.names, encoding.encoders, strict=True):
        n_letters += len(name) * encoder.n_features
        if len(name) > MOST_LETTERS:
            raise TableError(
                f"X: the name of column {shorten(name)} has {len(name):,} letters, more than {MOST_LETTERS:,}: rename "
                "the column."
            )
    if n_letters > MOST_FEATURE_LETTERS:
        raise TableError(
            f"X: the names of the features would have {n_letters:,} letters: rename the columns of categories."
        )
    features = encoding.feature_names
    if len(set(features)) < len(features):
        twice = next(name for place, name in enumerate(features) if name in features[:place])
        raise TableError(
            f"X: two features would both be named {twice!r}: rename a column or merge the categories."
        )
    if not features:
        raise TableError(
            "X: no column is left: pass at least one column with values, other than names of the rows."
        )
    return encoding
