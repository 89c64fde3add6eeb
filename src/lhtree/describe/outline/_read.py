"""The outline of a model."""

from __future__ import annotations

from typing import Any

import numpy as np

from ...model.model import Model
from ...model.shares import shares_at
from ...model.trees import Trees
from ._facts import CATEGORY, MISSING, NUMBER, STATISTIC, Outline, OutlineBlock, Term


def read_outline(model: Model) -> Outline:
    """The outline of a compact tree; other models are refused."""
    trees = model.trees
    if not trees.has_units or trees.n_trees > 1:
        raise TypeError(
            "the model is not one compact tree: fit a CompactLHTClassifier or a CompactLHTRegressor."
        )
    depth, shares = trees.depths().tolist(), _find_shares(model)
    labels = model.labels
    blocks = tuple(
        OutlineBlock(
            number=number,
            depth=depth[number],
            terms=_read_slopes(model, number) if left < 0 else _read_weights(model, number),
            bound=float(trees.unit_offset[number]),
            left=left,
            right=left + 1 if left >= 0 else -1,
            n_samples=int(trees.n_samples[number]),
            weight=float(trees.weight[number]),
            shares=tuple(shares[number].tolist()),
            label=labels[int(shares[number].argmax())] if labels else float(model.outcome[number]),
            start=float(_find_starts(trees)[number]),
            low=float(trees.low[number]),
            high=float(trees.high[number]),
        )
        for number, left in enumerate(trees.left.tolist())
    )
    return Outline(
        blocks, tuple(labels), tuple(model.prior.tolist()[: len(labels)]), tuple(model.column_names)
    )


def _find_shares(model: Model) -> Any:
    """Share of every class in every block, shape (n_blocks, K); in a leaf, what it predicts. None of a regression."""
    trees = model.trees
    if model.is_regression:
        return np.empty((trees.n_blocks, 0))
    if model.is_joint:
        return shares_at(trees, np.arange(trees.n_blocks), model.n_classes)
    is_constant = (trees.left < 0) & (np.diff(trees.membership_ptr) == 0)
    share = np.where(is_constant, _find_starts(trees), trees.n_target / trees.weight)
    share = np.clip(share, trees.low, trees.high)
    return np.column_stack([1.0 - share, share])


def _find_starts(trees: Trees) -> Any:
    """What leaves estimate before their slopes are added."""
    return trees.unit_intercept if trees.has_slopes else trees.intercept


def _read_weights(model: Model, block: int) -> tuple[Term, ...]:
    """The terms of a hyperplane."""
    trees = model.trees
    some = slice(trees.hyperplane_ptr[block], trees.hyperplane_ptr[block + 1])
    return _read_terms(
        model, trees.hyperplane_feature[some], trees.unit_weight[some], trees.hyperplane_weight[some]
    )


def _read_slopes(model: Model, block: int) -> tuple[Term, ...]:
    """The terms of a linear leaf."""
    trees = model.trees
    some = slice(trees.membership_ptr[block], trees.membership_ptr[block + 1])
    return _read_terms(
        model, trees.membership_feature[some], trees.unit_slope[some], trees.membership_slope[some]
    )


def _read_terms(model: Model, features: Any, weights: Any, normalised: Any) -> tuple[Term, ...]:
    encoding, size = model.encoding, np.abs(normalised.astype(np.float64))
    terms = []
    for feature, weight, relative in zip(
        features.tolist(), weights.tolist(), (size / size.max(initial=0.0)).tolist(), strict=True
    ):
        column = int(encoding.column[feature])
        kind, category, others = NUMBER, None, list[Any]()
        if encoding.is_one_hot[feature]:
            kind, others = CATEGORY, list(encoding.categories[column] or ())
            category = others.pop(feature - int(encoding.ptr[column]))
        elif encoding.is_indicator[feature]:
            kind = MISSING
        elif encoding.is_statistic[feature]:
            kind, category = STATISTIC, model.feature_names[feature]
        fill = float(model.normalisation.centre[feature])
        terms.append(Term(weight, encoding.names[column], kind, category, tuple(others), fill, relative))
    return tuple(terms)
