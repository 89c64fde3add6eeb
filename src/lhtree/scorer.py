"""Prediction with a saved model, without scikit-learn."""

from __future__ import annotations

import os
from collections.abc import Callable
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ._parameters import MOST_THREADS, check_count
from .files import read_file
from .interpret import Interpretable
from .model import Model, takes_nothing
from .tables.frames import refuse_infinity


class Scorer(Interpretable):
    """A saved model that predicts and explains without scikit-learn; created by ``lhtree.load_scorer``.

    Methods accept arrays of shape (n, m), or tables with categories if the model was fitted with them. Results are
    bit-identical to those of the model's methods of the same name. All methods are thread-safe. A float64 or float32
    array is passed to the core without a copy.

    Attributes
    ----------
    classes_ : array of shape (K,)
    feature_names : list of str
        Features of the trees: a categorical column has one per category. x0, x1, … if fitted without names.
    feature_names_in_ : list of str or None
        Names of the columns of X; None if the model was fitted without names.
    n_features_in_ : int
        Number of columns of X.
    metadata : dict or None
        The metadata passed to ``lhtree.save``.
    """

    __slots__ = (
        "_core",
        "_model",
        "_takes",
        "classes_",
        "feature_names",
        "feature_names_in_",
        "metadata",
        "n_features_in_",
        "unseen",
    )

    def __init__(self, model: Model, metadata: dict[str, Any] | None = None, unseen: str = "missing") -> None:
        self._model, self._core, self.unseen = model, model.scorer, unseen
        # An array without names is as good as a table with them here.
        self._takes = model.scorer.takes if model.encoding.is_plain else takes_nothing
        self.classes_ = model.classes
        self.feature_names = model.feature_names
        self.feature_names_in_ = list(model.encoding.names) if model.encoding.has_names else None
        self.n_features_in_ = model.encoding.n_columns
        self.metadata = metadata

    def _read(self) -> Model:
        """What ``model.read`` gives, so that a Scorer can be explained, drawn and exported, too."""
        return self._model

    def __repr__(self) -> str:
        sizes = len(self.classes_), self.n_features_in_, self._model.trees.n_trees
        return "Scorer({} classes, {} features, {} trees)".format(*sizes)

    def predict(self, X: Any, n_threads: int = 1) -> NDArray[Any]:
        """Class of every row, shape (n,)."""
        return self.classes_[self._ask(self._core.predict, X, n_threads)]  # type: ignore[no-any-return]

    def predict_proba(self, X: Any, n_threads: int = 1) -> NDArray[np.float64]:
        """Probabilities, shape (n, K)."""
        return self._ask(self._core.proba, X, n_threads)  # type: ignore[no-any-return]

    def decision_function(self, X: Any, n_threads: int = 1) -> NDArray[np.float64]:
        """Raw scores of a boosted model: of two classes that of the second, shape (n,), else shape (n, K)."""
        if not self._model.is_boosted:
            raise AttributeError("only a boosted model has a decision_function: use predict_wolf.")
        raw_score = self._ask(self._core.raw_score, X, n_threads)
        return raw_score[:, 0] if len(self.classes_) == 2 else raw_score  # type: ignore[no-any-return]

    def predict_wolf(self, X: Any, n_threads: int = 1) -> NDArray[np.float64]:
        """Mean corrected memberships, shape (n, K)."""
        return self._ask(self._find("wolf"), X, n_threads)  # type: ignore[no-any-return]

    def predict_membership(self, X: Any, n_threads: int = 1) -> NDArray[np.float64]:
        """Mean memberships, shape (n, K)."""
        return self._ask(self._find("membership"), X, n_threads)  # type: ignore[no-any-return]

    def predict_confidence(self, X: Any, n_threads: int = 1) -> NDArray[np.float64]:
        """Mean confidences, shape (n, K)."""
        return self._ask(self._find("confidence"), X, n_threads)  # type: ignore[no-any-return]

    def apply(self, X: Any, n_threads: int = 1) -> NDArray[np.int64]:
        """Leaf of every row in every tree, shape (n, n_trees)."""
        return self._ask(self._core.apply, X, n_threads)  # type: ignore[no-any-return]

    def _find(self, value: str) -> Callable[[Any, int], Any]:
        """The method of the core for a mean over trees, which boosted models do not have."""
        if self._model.is_boosted:
            raise AttributeError(
                f"a boosted model has no predict_{value}: use decision_function for raw scores, or predict_proba."
            )
        method: Callable[[Any, int], Any] = getattr(self._core, value)
        return method

    def _ask(self, method: Callable[[Any, int], Any], X: Any, n_threads: int) -> Any:
        if not self._takes(X):
            X = self._model.encoding.encode(X, unseen=self.unseen, owner="Scorer", warns=False)
        if type(n_threads) is not int or not 0 < n_threads <= MOST_THREADS:
            n_threads = min(check_count("n_threads", n_threads, 1), MOST_THREADS)
        result = method(X, n_threads)
        if result is None:
            refuse_infinity(X)
        return result


def load_scorer(path: str | os.PathLike[str]) -> Scorer:
    """Load a saved model for prediction; only NumPy is needed, not scikit-learn.

    Parameters
    ----------
    path : str or path
        A file written by ``lhtree.save``.

    Returns
    -------
    Scorer
        It has the model's prediction methods, ``classes_`` and ``feature_names``; predictions are bit-identical.
    """
    file = read_file(path)
    unseen = file.header["parameters"].get("unseen", "missing")
    return Scorer(file.model, file.header["metadata"], unseen)
