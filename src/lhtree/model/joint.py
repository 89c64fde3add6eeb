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

Floats = NDArray[np.float64]


@dataclass(frozen=True)
class JointSpread:
    """Sums and products of the features of sampled training rows, in steps of 1/16 of their scales.

    A row is plausible if its Mahalanobis distance from the mean is at most ``limit``, that of 99 % of the sampled rows.
    Missing values count as the centre. The covariance is shrunk towards its diagonal by m / (m + n) for m features and
    n rows.
    """

    n_rows: int
    sums: tuple[int, ...]
    products: tuple[int, ...]  # lower triangle, row by row
    limit: float

    @classmethod
    def learn(cls, model: Model, rows: EncodedRows) -> JointSpread | None:
        """Return the spread of training rows; None of few rows or very many features."""
        if model.n_features > MOST_FEATURES or len(rows) < _LEAST_ROWS:
            return None
        places = np.linspace(0, len(rows) - 1, min(len(rows), _MOST_ROWS)).round().astype(np.int64)
        steps = _find_steps(model, rows[places].expand())
        products = (steps.T @ steps)[np.tril_indices(model.n_features)]
        sums = steps.sum(axis=0)
        own = cls(len(steps), _list_whole(sums), _list_whole(products), 0.0)
        limit = float(np.quantile(own._measure(steps), _SHARE))
        return cls(own.n_rows, own.sums, own.products, math.ceil(100.0 * limit) / 100.0)

    @cached_property
    def _inverse(self) -> Floats:
        """The inverse of the shrunken covariance."""
        n_features = len(self.sums)
        products = np.zeros((n_features, n_features))
        products[np.tril_indices(n_features)] = self.products
        products += np.tril(products, -1).T
        mean = np.array(self.sums) / self.n_rows
        covariance = products / self.n_rows - np.outer(mean, mean)
        variance = np.maximum(np.diag(covariance), 0.0) + _LEAST_VARIANCE
        share = n_features / (n_features + self.n_rows)
        inverse = np.linalg.pinv((1.0 - share) * covariance + share * np.diag(variance), hermitian=True)
        return np.asarray(inverse, dtype=np.float64)

    def _measure(self, steps: Floats) -> Floats:
        apart = steps - np.array(self.sums) / self.n_rows
        squares = ((apart @ self._inverse) * apart).sum(axis=1)
        return np.asarray(np.sqrt(np.maximum(squares, 0.0)))

    def distances(self, model: Model, rows: Floats) -> Floats:
        """Return the Mahalanobis distance of encoded rows from the mean of the training rows."""
        return self._measure(_find_steps(model, rows))

    def to_dict(self) -> dict[str, Any]:
        """Return plain values for the header of a model file."""
        sums, products = list(self.sums), list(self.products)
        return {"n_rows": self.n_rows, "sums": sums, "products": products, "limit": self.limit}

    @classmethod
    def from_dict(cls, header: dict[str, Any]) -> JointSpread:
        """Read the plain values of a header."""
        return cls(header["n_rows"], tuple(header["sums"]), tuple(header["products"]), header["limit"])


def _find_steps(model: Model, rows: NDArray[Any]) -> Floats:
    """Return the normalised values of encoded rows in whole steps; 0 where they are missing."""
    with np.errstate(over="ignore"):
        normalised = rows / model.normalisation.scale - model.normalisation.centre / model.normalisation.scale
    return np.nan_to_num(np.rint(_UNIT * np.clip(normalised, -_FAR, _FAR)))


def _list_whole(values: Floats) -> tuple[int, ...]:
    return tuple(values.astype(np.int64).tolist())
