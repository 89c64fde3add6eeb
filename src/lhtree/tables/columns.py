"""Columns of any library, read as numbers or as categories."""

from __future__ import annotations

import math
import re
from abc import ABC, abstractmethod
from collections.abc import Iterable, Sequence
from datetime import date, time, timedelta
from decimal import Decimal
from functools import cached_property
from numbers import Real
from typing import Any, NamedTuple, NoReturn

import numpy as np
from numpy.typing import NDArray

from .._extras import import_extra
from .errors import TableError, shorten

Codes = NDArray[np.int64]
Category = str | int | float | bool

_DATES = (date, np.datetime64)
_TIMES = (*_DATES, time, timedelta, np.timedelta64)
_NUMBERS = (Real, Decimal, np.bool_)
_DATE = re.compile(
    r"\d{4}-\d\d-\d\d", re.ASCII
)  # NumPy reads other text as dates, too, such as today and 20260131
_HELD = {"dates": "dates", "times": "times", "mixed": "text and numbers", "other": "other objects"}
_REMEDIES = {
    "dates": "pass numbers, or text for categories",
    "times": "turn times into numbers first, for example the hour, or the seconds",
    "mixed": "make it all text, or all numbers (pandas.to_numeric with errors='coerce' makes other text missing)",
    "other": "turn its values into numbers or text first",
}


class Refusal(NamedTuple):
    """Why a column cannot be used, and what to do; ``options`` are parameters that would help."""

    column: Column
    reason: str
    remedy: str
    options: dict[str, Any]


