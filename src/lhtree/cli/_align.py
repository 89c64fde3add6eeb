"""Rows for a model: columns by name, numbers where it takes numbers, categories that it knows."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from .._encode import Encoding
from .._extras import import_extra
from ..model import read
from ..scorer import Scorer
from ._classes import find_classed, match_classes
from ._errors import ExitCode, Problem
from ._errors import reading as reading_file
from ._names import check_known, find_nearest, shorten
from ._show import note
from ._source import Reading
from ._stream import Stream, open_stream
from ._training import check_finite
from ._values import find_kind, find_known, find_text, read_numbers

UNSEEN = ("error", "missing")


def load_scorer(path: str) -> Scorer:
    """Load a model for prediction only."""
    from ..scorer import load_scorer

    with reading_file(path):
        return load_scorer(path)


def take_features(scorer: Scorer) -> Scorer:
    """The same model for what ``Aligner.encode`` gives, which has dealt with its columns and categories."""
    return Scorer(replace(scorer._model, encoding=None, columns=None))


def tell_unseen(n_unseen: Mapping[str, int], *, quiet: bool) -> None:
    """A note on the values that counted as missing."""
    told = ", ".join(f"{n} of column {name!r}" for name, n in n_unseen.items())
    if told:
        note(f"lhtree: values that were not seen in training count as missing: {told}", quiet=quiet)


class Rows(NamedTuple):
    """Rows as a model takes them, their classes if there is a target, and how many values were not seen in training."""

    X: Any  # a frame of pandas
    y: NDArray[Any] | None
    n_unseen: dict[str, int]


class Aligner:
    """Finds the columns of a model in a table and reads them batch by batch."""

    def __init__(self, model: Any, stream: Stream, unseen: str = "error") -> None:
        if unseen not in UNSEEN:
            raise Problem(f"--unseen {unseen} is not valid: pass error or missing", ExitCode.USAGE)
        self._stream, self._unseen = stream, unseen
        self.encoding, has_names = _find_encoding(model)
        self.columns = _find_columns(self.encoding.names, stream, has_names=has_names)
        self.n_unseen: Counter[str] = Counter()  # values that count as missing, by column

    def encode(self, batch: Any) -> NDArray[np.float64]:
        """Features of the rows of a batch, shape (n, m)."""
        encoding = self.encoding
        features = np.zeros((batch.num_rows, encoding.n_features))
        for number, values in enumerate(self._read(batch)):
            own = features[:, encoding.features_of(number)]
            if encoding.categories[number] is None:
                own[:, 0] = values
            else:
                rows = np.flatnonzero(values >= 0)
                own[rows, values[rows]] = 1.0
                own[values < 0] = np.nan
        return features

    def make_frame(self, batch: Any) -> Any:
        """The rows of a batch as a frame of pandas with the model's columns."""
        pandas = import_extra("pandas", "cli")
        columns = {}
        for name, some, values in zip(
            self.encoding.names, self.encoding.categories, self._read(batch), strict=True
        ):
            columns[name] = values if some is None else pandas.Categorical.from_codes(values, list(some))
        return pandas.DataFrame(columns)

    def _read(self, batch: Any) -> Iterator[NDArray[Any]]:
        """Every column of the model: its numbers, or the numbers of its categories, -1 where one is missing."""
        for name, some in zip(self.columns, self.encoding.categories, strict=True):
            values = batch.column(name)
            if find_kind(values) in ("times", "other"):
                raise Problem(
                    f"{self._stream.name}: column {name!r} holds {values.type} where the model takes "
                    f"{'numbers' if some is None else 'text'}: convert it first"
                )
            yield self._read_numbers(name, values) if some is None else self._read_codes(name, values, some)

    def _read_numbers(self, name: str, values: Any) -> NDArray[np.float64]:
        stream = self._stream
        numbers = read_numbers(values, stream.decimal, takes_truths=True)
        if numbers is None:
            row = find_text(values, stream.decimal)
            text = values[row].as_py()
            is_comma = stream.decimal == "." and read_numbers(values.slice(row, 1), ",") is not None
            remedy = "pass --decimal ," if is_comma else "mend the value, or leave it empty if it is unknown"
            where = stream.locate(stream.n_rows + row)
            raise Problem(
                f"{where}: column {name!r} is {shorten(text)} where the model takes numbers: {remedy}"
            )
        check_finite(stream, name, numbers)
        return numbers

    def _read_codes(self, name: str, values: Any, some: Sequence[Any]) -> NDArray[np.int64]:
        found = find_known(values, some)
        if found.is_unknown.any():
            self._take_unseen(name, found.text, found.is_unknown, list(map(str, some)))
        return found.codes

    def _take_unseen(self, name: str, text: Any, is_unseen: NDArray[np.bool_], known: Sequence[str]) -> None:
        n_unseen = int(is_unseen.sum())
        if self._unseen == "error":
            row = int(is_unseen.argmax())
            category = text[row].as_py()
            more = f", and {n_unseen - 1} more of the rows after it" if n_unseen > 1 else ""
            raise Problem(
                f"{self._stream.locate(self._stream.n_rows + row)}: column {name!r} is {shorten(category)}, which was "
                f"not seen in training{more}; {find_nearest(category, known)}. Pass --unseen missing to count such "
                "values as missing"
            )
        self.n_unseen[name] += n_unseen


