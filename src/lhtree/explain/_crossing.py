"""The smallest moves of a row that cross a hyperplane, in closed form; all in normalised units."""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from ..model.model import CLIP as FAR
from ..model.shares import find_contrast
from ._goal import Goal
from ._walk import Walk, walk

Floats = NDArray[np.float64]


class Room(NamedTuple):
    """How far every feature may move down and up, shape (m,); 0 both ways where it must stay."""

    down: Floats
    up: Floats


class Planes(NamedTuple):
    """Hyperplanes on the path of a row: y(x) = weights · z − offset.

    In a leaf it is the one where its membership is one half: y(x) = p̂(x) − ½, with the slopes for weights. Linear
    leaves that have values have one together, where the predicted class is level with the next, or the goal begins.
    ``gain`` is how much more of the tree's target there is behind the hyperplane, as a share (or how much larger
    the value is), ``target`` the code of that class, ``past`` how far behind the hyperplane a row is surely
    on its other side in spite of rounding (to float32, and of the values themselves), and ``n_passed`` the number of
    blocks on the whole way.
    """

    weights: Floats  # (h, m)
    y: Floats
    past: Floats
    gain: Floats
    target: NDArray[Any]
    n_passed: int


def find_planes(goal: Goal, x: Floats, room: Room, most: int) -> Planes:
    """Hyperplanes on the paths of row ``x`` through all trees; if too many, those nearest along free features."""
    fitted, trees = goal.fitted, goal.fitted.trees
    way = walk(fitted, x[None])
    # A block has terms of one kind only.
    parts = (way.terms,) if fitted.has_values else (way.terms, way.slope_terms)
    stop, feature, weight = (
        np.concatenate([getattr(part, name) for part in parts]) for name in ("stop", "feature", "weight")
    )
    y = np.where(way.is_leaf, way.value - 0.5, way.y)
    is_free = (room.down > 0.0) | (room.up > 0.0)
    squares = np.where(is_free[feature], weight**2, 0.0)
    free = np.bincount(stop, weights=squares, minlength=len(y))
    kept = np.flatnonzero(free > 0.0)
    near = np.argsort(np.abs(y[kept]) / np.sqrt(free[kept]), kind="stable")
    kept = kept[near[:most]]

    place = np.full(len(y), -1)
    place[kept] = np.arange(len(kept))
    own = place[stop] >= 0
    weights = np.zeros((len(kept), fitted.n_features))
    weights[place[stop[own]], feature[own]] = weight[own]
    at, y, tree = way.at[kept], y[kept], way.tree[kept]
    target = trees.target[tree]
    outcome = fitted.outcome
    left = trees.block_ptr[tree] + np.maximum(trees.left[at], 0)
    beyond = outcome[np.minimum(left + 1, len(outcome) - 1)] - outcome[left]
    rise = np.where(way.is_leaf[kept], 0.5, beyond / goal.unit)
    if (
        fitted.is_joint
    ):  # every block for the class that its sides differ in most; leaves have no slopes to cross
        of_class, rise = find_contrast(trees, at, fitted.n_classes)
        target = of_class.astype(np.int32)
    if fitted.is_clipped:
        slopes, lead, leader = goal.find_level(_sum_slopes(way), way)
        if (slopes[is_free] != 0.0).any():
            weights, y = np.concatenate([weights, slopes[None]]), np.append(y, lead)
            rise, target = np.append(rise, abs(lead)), np.append(target, leader)
    centre, scale = fitted.normalisation
    with np.errstate(over="ignore"):
        digits = np.clip(np.nan_to_num((np.abs(x) + np.abs(centre)) / scale), 0.0, FAR)
    past = 1e-6 * (np.abs(weights) @ (np.abs(way.Z[0]) + 1e-8 * digits) + np.abs(y)) + 1e-9
    gain = rise * np.where(y < 0.0, 1.0, -1.0)
    return Planes(weights, y, past, gain, target.astype(np.int32), len(way.at))


def _sum_slopes(way: Walk) -> Floats:
    """Sums of the slopes of the leaves of the only row, where they are not clipped, shape (n_targets, m)."""
    fitted, terms = way.fitted, way.slope_terms
    tree = way.tree[terms.stop]
    moves = (way.clipped[tree] == 0.0) & (np.abs(way.Z[0, terms.feature]) < fitted.clip)
    slopes = np.zeros((fitted.n_targets, fitted.n_features))
    np.add.at(slopes, (fitted.target_of[tree], terms.feature), np.where(moves, terms.weight, 0.0))
    return slopes


def find_sides(planes: Planes) -> Floats:
    """Direction in which each hyperplane is crossed: 1 from left to right, -1 from right to left."""
    return np.where(planes.y < 0.0, 1.0, -1.0)


def shortest_moves(weights: Floats, need: Floats, sides: Floats, room: Room) -> Floats:
    """The move of least Euclidean length that changes each feature sum by ``sides * need``, within the room.

    Without bounds it runs along the weights, λw. Where a bound stops a feature, the others go further: each moves by
    min(λ|w|, room), and λ is found from the sorted points at which features stop.

    Parameters
    ----------
    weights : array of shape (h, m)
        Of h hyperplanes.
    need : array of shape (h,)
        By how much each feature sum must change, above 0.
    sides : array of shape (h,)
        1 where it must grow, -1 where it must fall.
    room : Room
        How far the features may move.

    Returns
    -------
    array of shape (h, m); a line is NaN where the room does not suffice.
    """
    directed = weights * sides[:, None]
    size = np.abs(directed)
    space = np.where(directed > 0.0, room.up, np.where(directed < 0.0, room.down, 0.0))
    size = np.where(space > 0.0, size, 0.0)
    with np.errstate(divide="ignore", invalid="ignore"):
        stop = np.where(size > 0.0, space / size, np.inf)
    order = np.argsort(stop, axis=1, kind="stable")
    ordered = np.take_along_axis(size, order, axis=1)
    filled = np.cumsum(ordered * np.take_along_axis(space, order, axis=1), axis=1)
    before = np.concatenate([np.zeros((len(need), 1)), filled[:, :-1]], axis=1)
    rest = np.cumsum((ordered**2)[:, ::-1], axis=1)[:, ::-1]
    with np.errstate(divide="ignore", invalid="ignore", over="ignore"):
        reach = before + np.take_along_axis(stop, order, axis=1) * rest
        reach = np.where(rest > 0.0, reach, -np.inf)
        first = np.argmax(reach >= need[:, None], axis=1)[:, None]
        step = (need[:, None] - np.take_along_axis(before, first, axis=1)) / np.take_along_axis(
            rest, first, axis=1
        )
    is_possible = np.take_along_axis(reach, first, axis=1) >= need[:, None]
    moves = np.sign(directed) * np.minimum(np.where(is_possible, step, 0.0) * size, space)
    return np.where(is_possible, moves, np.nan)


def single_moves(weights: Floats, need: Floats, sides: Floats, room: Room) -> Floats:
    """The move of each feature alone that changes each feature sum by ``sides * need``, shape (h, m); NaN if none."""
    directed = weights * sides[:, None]
    space = np.where(directed > 0.0, room.up, room.down)
    with np.errstate(divide="ignore", over="ignore"):
        moves = need[:, None] / directed
    return np.where(np.abs(moves) <= space, moves, np.nan)