class Column(ABC):
    """One column; the subclasses read it as their libraries do."""

    keeps_order = False  # categories stay in the order that their type gives them
    origin = "X"  # how messages call the table
    first_row = 0  # number of the first row in the table, for messages
    is_text = False  # text of a file, which may hold anything

    def __init__(self, values: Any, name: Any) -> None:
        self.values, self.name = values, name

    def __len__(self) -> int:
        return len(self.values)

    @property
    def title(self) -> str:
        """Name of the column in messages."""
        return f"column {self.name!r}"

    def locate(self, row: int) -> str:
        """Name of a row in messages."""
        return f"{self.origin}, row {self.first_row + row}"

    @cached_property
    def kind(self) -> str:
        """The kind of the column.

        "numbers" (True and False among them), "categories" (text, or a categorical type), "nothing" (objects that are
        all missing), "dates" (with or without a time of day) or, where it cannot be used, "times", "mixed" or "other".
        """
        return self._find_kind()

    @abstractmethod
    def _find_kind(self) -> str: ...

    @abstractmethod
    def _read_numbers(self) -> NDArray[np.float64]:
        """Return the values of a numeric column as float64, NaN where missing."""

    def _read_days(self) -> NDArray[np.datetime64]:
        """Return the values of a column of dates as dates of NumPy, of any unit."""
        return np.array([None if is_missing(value) else value for value in self.values], dtype="M8[D]")

    @abstractmethod
    def _read_distinct(self) -> tuple[Codes, Sequence[Any]]: ...

    def numbers(self) -> NDArray[np.float64]:
        """Return the values as float64, NaN where missing; an error if they are not numeric, or infinite."""
        if self.kind in _HELD and not (self.kind == "dates" and np.isnan(self.days()).all()):
            raise refuse_columns([self._refuse_kind()])
        if self.kind == "dates":
            return np.full(len(self), np.nan)
        if self.kind == "categories":
            codes, found = self.distinct()
            is_text = np.array([*(not is_missing(value) for value in found), False])
            rows = np.flatnonzero(is_text[codes])
            if len(rows):
                value = found[codes[rows[0]]]
                remedy = (
                    ""
                    if isinstance(value, str)
                    else "its type is categorical, so convert it with astype(float)"
                )
                self._refuse_text(int(rows[0]), value, remedy)
            return np.full(len(self), np.nan)
        try:
            numbers = self._read_numbers()
        except OverflowError:
            raise TableError(
                f"{self.origin}: {self.title} contains a number too large for a float: pass smaller numbers."
            ) from None
        return self._check_finite(numbers)

    def days(self) -> NDArray[np.float64]:
        """Return dates as days since 1970-01-01, NaN where missing; text must begin with a date such as 2026-01-31."""
        if self.kind == "dates":
            dates = self._read_days()
        elif self.kind == "categories":
            codes, found = self.distinct()
            texts = [self.clean(str(value)) if not is_missing(value) else None for value in found]
            dates = np.array([*map(self._parse_date, texts), None], dtype="M8[D]")[codes]
        elif self.kind in ("numbers", "nothing") and np.isnan(self.numbers()).all():
            return np.full(len(self), np.nan)
        else:
            raise self._refuse_dates(_HELD.get(self.kind, self.kind))
        days = dates.astype("M8[D]")
        return np.where(np.isnat(days), np.nan, days.astype(np.int64).astype(np.float64))

    def _parse_date(self, text: Category | None) -> np.datetime64 | None:
        if text is None:
            return None
        try:
            if (found := _DATE.match(str(text))) is not None:
                return np.datetime64(found[0], "D")
        except ValueError:  # for example the 30th of February
            pass
        raise self._refuse_dates(f"text such as {shorten(text)}")

    def _refuse_dates(self, held: str) -> TableError:
        return TableError(
            f"{self.origin}: {self.title} holds {held} where the model expects dates: pass dates, or text such as "
            "2026-01-31."
        )

    def distinct(self) -> tuple[Codes, Sequence[Any]]:
        """Return the distinct values, and the index of every row's value among them, -1 where missing."""
        if self._holds_objects():
            raise refuse_columns([self._refuse_kind()])
        return self._read_distinct()

    def categories(self) -> tuple[Codes, list[Category]]:
        """Return the index of every row's category, -1 where missing, and the categories in order."""
        codes, found = self.distinct()
        settled = [None if is_missing(value) else self.clean(settle(value)) for value in found]
        known = list(dict.fromkeys(category for category in settled if category is not None))
        if not self.keeps_order:
            known.sort(key=lambda category: (isinstance(category, str), category))
        place = {category: number for number, category in enumerate(known)}
        table = np.array([*(-1 if category is None else place[category] for category in settled), -1])
        return table[codes], known

    def clean(self, category: Category) -> Category | None:
        """Return a category without artefacts of the table's format; None if it means missing."""
        return category

    def find_refusal(self, *, is_category: bool) -> Refusal | None:
        """Return the reason why the column cannot be used for training, as categories or else as numbers."""
        if self.kind == "dates":
            return self._refuse_kind() if is_category else None
        if self._holds_objects() or (self.kind == "mixed" and not is_category):
            return self._refuse_kind()
        return None

    def _holds_objects(self) -> bool:
        return self.kind in ("dates", "times", "other")

    def _refuse_kind(self) -> Refusal:
        return Refusal(self, f"holds {_HELD[self.kind]}", _REMEDIES[self.kind], {})

    def _refuse_text(self, row: int, value: Any, remedy: str = "", **options: Any) -> NoReturn:
        remedy = remedy or "pass a number, or a missing value if it is unknown"
        raise TableError(
            f"{self.locate(row)}: {self.title} is {shorten(value)} where the model expects a number: {remedy}",
            **options,
        )

    def _check_finite(self, numbers: NDArray[np.float64]) -> NDArray[np.float64]:
        is_infinite = np.isinf(numbers)
        if is_infinite.any():
            raise TableError(
                f"{self.locate(int(is_infinite.argmax()))}: {self.title} contains infinity: replace it with a "
                "missing value or a finite number."
            )
        return numbers


def refuse_columns(refused: Sequence[Refusal]) -> Exception:
    """Return the error for columns that cannot be used: the first one in full, then the others briefly."""
    first, *others = refused
    message = f"{first.column.origin}: {first.column.title} {first.reason}: {first.remedy}"
    if others:
        listed = ", ".join(f"{each.column.title} ({each.reason})" for each in others)
        message += f". Also not usable: {listed}"
    if all(each.column.kind == "other" for each in refused) and not first.options:
        return TypeError(message)
    droppable = [each.options["drop"] for each in refused if "drop" in each.options]
    return TableError(message, **({"drop": droppable} if others and droppable else first.options))


