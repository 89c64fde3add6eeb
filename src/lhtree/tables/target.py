"""The target column of a file: classes as the user wrote them."""

from __future__ import annotations

import re
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from .columns import is_missing, settle
from .errors import OptionError
from .names import shorten
from .text import FileColumn, FileRows
from .treatments import OneHot
from .values import MISSING_CLASS

_MOST_NUMBERS = 200  # different ones; more are measured, not classes
_MOST_FRACTIONS = 20
_MOST_CLASSES = 1000
_FEW_CLASSES = 20  # up to this many are never considered identifiers
_WHOLE = re.compile(r"-?(0|[1-9]\d{0,17})(\.0*)?")


class Classes(NamedTuple):
    """The distinct classes of a column as text, and the index of every row's class, -1 where missing."""

    texts: list[str]
    codes: NDArray[np.int64]


def read_classes(rows: FileRows, target: str) -> Classes:
    """The classes of a column."""
    codes, found = _find_column(rows, target).distinct()
    place: dict[str, int] = {}
    table = np.full(len(found) + 1, -1)
    for number, value in enumerate(found):
        text = "" if is_missing(value) else str(settle(value)).strip()
        if text not in MISSING_CLASS:
            table[number] = place.setdefault(text, len(place))
    return Classes(list(place), table[codes])


def check_classes(classes: Classes, target: str) -> None:
    """Reject a target that is not a class: a single class, measurements, or an identifier of the rows."""
    texts, codes = classes
    if len(texts) < 2:
        n_missing = int((codes < 0).sum())
        others = f", and {n_missing} of {len(codes)} rows have none" if n_missing else ""
        held = f"has the class {shorten(texts[0])} only{others}" if texts else "has a class in no row"
        raise _refuse(target, f"{held}: pass rows of at least two classes")
    numbers = _read_numbers(texts)
    if numbers is not None:
        is_whole = all(number.is_integer() for number in numbers)
        if len(texts) > (_MOST_NUMBERS if is_whole else _MOST_FRACTIONS):
            raise _refuse(
                target,
                f"has {len(texts)} distinct numbers, but lhtree predicts classes: bin them into classes first",
            )
    is_name = len(texts) > _FEW_CLASSES and 2 * len(texts) > int((codes >= 0).sum())
    if is_name or len(texts) > _MOST_CLASSES:
        raise _refuse(
            target,
            f"has {len(texts)} classes in {len(codes)} rows, which is too many: pass the column of the classes",
        )


def label_rows(classes: Classes) -> NDArray[Any]:
    """The class of every row that has one: whole numbers as numbers, else the text as written, so "01" is not 1."""
    numbers = [int(text.partition(".")[0]) for text in classes.texts if _WHOLE.fullmatch(text)]
    is_whole = len(set(numbers)) == len(classes.texts)
    labels = np.array(numbers, dtype=np.int64) if is_whole else np.array(classes.texts, dtype=object)
    known: NDArray[Any] = labels[classes.codes[classes.codes >= 0]]
    return known


def match_classes(rows: FileRows, target: str, known: NDArray[Any]) -> NDArray[np.int64]:
    """The number of every row's class among those of a model, -1 where it is missing."""
    column, classes = _find_column(rows, target), OneHot(tuple(known.tolist()))
    codes, found = column.distinct()
    table = np.full(len(found) + 1, -1)
    for number in np.unique(codes[codes >= 0]):
        place = classes.find(found[number], column)
        if place is None:
            raise _refuse(
                target,
                f"contains the class {shorten(found[number])}, which the model does not know: pass only its classes",
            )
        table[number] = place
    return table[codes]


def find_classed(codes: NDArray[np.int64], target: str, *, is_dropping: bool) -> NDArray[np.int64]:
    """The rows that have a class; an error that counts the others, unless they are to be left out."""
    rows = np.flatnonzero(codes >= 0)
    if len(rows) < len(codes) and not is_dropping:
        raise refuse_missing(len(codes) - len(rows), len(codes), target)
    return rows


def refuse_missing(n_missing: int, n_rows: int, target: str) -> OptionError:
    """The error for rows without a class."""
    told = f"is missing in {n_missing} of {n_rows} rows: fill it in, or drop these rows"
    return _refuse(target, told, drop_missing_target=True)


def _find_column(rows: FileRows, target: str) -> FileColumn:
    column = rows.column(target, MISSING_CLASS)
    if not column.is_text and column.kind in ("times", "other"):
        raise _refuse(target, f"has type {column.values.type}: pass a column of text or integers")
    return column


def _refuse(target: str, told: str, **options: Any) -> OptionError:
    return OptionError("target", target, told, is_usage=False, **options)


def _read_numbers(texts: list[str]) -> list[float] | None:
    try:
        return [float(text) for text in texts]
    except ValueError:
        return None
