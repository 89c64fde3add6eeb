"""Forests of a table that is read in batches: the rows of all trees in one pass."""

from __future__ import annotations

from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from itertools import count
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ..model.model import Model
from .drawn import Draw, Labels, Plan, draw, draw_again, grow_drawn
from .passes import StreamedRows
from .pilot import Progress


def grow_streamed(
    X: StreamedRows,
    n_threads: int,
    labels: Labels,
    plan: Plan,
    first_tree: int,
    betas: NDArray[np.float64],
    progress: Progress,
) -> list[dict[str, Any]]:
    """Draw the rows of all trees, read them in one pass, and grow the trees from them."""
    draws = [draw(labels, plan, first_tree + number, float(beta)) for number, beta in enumerate(betas)]
    every = np.arange(len(X)) if plan.counts is None else np.empty(0, dtype=np.int64)
    needed = np.unique(np.concatenate([every, *(own.rows for own in draws if own.rows is not None)]))
    rows, n_done = X[needed], count(1)

    def grow(own: Draw) -> dict[str, Any]:
        some = rows if own.rows is None else rows[np.searchsorted(needed, own.rows)]
        arrays = grow_drawn(some, labels, plan, own, 1)
        assert arrays is not None  # infinities were refused in the first pass
        if progress is not None:
            progress(next(n_done) * len(labels.targets))
        return arrays

    with ThreadPoolExecutor(n_threads) as pool:
        return list(pool.map(grow, draws))


def add_left_out_streamed(
    X: StreamedRows, add: Callable[..., tuple[NDArray[Any], ...]], model: Model, codes: NDArray[np.int32]
) -> tuple[NDArray[Any], ...]:
    """What ``add`` gives for all rows, batch by batch."""
    drawn = [(number, np.sort(rows)) for number, rows in draw_again(model, codes)]
    parts = []
    for where, batch in X.batches():
        left_out = []
        for number, rows in drawn:
            is_out = np.ones(len(batch), dtype=bool)
            is_out[rows[slice(*np.searchsorted(rows, (where.start, where.stop)))] - where.start] = False
            left_out.append((number, is_out))
        parts.append(add(model, batch, left_out))
    return tuple(map(np.concatenate, zip(*parts, strict=True)))