def find_kind(values: Iterable[Any]) -> str:
    """Return the kind of some objects, ignoring missing ones."""
    types = set(map(type, values))
    if not types:
        return "nothing"
    if all(issubclass(kind, str) for kind in types):
        return "categories"
    if all(issubclass(kind, _NUMBERS) for kind in types):
        return "numbers"
    if all(issubclass(kind, _DATES) for kind in types):
        return "dates"
    if any(issubclass(kind, _TIMES) for kind in types):
        return "times"
    return "mixed" if all(issubclass(kind, (str, *_NUMBERS)) for kind in types) else "other"


def is_missing(value: Any) -> bool:
    """Whether an object is None, NaN or a missing value of pandas."""
    if value is None or isinstance(value, str):
        return value is None
    if type(value).__name__ in ("NAType", "NaTType"):
        return True
    if isinstance(value, (np.datetime64, np.timedelta64)):
        return bool(np.isnat(value))
    return isinstance(value, (float, np.floating, Decimal)) and bool(value != value)


def make_numbers(values: Iterable[Any]) -> NDArray[np.float64]:
    """Return objects that are numbers, or missing, as float64."""
    return np.array([np.nan if is_missing(value) else value for value in values], dtype=np.float64)


def number_distinct(values: Iterable[Any]) -> tuple[Codes, list[Any]]:
    """Return distinct objects in order of appearance, and the index of each row's object."""
    table: dict[Any, int] = {}
    codes = np.array([table.setdefault(value, len(table)) for value in values], dtype=np.int64)
    return codes, list(table)


def settle(value: Any) -> Category:
    """Return a category as it is stored: text, a finite number or a bool; anything else as text."""
    if isinstance(value, np.generic):
        value = value.item()
    if isinstance(value, float):
        return int(value) if value.is_integer() else value if math.isfinite(value) else str(value)
    return value if isinstance(value, (str, int)) else str(value)


class PandasColumn(Column):
    """A Series of pandas."""

    def __init__(self, values: Any, name: Any) -> None:
        super().__init__(values, name)
        self.keeps_order = values.dtype.name == "category"

    def _find_kind(self) -> str:
        dtype = self.values.dtype
        if self.keeps_order or dtype.name in ("str", "string"):
            return "categories"
        if dtype.kind in "biuf":
            return "numbers"
        return {"M": "dates", "m": "times"}.get(dtype.kind) or find_kind(self.values.dropna())

    def _read_days(self) -> NDArray[np.datetime64]:
        if self.values.dtype.kind != "M":
            return super()._read_days()
        local = self.values.dt.tz_localize(None) if self.values.dt.tz is not None else self.values
        return np.asarray(local.to_numpy(dtype="M8[s]"))

    def _read_numbers(self) -> NDArray[np.float64]:
        numbers: NDArray[np.float64] = self.values.to_numpy(dtype=np.float64, na_value=np.nan)
        return numbers

    def _read_distinct(self) -> tuple[Codes, Sequence[Any]]:
        if self.keeps_order:
            codes = self.values.cat.codes.to_numpy().astype(np.int64)
            return codes, list(self.values.cat.categories)
        codes, found = self.values.factorize()
        return codes, found.tolist()


class PolarsColumn(Column):
    """A Series of polars."""

    def __init__(self, values: Any, name: Any) -> None:
        super().__init__(values, name)
        self._type = str(values.dtype.base_type())
        self.keeps_order = self._type == "Enum"

    def _find_kind(self) -> str:
        dtype = self.values.dtype
        if self._type in ("String", "Categorical", "Enum"):
            return "categories"
        if self._type == "Object":
            return find_kind(value for value in self.values.to_list() if not is_missing(value))
        if dtype.is_numeric() or self._type in ("Boolean", "Null"):
            return "numbers"
        if self._type in ("Date", "Datetime"):
            return "dates"
        return "times" if dtype.is_temporal() else "other"

    def _read_days(self) -> NDArray[np.datetime64]:
        values = self.values if self._type == "Object" else self.values.dt.date()
        return np.array([None if is_missing(value) else value for value in values.to_list()], dtype="M8[D]")

    def _read_numbers(self) -> NDArray[np.float64]:
        if self._type == "Object":
            return make_numbers(self.values.to_list())
        numbers: NDArray[np.float64] = self.values.cast(float).to_numpy()
        return numbers

    def _read_distinct(self) -> tuple[Codes, Sequence[Any]]:
        if self.keeps_order:
            codes = self.values.to_physical().cast(int).fill_null(-1).to_numpy()
            return codes, self.values.dtype.categories.to_list()
        values = self.values.cast(str) if self._type == "Categorical" else self.values
        return number_distinct(values.to_list())


