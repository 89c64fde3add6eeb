"""Encoded rows on Dask workers: the steps of a fit that need all rows are tasks on the workers that have them."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ..grow.forest import Draw, ForestPlan, draw, grow_drawn
from ..grow.labels import Progress
from ..grow.sources import (
    Coding,
    Floats,
    Hold,
    LeftOut,
    LeftOutSums,
    Levels,
    MemoryRows,
    RowSource,
    Sample,
    code_rows,
    find_left_out,
    find_summary_span,
)
from ..model.model import Model
from ..tables.encoding import Encoding
from ..tables.learn import TableSummary
from ..tables.normalise import Span
from ..tables.rows import EncodedRows, join_results, sample_rows
from ..tables.statistics import (
    Statistics,
    draw_folds,
    drop_numbers,
    place_statistics,
    read_indicators,
    read_levels,
)
from ._client import Session, fetch
from ._exchange import Coded, CommonFacts, Exchange

RowNumbers = NDArray[np.int64]

_GROUPS_PER_THREAD = 2  # so that no worker waits long for the last one
SMALL = 1 << 23  # values of a table that every worker gets whole, which takes fewer tasks

GrowFacts = tuple[ForestPlan, RowNumbers | None]  # and the numbers of the rows in the table
TreeNumbers = Sequence[tuple[int, float]]  # number and beta of each tree


class WorkerRows(RowSource):
    """Rows of a table, or some of them, in parts on workers.

    Parameters
    ----------
    session : Session
        The session of the fit.
    parts : list of Future
        Encoded rows, in their order.
    first : array of shape (n_parts + 1,)
        Number of the first row of every part, and of all rows.
    summary : TableSummary
        Summary of the columns.
    numbers : Encoding
        With numbers of categories in place of target statistics.
    encoding : Encoding, optional
        The encoding of the rows; None: ``numbers``.
    statistics : dict, optional
        Target statistics by column.
    row : array of shape (n,), optional
        Numbers of the rows that are used, ascending; None: all.
    """

    def __init__(
        self,
        session: Session,
        parts: list[Any],
        first: RowNumbers,
        summary: TableSummary,
        numbers: Encoding,
        encoding: Encoding | None = None,
        statistics: dict[int, Statistics] | None = None,
        row: RowNumbers | None = None,
    ) -> None:
        self.session, self.parts, self.first, self.row = session, parts, first, row
        self._summary, self._numbers, self._encoding = summary, numbers, encoding or numbers
        self._statistics = statistics or {}
        self.n_features = self._encoding.n_features

    def __len__(self) -> int:
        return int(self.first[-1]) if self.row is None else len(self.row)

    def __getitem__(self, rows: NDArray[Any]) -> WorkerRows:
        places = np.flatnonzero(rows) if rows.dtype == bool else rows.astype(np.int64)
        row = places if self.row is None else self.row[places]
        known = self._summary, self._numbers, self._encoding, self._statistics
        return WorkerRows(self.session, self.parts, self.first, *known, row)

    def divide(self) -> Iterator[tuple[int, RowNumbers | None]]:
        """Yield every part that has some of the rows, and which; None means all."""
        if self.row is None:
            yield from (
                (part, None) for part in range(len(self.parts)) if self.first[part] < self.first[part + 1]
            )
            return
        cuts = np.searchsorted(self.row, self.first)
        for part in range(len(self.parts)):
            own = self.row[cuts[part] : cuts[part + 1]] - self.first[part]
            if len(own):
                yield part, own

    def divide_rows(self) -> Iterator[tuple[int, RowNumbers | None, slice]]:
        """Yield every part that has some of the rows, which, and their places among all rows."""
        first = 0
        for part, rows in self.divide():
            n_rows = int(self.first[part + 1] - self.first[part]) if rows is None else len(rows)
            yield part, rows, slice(first, first + n_rows)
            first += n_rows

    def map(self, function: Callable[..., Any], *given: Any) -> list[Any]:
        """Return futures of a function of the rows of every part that has some; ``given`` are its further arguments."""
        submit = self.session.submit
        return [submit(function, self.parts[part], own, *given) for part, own in self.divide()]

    def load(self) -> EncodedRows:
        """Return all rows in memory."""
        return EncodedRows.join(fetch(self.session, self.map(take)))

    def sample(self, seed: int) -> Sample:
        """Return all rows, or some of many, in memory."""
        rows = sample_rows(len(self), seed)
        return Sample((self if rows is None else self[rows]).load(), rows)

    def find_span(self) -> Span:
        """Return ranges of all features, from the summary of the columns."""
        return find_summary_span(self._summary, self._numbers, self._encoding, self._statistics)

    def read_indicators(self, encoding: Encoding) -> NDArray[Any]:
        """Return all indicators of missing values."""
        return np.concatenate(fetch(self.session, self.map(_read_indicators, encoding)))

    def drop_indicators(self, before: Encoding, after: Encoding) -> RowSource:
        """Return the rows without some indicators."""
        parts = [self.session.submit(drop_numbers, before, after, part) for part in self.parts]
        return WorkerRows(self.session, parts, self.first, self._summary, after, row=self.row)

    def read_levels(self, numbers: Encoding) -> Iterator[tuple[int, Levels]]:
        """Yield all rows as one part."""
        yield 0, self.keep_levels(numbers)

    def keep_levels(self, numbers: Encoding) -> Levels:
        """Return numbers of the categories of all rows, on the client."""
        found: list[Levels] = fetch(self.session, self.map(_read_levels, numbers))
        return {column: np.concatenate([part[column] for part in found]) for column in numbers.counted}

    def place_statistics(
        self, numbers: Encoding, encoding: Encoding, learned: dict[int, Statistics]
    ) -> RowSource:
        """Return the rows with target statistics."""
        given = self.session.submit(keep, (numbers, encoding, learned))
        folds = np.zeros(self.first[-1], dtype=np.int64)  # rows without weight are not used
        folds[slice(None) if self.row is None else self.row] = draw_folds(len(self))
        parts = [
            self.session.submit(_place, part, given, folds[self.first[i] : self.first[i + 1]])
            for i, part in enumerate(self.parts)
        ]
        known = self._summary, numbers, encoding, learned
        return WorkerRows(self.session, parts, self.first, *known, self.row)

    def score(self, model: Model, method: str, n_threads: int) -> Any:
        """Return the result of a method of the model's scorer."""
        given = self.session.submit(keep, model)
        return join_results(fetch(self.session, self.map(_score, given, method)))

    def grow(
        self, plan: ForestPlan, first_tree: int, betas: Floats, n_threads: int, progress: Progress
    ) -> list[dict[str, Any]]:
        """Grow groups of trees on the workers, to which their rows are gathered."""
        session = self.session
        given = session.submit(keep, (plan, self.row))
        n_groups = _GROUPS_PER_THREAD * (sum(session.client.nthreads().values()) or 1)
        groups = np.array_split(np.arange(len(betas)), min(len(betas), n_groups))
        is_small = self.shape[0] * self.shape[1] <= SMALL
        joined = session.submit(EncodedRows.join, self.map(take)) if is_small else None
        futures = []
        for group in groups:
            trees = [(first_tree + int(i), float(betas[i])) for i in group]
            if joined is not None:
                futures.append(session.submit(_grow_small, joined, given, trees))
                continue
            drawn = session.submit(_draw, given, trees)
            rows = [
                session.submit(_take_drawn, part, drawn, int(self.first[i]), int(self.first[i + 1]))
                for i, part in enumerate(self.parts)
            ]
            futures.append(session.submit(_grow, rows, given, drawn))
        grown: list[dict[str, Any]] = []
        for future in futures:
            grown += fetch(session, [future])[0]
            if progress is not None:
                progress(len(grown) * (1 if plan.shares_classes else len(plan.labels.targets)))
        return grown

    def sum_left_out(
        self, model: Model, codes: NDArray[np.int32], n_threads: int, mean: float = 0.0, unit: float = 1.0
    ) -> LeftOutSums:
        """Return sums over the estimators that did not see a row."""
        given = self.session.submit(keep, model)
        drawn = list(find_left_out(model, codes))
        numbers, futures = [number for number, _ in drawn], []
        for part, rows, some in self.divide_rows():
            bits = np.array([np.packbits(left_out[some]) for _, left_out in drawn], dtype=np.uint8)
            n_rows = some.stop - some.start
            task = self.parts[part], rows, given, numbers, bits, n_rows, mean, unit
            futures.append(self.session.submit(_sum_part, *task))
        found = fetch(self.session, futures)
        wolf, membership, n_trees = map(np.concatenate, zip(*found, strict=True))
        return wolf, membership, n_trees

    @contextmanager
    def code(self, how: Coding) -> Iterator[Hold]:
        """Code the rows where they are."""
        assert how.more is None  # a validation set is given with rows in memory only
        levels = self._encoding.levels

        def hold(objective: dict[str, Any], labels: dict[str, Any]) -> Any:
            coded = levels if levels.any() else None
            shared = CommonFacts(how.bins.arrays(), *how.normalisation, coded, objective)
            given = self.session.submit(keep, shared)
            return Exchange(self.session, self._code_parts(given, labels), given)

        yield hold

    def _code_parts(self, given: Any, labels: dict[str, Any]) -> list[Any]:
        """Return futures of the codes and labels of every part."""
        if "classes" in labels and labels["classes"].max(initial=0) < 256:  # sent as a byte each
            labels = labels | {"classes": labels["classes"].astype(np.uint8)}
        futures = []
        for part, rows, some in self.divide_rows():
            own = {name: None if values is None else values[some] for name, values in labels.items()}
            futures.append(self.session.submit(_code, self.parts[part], rows, given, own, some.start))
        return futures


