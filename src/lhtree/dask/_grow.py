"""Trees of a forest on workers: a task per group of trees, to which their rows are gathered."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ..grow.forest import Draw, Labels, Plan, draw, grow_drawn
from ..tables.rows import Encoded, join_rows
from ._client import fetch
from ._rows import Rows, WorkerRows, keep, take

_GROUPS_PER_THREAD = 2  # so that no worker waits long for the last one
SMALL = 1 << 23  # values of a table that every worker gets whole, which takes fewer tasks

Given = tuple[Labels, Plan, Rows | None]  # and the numbers of the rows in the table
Trees = Sequence[tuple[int, float]]  # number and beta of each


def grow_on_workers(
    X: WorkerRows,
    labels: Labels,
    plan: Plan,
    first_tree: int,
    betas: NDArray[np.float64],
    progress: Callable[[float], None] | None,
) -> list[dict[str, Any]]:
    """Grow trees, numbered from ``first_tree``, one per target for each beta; what the core gives for each."""
    session = X.session
    given = session.submit(keep, (labels, plan, X.row))
    n_threads = sum(session.client.nthreads().values()) or 1
    groups = np.array_split(np.arange(len(betas)), min(len(betas), _GROUPS_PER_THREAD * n_threads))
    is_small = X.shape[0] * X.shape[1] <= SMALL
    joined = session.submit(join_rows, X.map(take)) if is_small else None
    futures = []
    for group in groups:
        trees = [(first_tree + int(i), float(betas[i])) for i in group]
        if joined is not None:
            futures.append(session.submit(_grow_small, joined, given, trees))
            continue
        drawn = session.submit(_draw, given, trees)
        rows = [
            session.submit(_take_drawn, part, drawn, int(X.first[i]), int(X.first[i + 1]))
            for i, part in enumerate(X.parts)
        ]
        futures.append(session.submit(_grow, rows, given, drawn))
    grown: list[dict[str, Any]] = []
    for future in futures:
        grown += fetch(session, [future])[0]
        if progress is not None:
            progress(len(grown) * (1 if plan.is_joint else len(labels.targets)))
    return grown


def _grow_small(X: Encoded, given: Given, trees: Trees) -> list[dict[str, Any]]:
    """Grow a group of trees from all rows."""
    labels, plan, _ = given
    draws = [draw(labels, plan, tree, beta) for tree, beta in trees]
    return [_grow_one(X if one.rows is None else X[one.rows], labels, plan, one) for one in draws]


def _draw(given: Given, trees: Trees) -> tuple[list[Draw], Rows]:
    """The draws of a group of trees, and the rows of the table that one of them needs, ascending."""
    labels, plan, row = given
    draws = [draw(labels, plan, tree, beta) for tree, beta in trees]
    if draws[0].rows is None:
        needed = np.arange(len(labels.codes))
    else:
        is_needed = np.zeros(len(labels.codes), dtype=bool)
        for one in draws:
            is_needed[one.rows] = True
        needed = np.flatnonzero(is_needed)
    return draws, needed if row is None else row[needed]


def _take_drawn(part: Encoded, drawn: tuple[list[Draw], Rows], first: int, last: int) -> Encoded:
    """The rows of a part that a group of trees needs."""
    needed = drawn[1]
    begin, end = np.searchsorted(needed, (first, last))
    return take(part, needed[begin:end] - first)


def _grow(rows: list[Encoded], given: Given, drawn: tuple[list[Draw], Rows]) -> list[dict[str, Any]]:
    """Grow a group of trees from the rows that they need."""
    (labels, plan, row), (draws, needed) = given, drawn
    X = join_rows(rows)
    place = needed if row is None else np.searchsorted(row, needed)  # as draws number them
    return [
        _grow_one(X if one.rows is None else X[np.searchsorted(place, one.rows)], labels, plan, one)
        for one in draws
    ]


def _grow_one(X: Encoded, labels: Labels, plan: Plan, drawn: Draw) -> dict[str, Any]:
    arrays = grow_drawn(X, labels, plan, drawn, 1)
    assert arrays is not None  # infinities were refused before
    return arrays
