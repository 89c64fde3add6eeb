"""Training tables and tables for a model from files: whole, or in batches."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from .._extras import import_extra
from ..tables.columns import Refusal, refuse_columns
from ..tables.encoders import UNSEEN_LEVEL, Dates, Levels, make_dates
from ..tables.encoding import Encoding
from ..tables.errors import OptionError, ReadError, TableError, check_known
from .fields import FileColumn, FileRows, Spelling
from .source import Reading
from .streams import Stream, open_stream
from .target import (
    Classes,
    check_classes,
    choose_task,
    find_complete,
    find_known,
    label_rows,
    match_classes,
    read_classes,
    read_groups,
    read_response,
    read_responses,
)


class TrainingTable(NamedTuple):
    """A training table: numbers and categories, the class or response of every row, and how many rows had none."""

    X: Any  # a frame of pandas
    y: NDArray[Any]  # float64 if it is to be predicted as a number; classes are integers or text
    n_dropped: int

    def take_responses(self, targets: Sequence[str], rows: Any = slice(None)) -> Any:
        """Return the classes or responses of some rows; several responses as a frame with the names of the columns."""
        y = self.y[rows]
        return y if y.ndim == 1 else import_extra("pandas", "cli").DataFrame(y, columns=list(targets))

    @property
    def names(self) -> list[str]:
        """The columns."""
        return list(self.X.columns)

    @property
    def as_categories(self) -> set[str]:
        """The columns that hold categories."""
        return {name for name, dtype in self.X.dtypes.items() if dtype.name == "category"}

    @property
    def task(self) -> str:
        """The task: "classification" or "regression"."""
        return "regression" if self.y.dtype.kind == "f" else "classification"


class RowsTable(NamedTuple):
    """Rows for a model, their targets if given, and the number of values that were not seen in training."""

    X: Any  # a frame of pandas
    y: NDArray[Any] | None
    n_unseen: Counter[str]
    groups: dict[str, NDArray[Any]]  # text by column; None where it is missing
    n_dropped: int = 0  # rows without a target


def read_training(
    path: str,
    target: str | Sequence[str],
    reading: Reading | None = None,
    *,
    drop: Sequence[str] = (),
    categorical: Sequence[str] = (),
    drop_missing_target: bool = False,
    task: str | None = None,
) -> TrainingTable:
    """Read a training table; ``task`` is "classification" or "regression", None to go by the target.

    Several targets are responses.

    A column all of whose values are numbers or truth values is one of numbers, even if they are written as text; other
    text is one of categories. ``categorical`` names numbers that are categories; columns in ``drop`` are left out.
    """
    with open_stream(path, reading or Reading()) as stream:
        targets = [target] if isinstance(target, str) else list(target)
        for option, wanted in (("target", targets), ("drop", drop), ("categorical", categorical)):
            check_known(option, wanted, stream.names, stream.name)
        names = choose_columns(stream, targets, drop)
        rows = stream.read_all([*targets, *names])
        known, label = _read_targets(rows, targets) if targets[1:] else _read_target(rows, targets[0], task)
        columns = {name: rows.column(name) for name in names}
        del rows  # so that the text of a column is let go when the column is settled
        kept = find_known(known, ", ".join(targets), is_dropping=drop_missing_target)
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
        return TrainingTable(X, label, len(known) - len(kept))


def _read_targets(rows: FileRows, targets: Sequence[str]) -> tuple[NDArray[np.bool_], NDArray[Any]]:
    """Return which rows have all of several responses, and these."""
    responses = read_responses(rows, targets)
    known = find_complete(responses)
    if not known.any():
        raise OptionError(
            "target",
            ", ".join(targets),
            "are not known together in any row: pass other columns",
            is_usage=False,
        )
    return known, responses[known]


def _read_target(rows: FileRows, target: str, task: str | None) -> tuple[NDArray[np.bool_], NDArray[Any]]:
    """Return which rows have a target, and their targets."""
    classes = Classes([], np.empty(0, dtype=np.int64)) if task == "regression" else read_classes(rows, target)
    are_numbers = rows.column(target).kind == "numbers"
    return find_labels(classes, are_numbers, lambda: read_response(rows, target), target, task)


def find_labels(
    classes: Classes,
    are_numbers: bool,
    read: Callable[[], NDArray[np.float64]],
    target: str,
    task: str | None,
) -> tuple[NDArray[np.bool_], NDArray[Any]]:
    """Return which rows have a target, and their targets; ``read`` returns the responses.

    What to predict is for the task to say, else for the values of the target.
    """
    response = np.empty(0)
    if task == "regression" or (task is None and are_numbers and classes.may_be_numbers):
        response = read()
        task = task or choose_task(response, classes)
    if task == "regression":
        known = ~np.isnan(response)
        if not known.any():
            raise OptionError(
                "target", target, "is missing in every row: pass another column", is_usage=False
            )
        return known, response[known]
    check_classes(classes, target)
    return classes.codes >= 0, label_rows(classes)


def choose_columns(stream: Stream, targets: Sequence[str], drop: Sequence[str]) -> list[str]:
    """Return the columns to learn from: all but the targets and those to drop."""
    for target in targets:
        if target in drop:
            raise OptionError("drop", target, "is the target column: do not drop it", is_usage=False)
    names = [name for name in stream.names if name not in targets and name not in drop]
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
    """Return the kept rows of a column as a numeric array or a pandas Categorical; or the refusal."""
    refusal = column.find_refusal(is_category=is_category)
    if refusal is not None:
        return refusal
    if column.kind == "numbers" and not is_category:
        return column.numbers()[kept]
    if column.kind == "dates" and not is_category:
        return make_dates(column.days()[kept])
    codes, categories = column.categories()
    texts = [str(category) for category in categories]
    order = sorted(range(len(texts)), key=texts.__getitem__)
    rank = np.empty(len(texts) + 1, dtype=np.int64)
    rank[order], rank[-1] = np.arange(len(texts)), -1
    return import_extra("pandas", "cli").Categorical.from_codes(rank[codes[kept]], [texts[i] for i in order])


def read_rows(
    path: str,
    encoding: Encoding,
    classes: NDArray[Any] | None,
    reading: Reading | None = None,
    *,
    unseen: str = "error",
    target: str | Sequence[str] | None = None,
    drop_missing_target: bool = False,
    groups: Sequence[str] = (),
    keeps_unseen: bool = False,
) -> RowsTable:
    """Read a whole table for a model of that encoding: ``X`` with its columns, and ``y`` in its classes.

    ``classes`` is None for a model that predicts a number; ``groups`` are further columns to read as text. With
    ``keeps_unseen``, categories that the model does not know stay in the table.
    """
    n_unseen: Counter[str] = Counter()
    with open_stream(path, reading or Reading()) as stream:
        columns = encoding.find_columns(stream.names, stream.name)
        targets = [target] if isinstance(target, str) else list(target or ())
        check_known("target", targets, stream.names, stream.name)
        check_known("by", groups, stream.names, stream.name)
        rows = stream.read_all(dict.fromkeys([*columns, *targets, *groups]))
        others = {name: read_groups(rows, name) for name in groups}
        X = make_frame(encoding, encoding.encode(rows.select(columns), unseen=unseen, n_unseen=n_unseen))
        if keeps_unseen:
            X = X.assign(**{name: read_groups(rows, name) for name, n in n_unseen.items() if n})
        if not targets:
            return RowsTable(X, None, n_unseen, others)
        if classes is None:
            y = read_responses(rows, targets)
            known = find_complete(y)
        else:
            codes = match_classes(rows, targets[0], classes)
            known, y = codes >= 0, classes[codes]
        kept = find_known(known, ", ".join(targets), is_dropping=drop_missing_target)
        n_dropped = len(X) - len(kept)
        X = X.iloc[kept].reset_index(drop=True) if n_dropped else X
        return RowsTable(X, y[kept], n_unseen, {name: own[kept] for name, own in others.items()}, n_dropped)


def make_frame(encoding: Encoding, encoded: NDArray[np.float64]) -> Any:
    """Return encoded rows as a pandas frame, with numbers and categories."""
    pandas = import_extra("pandas", "cli")
    columns: dict[str, Any] = {}
    for number, (name, encoder) in enumerate(zip(encoding.names, encoding.encoders, strict=True)):
        own = encoded[:, encoding.features_of(number)]
        if isinstance(encoder, Levels):
            codes, known = encoder.recall(own), list(encoder.categories)
            known += [UNSEEN_LEVEL] if len(codes) and codes.max() == len(known) else []
            columns[name] = pandas.Categorical.from_codes(codes, known)
        elif isinstance(encoder, Dates):
            columns[name] = make_dates(encoder.read_days(own))
        else:
            columns[name] = own[:, 0] if own.shape[1] else np.full(len(own), np.nan)
    return pandas.DataFrame(columns)


class FilePasses:
    """A training table in a file, read in batches.

    Creating it reads the file once: the target, and columns of text, which may hold numbers. Every later pass reads
    the target again, and fails if it differs: the file was changed. Parameters are those of ``read_training``.
    """

    def __init__(
        self,
        path: str,
        target: str,
        reading: Reading | None = None,
        *,
        drop: Sequence[str] = (),
        categorical: Sequence[str] = (),
        drop_missing_target: bool = False,
        task: str | None = None,
        weight: str | None = None,
        batch_rows: int | None = None,
    ) -> None:
        self.path, self._reading, self._batch_rows = path, reading or Reading(), batch_rows
        self._target, self._weight = target, weight
        labels, kinds = _TargetReader(target, task), _KindReader(categorical)
        with open_stream(path, self._reading) as stream:
            given = {"target": [target], "drop": drop, "categorical": categorical}
            given["sample_weight"] = [] if weight is None else [weight]
            for option, wanted in given.items():
                check_known(option, wanted, stream.names, stream.name)
            self.names = choose_columns(stream, [target], [*drop, *given["sample_weight"]])
            texts = [name for name in self.names if name not in categorical and stream.is_text(name)]
            for rows in stream.batches([target, *texts], batch_rows):
                labels.add(rows)
                kinds.add(rows, texts)
        known, self.y = labels.finish()
        self._n_given = len(known)
        kept = find_known(known, target, is_dropping=drop_missing_target)
        self.n_rows, self.n_dropped = len(kept), len(known) - len(kept)
        self._known = None if not self.n_dropped else known
        self.as_categories = kinds.finish()

    @property
    def task(self) -> str:
        """The task: "classification" or "regression"."""
        return "regression" if self.y.dtype.kind == "f" else "classification"

    def batches(self) -> Iterator[tuple[FileRows, NDArray[Any], NDArray[np.float64] | None]]:
        """Yield batches of rows whose target is known, with their targets and weights."""
        n_read = first = 0
        weight_name = [] if self._weight is None else [self._weight]
        for rows in self._read(list(dict.fromkeys([*self.names, self._target, *weight_name]))):
            n_rows = len(rows)
            if n_read + n_rows > self._n_given:
                raise self._refuse_change("more")
            is_known, labels = self._read_labels(rows)
            was_known = True if self._known is None else self._known[n_read : n_read + n_rows]
            last = first + len(labels)
            if (is_known != was_known).any() or not np.array_equal(labels, self.y[first:last]):
                raise self._refuse_change("others")
            if self._known is not None:
                rows = rows.filter(is_known)
            weight = None if self._weight is None else rows.column(self._weight).numbers()
            yield rows.select(self.names), labels, weight
            n_read, first = n_read + n_rows, last
        if n_read < self._n_given:
            raise self._refuse_change(f"{n_read:,}")

    def _read_labels(self, rows: FileRows) -> tuple[NDArray[np.bool_], NDArray[Any]]:
        """Return which rows have a target, and their targets, as in the file now."""
        if self.task == "regression":
            response = read_response(rows, self._target)
            is_known = ~np.isnan(response)
            return is_known, response[is_known]
        classes = read_classes(rows, self._target)
        return classes.codes >= 0, label_rows(classes, as_text=self.y.dtype.kind == "O")

    def _refuse_change(self, n_rows: str) -> ReadError:
        return ReadError(
            f"{self.path} was changed while it was read: it had {self._n_given:,} rows in the first pass and {n_rows} "
            "in a later one: fit again when nothing writes to it"
        )

    def _read(self, columns: Sequence[str]) -> Iterator[FileRows]:
        with open_stream(self.path, self._reading) as stream:
            if not set(columns) <= set(stream.names):
                raise self._refuse_change("other columns")
            yield from stream.batches(columns, self._batch_rows)


class _TargetReader:
    """Reads the target of a file batch by batch."""

    def __init__(self, target: str, task: str | None) -> None:
        self._target, self._task = target, task
        self._are_numbers = True
        self._classes: list[Classes] = []
        self._responses: list[NDArray[np.float64]] = []

    def add(self, rows: FileRows) -> None:
        """Read the target of some rows: its classes, and its numbers as long as they may be the response."""
        if self._task != "regression":
            self._are_numbers = self._are_numbers and rows.column(self._target).kind == "numbers"
            self._classes.append(read_classes(rows, self._target))
        if self._task == "regression" or (self._task is None and self._are_numbers):
            self._responses.append(read_response(rows, self._target))

    def finish(self) -> tuple[NDArray[np.bool_], NDArray[Any]]:
        """Return which rows have a target, and their targets."""
        classes = Classes.join(self._classes)
        responses = self._responses
        return find_labels(
            classes, self._are_numbers, lambda: np.concatenate(responses), self._target, self._task
        )


class _KindReader:
    """Finds the columns of text that hold categories."""

    def __init__(self, wanted: Sequence[str]) -> None:
        self._wanted = set(wanted)
        self._columns: dict[str, FileColumn] = {}  # the first part of each
        self._spellings: dict[str, Spelling] = {}

    def add(self, rows: FileRows, names: Sequence[str]) -> None:
        """Look at some columns of text."""
        for name in names:
            column = rows.column(name)
            self._columns.setdefault(name, column)
            self._spellings[name] = self._spellings.get(name, Spelling()).merge(column.spelling)

    def finish(self) -> set[str]:
        """Return the columns of categories; raise an error for misspelt numbers and dates."""
        found = [self._columns[name].refuse_spelling(own) for name, own in self._spellings.items()]
        refused = [refusal for refusal in found if refusal is not None]
        if refused:
            raise refuse_columns(refused)
        return self._wanted | {name for name, own in self._spellings.items() if own.kind == "categories"}
