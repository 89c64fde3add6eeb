"""Rows of requests: descriptions of the columns of a model, and checks of rows, field by field."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from typing import Any, NamedTuple

import numpy as np

from ..model.model import Model
from ..tables.columns import ArrayColumn
from ..tables.encoders import ColumnEncoder, Dates, Dropped, Levels
from ..tables.encoding import Encoding
from ..tables.errors import TableError, find_nearest, shorten

_ABSENT = object()
LARGEST = 1e308  # of numbers
_PLAIN = (str, int, float, bool)


class Finding(NamedTuple):
    """Something about a field of a row: an error, or a warning."""

    row: int | None
    field: str | None
    kind: str
    message: str


KINDS = {
    "missing_field": "The row has no value for a field.",
    "wrong_type": "The value is not a number, a date or text, as the model expects.",
    "out_of_range": "The number is too large for a float.",
    "unknown_field": "The model does not use this field; it is ignored.",
    "unseen_category": "The category was not seen in training.",
    "invalid": "Another part of the request is not valid.",
}


class _Field(NamedTuple):
    name: str
    known: frozenset[Any]  # categories
    check: Callable[[int, str, Any, list[Finding]], None] | None  # of single values; None for categories
    encoder: Any
    column: ArrayColumn  # for messages and spellings


class RowChecker:
    """Checks rows of JSON against the columns of a model.

    A field that is missing (``null`` is a missing value) or has the wrong type is an error. An unknown field or an
    unseen category is a warning or, if ``is_strict``, an error as well.
    """

    def __init__(self, encoding: Encoding, *, is_strict: bool) -> None:
        self._is_strict = is_strict
        self._names = list(encoding.names)
        self._known = frozenset(encoding.names)
        columns = list(zip(encoding.names, encoding.encoders, strict=True))
        self._ignored = [name for name, encoder in columns if isinstance(encoder, Dropped)]
        self._fields = [
            _Field(
                name,
                frozenset(encoder.categories or ()),
                _choose_check(encoder),
                encoder,
                ArrayColumn(None, name),
            )
            for name, encoder in columns
            if not isinstance(encoder, Dropped)
        ]

    def check(self, rows: Sequence[Any]) -> tuple[list[dict[str, Any]], list[Finding], list[Finding]]:
        """Return the rows with the fields of the model only, the warnings, and the errors."""
        clean: list[dict[str, Any]] = []
        warnings: list[Finding] = []
        errors: list[Finding] = []
        doubts = errors if self._is_strict else warnings
        for number, row in enumerate(rows):
            if isinstance(row, dict):
                clean.append(self._check_row(number, row, errors, doubts))
            else:
                message = f"row {number} is not an object with a value per field."
                errors.append(Finding(number, None, "wrong_type", message))
        return clean, warnings, errors

    def _check_row(
        self, number: int, row: dict[str, Any], errors: list[Finding], doubts: list[Finding]
    ) -> dict[str, Any]:
        own = dict.fromkeys(self._ignored)
        for field in self._fields:
            value = row.get(field.name, _ABSENT)
            if value is _ABSENT:
                message = f"{field.name!r} is missing: pass null where the value is unknown."
                errors.append(Finding(number, field.name, "missing_field", message))
                continue
            own[field.name] = value
            if value is None:
                continue
            if field.check is not None:
                field.check(number, field.name, value, errors)
            elif type(value) not in _PLAIN:
                errors.append(_expect(number, field, value))
            elif value not in field.known:
                self._check_category(number, field, value, errors, doubts)
        if len(row) > len(own) or not self._known.issuperset(row):
            for name in row.keys() - self._known:
                nearest = find_nearest(name, self._names)
                message = f"the model does not use {shorten(name)} ({nearest})."
                doubts.append(Finding(number, name, "unknown_field", message))
        return own

    def _check_category(
        self, number: int, field: _Field, value: Any, errors: list[Finding], doubts: list[Finding]
    ) -> None:
        encoder = field.encoder
        if encoder.find(value, field.column) is not None:  # in the spelling of another program
            return
        kinds = {isinstance(category, str) for category in encoder.categories}
        if kinds and isinstance(value, str) not in kinds:
            errors.append(_expect(number, field, value))
            return
        nearest = find_nearest(str(value), [str(category) for category in encoder.categories])
        message = f"{field.name!r} is {shorten(value)}, a category not seen in training ({nearest})."
        doubts.append(Finding(number, field.name, "unseen_category", message))


def _choose_check(encoder: ColumnEncoder) -> Callable[[int, str, Any, list[Finding]], None] | None:
    if isinstance(encoder, Levels):
        return None
    return _check_date if isinstance(encoder, Dates) else _check_number


def _check_date(number: int, name: str, value: Any, errors: list[Finding]) -> None:
    try:
        if type(value) is str:
            ArrayColumn(np.array([value], dtype=object), name).days()
            return
    except TableError:
        pass
    message = f"{name!r} is {shorten(value)}: pass a date such as 2026-01-31, or null where it is unknown."
    errors.append(Finding(number, name, "wrong_type", message))


def _check_number(number: int, name: str, value: Any, errors: list[Finding]) -> None:
    if type(value) not in (int, float, bool):
        message = f"{name!r} is {shorten(value)}: pass a number, or null where it is unknown."
        errors.append(Finding(number, name, "wrong_type", message))
    elif not -LARGEST <= value <= LARGEST:
        errors.append(Finding(number, name, "out_of_range", f"{name!r} is too large: pass a finite number."))


def _expect(number: int, field: _Field, value: Any) -> Finding:
    categories = field.encoder.categories
    example = f", such as {categories[0]!r}" if categories else ""
    message = f"{field.name!r} is {shorten(value)}: pass one of its categories{example}, or null where it is unknown."
    return Finding(number, field.name, "wrong_type", message)


def describe_columns(model: Model) -> list[dict[str, Any]]:
    """Return name, kind and example of every column, with its range in training, or the categories."""
    return [_describe(model, number) for number in range(model.encoding.n_columns)]


def make_example(columns: list[dict[str, Any]]) -> dict[str, Any]:
    """Return a row of typical values."""
    return {column["name"]: column["example"] for column in columns if column["kind"] != "ignored"}


def _describe(model: Model, number: int) -> dict[str, Any]:
    encoding = model.encoding
    name, encoder = encoding.names[number], encoding.encoders[number]
    if isinstance(encoder, Dropped):
        return {"name": name, "kind": "ignored"}
    profile = None if model.profile is None else model.profile.columns[number]
    missing = {} if profile is None else {"missing": profile.missing}
    if isinstance(encoder, Levels):
        categories = list(encoder.categories)
        code = profile.codes[0] if profile is not None and profile.codes else 0
        example = categories[code] if categories else None
        return {"name": name, "kind": "category", "categories": categories, "example": example, **missing}
    edges = () if profile is None else profile.edges
    feature = int(encoding.ptr[number])
    if isinstance(encoder, Dates):
        newest, oldest = (encoder.decode(ends[feature:]) for ends in (model.span.low, model.span.high))
        example = encoder.decode(np.array(edges[len(edges) // 2 :])) if edges else newest
        return {"name": name, "kind": "date", "low": oldest, "high": newest, "example": example, **missing}
    low, high = (_finite(ends[feature]) for ends in (model.span.low, model.span.high))
    is_whole = bool(model.span.is_whole[feature])
    middle = edges[len(edges) // 2] if edges else None if low is None or high is None else low / 2 + high / 2
    return {
        "name": name,
        "kind": "number",
        "low": low,
        "high": high,
        "is_whole": is_whole,
        "example": _shorten(middle, low, high, is_whole=is_whole),
        **missing,
    }


def _finite(value: float) -> float | None:
    return float(value) if math.isfinite(value) else None


def _shorten(middle: float | None, low: float | None, high: float | None, *, is_whole: bool) -> float | None:
    """Return a typical value with few digits, within the range."""
    if middle is None or low is None or high is None:
        return None
    short = float(round(middle)) if is_whole else float(f"{middle:.4g}")
    value = min(max(short, low), high)
    return int(value) if is_whole and abs(value) < 2**53 else value
