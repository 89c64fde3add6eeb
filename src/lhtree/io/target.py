"""The target column of a file: classes as the user wrote them, or numbers."""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from .._extras import import_extra
from ..tables.columns import is_missing, settle
from ..tables.encoders import OneHot
from ..tables.errors import OptionError, TableError, shorten
from .fields import MISSING_CLASS, FileColumn, FileRows, find_marked, find_signs, strip_signs

_MOST_NUMBERS = 200  # different whole ones; more are measured, not classes
_MOST_CLASSES = 1000
_MOST_JOINED = 100_000
_FEW_CLASSES = 20  # up to this many are never considered identifiers or measured
_WHOLE = re.compile(r"-?(0|[1-9]\d{0,17})(\.0*)?")


class Classes(NamedTuple):
    """The distinct classes of a column as text, and the index of every row's class, -1 where missing."""

    texts: list[str]
    codes: NDArray[np.integer]

    @property
    def may_be_numbers(self) -> bool:
        """Whether there are too many to be classes for sure."""
        return len(self.texts) > _FEW_CLASSES

    @classmethod
    def join(cls, parts: Iterable[Classes]) -> Classes:
        """Join the classes of batches; classes beyond the limit are not distinguished."""
        place: dict[str, int] = {}
        codes = [np.empty(0, dtype=np.int32)]
        for part in parts:
            new = [text for text in part.texts if text not in place]
            for text in new[: max(0, _MOST_JOINED - len(place))]:
                place[text] = len(place)
            table = np.array([*(place.get(text, 0) for text in part.texts), -1], dtype=np.int32)
            codes.append(table[part.codes])
        return cls(list(place), np.concatenate(codes))


def read_classes(rows: FileRows, target: str) -> Classes:
    """Return the classes of a column."""
    codes, found = _find_column(rows, target).distinct()
    place: dict[str, int] = {}
    table = np.full(len(found) + 1, -1)
    for number, value in enumerate(found):
        text = "" if is_missing(value) else str(settle(value)).strip()
        if text not in MISSING_CLASS:
            table[number] = place.setdefault(text, len(place))
    return Classes(list(place), table[codes])


def choose_task(numbers: NDArray[np.float64], classes: Classes) -> str:
    """Return "regression" for numbers with too many distinct values for classes, else "classification"."""
    n_classes = len(classes.texts)
    known = numbers[~np.isnan(numbers)]
    most = _MOST_NUMBERS if (known == np.floor(known)).all() else _FEW_CLASSES
    return "regression" if n_classes > most or _are_names(classes) else "classification"


def check_classes(classes: Classes, target: str) -> None:
    """Reject a target that is not a class: a single class, or an identifier of the rows."""
    texts, codes = classes
    if len(texts) < 2:
        n_missing = int((codes < 0).sum())
        others = f", and {n_missing} of {len(codes)} rows have none" if n_missing else ""
        held = f"has the class {shorten(texts[0])} only{others}" if texts else "is missing in every row"
        raise _refuse(target, f"{held}: pass rows of at least two classes")
    if _are_names(classes) or len(texts) > _MOST_CLASSES:
        marked, are_marked = find_marked(import_extra("pyarrow", "cli").array(texts))
        if are_marked and marked is not None:
            raise _refuse(
                target,
                f"holds numbers with {find_signs(marked)}, such as {shorten(marked)}: write {strip_signs(marked, '.')}",
            )
        raise _refuse(
            target,
            f"has {len(texts)} classes in {len(codes)} rows, which is too many: pass a column of classes, or one of "
            "numbers and --task regression",
        )


def _are_names(classes: Classes) -> bool:
    """Whether most rows have distinct values, so that the column holds names or measurements."""
    n_classes = len(classes.texts)
    return n_classes > _FEW_CLASSES and 2 * n_classes > int((classes.codes >= 0).sum())


def read_response(rows: FileRows, target: str) -> NDArray[np.float64]:
    """Return the numbers of a column, NaN where they are missing; an error if they are no numbers."""
    column = rows.column(target)
    if column.kind in ("dates", "times", "other"):
        raise _refuse(target, "holds no numbers: pass a column of numbers")
    try:
        return column.numbers()
    except TableError as error:
        told = error.message.replace("where the model expects a number", "where a number is to be predicted")
        raise TableError(told, **error.options) from None


def read_responses(rows: FileRows, targets: Sequence[str]) -> NDArray[np.float64]:
    """Return the numbers of a column, shape (n,), or of several columns, shape (n, k)."""
    columns = [read_response(rows, target) for target in targets]
    return columns[0] if len(columns) == 1 else np.stack(columns, axis=1)


def find_complete(responses: NDArray[np.float64]) -> NDArray[np.bool_]:
    """Return which rows have all responses."""
    is_known: NDArray[np.bool_] = ~np.isnan(responses)
    return is_known if is_known.ndim == 1 else np.asarray(is_known.all(axis=1))


def label_rows(classes: Classes, *, as_text: bool = False) -> NDArray[Any]:
    """Return the class of every row that has one: whole numbers, else the text as written, so that "01" is not 1."""
    numbers = [int(text.partition(".")[0]) for text in classes.texts if _WHOLE.fullmatch(text)]
    is_whole = not as_text and len(set(numbers)) == len(classes.texts)
    labels = np.array(numbers, dtype=np.int64) if is_whole else np.array(classes.texts, dtype=object)
    known: NDArray[Any] = labels[classes.codes[classes.codes >= 0]]
    return known


def match_classes(rows: FileRows, target: str, known: NDArray[Any]) -> NDArray[np.int64]:
    """Return the number of every row's class in the model, -1 where it is missing."""
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


def read_groups(rows: FileRows, name: str) -> NDArray[Any]:
    """Return the groups of a column as text, None where they are missing, shape (n,)."""
    texts, codes = read_classes(rows, name)
    groups: NDArray[Any] = np.array([*texts, None], dtype=object)[codes]
    return groups


def find_known(is_known: NDArray[np.bool_], target: str, *, is_dropping: bool) -> NDArray[np.int64]:
    """Return the rows whose target is known; raise an error that counts the others, unless they are dropped."""
    rows = np.flatnonzero(is_known)
    if len(rows) < len(is_known) and not is_dropping:
        n_missing = len(is_known) - len(rows)
        told = f"is missing in {n_missing} of {len(is_known)} rows: fill it in, or drop these rows"
        raise _refuse(target, told, drop_missing_target=True)
    return rows


def _find_column(rows: FileRows, target: str) -> FileColumn:
    column = rows.column(target, MISSING_CLASS)
    if not column.is_text and column.kind in ("dates", "times", "other"):
        raise _refuse(target, f"has type {column.values.type}: pass a column of text or integers")
    return column


def _refuse(target: str, told: str, **options: Any) -> OptionError:
    return OptionError("target", target, told, is_usage=False, **options)