def keep(value: Any) -> Any:
    """Make a value the result of a task, so that it is sent once and can be computed again."""
    return value


def take(part: EncodedRows, rows: RowNumbers | None) -> EncodedRows:
    """Return some rows of a part, aligned: arrays that were sent between workers may not be."""
    is_aligned = part.numbers.flags.aligned and part.codes.flags.aligned
    return part if rows is None and is_aligned else part[np.arange(len(part)) if rows is None else rows]


def _score(part: EncodedRows, rows: RowNumbers | None, model: Model, method: str) -> Any:
    return MemoryRows(take(part, rows)).score(model, method, 1)


def _read_indicators(part: EncodedRows, rows: RowNumbers | None, encoding: Encoding) -> NDArray[Any]:
    return read_indicators(encoding, take(part, rows))


def _read_levels(part: EncodedRows, rows: RowNumbers | None, numbers: Encoding) -> Levels:
    return read_levels(numbers, take(part, rows))


def _place(
    part: EncodedRows, given: tuple[Encoding, Encoding, dict[int, Statistics]], fold: NDArray[np.int64]
) -> EncodedRows:
    numbers, encoding, learned = given
    return place_statistics(numbers, encoding, part, learned, fold)


def _code(
    part: EncodedRows,
    rows: RowNumbers | None,
    given: CommonFacts,
    labels: dict[str, NDArray[Any] | None],
    first: int,
) -> Coded:
    classes = labels.get("classes")
    if classes is not None:
        labels = labels | {"classes": classes.astype(np.int32)}
    return Coded(code_rows(given.make_bins(), take(part, rows)), labels, first)


