"""Prediction with a saved model, without scikit-learn."""

from __future__ import annotations

import os
from collections.abc import Callable
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ._parameters import MOST_THREADS, check_count
from .files import ModelFile, pack_bytes, read_file, unpack_bytes
from .interpret import Interpretable
from .model.model import Model, takes_nothing
from .tables.frames import refuse_infinity


class Scorer(Interpretable):
    """A saved model that predicts and explains without scikit-learn; created by ``lhtree.load_scorer``.

    Methods accept arrays of shape (n, m), frames with the columns in any order, and rows as dicts: one, or a list of
    them. A dict is the fastest form of a row with categories. Results are bit-identical to those of the model's methods
    of the same name. All methods are thread-safe. A float64 or float32 array is passed to the core without a copy.

    Attributes
    ----------
    classes_ : array of shape (K,)
        Empty if the model is a regression, whose only prediction is ``predict``.
    feature_names : list of str
        Features of the trees: a categorical column has one per category. x0, x1, … if fitted without names.
    feature_names_in_ : list of str or None
        Names of the columns of X; None if the model was fitted without names.
    n_features_in_ : int
        Number of columns of X.
    quantile : float or None
        The quantile that the model predicts; None if it predicts something else.
    metadata : dict or None
        The metadata passed to ``lhtree.save``.

    Examples
    --------
    >>> from sklearn.datasets import load_wine
    >>> from lhtree import LHForestClassifier, load_scorer, save
    >>> X, y = load_wine(return_X_y=True, as_frame=True)
    >>> save(LHForestClassifier(10, random_state=0).fit(X, y), "wine.lht")
    >>> scorer = load_scorer("wine.lht")
    >>> scorer
    Scorer(3 classes, 13 features, 30 trees)
    >>> scorer.predict(X[:2])
    array([0, 0])
    >>> scorer.predict_proba(X[:1]).round(2)
    array([[1., 0., 0.]])
    """

    __slots__ = (
        "_core",
        "_model",
        "_takes",
        "classes_",
        "feature_names_in_",
        "metadata",
        "n_features_in_",
        "quantile",
        "unseen",
    )

    def __init__(
        self,
        model: Model,
        metadata: dict[str, Any] | None = None,
        unseen: str = "missing",
        quantile: Any = None,
    ) -> None:
        self._model, self._core, self.unseen = model, model.scorer, unseen
        # Arrays need no names here, even if the model was fitted on a table.
        self._takes = model.scorer.takes if model.encoding.is_plain else takes_nothing
        self.classes_ = model.classes
        self.feature_names_in_ = list(model.encoding.names) if model.encoding.has_names else None
        self.n_features_in_ = model.encoding.n_columns
        self.quantile = quantile
        self.metadata = metadata

    def __reduce__(self) -> tuple[Any, ...]:
        content = pack_bytes(self._model, type(self).__name__)
        return _unpickle, (content, self.metadata, self.unseen, self.quantile)

    @property
    def feature_names(self) -> list[str]:
        """Names of the features, built on first use: a column name is repeated for each of its categories."""
        return self._model.feature_names

    def _read(self) -> Model:
        """Return the model for ``model.read``: a Scorer can be explained, drawn and exported."""
        return self._model

    def __repr__(self) -> str:
        head = self._model.head
        kind = f"{len(self.classes_)} classes" if head.predicts_classes else head.model_noun
        return f"Scorer({kind}, {self.n_features_in_} features, {self._model.trees.n_trees} trees)"

    def _repr_html_(self) -> str:
        from .draw.notebook import draw_model

        return draw_model(self._model)

    def output(self, target: Any) -> Scorer:
        """Return the model of one of several outputs: the name of a response, a quantile, or its place."""
        place = self._model.find_output(target)
        quantile = (
            self.quantile
            if isinstance(self.quantile, float) or self.quantile is None
            else self.quantile[place]
        )
        return Scorer(self._model.output(place), self.metadata, self.unseen, quantile)

    def predict(self, X: Any, n_threads: int = 1) -> NDArray[Any]:
        """Return the class of every row, or its predicted number, shape (n,); of several outputs, shape (n, k)."""
        head = self._model.head
        predicted = self._score(getattr(self._core, head.predicts), X, n_threads)
        return self.classes_[predicted] if head.predicts_classes else predicted  # type: ignore[no-any-return]

    def predict_interval(self, X: Any, coverage: float = 0.9, n_threads: int = 1) -> NDArray[np.float64]:
        """Return prediction intervals of a regression, shape (n, 2)."""
        return self._model.interval(self.predict(X, n_threads), coverage)

    def predict_proba(self, X: Any, n_threads: int = 1) -> NDArray[np.float64]:
        """Return probabilities, shape (n, K)."""
        if not self._model.head.predicts_classes:
            raise AttributeError("a regression has no probabilities: use predict.")
        return self._score(self._core.proba, X, n_threads)  # type: ignore[no-any-return]

    def decision_function(self, X: Any, n_threads: int = 1) -> NDArray[np.float64]:
        """Return raw scores of a boosted model, shape (n, K); shape (n,) for two classes and regressions."""
        raw_score = self._score(self._find("raw_score", "decision_function"), X, n_threads)
        return raw_score[:, 0] if raw_score.shape[1] == 1 else raw_score  # type: ignore[no-any-return]

    def predict_wolf(self, X: Any, n_threads: int = 1) -> NDArray[np.float64]:
        """Return the mean corrected memberships, shape (n, K)."""
        return self._score(self._find("wolf", "predict_wolf"), X, n_threads)  # type: ignore[no-any-return]

    def predict_membership(self, X: Any, n_threads: int = 1) -> NDArray[np.float64]:
        """Return the mean memberships, shape (n, K)."""
        return self._score(self._find("membership", "predict_membership"), X, n_threads)  # type: ignore[no-any-return]

    def predict_confidence(self, X: Any, n_threads: int = 1) -> NDArray[np.float64]:
        """Return the mean confidences, shape (n, K)."""
        return self._score(self._find("confidence", "predict_confidence"), X, n_threads)  # type: ignore[no-any-return]

    def apply(self, X: Any, n_threads: int = 1) -> NDArray[np.int64]:
        """Return the leaf of every row in every tree, shape (n, n_trees)."""
        return self._score(self._core.apply, X, n_threads)  # type: ignore[no-any-return]

    def _find(self, score: str, name: str) -> Callable[[Any, int], Any]:
        """Return the method of the core for a score; ``name`` is the public one."""
        head = self._model.head
        if score not in head.scores:
            raise AttributeError(f"{head.model_noun} has no {name}: use {head.score_methods}.")
        method: Callable[[Any, int], Any] = getattr(self._core, score)
        return method

    def _score(self, method: Callable[[Any, int], Any], X: Any, n_threads: int) -> Any:
        rows = None
        if not self._takes(X):
            rows = self._model.encoding.code(X, unseen=self.unseen, owner="Scorer", warns=False)
        if type(n_threads) is not int or not 0 < n_threads <= MOST_THREADS:
            n_threads = min(check_count("n_threads", n_threads, 1), MOST_THREADS)
        if rows is not None:
            return rows.score(method, n_threads)
        result = method(X, n_threads)
        if result is None:
            refuse_infinity(X)
        return result


def _unpickle(content: bytes, *facts: Any) -> Scorer:
    return Scorer(unpack_bytes(content), *facts)


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

    Examples
    --------
    >>> from sklearn.datasets import load_wine
    >>> from lhtree import LHTClassifier, load_scorer, save
    >>> X, y = load_wine(return_X_y=True, as_frame=True)
    >>> save(LHTClassifier().fit(X, y), "wine.lht")
    >>> load_scorer("wine.lht").predict(X[:3])
    array([0, 0, 0])
    """
    return make_scorer(read_file(path))


def make_scorer(file: ModelFile) -> Scorer:
    """Return the Scorer of the contents of a model file."""
    parameters = file.header["parameters"]
    quantile = parameters["quantile"] if parameters.get("loss") == "quantile" else None
    return Scorer(file.model, file.header["metadata"], parameters.get("unseen", "missing"), quantile)
