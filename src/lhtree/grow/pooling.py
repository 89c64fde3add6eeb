"""Weights of the members of an ensemble, learned from rows that the members were not fitted on."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray
from scipy.optimize import minimize

from .. import _core

Floats = NDArray[np.float64]

# Weights to which few rows are shrunk, and the number of rows that these count for. Chosen by cross-validation on the
# training parts of 25 tables.
_PRIOR = np.array([0.6, 0.5])
_PRIOR_ROWS = 20.0


class Pooled(NamedTuple):
    """Weights of boosted trees and of the forest, and the score of their sum: minus the log loss, or R²."""

    boost: float
    forest: float
    score: float


def pool_scores(
    raw_score: Floats, membership: Floats, codes: NDArray[np.int32], weight: Floats | None
) -> Pooled:
    """Return the weights of raw scores and log-memberships whose sum has the least log loss.

    Weights are not negative. The loss is convex; a quadratic penalty draws the weights of few rows to the prior.
    """
    members = np.stack([_by_class(raw_score), np.log(np.maximum(membership, _core.LEAST_MEMBERSHIP))])
    own = members[:, np.arange(len(codes)), codes]
    share_of_row = np.ones(len(codes)) if weight is None else weight
    share_of_row = share_of_row / share_of_row.sum()
    pull = _PRIOR_ROWS / len(codes)

    def measure(weights: Floats) -> tuple[float, Floats]:
        total = np.tensordot(weights, members, 1)
        log_sum = np.logaddexp.reduce(total, axis=1)
        share = np.exp(total - log_sum[:, None])
        loss = share_of_row @ (log_sum - weights @ own)
        slope = (np.einsum("mnk,nk->mn", members, share) - own) @ share_of_row
        distance = weights - _PRIOR
        return float(loss + pull * distance @ distance), slope + 2.0 * pull * distance

    found = minimize(measure, _PRIOR, jac=True, bounds=[(0.0, 100.0)] * 2, method="L-BFGS-B")
    boost, forest = (float(f"{one:.4g}") for one in found.x)  # optimisers differ in the last bits
    weights = np.array([boost, forest])
    distance = weights - _PRIOR
    return Pooled(boost, forest, float(pull * distance @ distance) - measure(weights)[0])


def _by_class(raw_score: Floats) -> Floats:
    """Return raw scores by class: with two classes, that of the first is 0."""
    if raw_score.shape[1] > 1:
        return raw_score
    return np.concatenate([np.zeros_like(raw_score), raw_score], axis=1)


def pool_numbers(predicted: Floats, of_forest: Floats, response: Floats, weight: Floats | None) -> Pooled:
    """Return the weights, which add up to 1, of two predictions whose mean has the least squared error."""
    unit = float(np.abs(response).max()) or 1.0  # squares of 1e300 would overflow
    error, step = (response - predicted) / unit, (of_forest - predicted) / unit
    square = np.average(step**2, weights=weight)
    share = np.average(error * step, weights=weight) / square if square > 0.0 else 0.0
    forest = float(f"{np.clip(share, 0.0, 1.0):.4g}")
    left = np.average((error - forest * step) ** 2, weights=weight)
    spread = response / unit - np.average(response / unit, weights=weight)
    total = np.average(spread**2, weights=weight)
    return Pooled(float(f"{1.0 - forest:.4g}"), forest, float(1.0 - left / total) if total > 0.0 else 0.0)
