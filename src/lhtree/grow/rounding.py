"""Compact trees in the user's units: short decimals and rounded hyperplanes."""

from __future__ import annotations

import math
from dataclasses import dataclass
from decimal import Decimal
from typing import Any

import numpy as np
from numpy.typing import NDArray

from .. import _core
from ..tables.normalise import Normalisation

Floats = NDArray[np.float64]
Ints = NDArray[np.int64]

_GRID = _core.COST_GRID
_N_SWEEPS = 3
MOST_WEIGHT = 1e200  # relative to the leading one: beyond, columns differ too much in their units


@dataclass(frozen=True)
class CompactRows:
    """Training rows in the user's units, without gaps, and their classes or responses."""

    X: Floats
    weight: Floats
    classes: NDArray[np.int32] | None
    prior: Floats
    response: Floats | None  # with mean 0 and standard deviation 1/2

    def count(self, some: Ints) -> tuple[Floats, float]:
        """Return the weight of every class (or the sum of the numbers) and of all, of some rows.

        The weight of all is the sum of those of the classes, so that rounding makes none of them larger.
        """
        weight = self.weight[some]
        if self.classes is not None:
            counts = np.bincount(self.classes[some], weights=weight, minlength=len(self.prior))
            return counts.astype(np.float64), float(counts.sum())
        assert self.response is not None
        return np.array([(weight * self.response[some]).sum()]), float(weight.sum())

    def costs(self, some: Ints) -> Floats:
        """Return the cost of every row in a leaf of some rows; see rules.hpp of the core."""
        counts, total = self.count(some)
        if self.classes is not None:
            share = (counts + self.prior) / (total + 1.0)
            cost = 1.0 - 2.0 * share + (share**2).sum()
            table: Floats = np.rint(cost * _GRID) / _GRID
            return table[self.classes]
        assert self.response is not None
        costs: Floats = np.rint(2.0 * (self.response - counts[0] / (total + 1.0)) ** 2 * _GRID) / _GRID
        return costs


@dataclass
class UnitTree:
    """A tree whose blocks may come and go; block 0 is the root."""

    left: list[int]  # -1 in a leaf
    right: list[int]
    features: list[Ints]
    weights: list[Floats]
    offset: list[float]

    def copy(self) -> UnitTree:
        """Return another tree that can be changed."""
        return UnitTree(
            self.left.copy(),
            self.right.copy(),
            self.features.copy(),
            self.weights.copy(),
            self.offset.copy(),
        )

    def order(self) -> list[int]:
        """Return the blocks that belong to the tree, breadth-first."""
        found = [0]
        for block in found:
            if self.left[block] >= 0:
                found += [self.left[block], self.right[block]]
        return found

    def sums(self, block: int, X: Floats) -> Floats:
        """Return feature sums of rows, added from left to right."""
        total = np.zeros(len(X))
        for feature, weight in zip(self.features[block], self.weights[block], strict=True):
            total = total + weight * X[:, feature]
        return total

    def apply(self, X: Floats, start: int = 0) -> Ints:
        """Return the leaf of every row, from some block on."""
        at = np.full(len(X), start)
        todo = [start]
        for block in todo:
            if self.left[block] < 0:
                continue
            here = np.flatnonzero(at == block)
            is_left = self.sums(block, X[here]) < self.offset[block]
            at[here] = np.where(is_left, self.left[block], self.right[block])
            todo += [self.left[block], self.right[block]]
        return at

    def replace(self, block: int, by: int) -> None:
        """Put one block where another is."""
        self.left[block], self.right[block] = self.left[by], self.right[by]
        self.features[block], self.weights[block] = self.features[by], self.weights[by]
        self.offset[block] = self.offset[by]

    def members(self, leaf: Ints) -> dict[int, Ints]:
        """Return rows of every block, ascending, from the leaf of every row."""
        rows: dict[int, Ints] = {}
        for block in reversed(self.order()):
            if self.left[block] < 0:
                rows[block] = np.flatnonzero(leaf == block)
            else:
                rows[block] = np.sort(np.concatenate([rows[self.left[block]], rows[self.right[block]]]))
        return rows


def in_units(grown: dict[str, NDArray[Any]], normalisation: Normalisation, digits: int | None) -> UnitTree:
    """Return the tree with rounded weights, and offsets as they were grown.

    The weight of the most important feature becomes 1: that is one number less to read.
    """
    tree = UnitTree([], [], [], [], [])
    centre, scale = normalisation
    for block, left in enumerate(grown["left"].tolist()):
        some = slice(grown["hyperplane_ptr"][block], grown["hyperplane_ptr"][block + 1])
        features = grown["hyperplane_feature"][some].astype(np.int64)
        weights, offset, right = np.zeros(0), 0.0, left + 1 if left >= 0 else -1
        if left >= 0:
            z_weights = grown["hyperplane_weight"][some].astype(np.float64)
            with np.errstate(over="ignore", under="ignore"):
                weights = z_weights / scale[features]
                lead = int(np.abs(z_weights).argmax())
                if not (np.abs(weights / weights[lead]) < MOST_WEIGHT).all():
                    lead = int(np.abs(weights).argmax())
                unit = weights[lead]
                weights = weights / unit
                offset = (
                    grown["offset"][block] / unit
                    + (z_weights / unit * (centre[features] / scale[features])).sum()
                )
            if unit < 0.0:
                left, right = right, left
            kept = np.abs(weights) > 1.0 / MOST_WEIGHT
            features, weights = features[kept], weights[kept]
            if digits is not None:
                weights = round_significant(weights, digits)
        tree.left.append(left)
        tree.right.append(right)
        tree.features.append(features)
        tree.weights.append(weights)
        tree.offset.append(float(offset))
    return tree


