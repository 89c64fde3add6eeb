"""Prediction with a saved model, without scikit-learn."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
from numpy.typing import NDArray

from . import _core
from ._parameters import check_count
from .tables.encoding import Encoding
from .tables.frames import refuse_infinity


class Scorer:
    """A saved model that can predict and nothing else; ``lhtree.load_scorer`` makes it.

    Methods take arrays of shape (n, m), or tables with categories if the model was fitted with such. They give what the
    model's methods of the same name give, bit by bit, and may be called from many threads at once. A float64 or float32
    array goes straight to the core.

    Attributes
    ----------
    classes_ : array of shape (K,)
    feature_names : list of str
        What the trees see: a column of categories has one for each. x0, x1, … if the model was fitted without names.
    feature_names_in_ : list of str or None
        Columns of the tables it takes; None if the model was fitted without names.
    n_features_in_ : int
        Columns of X.
    metadata : dict or None
        What ``lhtree.save`` was given.
    """

    __slots__ = (
        "_core",
        "_encoding",
        "_unseen",
        "classes_",
        "feature_names",
        "feature_names_in_",
        "metadata",
        "n_features_in_",
    )

    def __init__(
        self,
        core: _core.Scorer,
        classes: NDArray[Any],
        encoding: Encoding,
        metadata: dict[str, Any] | None,
        unseen: str = "missing",
    ) -> None:
        self._core, self._encoding, self._unseen = core, encoding, unseen
        self.classes_ = classes
        self.metadata = metadata
        self.feature_names = encoding.feature_names
        self.feature_names_in_ = list(encoding.names) if encoding.has_names else None
        self.n_features_in_ = encoding.n_columns

    def __repr__(self) -> str:
        return f"Scorer({len(self.classes_)} classes, {self.n_features_in_} features, {self._core.n_trees} trees)"

    def predict(self, X: Any, n_threads: int = 1) -> NDArray[Any]:
        """Class of every row, shape (n,)."""
        return self.classes_[self._ask(self._core.predict, X, n_threads)]  # type: ignore[no-any-return]

    def predict_proba(self, X: Any, n_threads: int = 1) -> NDArray[np.float64]:
        """Probabilities, shape (n, K)."""
        return self._ask(self._core.proba, X, n_threads)  # type: ignore[no-any-return]

    def predict_wolf(self, X: Any, n_threads: int = 1) -> NDArray[np.float64]:
        """Mean corrected memberships, shape (n, K)."""
        return self._ask(self._core.wolf, X, n_threads)  # type: ignore[no-any-return]

    def predict_membership(self, X: Any, n_threads: int = 1) -> NDArray[np.float64]:
        """Mean memberships, shape (n, K)."""
        return self._ask(self._core.membership, X, n_threads)  # type: ignore[no-any-return]

    def predict_confidence(self, X: Any, n_threads: int = 1) -> NDArray[np.float64]:
        """Mean confidences, shape (n, K)."""
        return self._ask(self._core.confidence, X, n_threads)  # type: ignore[no-any-return]

    def apply(self, X: Any, n_threads: int = 1) -> NDArray[np.int64]:
        """Leaf of every row in every tree, shape (n, n_trees)."""
        return self._ask(self._core.apply, X, n_threads)  # type: ignore[no-any-return]

    def _ask(self, method: Callable[[Any, int], Any], X: Any, n_threads: int) -> Any:
        if not self._encoding.is_plain or not self._core.takes(X):
            X = self._encoding.encode(X, unseen=self._unseen, owner="Scorer", warns=False)
        if type(n_threads) is not int or n_threads < 1:
            n_threads = check_count("n_threads", n_threads, 1)
        result = method(X, n_threads)
        if result is None:
            refuse_infinity(X)
        return result
