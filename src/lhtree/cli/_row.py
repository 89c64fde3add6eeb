"""One row for a model: of a table, as typed (``--values size=3 --values colour=red``), or both."""

from __future__ import annotations

import math
from collections.abc import Iterable, Sequence
from typing import Any

from .._extras import import_extra
from ._align import Aligner, tell_unseen
from ._errors import ExitCode, Problem
from ._names import find_named, find_nearest
from ._source import Reading
from ._stream import open_stream
from ._values import MISSING, read_numbers

Row = dict[str, Any]  # values by column; None is missing


def read_row(data: str, model: Any, row: int | None, how: Reading, *, unseen: str, quiet: bool) -> Row:
    """A row of a table; nothing beyond it has to be sound. Without a number the table must have one row only."""
    if row is not None and row < 0:
        raise Problem(f"--row {row}: rows count from 0", ExitCode.USAGE)
    with open_stream(data, how) as stream:
        aligner = Aligner(model, stream, unseen)
        one = None
        for batch in stream.batches(dict.fromkeys(aligner.columns)):
            if row is None and (one is not None or batch.num_rows > 1):
                raise Problem(f"{stream.name} has more than one row: say which with --row", ExitCode.USAGE)
            at = (row or 0) - stream.n_rows
            if at < batch.num_rows:
                stream.n_rows += at  # for messages about the row
                one = aligner.make_frame(batch.slice(at, 1))
                if row is not None:
                    break
        if one is None:
            raise Problem(
                f"there is no row {row or 0}: {stream.name} has {stream.n_rows}, and they count from 0"
            )
    tell_unseen(aligner.n_unseen, quiet=quiet)
    return {
        name: None if is_missing else one[name].iloc[0] for name, is_missing in one.isna().iloc[0].items()
    }


def complete_row(fitted: Any, told: Row, typed: Sequence[str], decimal: str = ".") -> Row:
    """A value for every column of a model, of which ``fitted`` tells: the typed one, else the table's, else None."""
    if not told and not typed:
        raise Problem("say which row: a table and --row NUMBER, or --values NAME=VALUE", ExitCode.USAGE)
    names = fitted.column_names
    categories = [None] * len(names) if fitted.encoding is None else fitted.encoding.categories
    return dict.fromkeys(names) | told | _parse_values(typed, names, categories, decimal)


def _parse_values(
    typed: Iterable[str], names: Sequence[str], categories: Sequence[Sequence[Any] | None], decimal: str
) -> Row:
    """Values that were typed; ``categories`` has None for a column of numbers."""
    values: Row = {}
    for item in typed:
        name = _find_name(item, names)
        if name in values:
            raise Problem(f"--values gives {name!r} twice: give it once")
        text = item[len(name) + 1 :].strip()
        known = categories[names.index(name)]
        if text in MISSING and text not in map(str, known or ()):
            values[name] = None
        elif known is None:
            values[name] = _parse_number(name, text, decimal)
        else:
            values[name] = find_named(text, known, f"--values: {name!r} has no category")
    return values


def _find_name(item: str, names: Sequence[str]) -> str:
    found = [name for name in names if item.startswith(f"{name}=")]  # a name may hold "=" itself
    if found:
        return max(found, key=len)
    typed, equals, _ = item.partition("=")
    if not equals:
        raise Problem(f"--values {item!r} is not NAME=VALUE: write, for example, --values '{names[0]}=1'")
    raise Problem(f"--values: the model has no column {typed!r}; {find_nearest(typed, names)}")


def _parse_number(name: str, text: str, decimal: str) -> float:
    """A number as it is read of a table."""
    pa = import_extra("pyarrow", "cli")
    given = pa.array([text], pa.string())
    numbers = read_numbers(given, decimal, takes_truths=True)
    if numbers is None:
        is_comma = decimal == "." and read_numbers(given, ",") is not None
        advice = f": write {text.replace(',', '.')}" if is_comma else ""
        raise Problem(f"--values: {name!r} takes a number, and {text!r} is none{advice}")
    if math.isinf(numbers[0]):
        raise Problem(f"--values: {name!r} takes a finite number, or nothing where it is missing")
    return float(numbers[0])
