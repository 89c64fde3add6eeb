"""Merging of steps: the fewest within a tolerance of the held-out loss."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from ... import _core
from .bags import Axis, Bags, TermValues

Floats = NDArray[np.float64]

_MERGE_TOLERANCE = 5e-4  # of the held-out loss
_MERGE_SHARES = (
    0.0,
    1e-4,
    3e-4,
    1e-3,
    3e-3,
    1e-2,
    3e-2,
)  # of the loss, which merging may cost by its parabola


def merge_steps(bags: Bags, terms: list[TermValues]) -> list[TermValues]:
    """Merge neighbouring cells: the fewest within a tolerance of the held-out loss, and at most ``max_steps``."""
    settings = bags.settings
    if not settings.merges and settings.max_steps is None:
        return terms
    raw = bags.score(terms)
    hessians = [hessian for _, hessian in bags.weigh(terms, raw)]
    most_cost = _choose_cost(bags, terms, hessians, raw) if settings.merges and bags.is_held.any() else 0.0
    merged = []
    for term, hessian in zip(terms, hessians, strict=True):
        mean = term.values.mean(axis=0)
        max_steps = settings.max_steps if len(term.axes) == 1 else None
        groups = [path.group(most_cost, max_steps) for path in find_paths(term.axes, mean, hessian)]
        merged.append(merge_cells(term, hessian, groups))
    return merged


def _choose_cost(bags: Bags, terms: list[TermValues], hessians: list[Floats], raw: Floats) -> float:
    """Return the largest cost of the merges of an axis with a held-out loss within a tolerance of the least one.

    Every bag merges cells by its own values: the mean of all bags depends on its held-out rows.
    """
    loss, weight = bags.average(bags.losses(raw), bags.is_held)[0], bags.labels["weight"]
    n_rows = len(bags.fold) if weight is None else float(weight.sum())
    paths = [
        [find_paths(term.axes, values, hessian) for values in term.values]
        for term, hessian in zip(terms, hessians, strict=True)
    ]
    n_axes = sum(len(term.axes) for term in terms)
    costs = [share * abs(loss) * n_rows / n_axes for share in _MERGE_SHARES]
    losses = [bags.measure(flatten_bags(terms, hessians, paths, cost)) for cost in costs]
    limit = min(losses) + _MERGE_TOLERANCE * abs(min(losses))
    return max(cost for cost, loss in zip(costs, losses, strict=True) if loss <= limit)


def flatten_bags(
    terms: list[TermValues], hessians: list[Floats], paths: list[list[list[Merging]]], most_cost: float
) -> list[TermValues]:
    """Replace the values of merged cells by their mean; ``paths`` has the merges by term, bag and axis."""
    flat = []
    for term, hessian, of_bags in zip(terms, hessians, paths, strict=True):
        values, weight = term.values, np.broadcast_to(hessian, term.values.shape[:-1])
        for axis, of_axis in enumerate(zip(*of_bags, strict=True)):
            groups = np.array([path.group(most_cost) for path in of_axis])
            values, weight = _flatten(values, weight, axis, groups)
        flat.append(term._replace(values=values))
    return flat


class Merging(NamedTuple):
    """Merges of neighbouring cells of an axis, the cheapest first: the cell before each edge, and the total cost."""

    n_cells: int
    edge: NDArray[np.int64]
    cost: Floats

    def group(self, most_cost: float, max_steps: int | None = None) -> NDArray[np.int64]:
        """Return the new cell of every cell after merges of at most this cost, or more for ``max_steps`` steps."""
        n_merged = int(np.searchsorted(self.cost, most_cost, side="right"))
        if max_steps is not None and len(self.edge):
            n_merged = max(n_merged, self.n_cells - max_steps)
        is_first = np.ones(max(self.n_cells, 1), dtype=np.int64)
        is_first[0] = 0
        is_first[self.edge[:n_merged] + 1] = 0
        return is_first.cumsum()


def find_paths(axes: tuple[Axis, ...], values: Floats, hessian: Floats) -> list[Merging]:
    """Return the merges of all cells of every axis of numbers, one pair after the other.

    ``values`` has a dimension per axis and one of scores, ``hessian`` a dimension per axis.
    """
    paths = []
    for number, axis in enumerate(axes):
        n = axis.n_cells - 1
        if not axis.is_ordered or n < 2:
            paths.append(Merging(n, np.empty(0, dtype=np.int64), np.empty(0)))
            continue
        own = np.moveaxis(values, number, 0)[:n].reshape(n, -1, values.shape[-1])
        weight = np.moveaxis(hessian, number, 0)[:n].reshape(n, -1)
        edge, cost = _core.find_merges(
            own.ravel(), weight.ravel(), n_parts=weight.shape[1], n_scores=own.shape[2]
        )
        paths.append(Merging(n, edge, cost))
    return paths


def merge_cells(term: TermValues, hessian: Floats, groups: list[NDArray[np.int64]]) -> TermValues:
    """Merge cells of all axes: ``groups`` has the new cell of every cell of an axis but that of missing values."""
    values, weight = term.values, np.broadcast_to(hessian, term.values.shape[:-1])
    axes = []
    for number, (axis, group) in enumerate(zip(term.axes, groups, strict=True)):
        values, weight = _flatten(values, weight, number, np.broadcast_to(group, (len(values), len(group))))
        first = np.append(
            np.flatnonzero(np.diff(group, prepend=-1)), len(group)
        )  # and that of missing values
        values, weight = (np.take(array, first, axis=1 + number) for array in (values, weight))
        axes.append(axis.merge(group))
    return TermValues(tuple(axes), values)


def _flatten(values: Floats, weight: Floats, axis: int, groups: NDArray[np.int64]) -> tuple[Floats, Floats]:
    """Replace the values of groups of neighbouring cells by their weighted means, and the weights by their means.

    ``groups`` has the group of every bag and cell, without the cell of missing values.
    """
    is_first = np.diff(groups, axis=1, prepend=-1, append=len(groups[0])) > 0
    start = np.flatnonzero(is_first)
    if len(start) == is_first.size:
        return values, weight
    count = np.diff(np.append(start, is_first.size))

    def add_up(array: Floats) -> Floats:
        array = array.swapaxes(1, 1 + axis)
        return np.add.reduceat(array.reshape(is_first.size, *array.shape[2:]), start)

    def spread(array: Floats) -> Floats:
        array = np.repeat(array, count, axis=0)
        return array.reshape(*is_first.shape, *array.shape[1:]).swapaxes(1, 1 + axis)

    n_cells = count.reshape(-1, *[1] * (weight.ndim - 2))
    total = add_up(weight)
    has_weight = (total > 0.0)[..., None]
    mean = add_up(weight[..., None] * values) / np.where(has_weight, total[..., None], 1.0)
    if not has_weight.all():
        mean = np.where(has_weight, mean, add_up(values) / n_cells[..., None])
    return spread(mean), spread(total / n_cells)
