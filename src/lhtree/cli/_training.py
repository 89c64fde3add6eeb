"""Whole tables for training: the types of columns are found from their values."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from .._encode import MOST_CATEGORIES
from .._extras import import_extra
from ._classes import check_classes, find_classed, label_rows, read_classes
from ._errors import Problem
from ._names import check_known, shorten
from ._source import Reading
from ._stream import Stream, open_stream
from ._values import are_dates, clean, find_grouped, find_kind, read_numbers, read_text


class Refused(Problem):
    """A column that cannot be learned from as it is; without it the others can."""


class Training(NamedTuple):
    """A table for training: numbers and categories, the class of every row, and how many rows had none."""

    X: Any  # a frame of pandas
    y: NDArray[Any]
    n_dropped: int


def read_training(
    path: str,
    target: str,
    reading: Reading | None = None,
    *,
    drop: Sequence[str] = (),
    categorical: Sequence[str] = (),
    drop_missing_target: bool = False,
) -> Training:
    """Read a table to train with.

    A column all of whose values are numbers is one of numbers, even if they are written as text; other text is one of
    categories. ``categorical`` names numbers that are categories; columns in ``drop`` are left out.
    """
    with open_stream(path, reading or Reading()) as stream:
        check_known("--target", [target], stream.names, stream.name)
        check_known("--drop", drop, stream.names, stream.name)
        check_known("--categorical", categorical, stream.names, stream.name)
        names = _choose_columns(stream, target, drop)
        table = stream.read_all([target, *names])
        columns = dict(zip(table.column_names, table.columns, strict=True))
        del table  # so that the text of a column is let go when the column is settled
        classes = read_classes(columns.pop(target), target)
        check_classes(classes, target)
        rows = find_classed(classes.codes, target, is_dropping=drop_missing_target)
        settled: dict[str, Any] = {}
        refused: dict[str, Refused] = {}
        for name in names:
            column = _try(stream, name, columns.pop(name), rows, name in categorical)
            (refused if isinstance(column, Refused) else settled)[name] = column
        if refused:
            raise _sum_up(refused)
        X = import_extra("pandas", "cli").DataFrame(settled)
        return Training(X, label_rows(classes), len(classes.codes) - len(rows))


def _sum_up(refused: dict[str, Refused]) -> Problem:
    """What is wrong with the first column, and the options that leave out the others."""
    first, *others = refused
    if not others:
        return refused[first]
    return Problem(f"{refused[first]}. More are refused: {' '.join(f'--drop {name!r}' for name in others)}")


def _choose_columns(stream: Stream, target: str, drop: Sequence[str]) -> list[str]:
    if target in drop:
        raise Problem(f"--drop {target} is the target: leave out one of the two")
    names = [name for name in stream.names if name != target and name not in drop]
    for number, name in enumerate(stream.names, 1):
        if name == f"#{number}" and name in names:
            raise Problem(
                f"{stream.name}: column {number} has no name: give it one in the header, or leave it out with "
                f"--drop '{name}'"
            )
    if not names:
        raise Problem(f"{stream.name} has no column beside the target: pass at least one to learn from")
    return names


def _try(stream: Stream, name: str, values: Any, rows: NDArray[np.int64], is_category: bool) -> Any:
    """A column settled, or why it is refused."""
    try:
        return _settle(stream, name, values, rows, is_category)
    except Refused as problem:
        return problem


def _settle(stream: Stream, name: str, values: Any, rows: NDArray[np.int64], is_category: bool) -> Any:
    """A column as an array of numbers or as a categorical of pandas, of the rows that are kept."""
    kind = find_kind(values)
    if kind in ("times", "other"):
        raise Refused(
            f"{stream.name}: column {name!r} holds {values.type}, neither numbers nor text: leave it out with "
            f"--drop {name!r}, or turn it into numbers first"
        )
    numbers = None if is_category else read_numbers(values, stream.decimal)
    if numbers is None:
        return _categorise(stream, name, values, rows, is_category)
    check_finite(stream, name, numbers)
    return numbers[rows]


def check_finite(stream: Stream, name: str, numbers: NDArray[np.float64]) -> None:
    """Refuse infinities, with their place."""
    is_infinite = np.isinf(numbers)
    if is_infinite.any():
        where = stream.locate(stream.n_rows + int(is_infinite.argmax()))
        raise Problem(
            f"{where}: column {name!r} is infinite: leave the value empty if it is unknown, or cap it"
        )


def _categorise(stream: Stream, name: str, values: Any, rows: NDArray[np.int64], is_category: bool) -> Any:
    pa, pandas = import_extra("pyarrow", "cli"), import_extra("pandas", "cli")
    text = clean(read_text(values))
    encoded = (text.combine_chunks() if isinstance(text, pa.ChunkedArray) else text).dictionary_encode()
    example = shorten(encoded.dictionary[0].as_py()) if len(encoded.dictionary) else None
    remedy = f"leave it out with --drop {name!r}"
    if not is_category:
        has_commas = stream.decimal == "." and read_numbers(encoded.dictionary, ",") is not None
        grouped = find_grouped(encoded.dictionary, stream.decimal)
        if grouped is not None:
            raise Problem(
                f"{stream.name}: column {name!r} holds numbers with signs between thousands, such as {grouped!r}: "
                f"write them without{', pass --decimal , if that is a decimal comma,' if has_commas else ''} "
                f"or pass --categorical {name!r}"
            )
        if has_commas:
            raise Problem(
                f"{stream.name}: column {name!r} holds numbers with decimal commas, such as "
                f"{example}: pass --decimal , or --categorical {name!r}"
            )
        if are_dates(encoded.dictionary):
            raise Refused(
                f"{stream.name}: column {name!r} holds dates or times, such as {example}: "
                f"{remedy}, or turn it into numbers first"
            )
    if len(encoded.dictionary) > MOST_CATEGORIES:
        raise Refused(
            f"{stream.name}: column {name!r} has {len(encoded.dictionary)} different texts, such as "
            f"{example}, and at most {MOST_CATEGORIES} categories can be learned: {remedy}, or "
            "merge rare ones"
        )
    categories = encoded.dictionary.to_pylist()
    order = sorted(range(len(categories)), key=categories.__getitem__)
    place = np.empty(len(categories) + 1, dtype=np.int16)
    place[order], place[-1] = np.arange(len(categories)), -1
    codes = place[encoded.indices.fill_null(-1).to_numpy()[rows]]
    return pandas.Categorical.from_codes(codes, [categories[i] for i in order])
