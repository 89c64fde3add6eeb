"""How training rows spread jointly: the distance of a row from their middle, which decides whether it is plausible."""

from __future__ import annotations

import math
from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from ..tables.rows import EncodedRows

if TYPE_CHECKING:
    from .model import Model

MOST_FEATURES = 100  # a model with more has no joint spread: it would be larger than many models
_MOST_ROWS = 500  # of the sample
_LEAST_ROWS = 20
_UNIT = 16.0  # normalised values are rounded to steps of 1/16, so that sums are exact in any order
_FAR = 5.0  # limit of normalised values
_SHARE = 0.99  # of the sampled rows that are plausible
_LEAST_VARIANCE = 0.01  # in steps
_ROWS_AT_ONCE = 64  # so few that products of matrices start no threads

Floats = NDArray[np.float64]


@dataclass(frozen=True, eq=False)
class JointSpread:
    """Sums and products of the features of sampled training rows, in steps of 1/16 of their scales.

    A row is plausible if its Mahalanobis distance from the mean is at most ``limit``, that of 99 % of the sampled rows.
    Missing values count as the centre. The covariance is shrunk towards its diagonal by m / (m + n) for m features and
    n rows.
    """

    n_rows: int
    sums: NDArray[np.int64]
    products: NDArray[np.int64]  # lower triangle, row by row
    limit: float

    @classmethod
    def learn(cls, model: Model, rows: EncodedRows) -> JointSpread | None:
        """Return the spread of training rows; None of few rows or very many features."""
        if model.n_features > MOST_FEATURES or len(rows) < _LEAST_ROWS:
            return None
        steps = _find_steps(model, rows.thin(_MOST_ROWS).expand())
        n_rows, sums, products = len(steps), steps.sum(axis=0), steps.T @ steps
        distances = _measure(steps - sums / n_rows, _invert(n_rows, sums, products))
        place = math.ceil(_SHARE * n_rows) - 1
        limit = math.ceil(100.0 * float(np.partition(distances, place)[place])) / 100.0
        lower = products[_find_lower(len(sums))]
        return cls(n_rows, sums.astype(np.int64), lower.astype(np.int64), limit)

    @cached_property
    def _inverse(self) -> Floats:
        """The inverse of the shrunken covariance."""
        n_features = len(self.sums)
        products = np.zeros((n_features, n_features))
        products[_find_lower(n_features)] = self.products
        products += np.tril(products, -1).T
        return _invert(self.n_rows, self.sums, products)

    def distances(self, model: Model, rows: Floats) -> Floats:
        """Return the Mahalanobis distance of encoded rows from the mean of the training rows."""
        return _measure(_find_steps(model, rows) - self.sums / self.n_rows, self._inverse)


def _find_steps(model: Model, rows: NDArray[Any]) -> Floats:
    """Return the normalised values of encoded rows in whole steps; 0 where they are missing."""
    with np.errstate(over="ignore"):
        normalised = rows / model.normalisation.scale - model.normalisation.centre / model.normalisation.scale
    steps = np.rint(_UNIT * np.clip(normalised, -_FAR, _FAR))
    steps[np.isnan(steps)] = 0.0
    return steps


def _invert(n_rows: int, sums: NDArray[Any], products: Floats) -> Floats:
    """Return the inverse of the shrunken covariance, which is positive definite."""
    mean, n_features = sums / n_rows, len(sums)
    covariance = products / n_rows - np.outer(mean, mean)
    variance = np.maximum(covariance.diagonal(), 0.0) + _LEAST_VARIANCE
    share = n_features / (n_features + n_rows)
    covariance *= 1.0 - share
    covariance.flat[:: n_features + 1] += share * variance
    return np.asarray(np.linalg.inv(covariance), dtype=np.float64)


def _measure(apart: Floats, inverse: Floats) -> Floats:
    """Return the Mahalanobis length of differences from the mean, shape (n, m)."""
    squares = [
        ((some @ inverse) * some).sum(axis=1)
        for some in (apart[first : first + _ROWS_AT_ONCE] for first in range(0, len(apart), _ROWS_AT_ONCE))
    ]
    return np.asarray(np.sqrt(np.maximum(np.concatenate(squares), 0.0)))


def _find_lower(n_features: int) -> NDArray[np.bool_]:
    """Return which products are stored: the lower triangle, row by row."""
    return np.tri(n_features, dtype=bool)
