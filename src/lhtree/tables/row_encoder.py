"""Encoding of few rows of plain Python values, without the cost of columns.

A table is encoded column by column, which takes tens of microseconds per column even for one row. A ``RowEncoder``
looks values up in dicts that are built once per model. It encodes only values whose meaning is plain; any other value,
such as an unseen category, text for a number or an infinity, is left to the columns of ``Encoding.code``, which
explain and refuse.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from itertools import chain
from operator import itemgetter
from typing import Any

import numpy as np
from numpy.typing import NDArray

from .encoders import ColumnEncoder, Dropped, Levels, Numbers, OneHot, TargetStatistic
from .rows import EncodedRows

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
