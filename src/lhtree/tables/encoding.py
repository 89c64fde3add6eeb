"""Encoding of tables: one feature per numeric column, one per category or one per target of the others.

Tables are encoded column by column, few rows of plain Python values by a ``RowEncoder``.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from itertools import chain
from operator import itemgetter
from typing import Any

import numpy as np
from numpy.typing import NDArray

from .._parameters import UNSEEN
from .columns import ArrayColumn, Category, Column, settle
from .encoders import (
    INDICATOR,
    LEVEL,
    STATISTIC,
    ColumnEncoder,
    Dropped,
    LevelNumbers,
    Levels,
    Numbers,
    OneHot,
    TargetStatistic,
    read_encoder,
)
from .errors import OptionError, TableError, find_nearest, match_names, shorten, warn_extra
from .frames import RecordTable, take_table
from .rows import EncodedRows

MOST_LETTERS = 10_000  # of the name of a column, and of a class
MOST_FEATURE_LETTERS = 1 << 28  # of all column names, each counted once per feature


@dataclass(frozen=True)
class Encoding:
    """Encoders of all columns of a table.

    Parameters
    ----------
    names : tuple of str
        Names of the columns: x0, x1, … where the table had none.
    encoders : tuple of ColumnEncoder
        The encoder of every column.
    has_names : bool
        Whether the table had names.
    """

    names: tuple[str, ...]
    encoders: tuple[ColumnEncoder, ...]
    has_names: bool = True

    @classmethod
    def plain(cls, n_columns: int, names: Sequence[str] | None = None) -> Encoding:
        """Return the encoding of columns of numbers."""
        told = names or [f"x{number}" for number in range(n_columns)]
        return cls(tuple(told), (Numbers(),) * n_columns, names is not None)

    @property
    def n_columns(self) -> int:
        """Number of columns."""
        return len(self.names)

    @cached_property
    def is_plain(self) -> bool:
        """Whether all columns are numeric and without indicators, so that features are columns."""
        plain = Numbers()
        return all(encoder == plain for encoder in self.encoders)

    @cached_property
    def takes_arrays(self) -> bool:
        """Whether a numeric array of the exact type can be used without encoding."""
        return self.is_plain and not self.has_names

    @cached_property
    def categories(self) -> tuple[tuple[Category, ...] | None, ...]:
        """Categories of every column; None for numeric ones."""
        return tuple(encoder.categories for encoder in self.encoders)

    @cached_property
    def ptr(self) -> NDArray[np.int64]:
        """First feature of every column, and the number of features."""
        return np.cumsum([0] + [encoder.n_features for encoder in self.encoders])

    @cached_property
    def column(self) -> NDArray[np.int64]:
        """Index of every feature's column, shape (m,)."""
        return np.repeat(np.arange(self.n_columns), np.diff(self.ptr))

    @cached_property
    def is_category(self) -> NDArray[np.bool_]:
        """Whether features represent a category, shape (m,)."""
        return np.array([some is not None for some in self.categories])[self.column]

    @cached_property
    def _features(self) -> NDArray[np.str_]:
        return np.array([kind for encoder in self.encoders for kind in encoder.features], dtype=str)

    @cached_property
    def is_one_hot(self) -> NDArray[np.bool_]:
        """Whether features are 1 for one category and 0 for the others, shape (m,)."""
        return np.asarray(self._features == LEVEL)

    @cached_property
    def opposites(self) -> dict[int, Category]:
        """Complementary categories, by feature, of columns with two categories."""
        pairs = [
            (int(first), some)
            for first, some in zip(self.ptr, self.categories, strict=False)
            if some is not None and len(some) == 2 and self.is_one_hot[first]
        ]
        return {first + own: some[1 - own] for first, some in pairs for own in (0, 1)}

    @cached_property
    def is_indicator(self) -> NDArray[np.bool_]:
        """Whether features are 1 where a number is missing, shape (m,)."""
        return np.asarray(self._features == INDICATOR)

    @cached_property
    def is_date(self) -> NDArray[np.bool_]:
        """Whether features are parts of a date, shape (m,)."""
        return np.array([encoder.noun == "dates" for encoder in self.encoders])[self.column]

    def refuse_dates(self, what: str) -> None:
        """Raise an error if there are columns of dates, which exported code does not divide into features."""
        names = [
            name for name, encoder in zip(self.names, self.encoders, strict=True) if encoder.noun == "dates"
        ]
        if names:
            raise ValueError(
                f"the model has columns of dates ({', '.join(names)}), which {what} do not take: score with lhtree, or "
                "turn dates into numbers before fit."
            )

    @cached_property
    def is_statistic(self) -> NDArray[np.bool_]:
        """Whether features are target statistics of a category, shape (m,)."""
        return np.asarray(self._features == STATISTIC)

    def statistic_of(self, column: int) -> TargetStatistic | None:
        """Return the target statistic of a column, if it has one."""
        encoder = self.encoders[column]
        return encoder if isinstance(encoder, TargetStatistic) else None

    @cached_property
    def feature_names(self) -> list[str]:
        """Names of the features, such as "colour = red" for a category."""
        pairs = zip(self.names, self.encoders, strict=True)
        return [feature for name, encoder in pairs for feature in encoder.name_features(name)]

    @cached_property
    def levels(self) -> NDArray[np.int32]:
        """Number of levels of every column as ``EncodedRows`` stores it, 0 for every feature that is a number."""
        levels: list[int] = []
        for encoder in self.encoders:
            n_features = encoder.n_features
            levels += [n_features] * (n_features > 0) if encoder.is_coded else [0] * n_features
        return np.array(levels, dtype=np.int32)

    @cached_property
    def number_of(self) -> NDArray[np.int64]:
        """Index of every feature among the numbers of encoded rows, shape (m,); of no meaning for levels."""
        return np.cumsum(np.repeat(self.levels == 0, np.maximum(self.levels, 1))) - 1

    @property
    def n_features(self) -> int:
        """Number of features."""
        return int(self.ptr[-1])

    def features_of(self, column: int) -> slice:
        """Return the features of a column."""
        return slice(int(self.ptr[column]), int(self.ptr[column + 1]))

    def sum_columns(self, values: NDArray[np.float64]) -> NDArray[np.float64]:
        """Add up the features of every column along the last axis."""
        if self.is_plain:
            return values
        summed = np.zeros((*values.shape[:-1], self.n_columns))
        for feature, column in enumerate(self.column):
            summed[..., column] += values[..., feature]
        return summed

    def encode(self, X: Any, **options: Any) -> NDArray[Any]:
        """Return all features of the rows of a table, shape (n, n_features); options as for ``code``."""
        return self.code(X, **options).expand()

    def code(
        self,
        X: Any,
        *,
        unseen: str = "missing",
        owner: str = "LHTClassifier",
        n_unseen: Counter[str] | None = None,
        warns: bool = True,
    ) -> EncodedRows:
        """Return rows of a table as numbers, and as codes where columns hold categories.

        Parameters
        ----------
        X : table of shape (n, n_columns)
            A frame or dicts with the columns of the model in any order, or an array or ``FileRows`` in its order.
        unseen : {"missing", "error"}
            Whether a category that was not there in training counts as missing, or is an error.
        owner : str
            Who asks, for messages.
        n_unseen : Counter, optional
            The values that counted as missing are added to it by column.
        warns : bool
            Whether to warn, as scikit-learn does, where only one of X and the model has names of columns.

        Returns
        -------
        EncodedRows
            Numbers are float64, or float32 where X is that; X itself where it is such an array already. Infinities of a
            whole table of numbers stay; the core refuses them.
        """
        if unseen not in UNSEEN:
            raise OptionError("unseen", unseen, "is not valid: pass 'missing' or 'error'.")
        rows = self._code_few(X)
        if rows is not None:
            return rows
        table = take_table(X, owner)
        if table.checks_names:
            known = self.names if self.has_names or isinstance(table, RecordTable) else None
            if match_names(known, table.names, owner, warns=warns):
                table = table.select(self.names)
        if self._holds_numbers and table.holds_numbers():
            array = table.array()
            self._check_width(array.shape[1], owner)
            return self.code_numbers(array)
        columns = table.columns()
        self._check_width(len(columns), owner)
        return self._encode_columns(columns, unseen, n_unseen)

    @cached_property
    def _row_encoder(self) -> RowEncoder:
        return RowEncoder(self.names, self.encoders, self.levels)

    def _code_few(self, X: Any) -> EncodedRows | None:
        """Encode dicts and small frames of plain values; None for any other table."""
        kind = type(X)
        records = [X] if kind is dict else X
        if kind is dict or (kind is list and X and all(type(row) is dict for row in X)):
            rows = self._row_encoder.encode_records(records)
            if rows is not None and any(len(row) > self.n_columns for row in records):
                warn_extra([name for row in records for name in row], self.names)
            return rows
        if self._holds_numbers or kind.__name__ != "DataFrame":
            return None
        return self._row_encoder.encode_frame(X)

    @cached_property
    def _holds_numbers(self) -> bool:
        return all(isinstance(encoder, Numbers) for encoder in self.encoders)

    def code_numbers(self, array: NDArray[Any]) -> EncodedRows:
        """Return rows of numbers, with an indicator behind each column that has one."""
        if self.is_plain:
            return EncodedRows.plain(array)
        features = array[:, self.column]
        features[:, self.is_indicator] = np.isnan(features[:, self.is_indicator])
        return EncodedRows.plain(features)

    def allocate(self, n_rows: int) -> tuple[EncodedRows, list[NDArray[Any]]]:
        """Return empty rows, and where in them the features or codes of every column go, shape (n, ...) each."""
        numbers = np.empty((n_rows, int((self.levels == 0).sum())))
        codes = np.empty((n_rows, int((self.levels > 0).sum())), dtype=np.int32)
        nothing = np.empty((n_rows, 1), dtype=np.int32)  # for a column of categories that has none
        places: list[NDArray[Any]] = []
        n_numbers, n_coded = 0, 0
        for encoder in self.encoders:
            if not encoder.is_coded:
                places.append(numbers[:, n_numbers : n_numbers + encoder.n_features])
                n_numbers += encoder.n_features
            elif encoder.n_features:
                places.append(codes[:, n_coded : n_coded + 1])
                n_coded += 1
            else:
                places.append(nothing)
        return EncodedRows(numbers, codes, self.levels), places

    def _check_width(self, n_columns: int, owner: str) -> None:
        if n_columns != self.n_columns:
            raise TableError(
                f"X has {n_columns} features, but {owner} is expecting {self.n_columns} features as input. Pass the "
                "columns the model was fitted with, in the same order."
            )

    def _encode_columns(
        self, columns: Sequence[Column], unseen: str, n_unseen: Counter[str] | None
    ) -> EncodedRows:
        encoded, places = self.allocate(len(columns[0]))
        for number, (column, encoder) in enumerate(zip(columns, self.encoders, strict=True)):
            rows = encoder.encode(column, places[number])
            if len(rows):
                if unseen == "error":
                    raise self._refuse_unseen(number, column, rows)
                if n_unseen is not None:
                    n_unseen[self.names[number]] += len(rows)
        return encoded

    def _refuse_unseen(self, number: int, column: Column, rows: NDArray[np.int64]) -> TableError:
        codes, found = column.distinct()
        value = settle(found[codes[rows[0]]])
        more = f"{len(rows) - 1} more such rows; " if len(rows) > 1 else ""
        nearest = find_nearest(str(value), [str(category) for category in self.categories[number] or ()])
        return TableError(
            f"{column.locate(int(rows[0]))}: {column.title} is {shorten(value)}, a category not seen in training "
            f"({more}{nearest}): correct it, or treat unseen categories as missing",
            unseen="missing",
        )

    def encode_row(self, values: Sequence[Any], *, unseen: str = "missing") -> NDArray[np.float64]:
        """Return one row, a value per column, as numbers, shape (m,)."""
        columns = [
            ArrayColumn(np.array([value], dtype=object), name)
            for name, value in zip(self.names, values, strict=True)
        ]
        row: NDArray[np.float64] = self._encode_columns(columns, unseen, None).expand()[0]
        return row

    def decode(self, x: NDArray[Any]) -> dict[str, Any]:
        """Return the values of a row by column; None where a category is missing."""
        pairs = zip(self.names, self.encoders, strict=True)
        return {name: each.decode(x[self.features_of(i)]) for i, (name, each) in enumerate(pairs)}

    def find_columns(self, names: Sequence[str], where: str) -> list[str]:
        """Return the columns of a file that the model uses: by name, or in order if the model has no names."""
        known = set(names)
        found = [name if name in known else name.strip() for name in self.names]
        lacking = [name for name in found if name not in known]
        if lacking and not self.has_names:
            if len(names) == self.n_columns:
                return list(names)
            raise TableError(
                f"{where} has {len(names)} columns, but the model expects {self.n_columns} unnamed ones: pass a table "
                "with exactly these columns, in the same order"
            )
        if lacking:
            more = f" and {len(lacking) - 1} more" if len(lacking) > 1 else ""
            unused = [name for name in names if name not in found] or names
            nearest = find_nearest(lacking[0], unused)
            raise TableError(f"{where} has no column {lacking[0]!r}{more}, which the model needs ({nearest})")
        return found

    @cached_property
    def counted(self) -> list[int]:
        """The columns whose features depend on the responses."""
        return [number for number, encoder in enumerate(self.encoders) if encoder.needs_responses]

    def replace(self, encoders: dict[int, ColumnEncoder]) -> Encoding:
        """Return the encoding with other encoders of some columns."""
        return replace(self, encoders=tuple(encoders.get(i, each) for i, each in enumerate(self.encoders)))

    def to_numbers(self) -> Encoding:
        """Return the encoding with numbers of categories in place of their statistics."""
        return self.replace({i: LevelNumbers(self.categories[i] or ()) for i in self.counted})

    def to_dict(self) -> dict[str, Any]:
        """Return the encoding as plain values that can be written as JSON, except the values of ``statistics``."""
        return {
            "names": list(self.names),
            "has_names": self.has_names,
            "columns": [encoder.to_dict() for encoder in self.encoders],
        }

    @property
    def statistics(self) -> NDArray[np.float64]:
        """The values of all target statistics, one after the other."""
        found = [self.statistic_of(column) for column in self.counted]
        return np.concatenate([np.empty(0), *(each.values.ravel() for each in found if each is not None)])

    @classmethod
    def from_dict(cls, facts: dict[str, Any], statistics: NDArray[np.float64] | None = None) -> Encoding:
        """Return the encoding that ``to_dict`` and ``statistics`` described."""
        encoders, first = [], 0
        for column in facts["columns"]:
            values = None
            if column["kind"] == "target_statistic" and statistics is not None:
                n_targets = len(column["targets"]) or 1
                last = first + n_targets * (len(column["categories"]) + 1)
                values, first = statistics[first:last].reshape(n_targets, -1), last
            encoders.append(read_encoder(column, values))
        return cls(tuple(facts["names"]), tuple(encoders), facts["has_names"])