class ArrayColumn(Column):
    """A column of an array, or of anything NumPy makes one of."""

    @property
    def title(self) -> str:
        """Name of the column in messages."""
        return super().title if isinstance(self.name, str) else f"column {self.name}"

    def _find_kind(self) -> str:
        kind = self.values.dtype.kind
        if kind == "O":
            return find_kind(value for value in self.values if not is_missing(value))
        kinds = {"U": "categories", "T": "categories", "M": "dates", "m": "times"}
        return "numbers" if kind in "biuf" else kinds.get(kind, "other")

    def _read_numbers(self) -> NDArray[np.float64]:
        if self.values.dtype.kind == "O":
            return make_numbers(self.values)
        numbers: NDArray[np.float64] = self.values.astype(np.float64)
        return numbers

    def _read_distinct(self) -> tuple[Codes, Sequence[Any]]:
        return number_distinct(self.values.tolist())


class ArrowColumn(Column):
    """A column of Arrow, in chunks or in one piece, by its type."""

    def _find_kind(self) -> str:
        return find_arrow_kind(self.values.type)

    def _read_days(self) -> NDArray[np.datetime64]:
        pa, pc = import_extra("pyarrow", "cli"), import_extra("pyarrow.compute", "cli")
        values = self._flatten()
        if pa.types.is_timestamp(values.type) and values.type.tz is not None:
            values = pc.local_timestamp(values)
        return np.asarray(pc.cast(values, pa.timestamp("s"), safe=False).to_numpy(zero_copy_only=False))

    def _read_numbers(self) -> NDArray[np.float64]:
        pa, pc = import_extra("pyarrow", "cli"), import_extra("pyarrow.compute", "cli")
        numbers: NDArray[np.float64] = pc.cast(self._flatten(), pa.float64(), safe=False).to_numpy(
            zero_copy_only=False
        )
        return numbers

    def _read_distinct(self) -> tuple[Codes, Sequence[Any]]:
        encoded = self._flatten().dictionary_encode()
        codes = encoded.indices.fill_null(-1).to_numpy(zero_copy_only=False).astype(np.int64)
        return codes, encoded.dictionary.to_pylist()

    def _flatten(self) -> Any:
        """Return the values in one piece, without a dictionary."""
        pa = import_extra("pyarrow", "cli")
        parts = self.values.chunks if isinstance(self.values, pa.ChunkedArray) else [self.values]
        is_text = find_arrow_kind(self.values.type) == "categories"

        def settle(values: Any) -> Any:
            return values.cast(pa.string()) if is_text else values  # many functions take no other text

        if pa.types.is_dictionary(self.values.type):
            parts = [settle(part.dictionary).take(part.indices) for part in parts]
        else:
            parts = [settle(part) for part in parts]
        if not parts:
            return pa.array([], self.values.type)
        return parts[0] if len(parts) == 1 else pa.concat_arrays(parts)


def find_arrow_kind(type_: Any) -> str:
    """Return the kind of a column of Arrow, by its type."""
    types = import_extra("pyarrow.types", "cli")
    kind = type_.value_type if types.is_dictionary(type_) else type_
    if types.is_string(kind) or types.is_large_string(kind) or types.is_string_view(kind):
        return "categories"
    if types.is_date(kind) or types.is_timestamp(kind):
        return "dates"
    if types.is_temporal(kind):
        return "times"
    is_number = types.is_integer(kind) or types.is_floating(kind) or types.is_decimal(kind)
    return "numbers" if is_number or types.is_boolean(kind) or types.is_null(kind) else "other"
