"""What all estimators for Dask have in common: fitting collections, and lazy predictions in their chunks."""

from __future__ import annotations

from typing import Any, ClassVar

import numpy as np

from .._extras import import_extra
from .._parameters import refuse
from ..estimators.predictor import Predictor
from ..model.model import Model
from ..scorer import Scorer
from ._client import Session, find_client
from ._collections import make_table, map_rows
from ._training import prepare


class DaskEstimator(Predictor):
    """Fitting and predicting collections."""

    _local: ClassVar[Any]  # the estimator for rows in memory
    _fit: Any  # of that estimator: fits rows that were checked
    unseen: str

    def fit(self, X: Any, y: Any, sample_weight: Any = None, *, client: Any = None) -> Any:
        """Fit the model.

        Parameters
        ----------
        X : Dask array or DataFrame of shape (n, m)
            Training samples, in partitions of any size; frames of pandas, with text and categories as in memory.
        y : Dask array or Series of shape (n,)
            Class labels, or numbers, divided at the same rows.
        sample_weight : Dask array or Series of shape (n,), optional
            Sample weights.
        client : dask.distributed.Client, optional
            Whose workers do the work; by default the current one.

        Returns
        -------
        self
        """
        if getattr(self, "warm_start", False):
            raise refuse("warm_start", True, "False: a model in memory, from to_local(), can be continued")
        with Session(find_client(client)) as session:
            return self._fit(prepare(self, make_table(session, X, y, sample_weight)))

    def to_local(self) -> Any:
        """The same model as an estimator for rows in memory, which can be saved, explained and exported."""
        model = self._read()
        local = self._local(**self.get_params(deep=False))
        local._model = model
        return local

    def _map(self, X: Any, method: str, dtype: Any, columns: list[Any] | None = None) -> Any:
        return map_rows(_Asked(method, dtype, self.unseen), self._read(), X, dtype, columns)


class DaskClassifier(DaskEstimator):
    """Predicting classes of collections."""

    def predict(self, X: Any) -> Any:
        """Predicted class of every row, lazily: an array or, for a DataFrame, a Series with its index."""
        return self._map(X, "predict", self._read().classes.dtype)

    def predict_proba(self, X: Any) -> Any:
        """Class probabilities, lazily: an array (n, K) or, for a DataFrame, a DataFrame with a column per class."""
        return self._map(X, "predict_proba", np.dtype(np.float64), self._read().labels)


class DaskRegressor(DaskEstimator):
    """Predicting numbers of collections."""

    def predict(self, X: Any) -> Any:
        """Predicted response of every row, lazily: an array or, for a DataFrame, a Series with its index."""
        return self._map(X, "predict", np.dtype(np.float64))


class _Asked:
    """Predicts the rows of a chunk with a model, where the chunk is."""

    def __init__(self, method: str, dtype: Any, unseen: str) -> None:
        self._method, self._dtype, self._unseen = method, dtype, unseen

    def __call__(self, X: Any, model: Model, columns: list[Any] | None) -> Any:
        if len(X):
            found = getattr(Scorer(model, unseen=self._unseen), self._method)(X)
        else:
            found = np.empty(0 if columns is None else (0, len(columns)), dtype=self._dtype)
        if not hasattr(X, "iloc"):
            return found
        pandas = import_extra("pandas", "dask")
        if columns is None:
            return pandas.Series(found, index=X.index, name="prediction")
        return pandas.DataFrame(found, index=X.index, columns=columns)