_NUMBER_TYPES = frozenset(
    {float, int, bool, type(None), np.float64, np.float32, np.int64, np.int32, np.bool_}
)
_LEVEL_TYPES = _NUMBER_TYPES | {str, np.str_}
_MOST_FRAME_ROWS = 16  # of larger frames, columns are faster


class RowEncoder:
    """Encodes rows of plain values as ``Encoding.code`` does, to the bit; returns None for rows that need columns.

    Parameters
    ----------
    names, encoders : tuples
        Those of the ``Encoding``.
    levels : array
        ``Encoding.levels``.
    """

    def __init__(
        self, names: Sequence[str], encoders: Sequence[ColumnEncoder], levels: NDArray[np.int32]
    ) -> None:
        self._names, self._levels = list(names), levels
        self._getter: Callable[[Any], tuple[Any, ...]] = (
            itemgetter(*names) if len(names) > 1 else lambda row: (row[names[0]],)
        )
        self._numbers: list[int] = []  # columns
        self._number_places: list[int] = []  # where their values go among the numbers of encoded rows
        self._indicators: list[int] = []  # places of numbers whose indicator is in the next place
        self._coded: list[tuple[int, dict[Any, int]]] = []  # columns that encoded rows store as codes
        self._statistics: list[tuple[int, dict[Any, int], slice, NDArray[np.float64]]] = []
        self._is_usable = True
        place = 0
        for number, encoder in enumerate(encoders):
            if isinstance(encoder, Numbers):
                self._numbers.append(number)
                self._number_places.append(place)
                if encoder.has_indicator:
                    self._indicators.append(place)
            elif isinstance(encoder, TargetStatistic):
                own = slice(place, place + encoder.n_features)
                gap = np.full((1, encoder.n_features), np.nan)  # the last row is that of code -1
                self._statistics.append(
                    (number, _number_levels(encoder), own, np.vstack([encoder.values.T[:-1], gap]))
                )
            elif isinstance(encoder, OneHot) and encoder.n_features:
                self._coded.append((number, _number_levels(encoder)))
            elif not isinstance(encoder, Dropped):
                self._is_usable = False
            place += 0 if encoder.is_coded else encoder.n_features
        self._n_numbers = place
        self._is_direct = place == len(self._numbers)  # the numbers of encoded rows are columns

    def encode_records(self, rows: Sequence[Mapping[str, Any]]) -> EncodedRows | None:
        """Encode dicts, which may hold other names as well; None if a name is missing or a value is not plain."""
        try:
            return self._encode(list(zip(*map(self._getter, rows), strict=True)))
        except KeyError:
            return None

    def encode_frame(self, X: Any) -> EncodedRows | None:
        """Encode a small frame of pandas or polars with the columns of the model in its order."""
        if not 0 < len(X) <= _MOST_FRAME_ROWS or list(X.columns) != self._names:
            return None
        if hasattr(X, "iloc"):
            dtypes = list(X.dtypes)
            if any(dtypes[number].name == "category" for number in self._numbers):
                return None  # refused, even if the categories are numbers
            rows = X.to_numpy(dtype=object).tolist()
        else:
            rows = X.rows()
        return self._encode(list(zip(*rows, strict=True)))

    def _encode(self, columns: list[tuple[Any, ...]]) -> EncodedRows | None:
        given = [columns[number] for number in self._numbers]
        if not self._is_usable or not _NUMBER_TYPES.issuperset(map(type, chain.from_iterable(given))):
            return None
        n_rows = len(columns[0])
        try:
            numbers = np.array(given, dtype=np.float64).reshape(len(given), n_rows).T  # None becomes NaN
        except OverflowError:
            return None
        if np.isinf(numbers).any():
            return None
        if not self._is_direct:
            numbers = self._place_numbers(numbers, n_rows)
        codes = []
        for number, known in self._coded:
            found = _find_codes(known, columns[number])
            if found is None:
                return None
            codes.append(found)
        for number, known, own, values in self._statistics:
            found = _find_codes(known, columns[number])
            if found is None:
                return None
            numbers[:, own] = values[found]
        coded = np.array(codes, dtype=np.int32).reshape(len(codes), n_rows).T
        return EncodedRows(numbers, np.ascontiguousarray(coded), self._levels)

    def _place_numbers(self, given: NDArray[np.float64], n_rows: int) -> NDArray[np.float64]:
        """Return the numbers of encoded rows, with indicators and space for statistics."""
        numbers = np.empty((n_rows, self._n_numbers))
        numbers[:, self._number_places] = given
        for place in self._indicators:
            numbers[:, place + 1] = np.isnan(numbers[:, place])
        return numbers


def _number_levels(encoder: Levels) -> dict[Any, int]:
    return {None: -1} | {category: number for number, category in enumerate(encoder.categories)}


def _find_codes(known: dict[Any, int], values: Sequence[Any]) -> list[int] | None:
    """Return the numbers of categories, -1 where missing; None if one is not plain or not known."""
    if not _LEVEL_TYPES.issuperset(map(type, values)):
        return None
    codes = list(map(known.get, values))
    if None in codes:
        codes = [
            -1 if code is None and value != value else code for code, value in zip(codes, values, strict=True)
        ]
        if None in codes:
            return None
    return codes  # type: ignore[return-value]  # none is None