def read_rows(
    path: str,
    model: Any,
    reading: Reading | None = None,
    *,
    unseen: str = "error",
    target: str | None = None,
    drop_missing_target: bool = False,
) -> Rows:
    """Read a whole table for a model: ``X`` with the model's columns, and ``y`` in the model's classes."""
    with open_stream(path, reading or Reading()) as stream:
        aligner = Aligner(model, stream, unseen)
        if target is not None:
            check_known("--target", [target], stream.names, stream.name)
        wanted = dict.fromkeys([*aligner.columns, *([] if target is None else [target])])
        whole = stream.read_all(wanted).combine_chunks().to_batches()[0]
        X = aligner.make_frame(whole)
        if target is None:
            return Rows(X, None, dict(aligner.n_unseen))
        codes = match_classes(whole.column(target), model.classes_, target)
        rows = find_classed(codes, target, is_dropping=drop_missing_target)
        X = X if len(rows) == len(X) else X.iloc[rows].reset_index(drop=True)
        return Rows(X, model.classes_[codes[rows]], dict(aligner.n_unseen))


def _find_encoding(model: Any) -> tuple[Encoding, bool]:
    """Columns and categories of an estimator or a Scorer, and whether the columns have names."""
    encoding = read(model).encoding
    if isinstance(encoding, Encoding):
        return encoding, True
    names = getattr(model, "feature_names_in_", None)  # an estimator without names lacks it
    n_columns = model.n_features_in_
    told = [f"x{number}" for number in range(n_columns)] if names is None else map(str, names)
    return Encoding(tuple(told), (None,) * n_columns), names is not None


def _find_columns(wanted: Sequence[str], stream: Stream, *, has_names: bool) -> list[str]:
    """The table's names of the model's columns."""
    known = set(stream.names)
    found = [name if name in known else name.strip() for name in wanted]
    lacking = [name for name in found if name not in known]
    if lacking and not has_names:  # fitted with an array: columns in their order
        if len(stream.names) == len(wanted):
            return list(stream.names)
        raise Problem(
            f"{stream.name} has {len(stream.names)} columns and the model {len(wanted)}, which have no names: pass a "
            "table with just these, in their order"
        )
    if lacking:
        more = f" and {len(lacking) - 1} more" if len(lacking) > 1 else ""
        unused = [name for name in stream.names if name not in found] or stream.names
        raise Problem(
            f"{stream.name} lacks the column {lacking[0]!r}{more} of the model; {find_nearest(lacking[0], unused)}"
        )
    return found
