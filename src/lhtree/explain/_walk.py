"""The paths of rows through all trees, as flat arrays: blocks passed, terms, feature sums, memberships."""

from __future__ import annotations

from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ..model.model import Model

Floats = NDArray[np.float64]
Ints = NDArray[np.int64]


@dataclass(frozen=True)
class Terms:
    """Products of the weights (or slopes) of some blocks with a row's z, block after block."""

    ptr: Ints  # first term of every stop
    stop: Ints  # which stop a term belongs to
    feature: NDArray[np.int32]
    weight: Floats
    value: Floats  # weight · z; of slopes where blocks have values, slope · (z - mean)
    unit_weight: Floats  # per unit of the feature; of trees in the user's units, what they predict with

    def deal(self, amount: Floats, shift: Floats, sign: Floats) -> Floats:
        """Divide an amount of every stop among its terms that pull to the side of ``sign``, in proportion.

        Of the shift, which the terms must pass together, each is charged a part in proportion to its weight. Where
        nothing pulls, the sizes of the weights count, and where those are 0 too, each the same.
        """
        size = np.abs(self.weight)
        part = self.share(size)
        pull = np.maximum(sign[self.stop] * (self.value - part * shift[self.stop]), 0.0)
        is_still = np.bincount(self.stop, weights=pull, minlength=len(self.ptr) - 1)[self.stop] == 0.0
        return self.share(np.where(is_still, part, pull)) * amount[self.stop]

    def share(self, values: Floats) -> Floats:
        """The share of every value in the sum of its stop; equal shares where that is 0."""
        total = np.bincount(self.stop, weights=values, minlength=len(self.ptr) - 1)[self.stop]
        equal = 1.0 / np.diff(self.ptr)[self.stop]
        return np.where(total > 0.0, values / np.where(total > 0.0, total, 1.0), equal)


@dataclass(frozen=True)
class Walk:
    """Stops of rows on their paths, sorted by row, tree and depth; the last stop of each path is a leaf."""

    fitted: Model
    Z: NDArray[np.float32]
    row: Ints
    tree: Ints
    block: Ints  # within its tree
    at: Ints  # among all blocks
    depth: Ints
    is_leaf: NDArray[np.bool_]
    value: Floats  # feature sum of a branching block, estimate p̂ of a leaf, as the core computes them
    membership: Floats  # μ of every way; where blocks have values, what its leaf adds or predicts
    confidence: Floats  # d of every way, under the model's rule

    @cached_property
    def terms(self) -> Terms:
        """Weights times z; leaves have none."""
        trees = self.fitted.trees
        return self._gather(
            trees.hyperplane_ptr, trees.hyperplane_feature, trees.hyperplane_weight, unit=trees.unit_weight
        )

    @cached_property
    def slope_terms(self) -> Terms:
        """Slopes times z of the leaves; other stops have none. Where blocks have values, z counts from its mean."""
        trees = self.fitted.trees
        ptr, feature = trees.membership_ptr, trees.membership_feature
        terms = self._gather(ptr, feature, trees.membership_slope, self.is_leaf, unit=trees.unit_slope)
        if not self.fitted.has_values:
            return terms
        mean = self._gather(ptr, feature, trees.membership_mean, self.is_leaf).weight
        return replace(terms, value=terms.value - terms.weight * mean)

    @cached_property
    def y(self) -> Floats:
        """Feature sum minus offset of every stop (eq. 8); NaN at leaves."""
        return np.where(self.is_leaf, np.nan, self.value - self.fitted.trees.offset[self.at])

    @cached_property
    def outcome(self) -> Floats:
        """What every block passed says of the target: its share, or its value (see ``Model.outcome``)."""
        return self.fitted.outcome[self.at]

    @cached_property
    def clipped(self) -> Floats:
        """What the range of the leaf takes away from the estimate, of every way."""
        return self.membership - self.value[self.is_leaf]

    @cached_property
    def change(self) -> Floats:
        """Change of the outcome from each block on the path to the next; at a leaf, from the share to μ."""
        change = np.empty(len(self.at))
        change[:-1] = np.diff(self.outcome)
        change[self.is_leaf] = self.membership - self.outcome[self.is_leaf]
        return change

    def deal(self) -> tuple[tuple[Terms, Floats], ...]:
        """The changes of all stops divided among their terms, those of hyperplanes and those of memberships.

        Changes of values are shared by |weight| × spread; in leaves every slope then has its own term, and what the
        range of the leaf takes away (``clipped``) belongs to no feature.
        """
        trees = self.fitted.trees
        if self.fitted.has_values:
            part = self._gather(trees.hyperplane_ptr, trees.hyperplane_feature, trees.parts).weight
            return (
                (self.terms, part * self.change[self.terms.stop]),
                (self.slope_terms, self.slope_terms.value),
            )
        side = np.where(self.y >= 0.0, 1.0, -1.0)
        rise = np.where(self.change >= 0.0, 1.0, -1.0)
        beyond = (
            self.outcome - trees.intercept[self.at]
        )  # p̂ minus the share is the sum of the slope terms minus this
        return (
            (self.terms, self.terms.deal(self.change, trees.offset[self.at], side)),
            (self.slope_terms, self.slope_terms.deal(self.change, beyond, rise)),
        )

    def _gather(
        self,
        ptr: Ints,
        feature: NDArray[np.int32],
        weight: NDArray[Any],
        wanted: NDArray[np.bool_] | None = None,
        unit: Floats | None = None,
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
        z = self.Z[self.row[stop], features]
        has_units = unit is not None and self.fitted.trees.has_units
        units = unit[entry] if has_units and unit is not None else self.fitted._per_unit(weights, features)
        if not self.fitted.is_boosted:
            return Terms(own_ptr, stop, features, weights, weights * z, units)
        value = weights * np.clip(z, -self.fitted.clip, self.fitted.clip)
        # A single feature is not clipped, and infinite where it is missing and has a side to go to.
        is_single = (size == 1) & ~self.is_leaf
        value = np.where(is_single[stop], self.value[stop], value)
        return Terms(own_ptr, stop, features, weights, value, units)


def sum_targets(fitted: Model, of_trees: Floats) -> Floats:
    """Sums of a value of every tree over the trees of every target, shape (n_targets,)."""
    total = np.zeros(fitted.n_targets)
    np.add.at(total, fitted.target_of, of_trees)
    return total


def walk(fitted: Model, X: NDArray[Any]) -> Walk:
    """Follow rows (in original units) through all trees."""
    trees = fitted.trees
    Z = fitted.normalise(X)
    ptr, block, value = fitted.ask("trace", X)
    membership, confidence = fitted.ask("per_tree", X)
    way = np.repeat(np.arange(len(ptr) - 1), np.diff(ptr))
    row, tree = np.divmod(way, trees.n_trees)
    at = trees.block_ptr[tree] + block
    return Walk(
        fitted=fitted,
        Z=Z,
        row=row,
        tree=tree,
        block=block.astype(np.int64),
        at=at,
        depth=np.arange(len(way)) - ptr[way],
        is_leaf=trees.left[at] < 0,
        value=value,
        membership=membership.ravel(),
        confidence=confidence.ravel(),
    )
