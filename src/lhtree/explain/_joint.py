"""Contributions in trees of all classes: each change of the shares of all classes is divided in the same way."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from ..model.model import Model
from ..model.shares import memberships_at
from ._walk import Walk

Floats = NDArray[np.float64]


def add_classes(walk: Walk) -> Floats:
    """What every feature contributes to every class, summed over the trees, shape (n, K, m)."""
    fitted, terms = walk.fitted, walk.terms
    change = np.zeros((len(walk.at), fitted.n_classes))
    change[:-1] = np.diff(memberships_at(fitted.trees, walk.at, fitted.prior), axis=0)
    change[walk.is_leaf] = 0.0  # there are no slopes
    # The part of every term in the change of its block is that of ``Walk.deal``.
    side = np.where(walk.y >= 0.0, 1.0, -1.0)
    part = terms.deal(np.ones(len(walk.at)), fitted.trees.offset[walk.at], side)
    cell, shape = walk.row[terms.stop] * fitted.n_features + terms.feature, (len(walk.Z), fitted.n_features)
    dealt = [
        np.bincount(cell, weights=part * of_class[terms.stop], minlength=shape[0] * shape[1]).reshape(shape)
        for of_class in change.T
    ]
    return np.stack(dealt, axis=1)


def root_shares(fitted: Model) -> Floats:
    """Mean shares of the classes in the roots, shape (K,)."""
    shares: Floats = memberships_at(fitted.trees, fitted.trees.block_ptr[:-1], fitted.prior).mean(axis=0)
    return shares
