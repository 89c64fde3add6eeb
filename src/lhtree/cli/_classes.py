"""The target column: classes as the user wrote them."""

from __future__ import annotations

import re
from typing import Any, NamedTuple, NoReturn

import numpy as np
from numpy.typing import NDArray

from .._extras import import_extra
from ._errors import Problem
from ._names import shorten
from ._values import MISSING_CLASS, clean, find_kind, find_known, read_numbers, read_text

_MOST_NUMBERS = 200  # different ones; more are measured, not classes
_MOST_FRACTIONS = 20
_MOST_CLASSES = 1000
_FEW_CLASSES = 20  # that many are never taken for names of the rows
_WHOLE = re.compile(r"-?(0|[1-9]\d{0,17})(\.0*)?")


class Classes(NamedTuple):
    """The different classes of a column as text, and the number of every row's, -1 where it is missing."""

    texts: list[str]
    codes: NDArray[np.int64]


def read_classes(values: Any, target: str) -> Classes:
    """The classes of a column."""
    _check_kind(values, target)
    pa = import_extra("pyarrow", "cli")
    text = clean(read_text(values), MISSING_CLASS)
    encoded = (text.combine_chunks() if isinstance(text, pa.ChunkedArray) else text).dictionary_encode()
    codes = encoded.indices.fill_null(-1).to_numpy().astype(np.int64)
    return Classes(encoded.dictionary.to_pylist(), codes)


def check_classes(classes: Classes, target: str) -> None:
    """Refuse a target that is no class: one class only, measured numbers, or a name of its own for every row."""
    texts, codes = classes
    if len(texts) < 2:
        n_missing = int((codes < 0).sum())
        others = f", and {n_missing} of {len(codes)} rows have none" if n_missing else ""
        held = f"the only class is {shorten(texts[0])}{others}" if texts else "no row has a class"
        raise Problem(f"--target {target}: {held}; a classifier needs rows of at least two classes")
    numbers = read_numbers(import_extra("pyarrow", "cli").array(texts))
    if numbers is not None:
        is_whole = bool((numbers == np.round(numbers)).all())
        if len(texts) > (_MOST_NUMBERS if is_whole else _MOST_FRACTIONS):
            raise Problem(
                f"--target {target} holds {len(texts)} different numbers, and lhtree predicts classes: make classes of "
                "them first, such as low and high"
            )
    is_name = len(texts) > _FEW_CLASSES and 2 * len(texts) > int((codes >= 0).sum())
    if is_name or len(texts) > _MOST_CLASSES:
        raise Problem(
            f"--target {target} has {len(texts)} classes in {len(codes)} rows, which is too many: pass the column that "
            "holds the classes"
        )


def label_rows(classes: Classes) -> NDArray[Any]:
    """The class of every row that has one: whole numbers as numbers, else the text as written, so "01" is not 1."""
    numbers = _take_whole(classes.texts)
    labels = np.array(classes.texts, dtype=object) if numbers is None else np.array(numbers, dtype=np.int64)
    known: NDArray[Any] = labels[classes.codes[classes.codes >= 0]]
    return known


def match_classes(values: Any, known: NDArray[Any], target: str) -> NDArray[np.int64]:
    """The number of every row's class among those of a model, -1 where it is missing."""
    _check_kind(values, target)
    found = find_known(values, known.tolist(), MISSING_CLASS)
    if found.is_unknown.any():
        strange = found.text[int(found.is_unknown.argmax())].as_py()
        raise Problem(
            f"--target {target} holds the class {shorten(strange)}, which the model does not know: pass rows of its "
            "classes only"
        )
    return found.codes


def refuse_missing(n_missing: int, n_rows: int, target: str) -> NoReturn:
    """Raise the error for rows without a class."""
    raise Problem(
        f"--target {target} is missing in {n_missing} of {n_rows} rows: add it, or leave these rows out with "
        "--drop-missing-target"
    )


def find_classed(codes: NDArray[np.int64], target: str, *, is_dropping: bool) -> NDArray[np.int64]:
    """The rows that have a class; an error that counts the others, unless they are to be left out."""
    rows = np.flatnonzero(codes >= 0)
    if len(rows) < len(codes) and not is_dropping:
        refuse_missing(len(codes) - len(rows), len(codes), target)
    return rows


def _check_kind(values: Any, target: str) -> None:
    if find_kind(values) in ("times", "other"):
        raise Problem(f"--target {target} holds {values.type}: pass a column of text or whole numbers")


def _take_whole(texts: list[str]) -> list[int] | None:
    """Whole numbers, if all texts are such without leading zeros."""
    numbers = [int(text.partition(".")[0]) for text in texts if _WHOLE.fullmatch(text)]
    return numbers if len(set(numbers)) == len(texts) else None
