"""Hyperplanes as lines over two features: numbers only, no drawing."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from ..model.model import Model

Floats = NDArray[np.float64]


class Line(NamedTuple):
    """A hyperplane as far as its block reaches within the picture, in the user's units."""

    tree: int
    block: int
    depth: int
    target: int
    x: tuple[float, float]
    y: tuple[float, float]


def find_lines(
    fitted: Model, held: Floats, along: list[int], ranges: list[tuple[float, float]]
) -> list[Line]:
    """The hyperplane of every branching block, cut off where the blocks above send rows elsewhere.

    Blocks that no point of the picture reaches, and hyperplanes that do not part their region of it, have no line.
    """
    trees = fitted.trees
    (low_x, high_x), (low_y, high_y) = ranges
    picture = np.array([[low_x, low_y], [high_x, low_y], [high_x, high_y], [low_x, high_y]])
    lines = []
    for tree in range(trees.n_trees):
        work = [(0, 0, picture)]
        while work:
            block, depth, region = work.pop()
            at = int(trees.block_ptr[tree]) + block
            left = int(trees.left[at])
            if left < 0:
                continue
            slope, offset = _find_plane(fitted, at, held, along)
            y = region @ slope - offset
            if (y < 0.0).all() or (y >= 0.0).all():
                work.append((left if y[0] < 0.0 else left + 1, depth + 1, region))
                continue
            below, above, ends = part(region, y)
            first, second = ends.T.tolist()
            lines.append(Line(tree, block, depth, int(trees.target[tree]), tuple(first), tuple(second)))
            work += [(left + 1, depth + 1, above), (left, depth + 1, below)]
    return lines


def part(region: Floats, y: Floats) -> tuple[Floats, Floats, Floats]:
    """Part a convex region (its corners in turn) where y, linear and given at the corners, changes sign.

    Returns the corners of the part with y < 0, those of the rest, and the two ends of the line between them.
    """
    after, y_after = np.roll(region, -1, axis=0), np.roll(y, -1)
    below: list[Floats] = []
    above: list[Floats] = []
    ends: list[Floats] = []
    for corner, following, here, there in zip(region, after, y, y_after, strict=True):
        (below if here < 0.0 else above).append(corner)
        if (here < 0.0) != (there < 0.0):
            end = corner + (following - corner) * (here / (here - there))
            ends.append(end)
            below.append(end)
            above.append(end)
    return np.array(below), np.array(above), np.array(ends)


def _find_plane(fitted: Model, at: int, held: Floats, along: list[int]) -> tuple[Floats, float]:
    """Slopes over the two features in the user's units, and offset, of a block's hyperplane with the others held."""
    trees, (centre, scale) = fitted.trees, fitted.normalisation
    some = slice(trees.hyperplane_ptr[at], trees.hyperplane_ptr[at + 1])
    weights = np.zeros(fitted.n_features)
    weights[trees.hyperplane_feature[some]] = trees.hyperplane_weight[some]
    slope = (weights / scale)[along]
    z = np.nan_to_num((held - centre) / scale)  # missing values sit at the centre
    z[along] = -(centre / scale)[along]
    return slope, float(trees.offset[at] - weights @ z)
