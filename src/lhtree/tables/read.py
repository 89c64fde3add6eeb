"""Whole tables from files, for training or for a model."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from .._extras import import_extra
from .batches import Stream, open_stream
from .columns import Refusal, refuse_columns
from .encoding import Encoding
from .errors import OptionError, TableError
from .learn import check_count
from .names import check_known
from .source import Reading
from .target import check_classes, find_classed, label_rows, match_classes, read_classes
from .text import FileColumn
from .treatments import OneHot


class Training(NamedTuple):
    """A training table: numbers and categories, the class of every row, and how many rows had none."""

    X: Any  # a frame of pandas
    y: NDArray[Any]
    n_dropped: int


class Rows(NamedTuple):
    """Rows for a model, their classes if there is a target, and how many values were not seen in training."""

    X: Any  # a frame of pandas
    y: NDArray[Any] | None
    n_unseen: Counter[str]


def read_training(
    path: str,
    target: str,
    reading: Reading | None = None,
    *,
    drop: Sequence[str] = (),
    categorical: Sequence[str] = (),
    drop_missing_target: bool = False,
) -> Training:
    """Read a training table.

    A column all of whose values are numbers or truth values is one of numbers, even if they are written as text; other
    text is one of categories. ``categorical`` names numbers that are categories; columns in ``drop`` are left out.
    """
    with open_stream(path, reading or Reading()) as stream:
        for option, wanted in (("target", [target]), ("drop", drop), ("categorical", categorical)):
            check_known(option, wanted, stream.names, stream.name)
        names = _choose_columns(stream, target, drop)
        rows = stream.read_all([target, *names])
        classes = read_classes(rows, target)
        columns = {name: rows.column(name) for name in names}
        del rows  # so that the text of a column is let go when the column is settled
        check_classes(classes, target)
        kept = find_classed(classes.codes, target, is_dropping=drop_missing_target)
        settled: dict[str, Any] = {}
        refused: list[Refusal] = []
        for name in names:
            column = _settle(columns.pop(name), kept, is_category=name in categorical)
            if isinstance(column, Refusal):
                refused.append(column)
            else:
                settled[name] = column
        if refused:
            raise refuse_columns(refused)
        X = import_extra("pandas", "cli").DataFrame(settled)
        return Training(X, label_rows(classes), len(classes.codes) - len(kept))


def _choose_columns(stream: Stream, target: str, drop: Sequence[str]) -> list[str]:
    if target in drop:
        raise OptionError("drop", target, "is the target column: do not drop it", is_usage=False)
    names = [name for name in stream.names if name != target and name not in drop]
    for number, name in enumerate(stream.names, 1):
        if name == f"#{number}" and name in names:
            raise TableError(
                f"{stream.name}: column {number} has no name: name it in the header, or drop it",
                drop=name,
            )
    if not names:
        raise TableError(f"{stream.name} has no column besides the target: pass at least one feature column")
    return names


def _settle(column: FileColumn, kept: NDArray[np.int64], *, is_category: bool) -> Any:
    """The kept rows of a column as a numeric array or a pandas Categorical; or why there is none."""
    refusal = column.find_refusal(is_category=is_category)
    if refusal is not None:
        return refusal
    if column.kind == "numbers" and not is_category:
        return column.numbers()[kept]
    codes, categories = column.categories()
    texts = [str(category) for category in categories]
    refusal = check_count(column, len(texts), drop=column.name)
    if refusal is not None:
        return refusal
    order = sorted(range(len(texts)), key=texts.__getitem__)
    rank = np.empty(len(texts) + 1, dtype=np.int64)
    rank[order], rank[-1] = np.arange(len(texts)), -1
    return import_extra("pandas", "cli").Categorical.from_codes(rank[codes[kept]], [texts[i] for i in order])


def read_rows(
    path: str,
    encoding: Encoding,
    classes: NDArray[Any],
    reading: Reading | None = None,
    *,
    unseen: str = "error",
    target: str | None = None,
    drop_missing_target: bool = False,
) -> Rows:
    """Read a whole table for a model of that encoding: ``X`` with its columns, and ``y`` in its classes."""
    n_unseen: Counter[str] = Counter()
    with open_stream(path, reading or Reading()) as stream:
        columns = encoding.find_columns(stream.names, stream.name)
        if target is not None:
            check_known("target", [target], stream.names, stream.name)
        wanted = dict.fromkeys([*columns, *([] if target is None else [target])])
        rows = stream.read_all(wanted)
        X = make_frame(encoding, encoding.encode(rows.select(columns), unseen=unseen, n_unseen=n_unseen))
        if target is None:
            return Rows(X, None, n_unseen)
        codes = match_classes(rows, target, classes)
        kept = find_classed(codes, target, is_dropping=drop_missing_target)
        X = X if len(kept) == len(X) else X.iloc[kept].reset_index(drop=True)
        return Rows(X, classes[codes[kept]], n_unseen)


def make_frame(encoding: Encoding, encoded: NDArray[np.float64]) -> Any:
    """A frame of pandas of encoded rows, with numbers and categories."""
    pandas = import_extra("pandas", "cli")
    columns: dict[str, Any] = {}
    for number, (name, treatment) in enumerate(zip(encoding.names, encoding.treatments, strict=True)):
        own = encoded[:, encoding.features_of(number)]
        if isinstance(treatment, OneHot):
            is_there = (own == 1.0).any(axis=1)
            codes = np.full(len(own), -1)
            codes[is_there] = own[is_there].argmax(axis=1)
            columns[name] = pandas.Categorical.from_codes(codes, list(treatment.categories))
        else:
            columns[name] = own[:, 0]
    return pandas.DataFrame(columns)
