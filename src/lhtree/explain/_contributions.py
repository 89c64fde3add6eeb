"""Contributions of features to predictions, for one row and for many.

At every block on the path of a row the outcome changes, and this change is divided among the features of the block.
Memberships: in proportion to the terms that pull to the side taken. Values: by the share of each weight in the gain of
the block; in a linear leaf every slope has its own term.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from ..model.model import Model
from ..model.shares import memberships_at
from ._paths import Floats, Ints, Trace, sum_targets, trace_rows

_STOPS_AT_ONCE = 1 << 22
_CELLS_AT_ONCE = 1 << 20
_MANY_ROWS = 24  # of a block that is divided by itself, instead of together with others


def find_contributions(model: Model, X: NDArray[Any], out: Floats) -> Floats:
    """Write the contributions of every row, class and feature to ``out``, shape (n, K, m); K is 1 in a regression.

    Returns the changes by the ranges of linear leaves, shape (n, K); 0 unless blocks have values.
    """
    head, trees = model.head, model.trees
    n_targets = model.n_targets if head.first_target >= 0 else head.n_outputs
    clipped = np.zeros((len(X), n_targets))
    divide = _divide_values if head.values_blocks else _divide_memberships
    n_at_once = max(1, _STOPS_AT_ONCE // (trees.n_trees * len(trees.levels())))
    for begin in range(0, len(X), n_at_once):
        some = slice(begin, begin + n_at_once)
        own = out[some, head.n_outputs - n_targets :]  # two classes have one target, the second class
        own[:] = 0.0
        divide(model, X[some], own, clipped[some])
        own[:] = head.average(own, model.n_estimators)
        if n_targets < head.n_outputs:
            np.negative(own, out=out[some, :1])
    return head.spread(head.average(clipped, model.n_estimators), np.negative)


def find_base(model: Model) -> Floats:
    """Return the start of the contributions to every class, shape (K,).

    This is the mean share of the class in the roots of its trees, or the mean response. For boosted models, it is the
    base score plus the values of all roots.
    """
    head, roots = model.head, model.trees.block_ptr[:-1]
    if head.shares_classes:
        shares: Floats = memberships_at(model.trees, roots, model.prior).mean(axis=0)
        return shares
    total = head.average(sum_targets(model, model.outcome[roots]), model.n_estimators)
    return head.spread(total if model.base is None else model.base + total, head.mirror_total)


def _divide_values(model: Model, X: NDArray[Any], out: Floats, clipped: Floats) -> None:
    """Add the contributions in trees whose blocks have values to ``out``, shape (n, n_targets, m)."""
    trees, (n_rows, n_targets, _) = model.trees, out.shape
    leaves = (trees.block_ptr[:-1] + model.ask("apply", X)).reshape(n_rows, -1, n_targets)
    Z = np.clip(model.normalise(X).astype(np.float64), -model.clip, model.clip)
    n_at_once = max(1, _CELLS_AT_ONCE // out.size)
    for first in range(0, model.n_estimators, n_at_once):
        some = leaves[:, first : first + n_at_once]
        distinct, place = np.unique(some, return_inverse=True)
        out += _sum_changes(model, distinct)[place.reshape(some.shape)].sum(axis=1)
        if trees.has_slopes:
            _add_slopes(model, some, Z, out, clipped)


def _sum_changes(model: Model, leaves: Ints) -> Floats:
    """Return the contributions of all features on the paths to some leaves, shape (len(leaves), m)."""
    trees, value = model.trees, model.outcome
    divided, line, below = np.zeros((len(leaves), model.n_features)), np.arange(len(leaves)), leaves
    while len(line):
        at = trees.parent[below]
        line, below, at = line[at >= 0], below[at >= 0], at[at >= 0]
        term, entry = _find_entries(trees.hyperplane_ptr, at)
        change = (value[below] - value[at])[term]
        divided[line[term], trees.hyperplane_feature[entry]] += trees.parts[entry] * change
        below = at
    return divided


def _add_slopes(model: Model, leaves: Ints, Z: Floats, out: Floats, clipped: Floats) -> None:
    """Add the terms of the slopes of leaves, shape (n, n_estimators, n_targets), and the changes by their ranges."""
    trees, (_, n_targets, n_features) = model.trees, out.shape
    at = leaves.ravel()
    row, target = (part.ravel() for part in np.indices(leaves.shape)[[0, 2]])
    term, entry = _find_entries(trees.membership_ptr, at)
    feature = trees.membership_feature[entry]
    amount = trees.membership_slope[entry] * (Z[row[term], feature] - trees.membership_mean[entry])
    cell = (row[term] * n_targets + target[term]) * n_features + feature
    out += np.bincount(cell, weights=amount, minlength=out.size).reshape(out.shape)
    estimate = model.outcome[at] + np.bincount(term, weights=amount, minlength=len(at))
    change = np.clip(estimate, trees.low[at], trees.high[at]) - estimate
    change[trees.membership_ptr[at] == trees.membership_ptr[at + 1]] = 0.0
    clipped += change.reshape(leaves.shape).sum(axis=1)


def _divide_memberships(model: Model, X: NDArray[Any], out: Floats, clipped: Floats) -> None:
    """Add the contributions in trees of memberships to ``out``, shape (n, n_targets, m).

    Stops at the same block on the same side are divided together if they are many, the others all at once.
    """
    trace = trace_rows(model, X)
    stops = _Stops(trace)
    key = 2 * trace.at + (stops.side > 0.0)
    used = np.flatnonzero(stops.size > 0)
    used = used[np.argsort(key[used], kind="stable")]
    bounds = np.flatnonzero(np.diff(key[used], prepend=-1, append=-1))
    size = np.diff(bounds)
    Z = trace.Z.astype(np.float64)
    for one in np.flatnonzero(size >= _MANY_ROWS):
        _divide_block(stops, used[bounds[one] : bounds[one + 1]], Z, out)
    few = np.sort(used[np.repeat(size < _MANY_ROWS, size)])
    few = few[np.argsort(stops.cell[few], kind="stable")]
    n_at_once = max(1, _CELLS_AT_ONCE // model.n_features)
    for begin in range(0, len(few), n_at_once):
        _divide_mixed(stops, few[begin : begin + n_at_once], Z, out)


class _Stops:
    """Changes at the stops of a trace, and the hyperplanes or slopes among which they are divided."""

    def __init__(self, trace: Trace) -> None:
        model, trees, at, is_leaf = trace.model, trace.model.trees, trace.at, trace.is_leaf
        if model.head.shares_classes:  # a change for every class; leaves have no slopes
            self.change = np.zeros((len(at), model.n_classes))
            self.change[:-1] = np.diff(memberships_at(trees, at, model.prior), axis=0)
            self.change[is_leaf] = 0.0
            self.target = np.zeros(len(at), dtype=np.int64)
        else:
            self.change, self.target = trace.change[:, None], model.target_of[trace.tree]
        self.side = np.where(np.where(is_leaf, self.change[:, 0], trace.y) >= 0.0, 1.0, -1.0)
        # p̂ minus the share of a leaf is the sum of the slope terms minus this.
        self.shift = np.where(is_leaf, trace.outcome - trees.intercept[at], trees.offset[at])
        self.begin = np.where(is_leaf, trees.membership_ptr[at], trees.hyperplane_ptr[at])
        self.end = np.where(is_leaf, trees.membership_ptr[at + 1], trees.hyperplane_ptr[at + 1])
        self.size = self.end - self.begin
        self.row, self.cell = trace.row, trace.row * model.n_targets + self.target
        self.trees, self.is_leaf = trees, is_leaf

    def find_terms(self, some: Ints) -> tuple[Ints, NDArray[np.int32], Floats]:
        """Return the terms of some stops: the place of the stop in ``some``, the feature and the weight or slope."""
        size, trees = self.size[some], self.trees
        line = np.repeat(np.arange(len(some)), size)
        entry = np.arange(len(line)) + np.repeat(self.begin[some] - (np.cumsum(size) - size), size)
        feature, weight = np.empty(len(line), dtype=np.int32), np.empty(len(line))
        is_slope = self.is_leaf[some][line]
        feature[is_slope] = trees.membership_feature[entry[is_slope]]
        weight[is_slope] = trees.membership_slope[entry[is_slope]]
        feature[~is_slope] = trees.hyperplane_feature[entry[~is_slope]]
        weight[~is_slope] = trees.hyperplane_weight[entry[~is_slope]]
        return line, feature, weight


def _divide_block(stops: _Stops, some: Ints, Z: Floats, out: Floats) -> None:
    """Divide the changes of stops at the same block and side, each of another row."""
    first, rows = some[0], stops.row[some]
    side, trees, own = stops.side[first], stops.trees, slice(stops.begin[first], stops.end[first])
    feature, weight = (
        (trees.membership_feature[own], trees.membership_slope[own])
        if stops.is_leaf[first]
        else (trees.hyperplane_feature[own], trees.hyperplane_weight[own].astype(np.float64))
    )
    size = np.abs(weight)
    total_size = size.sum()
    part = size / total_size if total_size > 0.0 else np.full(len(size), 1.0 / len(size))
    is_most = 3 * len(feature) > Z.shape[1]  # then zeros cost less than selecting columns
    if is_most:
        weight, part = (_scatter(values, feature, Z.shape[1]) for values in (weight, part))
    pull = Z.take(rows, axis=0) if is_most else Z[rows[:, None], feature]
    pull *= side * weight
    pull -= side * stops.shift[first] * part
    total = _settle_pull(pull, part)
    for k, change in enumerate(stops.change[some].T):
        is_last = k + 1 == stops.change.shape[1]  # then its memory is free
        amount = np.multiply(pull, (change / total)[:, None], out=pull if is_last else None)
        if is_most:
            out[rows, stops.target[first] + k] += amount
        else:
            out[rows[:, None], stops.target[first] + k, feature] += amount


def _divide_mixed(stops: _Stops, some: Ints, Z: Floats, out: Floats) -> None:
    """Divide the changes of stops at any blocks, sorted by row and target."""
    line, feature, weight = stops.find_terms(some)
    size, cell = stops.size[some], line * Z.shape[1] + feature
    sums = np.bincount(line, weights=np.abs(weight), minlength=len(some))[line]
    part = np.where(sums > 0.0, np.abs(weight) / np.where(sums > 0.0, sums, 1.0), 1.0 / size[line])
    shape, side = (len(some), Z.shape[1]), stops.side[some]
    dense_weight, dense_part = (
        _scatter(values, cell, len(some) * Z.shape[1]).reshape(shape)
        for values in (weight * side[line], part)
    )
    pull = Z.take(stops.row[some], axis=0)
    pull *= dense_weight
    pull -= (side * stops.shift[some])[:, None] * dense_part
    total = _settle_pull(pull, dense_part)
    first = np.flatnonzero(np.diff(stops.cell[some], prepend=-1))
    rows, target = stops.row[some[first]], stops.target[some[first]]
    for k, change in enumerate(stops.change[some].T):
        out[rows, target + k] += np.add.reduceat(pull * (change / total)[:, None], first, axis=0)


def _settle_pull(pull: Floats, part: Floats) -> Floats:
    """Keep the positive pulls, or the parts if a stop has none, and return their sum for every stop."""
    np.maximum(pull, 0.0, out=pull)
    total: Floats = np.einsum("ij->i", pull)  # a product with ones would start the threads of BLAS
    is_still = total == 0.0
    if is_still.any():
        pull[is_still], total[is_still] = np.broadcast_to(part, pull.shape)[is_still], 1.0
    return total


def _scatter(values: Floats, place: NDArray[Any], size: int) -> Floats:
    dense = np.zeros(size)
    dense[place] = values
    return dense


def _find_entries(ptr: Ints, blocks: Ints) -> tuple[Ints, Ints]:
    """Return the index of the block of every entry of some blocks, and the entries."""
    begin = ptr[blocks]
    size = ptr[blocks + 1] - begin
    line = np.repeat(np.arange(len(blocks)), size)
    return line, np.arange(len(line)) + np.repeat(begin - (np.cumsum(size) - size), size)
