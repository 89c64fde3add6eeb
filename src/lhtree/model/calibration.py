"""The map from the scores of a model to calibrated probabilities, which a model stores and exports repeat."""

from __future__ import annotations

from dataclasses import dataclass
from itertools import pairwise
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from .. import _core

CALIBRATORS = _core.CALIBRATORS


class Knots(NamedTuple):
    """The map of one target: slope and intercept of a sigmoid, or the corners of an isotonic map."""

    x: NDArray[np.float64]
    y: NDArray[np.float64]


@dataclass(frozen=True, eq=False)
class Calibration:
    """A map of the second of two classes, or of every class.

    It maps the raw score of a boosted model, else the uncalibrated probability.

    A sigmoid is 1 / (1 + exp(-(x·score + y))). An isotonic map has lines between its corners and is constant beyond
    them. Of two classes the first has the rest; of more, the probabilities are divided by their sum.
    """

    method: str  # one of CALIBRATORS
    ptr: NDArray[np.int64]  # first knot of every map, shape (n_maps + 1,)
    x: NDArray[np.float64]
    y: NDArray[np.float64]

    @classmethod
    def of(cls, method: str, knots: list[Knots]) -> Calibration:
        """From the maps of the targets."""
        ptr = np.cumsum([0, *(len(one.x) for one in knots)], dtype=np.int64)
        return cls(
            method, ptr, np.concatenate([one.x for one in knots]), np.concatenate([one.y for one in knots])
        )

    @property
    def n_maps(self) -> int:
        """Number of maps: one for two classes, else one per class."""
        return len(self.ptr) - 1

    @property
    def knots(self) -> list[Knots]:
        """The corners of every map."""
        bounds = self.ptr.tolist()
        return [Knots(self.x[a:b], self.y[a:b]) for a, b in pairwise(bounds)]

    @property
    def parts(self) -> tuple[str, Any, Any, Any]:
        """As the core takes it."""
        return self.method, self.ptr, self.x, self.y
