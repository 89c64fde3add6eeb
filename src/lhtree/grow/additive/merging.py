"""Merging of steps: the fewest within a tolerance of the held-out loss."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from ... import _core
from .bags import Bags, TermValues

Floats = NDArray[np.float64]

_MERGE_TOLERANCE = 5e-4  # of the held-out loss
# Shares of the loss which merging may cost by its parabola. The largest one limits the merging, because the held-out
# loss is too low: edges are chosen by the mean of all bags, most of which learn from the held-out rows of a bag.
_MERGE_SHARES = (0.0, 3e-5, 1e-4, 3e-4, 1e-3)


def merge_steps(bags: Bags, terms: list[TermValues]) -> list[TermValues]:
    """Merge neighbouring cells: the fewest within a tolerance of the held-out loss, and at most ``max_steps``."""
    settings = bags.settings
    if not settings.merges and settings.max_steps is None:
        return terms
    raw = bags.score(terms)
    hessians = [hessian for _, hessian in bags.weigh(terms, raw)]
    paths = [
        [Merging.find(term, hessian, axis) for axis in range(len(term.axes))]
        for term, hessian in zip(terms, hessians, strict=True)
    ]

    def apply(most_cost: float, max_steps: int | None) -> list[TermValues]:
        merged = []
        for term, hessian, own in zip(terms, hessians, paths, strict=True):
            for axis, path in enumerate(own):
                group = path.group(most_cost, max_steps if len(own) == 1 else None)
                term, hessian = _merge_axis(term, hessian, axis, group)
            merged.append(term)
        return merged

    if not settings.merges or not bags.is_held.any():
        return apply(0.0, settings.max_steps)
    tried = []
    weight = bags.labels["weight"]
    n_rows = len(bags.fold) if weight is None else float(weight.sum())
    total = bags.average(bags.losses(raw), bags.is_held)[0] * n_rows
    n_paths = sum(len(own) for own in paths)
    for share in _MERGE_SHARES:
        merged = apply(share * abs(total) / n_paths, None)
        tried.append((bags.average(bags.losses(bags.score(merged)), bags.is_held)[0], merged))
    least = min(loss for loss, _ in tried)
    limit = least + _MERGE_TOLERANCE * abs(least)
    return next(merged for loss, merged in reversed(tried) if loss <= limit)


class Merging(NamedTuple):
    """Merges of neighbouring cells of an axis, the cheapest first: the cell before each edge, and the total cost."""

    n_cells: int
    edge: NDArray[np.int64]
    cost: Floats

    @classmethod
    def find(cls, term: TermValues, hessian: Floats, axis: int) -> Merging:
        """Merge all cells of numbers of an axis, one pair after the other."""
        n = term.shape[axis] - 1
        if not term.axes[axis].is_ordered or n < 2:
            return cls(n, np.empty(0, dtype=np.int64), np.empty(0))
        mean = np.moveaxis(term.values.mean(axis=0), axis, 0)[:n].reshape(n, -1, term.values.shape[-1])
        weight = np.moveaxis(hessian, axis, 0)[:n].reshape(n, -1)
        edge, cost = _core.find_merges(
            mean.ravel(), weight.ravel(), n_parts=weight.shape[1], n_scores=mean.shape[2]
        )
        return cls(n, edge, cost)

    def group(self, most_cost: float, max_steps: int | None) -> NDArray[np.int64]:
        """Return the new cell of every cell after merges of at most this cost, or more for ``max_steps`` steps."""
        n_merged = int(np.searchsorted(self.cost, most_cost, side="right"))
        if max_steps is not None and len(self.edge):
            n_merged = max(n_merged, self.n_cells - max_steps)
        is_edge = np.ones(max(self.n_cells - 1, 0), dtype=np.int64)
        is_edge[self.edge[:n_merged]] = 0
        return np.concatenate([[0], np.cumsum(is_edge)])


def _merge_axis(
    term: TermValues, hessian: Floats, axis: int, group: NDArray[np.int64]
) -> tuple[TermValues, Floats]:
    """Merge cells of an axis; the value of a step is the mean of its cells, weighted by their Hessians."""
    if len(group) == group.max() + 1:
        return term, hessian
    starts = np.append(
        np.flatnonzero(np.diff(group, prepend=-1)), len(group)
    )  # and the cell of missing values
    weight = hessian[None, ..., None]
    size = np.add.reduceat(np.broadcast_to(weight, term.values.shape), starts, axis=1 + axis)
    total = np.add.reduceat(weight * term.values, starts, axis=1 + axis)
    count = np.diff(np.append(starts, term.shape[axis])).reshape(
        [-1 if i == axis else 1 for i in range(hessian.ndim)]
    )
    plain = np.add.reduceat(term.values, starts, axis=1 + axis) / count[None, ..., None]
    values = np.where(size > 0.0, total / np.where(size > 0.0, size, 1.0), plain)
    axes = list(term.axes)
    axes[axis] = axes[axis].merge(group)
    return TermValues(tuple(axes), values), np.add.reduceat(hessian, starts, axis=axis)
