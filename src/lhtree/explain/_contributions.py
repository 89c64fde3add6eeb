"""Contributions of features to predictions, for one row and for many.

At every block on the path of a row the outcome changes, and this change is divided among the features of the block.
Memberships: in proportion to the terms that pull to the side taken. Values: by the share of each weight in the gain of
the block; in a linear leaf every slope has its own term. Additive models: the value of a curve belongs to its column,
that of a surface to both of its columns equally.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from .. import _core
from .._core import add_contributions
from ..model.model import Model, Pool
from ..model.shares import memberships_at
from ..model.terms import read_axes
from ._paths import Floats, Ints, sum_targets

_PATHS_AT_ONCE = 1 << 22


def find_contributions(model: Model, X: NDArray[Any], out: Floats) -> Floats:
    """Write the contributions of every row, class and feature to ``out``, shape (n, K, m); K is 1 in a regression.

    Returns the changes by the ranges of linear leaves, shape (n, K); 0 unless blocks have values.
    """
    head, trees = model.head, model.trees
    n_targets = model.n_targets if head.first_target >= 0 else head.n_outputs
    own = out[:, head.n_outputs - n_targets :]  # two classes have one target, the second class
    own[:] = 0.0
    clipped = np.empty((len(X), n_targets))
    n_at_once = max(1, _PATHS_AT_ONCE // trees.n_trees)
    needs_membership = trees.has_slopes and not head.values_blocks
    for begin in range(0, len(X), n_at_once):
        some = slice(begin, begin + n_at_once)
        leaf = model.score("apply", X[some])
        if model.additive is not None:
            clipped[some] = 0.0
            _add_terms(model, leaf, own[some])
            continue
        clipped[some] = add_contributions(
            trees.arrays(),
            parent=trees.parent,
            outcome=_find_shares(model, leaf) if head.shares_classes else model.outcome[:, None],
            parts=trees.parts if head.values_blocks else None,
            clip=model.clip,
            target=model.target_of,
            leaf=leaf,
            membership=model.score("per_tree", X[some])[0] if needs_membership else None,
            Z=model.normalise(X[some]),
            out=own[some],
        )
    if not head.adds_rounds and model.n_estimators > 1:
        own /= model.n_estimators
    if n_targets < head.n_outputs:
        np.negative(own, out=out[:, :1])
    clipped = head.spread(head.average(clipped, model.n_estimators), np.negative)
    return clipped if model.pool is None else clipped + _add_forest(model.pool, X, out)


def _add_forest(pool: Pool, X: NDArray[Any], out: Floats) -> Floats:
    """Add the contributions of the forest of an ensemble, and return the changes by the ranges of its leaves.

    Those of a regression are multiplied by the weight of the forest. Those of classes add up to memberships, whose
    logarithms are added to the raw scores: they are multiplied by the ratio of both changes from the base to the row.
    """
    forest = pool.forest
    of_forest = np.zeros((len(X), forest.n_outputs, forest.n_features))
    clipped = find_contributions(forest, X, of_forest)
    if not forest.head.labels:
        out += pool.weight * of_forest
        return pool.weight * clipped
    base, membership = find_base(forest), forest.score("membership", X)
    step, change = membership - base, _add_part(pool, membership) - _add_part(pool, base)
    # Contributions cancel out where the membership is that of the base; their factor is the slope of the logarithm.
    near = np.maximum(base, _core.LEAST_MEMBERSHIP)
    slope = pool.weight * (1.0 / near + 1.0 / near[::-1] if len(near) == 2 else 1.0 / near)
    factor = np.divide(change, step, out=np.broadcast_to(slope, step.shape).copy(), where=np.abs(step) > 1e-9)
    out += factor[:, :, None] * of_forest
    return clipped


def _add_part(pool: Pool, total: Floats) -> Floats:
    """Return the part of totals of the forest in the raw scores: logarithms, log-odds of two classes, or numbers."""
    if not pool.forest.head.labels:
        return pool.weight * total
    log = np.log(np.maximum(total, _core.LEAST_MEMBERSHIP))
    return pool.weight * (log - log[..., ::-1] if log.shape[-1] == 2 else log)


def _add_terms(model: Model, leaf: Ints, out: Floats) -> None:
    """Add the values of curves to the contributions of their columns; a surface is divided equally between two.

    The contribution of a column of categories is that of its first feature.
    """
    trees = model.trees
    for tree, target in enumerate(model.target_of.tolist()):
        root = trees.block_ptr[tree]
        features = [axis.feature for axis in read_axes(model, tree)]
        values = trees.intercept[root + leaf[:, tree]]
        for feature in features:
            out[:, target, feature] += values / len(features)


def _find_shares(model: Model, leaf: Ints) -> Floats:
    """Return the memberships or values of all classes in the blocks on the paths to leaves, shape (n_blocks, K)."""
    trees = model.trees
    is_used = np.zeros(trees.n_blocks, dtype=bool)
    is_used[trees.block_ptr[:-1] + leaf] = True
    at = np.flatnonzero(is_used)
    while len(at):
        is_used[at] = True
        at = trees.parent[at]
        at = at[at >= 0]
    shares, used = np.empty((trees.n_blocks, model.n_classes)), np.flatnonzero(is_used)
    shares[used] = memberships_at(trees, used, model.prior)
    return shares


def find_base(model: Model) -> Floats:
    """Return the start of the contributions to every class, shape (K,).

    This is the mean share of the class in the roots of its trees, or the mean response. For boosted models, it is the
    base score plus the values of all roots; for ensembles, also the part of the forest's base.
    """
    if model.pool is not None:
        return _find_own_base(model) + _add_part(model.pool, find_base(model.pool.forest))
    return _find_own_base(model)


def _find_own_base(model: Model) -> Floats:
    head, roots = model.head, model.trees.block_ptr[:-1]
    if head.shares_classes:
        of_roots = memberships_at(model.trees, roots, model.prior)
        shares: Floats = of_roots.mean(axis=0) if model.base is None else model.base + of_roots.sum(axis=0)
        return shares
    total = head.average(sum_targets(model, model.outcome[roots]), model.n_estimators)
    return head.spread(total if model.base is None else model.base + total, head.mirror_total)