def _sum_part(
    part: EncodedRows,
    rows: RowNumbers | None,
    model: Model,
    numbers: list[int],
    bits: NDArray[np.uint8],
    n_rows: int,
    mean: float,
    unit: float,
) -> LeftOutSums:
    left_out: list[LeftOut] = [
        (number, np.unpackbits(own, count=n_rows).astype(bool))
        for number, own in zip(numbers, bits, strict=True)
    ]
    return model.sum_left_out(take(part, rows), left_out, mean, unit)


def _grow_small(X: EncodedRows, given: GrowFacts, trees: TreeNumbers) -> list[dict[str, Any]]:
    """Grow a group of trees from all rows."""
    plan, _ = given
    draws = [draw(plan, tree, beta) for tree, beta in trees]
    return [grow_drawn(X if one.rows is None else X[one.rows], plan, one) for one in draws]


def _draw(given: GrowFacts, trees: TreeNumbers) -> tuple[list[Draw], RowNumbers]:
    """Return the draws of a group of trees, and the rows of the table that one of them needs, ascending."""
    plan, row = given
    draws = [draw(plan, tree, beta) for tree, beta in trees]
    n_rows = len(plan.labels.codes)
    if draws[0].rows is None:
        needed = np.arange(n_rows)
    else:
        is_needed = np.zeros(n_rows, dtype=bool)
        for one in draws:
            is_needed[one.rows] = True
        needed = np.flatnonzero(is_needed)
    return draws, needed if row is None else row[needed]


def _take_drawn(
    part: EncodedRows, drawn: tuple[list[Draw], RowNumbers], first: int, last: int
) -> EncodedRows:
    """Return the rows of a part that a group of trees needs."""
    needed = drawn[1]
    begin, end = np.searchsorted(needed, (first, last))
    return take(part, needed[begin:end] - first)


def _grow(
    rows: list[EncodedRows], given: GrowFacts, drawn: tuple[list[Draw], RowNumbers]
) -> list[dict[str, Any]]:
    """Grow a group of trees from the rows that they need."""
    (plan, row), (draws, needed) = given, drawn
    X = EncodedRows.join(rows)
    place = needed if row is None else np.searchsorted(row, needed)  # as draws number them
    return [
        grow_drawn(X if one.rows is None else X[np.searchsorted(place, one.rows)], plan, one) for one in draws
    ]
