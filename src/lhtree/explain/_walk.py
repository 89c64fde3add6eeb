"""The ways of rows through all trees, as flat arrays: blocks passed, terms, feature sums, memberships."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import NDArray

from .._fitted import Fitted

Floats = NDArray[np.float64]
Ints = NDArray[np.int64]


@dataclass(frozen=True)
class Terms:
    """Products of the weights (or slopes) of some blocks with a row's z, block after block."""

    ptr: Ints  # first term of every stop
    stop: Ints  # which stop a term belongs to
    feature: NDArray[np.int32]
    weight: Floats
    value: Floats  # weight · z
    sum: Floats  # of every stop, in the order of summation of the core

    def deal(self, amount: Floats, shift: Floats, sign: Floats) -> Floats:
        """Deal an amount of every stop to its terms that pull to the side of ``sign``, in proportion.

        Of the shift, which the terms must pass together, each is charged a part in proportion to its weight. Where
        nothing pulls, the sizes of the weights count, and where those are 0 too, each the same.
        """
        size = np.abs(self.weight)
        part = self._share(size)
        pull = np.maximum(sign[self.stop] * (self.value - part * shift[self.stop]), 0.0)
        is_still = np.bincount(self.stop, weights=pull, minlength=len(self.sum))[self.stop] == 0.0
        return self._share(np.where(is_still, part, pull)) * amount[self.stop]

    def _share(self, values: Floats) -> Floats:
        """The share of every value in the sum of its stop; equal shares where that is 0."""
        total = np.bincount(self.stop, weights=values, minlength=len(self.sum))[self.stop]
        equal = 1.0 / np.diff(self.ptr)[self.stop]
        return np.where(total > 0.0, values / np.where(total > 0.0, total, 1.0), equal)


@dataclass(frozen=True)
class Walk:
    """Stops of rows on their ways, sorted by row, tree and depth; the last stop of each way is a leaf."""

    fitted: Fitted
    Z: NDArray[np.float32]
    row: Ints
    tree: Ints
    block: Ints  # within its tree
    at: Ints  # within the forest
    depth: Ints
    is_leaf: NDArray[np.bool_]

    @cached_property
    def terms(self) -> Terms:
        """Weights times z; leaves have none."""
        forest = self.fitted.forest
        return self._gather(forest.hyperplane_ptr, forest.hyperplane_feature, forest.hyperplane_weight)

    @cached_property
    def slope_terms(self) -> Terms:
        """Slopes times z of the leaves; other stops have none."""
        forest = self.fitted.forest
        return self._gather(
            forest.membership_ptr, forest.membership_feature, forest.membership_slope, self.is_leaf
        )

    @cached_property
    def y(self) -> Floats:
        """Feature sum minus offset of every stop (eq. 2); NaN at leaves."""
        y = self.terms.sum - self.fitted.forest.offset[self.at]
        return np.where(self.is_leaf, np.nan, y)

    @cached_property
    def share(self) -> Floats:
        """Share of the target in the weight of every block passed."""
        forest = self.fitted.forest
        return forest.n_target[self.at] / forest.weight[self.at]

    @cached_property
    def estimate(self) -> Floats:
        """p̂ of every stop; meaningful at leaves."""
        return self.fitted.forest.intercept[self.at] + self.slope_terms.sum

    @cached_property
    def confidence(self) -> Floats:
        """The d of every way, under the model's rule."""
        leaf = np.flatnonzero(self.is_leaf)
        d = np.ones(len(leaf))
        has_hyperplane = self.depth[leaf] > 0
        if self.fitted.confidence is None or not has_hyperplane.any():
            return d
        near = np.minimum(np.abs(self.y), 1.0)
        if self.fitted.confidence == "last":
            d[has_hyperplane] = near[leaf[has_hyperplane] - 1]
        else:
            first = leaf - self.depth[leaf]
            d = np.minimum.reduceat(np.where(self.is_leaf, 1.0, near), first)
        return d

    @cached_property
    def membership(self) -> Floats:
        """μ of every way."""
        return np.clip(self.estimate[self.is_leaf], 0.0, 1.0)

    @cached_property
    def change(self) -> Floats:
        """What the share gains from a block to the next on the way; at a leaf, from the share to μ."""
        change = np.empty(len(self.at))
        change[:-1] = self.share[1:] - self.share[:-1]
        change[self.is_leaf] = self.membership - self.share[self.is_leaf]
        return change

    def deal(self) -> tuple[tuple[Terms, Floats], ...]:
        """The changes of all stops dealt to their terms, those of hyperplanes and those of memberships."""
        forest = self.fitted.forest
        side = np.where(self.y >= 0.0, 1.0, -1.0)
        rise = np.where(self.change >= 0.0, 1.0, -1.0)
        beyond = (
            self.share - forest.intercept[self.at]
        )  # p̂ minus the share is the sum of the slope terms minus this
        return (
            (self.terms, self.terms.deal(self.change, forest.offset[self.at], side)),
            (self.slope_terms, self.slope_terms.deal(self.change, beyond, rise)),
        )

    def _gather(
        self,
        ptr: Ints,
        feature: NDArray[np.int32],
        weight: NDArray[Any],
        wanted: NDArray[np.bool_] | None = None,
    ) -> Terms:
        begin = ptr[self.at]
        size = ptr[self.at + 1] - begin
        if wanted is not None:
            size = np.where(wanted, size, 0)
        own_ptr = np.concatenate([[0], np.cumsum(size)])
        stop = np.repeat(np.arange(len(size)), size)
        place = np.arange(own_ptr[-1]) - own_ptr[stop]
        entry = begin[stop] + place
        features, weights = feature[entry], weight[entry].astype(np.float64)
        value = weights * self.Z[self.row[stop], features]
        # The core adds the term at place p to lane p mod 8; bincount adds in this order, too.
        lanes = np.bincount(8 * stop + place % 8, weights=value, minlength=8 * len(size)).reshape(-1, 8)
        half = lanes[:, :4] + lanes[:, 4:]
        total = (half[:, 0] + half[:, 2]) + (half[:, 1] + half[:, 3])
        return Terms(own_ptr, stop, features, weights, value, total)


def walk(fitted: Fitted, X: NDArray[Any]) -> Walk:
    """Follow rows (in the user's units) through all trees."""
    forest = fitted.forest
    Z = fitted.normalise(X)  # refuses infinities
    leaves: Any = fitted.scorer.apply(X)
    n_rows, n_trees = leaves.shape
    branching = np.flatnonzero(forest.left >= 0)
    first_branching = np.searchsorted(branching, forest.block_ptr[:-1])
    row = np.repeat(np.arange(n_rows), n_trees)
    tree = np.tile(np.arange(n_trees), n_rows)
    block = leaves.ravel()
    stops = []
    while len(block):  # one level up at a time, from the leaves
        stops.append((row, tree, block))
        is_below = block > 0
        row, tree, block = row[is_below], tree[is_below], block[is_below]
        # Children are numbered in the order of their parents, two each.
        block = branching[first_branching[tree] + (block - 1) // 2] - forest.block_ptr[tree]
    row, tree, block = (np.concatenate(parts) for parts in zip(*stops, strict=True))
    way = row * n_trees + tree
    order = np.lexsort((block, way))
    row, tree, block, way = row[order], tree[order], block[order], way[order]
    is_leaf = np.append(way[1:] != way[:-1], True)
    begin = np.flatnonzero(np.append(True, is_leaf[:-1]))
    depth = np.arange(len(way)) - begin[way]
    return Walk(fitted, Z, row, tree, block, forest.block_ptr[tree] + block, depth, is_leaf)
