"""Prediction with a saved model, without scikit-learn."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
from numpy.typing import NDArray

from . import _core
from ._columns import refuse_infinity
from ._encode import Encoding, find_plain_encoding
from ._parameters import check_count


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
        columns: list[str] | None,
        encoding: Encoding | None,
        metadata: dict[str, Any] | None,
    ) -> None:
        self._core = core
        self.feature_names_in_ = columns
        self._encoding = encoding
        self.classes_ = classes
        self.metadata = metadata
        self.feature_names = columns or [f"x{f}" for f in range(core.n_features)]
        self.n_features_in_ = core.n_features
        if encoding is not None:
            self.feature_names = encoding.feature_names
            self.n_features_in_ = len(encoding.names)

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
        if self._encoding is not None or not self._core.takes(X):
            X = self._straighten(X)
        if type(n_threads) is not int or n_threads < 1:
            n_threads = check_count("n_threads", n_threads, 1)
        result = method(X, n_threads)
        if result is None:
            refuse_infinity(X)
        return result

    def _straighten(self, X: Any) -> NDArray[Any]:
        """An exact array of anything that can be one, with the columns of the model."""
        if self.feature_names_in_ is not None and hasattr(X, "columns"):
            columns = [str(name) for name in X.columns]
            if columns != self.feature_names_in_:
                raise ValueError(
                    f"X has the columns {', '.join(columns)[:200]}: pass those of the model in their order, "
                    f"{', '.join(self.feature_names_in_)[:200]}."
                )
        if self._encoding is not None:
            return self._encoding.encode(X)
        plain = find_plain_encoding(X)
        given = _make_array(X) if plain is None else plain.encode(X)
        if given.ndim != 2 or given.shape[1] != self.n_features_in_:
            raise ValueError(
                f"X has shape {given.shape}: pass a table of {self.n_features_in_} columns, one row per sample."
            )
        return np.ascontiguousarray(given)


def _make_array(X: Any) -> NDArray[Any]:
    """An array of float32 where X is one, else of float64."""
    try:
        given = np.asarray(X)
        if given.dtype.kind == "c":
            raise TypeError("its numbers are complex")
        return given.astype(np.float32 if given.dtype == np.float32 else np.float64, copy=False)
    except (ValueError, TypeError) as error:
        raise ValueError(f"X is not numeric ({error}): pass one row of numbers per sample.") from None
