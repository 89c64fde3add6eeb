"""Explanation: the prediction of one row, with everything that led to it."""

from __future__ import annotations

from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import NDArray

from .._fitted import Fitted
from ._facts import Path, find_paths
from ._walk import Walk, walk


class Explanation:
    """Why a model predicts what it does for one row; ``model.explain(row)`` makes it.

    Attributes
    ----------
    prediction
        The class.
    classes : list
        All classes, in the order of the model.
    row : dict
        Values of the row by feature, in the user's units; NaN is missing.
    wolf, proba, membership, confidence : dict
        What the model's ``predict_…`` methods give, by class.
    paths : tuple of Path
        The way of the row through every tree.
    base, contributions, estimate : dict
        By class, where the estimate starts (the share of the class at the root), what every feature adds to it on the
        way, and where it ends: the mean of p̂ over the trees of the class, which is their exact sum. Every block changes
        the share of the class; the change is dealt to the features of its hyperplane in proportion to the sizes of
        their terms, and what the leaf's membership adds, to the features of its slopes. It is a convention for dealing
        out exact changes, not a claim about causes.
    """

    def __init__(self, fitted: Fitted, x: NDArray[np.float64]) -> None:
        self._fitted, self._x = fitted, x
        self.classes = fitted.labels
        self.row = dict(zip(fitted.feature_names, x.tolist(), strict=True))
        self.prediction = self.classes[int(self._ask("predict"))]

    def _ask(self, method: str) -> Any:
        return getattr(self._fitted.scorer, method)(self._x[None])[0]

    def _by_class(self, values: NDArray[np.float64]) -> dict[Any, float]:
        return dict(zip(self.classes, values.tolist(), strict=True))

    @cached_property
    def wolf(self) -> dict[Any, float]:
        """Mean d·μ of every class."""
        return self._by_class(self._ask("wolf"))

    @cached_property
    def proba(self) -> dict[Any, float]:
        """Probability of every class."""
        return self._by_class(self._ask("proba"))

    @cached_property
    def membership(self) -> dict[Any, float]:
        """Mean μ of every class."""
        return self._by_class(self._ask("membership"))

    @cached_property
    def confidence(self) -> dict[Any, float]:
        """Mean d of every class."""
        return self._by_class(self._ask("confidence"))

    @cached_property
    def _walk(self) -> Walk:
        return walk(self._fitted, self._x[None])

    @cached_property
    def paths(self) -> tuple[Path, ...]:
        """The way through every tree."""
        return tuple(find_paths(self._walk, self._x))

    @property
    def n_estimators(self) -> int:
        """Trees per class."""
        return self._fitted.n_estimators

    def tree(self, index: int) -> Explanation:
        """The explanation by one estimator of a forest: its tree of every class."""
        return Explanation(self._fitted.estimator(index), self._x)