def find_offsets(
    tree: UnitTree,
    rows: CompactRows,
    leaf: Ints,
    penalty: float,
    min_samples_leaf: float,
    *,
    is_short: bool,
) -> tuple[UnitTree, Ints]:
    """Return the tree with offsets found again, and the leaf of every row in it.

    ``leaf`` is where the grown tree sent every row, ``penalty`` the cost of a term or leaf.
    """
    best, best_leaf, least = None, leaf, np.inf
    for _ in range(_N_SWEEPS):
        tree = tree.copy()
        _sweep(tree, rows, leaf, min_samples_leaf, is_short=is_short)
        leaf = _drop_light(tree, rows, min_samples_leaf)
        value = _measure(tree, rows, leaf, penalty)
        if value >= least:
            break
        best, best_leaf, least = tree, leaf, value
    assert best is not None  # the first is always better than none
    return best, best_leaf


def _sweep(tree: UnitTree, rows: CompactRows, leaf: Ints, min_samples_leaf: float, *, is_short: bool) -> None:
    """Find every offset once, children first."""
    members = tree.members(leaf)
    costs = {block: rows.costs(members[block]) for block in members if tree.left[block] < 0}

    def costs_through(block: int, some: Ints) -> Floats:
        found = np.empty(len(some))
        at = tree.apply(rows.X[some], block)
        for one in np.unique(at).tolist():
            here = at == one
            found[here] = costs[one][some[here]]
        return found

    for block in reversed(tree.order()):
        if tree.left[block] < 0:
            continue
        some = members[block]
        by_left, by_right = (costs_through(side, some) for side in (tree.left[block], tree.right[block]))
        gain = rows.weight[some] * (by_left - by_right)
        cut = _find_cut(
            tree.sums(block, rows.X[some]), gain, rows.weight[some], tree.offset[block], min_samples_leaf
        )
        if cut is None:  # rounding has left no place to cut: the cheaper side takes all
            by = tree.left[block] if gain.sum() < 0.0 else tree.right[block]
            costs[block] = costs.get(by, np.empty(0))
            tree.replace(block, by)
            continue
        low, high = cut
        tree.offset[block] = shorten_between(low, high) if is_short else _halve(low, high)


def _find_cut(
    sums: Floats, gain: Floats, weight: Floats, near: float, min_samples_leaf: float
) -> tuple[float, float] | None:
    """Return the neighbouring sums between which a cut costs least; equals: nearest to ``near``, then the lower."""
    order = np.argsort(sums, kind="stable")
    sums = sums[order]
    cost, below = np.cumsum(gain[order])[:-1], np.cumsum(weight[order])[:-1]
    low, high = sums[:-1], sums[1:]
    is_cut = low < high
    is_cut &= (below >= min_samples_leaf) & (weight.sum() - below >= min_samples_leaf)
    if not is_cut.any():
        return None
    places = np.flatnonzero(is_cut)
    places = places[cost[places] == cost[places].min()]
    middle = low[places] + (high[places] - low[places]) / 2.0
    place = places[np.abs(middle - near).argmin()]
    return float(low[place]), float(high[place])


def _halve(low: float, high: float) -> float:
    middle = low + (high - low) / 2.0
    return middle if middle > low else high


def _drop_light(tree: UnitTree, rows: CompactRows, min_samples_leaf: float) -> Ints:
    """Replace blocks with a leaf that is too light by the other side; the leaf of every row."""
    while True:
        leaf = tree.apply(rows.X)
        weight = np.bincount(leaf, weights=rows.weight, minlength=len(tree.left))
        for block in tree.order():
            sides = (tree.left[block], tree.right[block])
            light = [
                side
                for side in sides
                if side >= 0 and tree.left[side] < 0 and weight[side] < min_samples_leaf
            ]
            if light:
                tree.replace(block, sides[0] if light[0] == sides[1] else sides[1])
                break
        else:
            return leaf


def _measure(tree: UnitTree, rows: CompactRows, leaf: Ints, penalty: float) -> float:
    """Return the objective: costs of the rows in their leaves, and the penalty of all terms and leaves."""
    total = 0.0
    for block in tree.order():
        if tree.left[block] >= 0:
            total += penalty * len(tree.weights[block])
        else:
            some = np.flatnonzero(leaf == block)
            total += penalty + float((rows.weight * rows.costs(some))[some].sum())
    return total


def round_significant(values: Floats, digits: int) -> Floats:
    """Round every value to a number of significant digits."""
    return np.array([float(f"{value:.{digits - 1}e}") for value in values.tolist()])


def shorten_between(low: float, high: float) -> float:
    """Return the number of fewest decimals in (low, high], the one nearest to the middle."""
    exact_low, exact_high = Decimal(low), Decimal(high)
    middle = (exact_low + exact_high) / 2
    for place in range((exact_high - exact_low).adjusted() + 1, -400, -1):
        found = float(middle.quantize(Decimal((0, (1,), place))) if _fits(middle, place) else middle)
        if low < found <= high:
            return found + 0.0  # not -0
    return high


def round_to_scale(values: Floats, scale: Floats | float, digits: int) -> Floats:
    """Round every value to ``digits`` digits of its scale: 3 digits of 77 are tenths."""
    rounded = values.copy()
    for place, (value, unit) in enumerate(np.broadcast(values, scale)):
        exact, last = Decimal(value), math.floor(math.log10(unit)) - digits + 1
        if _fits(exact, last):
            rounded[place] = float(exact.quantize(Decimal((0, (1,), last)))) + 0.0  # not -0
    return rounded


def _fits(value: Decimal, place: int) -> bool:
    """Whether a value can be rounded to a power of ten within the digits that decimals have."""
    return value.adjusted() - place < 27
