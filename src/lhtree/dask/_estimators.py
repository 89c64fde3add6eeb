"""Estimators for Dask collections, with lazy predictions in the same partitions."""

from __future__ import annotations

from typing import Any, ClassVar

import numpy as np

from .._extras import import_extra
from .._parameters import refuse
from ..estimators.base import Predictor
from ..estimators.boost import LHBoostClassifier, LHBoostRegressor
from ..estimators.forest import LHForestClassifier, LHForestRegressor, refuse_limit
from ..grow.training import prepare
from ..model.model import Model
from ..scorer import Scorer
from ._client import Session, find_client
from ._table import WorkerTable, map_rows


class DaskEstimator(Predictor):
    """Fitting and predicting collections."""

    _local: ClassVar[Any]  # the estimator for rows in memory
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
        if not self._is_forest and getattr(self, "calibrate", None):
            raise refuse("calibrate", self.calibrate, "None with Dask")
        if self._is_forest:
            refuse_limit(self, "Dask")
        if getattr(self, "intervals", False):
            raise refuse("intervals", self.intervals, "False with Dask")
        with Session(find_client(client)) as session:
            return self._fit(prepare(self, WorkerTable(self, session, X, y, sample_weight)))

    def to_local(self) -> Any:
        """Return the model as an estimator for rows in memory, which can be saved, explained and exported."""
        model = self._read()
        local = self._local(**self.get_params(deep=False))
        local._model = model
        return local

    def _map(self, X: Any, method: str, dtype: Any, columns: list[Any] | None = None) -> Any:
        return map_rows(_Asked(method, dtype, self.unseen), self._read(), X, dtype, columns)


class DaskClassifier(DaskEstimator):
    """Predicting classes of collections."""

    def predict(self, X: Any) -> Any:
        """Return the predicted class of every row, lazily: an array or, for a DataFrame, a Series with its index."""
        return self._map(X, "predict", self._read().classes.dtype)

    def predict_proba(self, X: Any) -> Any:
        """Return class probabilities, lazily: an array (n, K), or a DataFrame with a column per class."""
        return self._map(X, "predict_proba", np.dtype(np.float64), self._read().labels)


class DaskRegressor(DaskEstimator):
    """Predicting numbers of collections."""

    def predict(self, X: Any) -> Any:
        """Return the predicted response of every row, lazily: an array or, for a DataFrame, a Series with its index.

        Several quantiles or responses are an array (n, k) or a DataFrame with a column each.
        """
        names = list(self._read().head.names) or None
        return self._map(X, "predict", np.dtype(np.float64), names)


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


class DaskLHBoostClassifier(DaskClassifier, LHBoostClassifier):  # type: ignore[misc]  # another fit
    """``LHBoostClassifier`` that learns from Dask collections: the same model, to the bit.

    Rows stay on the workers that have them, a byte per feature beside what Dask keeps; in every level of a tree each
    worker sends its statistics. Labels and weights are gathered on the client. Parameters are those of
    :class:`lhtree.LHBoostClassifier`, but for ``calibrate`` and ``warm_start``.

    Examples
    --------
    >>> import dask.array as da
    >>> from dask.distributed import Client
    >>> from sklearn.datasets import load_wine
    >>> from lhtree.dask import DaskLHBoostClassifier
    >>> client = Client(processes=False, dashboard_address=":0")  # or the address of a scheduler
    >>> X, y = load_wine(return_X_y=True)
    >>> X, y = da.from_array(X, chunks=(100, -1)), da.from_array(y, chunks=100)
    >>> model = DaskLHBoostClassifier(5, random_state=0).fit(X, y)
    >>> model.to_local()
    LHBoostClassifier(max_iter=5, random_state=0)
    >>> client.close()
    """

    _local = LHBoostClassifier


class DaskLHBoostRegressor(DaskRegressor, LHBoostRegressor):  # type: ignore[misc]  # another fit
    """``LHBoostRegressor`` that learns from Dask collections: the same model, to the bit.

    Rows stay on the workers that have them, a byte per feature beside what Dask keeps; in every level of a tree each
    worker sends its statistics. Labels and weights are gathered on the client. Parameters are those of
    :class:`lhtree.LHBoostRegressor`, but for ``intervals`` and ``warm_start``.

    Examples
    --------
    >>> import dask.array as da
    >>> from dask.distributed import Client
    >>> from sklearn.datasets import load_diabetes
    >>> from lhtree.dask import DaskLHBoostRegressor
    >>> client = Client(processes=False, dashboard_address=":0")  # or the address of a scheduler
    >>> X, y = load_diabetes(return_X_y=True)
    >>> X, y = da.from_array(X, chunks=(100, -1)), da.from_array(y, chunks=100)
    >>> model = DaskLHBoostRegressor(max_iter=5, random_state=0).fit(X, y)
    >>> model.to_local()
    LHBoostRegressor(max_iter=5, random_state=0)
    >>> client.close()
    """

    _local = LHBoostRegressor


class DaskLHForestClassifier(DaskClassifier, LHForestClassifier):
    """``LHForestClassifier`` that learns from Dask collections: the same model, to the bit.

    Each worker grows some of the trees; the rows that a tree draws are gathered there, so they must fit the memory of
    a worker (``max_samples`` limits them). Labels and weights are gathered on the client. Parameters are those of
    :class:`lhtree.LHForestClassifier`, but for ``warm_start``; ``n_jobs`` counts for ``to_local()`` only.

    Examples
    --------
    >>> import dask.array as da
    >>> from dask.distributed import Client
    >>> from sklearn.datasets import load_wine
    >>> from lhtree.dask import DaskLHForestClassifier
    >>> client = Client(processes=False, dashboard_address=":0")  # or the address of a scheduler
    >>> X, y = load_wine(return_X_y=True)
    >>> X, y = da.from_array(X, chunks=(100, -1)), da.from_array(y, chunks=100)
    >>> model = DaskLHForestClassifier(5, random_state=0).fit(X, y)
    >>> model.to_local()
    LHForestClassifier(n_estimators=5, random_state=0)
    >>> client.close()
    """

    _local = LHForestClassifier


class DaskLHForestRegressor(DaskRegressor, LHForestRegressor):
    """``LHForestRegressor`` that learns from Dask collections: the same model, to the bit.

    Each worker grows some of the trees; the rows that a tree draws are gathered there, so they must fit the memory of
    a worker (``max_samples`` limits them). Labels and weights are gathered on the client. Parameters are those of
    :class:`lhtree.LHForestRegressor`, but for ``warm_start``; ``n_jobs`` counts for ``to_local()`` only.

    Examples
    --------
    >>> import dask.array as da
    >>> from dask.distributed import Client
    >>> from sklearn.datasets import load_diabetes
    >>> from lhtree.dask import DaskLHForestRegressor
    >>> client = Client(processes=False, dashboard_address=":0")  # or the address of a scheduler
    >>> X, y = load_diabetes(return_X_y=True)
    >>> X, y = da.from_array(X, chunks=(100, -1)), da.from_array(y, chunks=100)
    >>> model = DaskLHForestRegressor(5, random_state=0).fit(X, y)
    >>> model.to_local()
    LHForestRegressor(n_estimators=5, random_state=0)
    >>> client.close()
    """

    _local = LHForestRegressor
