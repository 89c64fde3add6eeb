"""Estimators for Dask collections: their training tables, fits, and lazy predictions in the same partitions."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any, ClassVar, NamedTuple

import numpy as np

from .._extras import import_extra
from .._parameters import refuse
from ..estimators.base import Predictor
from ..estimators.boost import LHBoostClassifier, LHBoostRegressor
from ..estimators.forest import LHForestClassifier, LHForestRegressor, refuse_limit
from ..grow.sources import Given, RowSource, TableSource, drop_rows
from ..grow.training import prepare
from ..model.model import Model
from ..scorer import Scorer
from ..tables.encoding import Encoding
from ..tables.errors import TableError
from ..tables.frames import take_table
from ..tables.learn import Kept, PartValues, TableSummary, Wanted
from ..tables.rows import EncodedRows
from ._client import Session, fetch, find_client
from ._rows import WorkerRows


class Partition(NamedTuple):
    """The rows of a partition, as a worker has them."""

    X: Any
    y: Any
    weight: Any


class WorkerTable(TableSource):
    """A table of Dask collections: features stay on the workers, labels and weights are gathered on the client."""

    parts = "partitions"

    def __init__(self, estimator: Any, session: Session, X: Any, y: Any, weight: Any) -> None:
        self._estimator, self._session = estimator, session
        self._partitions = _pack(session, X, y, weight)
        sizes = self._count_rows()
        self._first_row = np.cumsum([0, *sizes])
        labels = fetch(session, [session.submit(_take_labels, part) for part in self._partitions])
        self._y, self._weight = (_join_labels([label[i] for label in labels]) for i in (0, 1))
        self._looks: list[Any] = []
        self._summary = TableSummary(Wanted(None))

    def _count_rows(self) -> list[int]:
        counts = fetch(self._session, [self._session.submit(_count, part) for part in self._partitions])
        for number, (n_rows, others) in enumerate(counts):
            for name, n_others in others.items():
                if n_others != n_rows:
                    raise ValueError(
                        f"partition {number} has {n_rows} rows in X, but {n_others} in {name}: divide all of them at "
                        "the same rows."
                    )
        sizes = [n_rows for n_rows, _ in counts]
        if not any(sizes):
            raise ValueError("X has no rows: pass at least one.")
        return sizes

    def summarise(self, wanted: Wanted) -> TableSummary:
        """Summarise every partition where it is; categories of its rows stay there."""
        owner, first_row = type(self._estimator).__name__, self._first_row
        submit, kept = self._session.submit, list[Kept]([None] * len(self._partitions))
        if self._weight is not None:
            parts = np.split(np.asarray(self._weight) != 0, first_row[1:-1])
            kept = [None if part.all() else np.flatnonzero(part) for part in parts]
        self._looks = [
            submit(_look, part, wanted, own, int(first), owner)
            for part, own, first in zip(self._partitions, kept, first_row[:-1], strict=True)
        ]
        summaries = fetch(self._session, [submit(_take_summary, look) for look in self._looks])
        self._summary = merge_summaries(wanted, summaries)
        return self._summary

    def encode(self, encoding: Encoding) -> tuple[RowSource, Given]:
        """Encode every partition where it is, and check all labels."""
        submit, owner = self._session.submit, type(self._estimator).__name__
        pairs = zip(self._partitions, self._looks, strict=True)
        parts = [submit(_encode, part, look, encoding, owner) for part, look in pairs]
        X = WorkerRows(self._session, parts, self._first_row, self._summary, encoding)
        return drop_rows(self._estimator, X, self._y, self._weight)


def merge_summaries(wanted: Wanted, summaries: Sequence[TableSummary | None]) -> TableSummary:
    """Merge the summaries of all partitions, in their order; None for partitions without rows."""
    merged = TableSummary(wanted)
    for number, summary in enumerate(summaries):
        if summary is not None:
            if merged.columns and not merged.has_same_columns(summary):
                raise TableError(
                    f"X: partition {number} has other columns than the first: give all the same."
                )
            merged.merge(summary)
    return merged


def _pack(session: Session, X: Any, y: Any, weight: Any) -> list[Any]:
    """Return futures of the partitions of collections."""
    delayed = import_extra("dask", "dask").delayed
    check_collection(X)
    chunks = X.chunks[0] if is_array(X) else None
    columns = [_divide(X, "X", chunks)]
    for values, name in ((y, "y"), (weight, "sample_weight")):
        if values is None:
            columns.append([None] * len(columns[0]))
            continue
        check_collection(values, name)
        columns.append(_divide(values, name, chunks))
        if len(columns[-1]) != len(columns[0]):
            raise ValueError(
                f"X has {len(columns[0])} partitions, but {name} has {len(columns[-1])}: divide both at the same rows."
            )
    return session.compute([delayed(Partition)(*values) for values in zip(*columns, strict=True)])


def _count(part: Partition) -> tuple[int, dict[str, int]]:
    others = {"y": part.y, "sample_weight": part.weight}
    return len(part.X), {name: len(values) for name, values in others.items() if values is not None}


def _take_labels(part: Partition) -> tuple[Any, Any]:
    return part.y, part.weight


def _join_labels(parts: Sequence[Any]) -> Any:
    """Return labels of all rows, if they are given."""
    if parts[0] is None:
        return None
    if hasattr(parts[0], "iloc"):
        return import_extra("pandas", "dask").concat(list(parts), ignore_index=True)
    return np.concatenate(list(parts))


def _look(
    part: Partition, wanted: Wanted, kept: Kept, first_row: int, owner: str
) -> tuple[TableSummary, PartValues] | None:
    """Return the summary of a partition, and the categories of its rows; numbers can be read again."""
    if not len(part.X):
        return None
    summary = TableSummary(wanted)
    values = summary.add(take_table(part.X, owner), kept, first_row)
    return summary, values.without_numbers()


def _take_summary(look: tuple[TableSummary, PartValues] | None) -> TableSummary | None:
    return None if look is None else look[0]


def _encode(
    part: Partition, look: tuple[TableSummary, PartValues] | None, encoding: Encoding, owner: str
) -> EncodedRows:
    if look is None:
        return encoding.allocate(0)[0]
    summary, values = look
    table = take_table(part.X, owner)
    return summary.encode(encoding, values, table) if values.columns else encoding.code(table, owner=owner)


def is_array(X: Any) -> bool:
    """Whether it is a Dask array."""
    return hasattr(X, "dask") and hasattr(X, "chunks")


def is_frame(X: Any) -> bool:
    """Whether it is a Dask DataFrame or Series."""
    return (
        hasattr(X, "dask") and hasattr(X, "npartitions") and hasattr(X, "to_delayed") and hasattr(X, "_meta")
    )


def check_collection(X: Any, name: str = "X") -> None:
    """Raise an error for an object that is not a Dask collection."""
    if not is_array(X) and not is_frame(X):
        raise TypeError(
            f"{name} is of type {type(X).__name__}, not a Dask array or DataFrame: pass one, or use to_local() for "
            "rows in memory."
        )


def _divide(values: Any, name: str, chunks: tuple[Any, ...] | None) -> list[Any]:
    """Return the parts of a collection, one after the other, with all columns each."""
    if is_array(values):
        if values.ndim == 2 and values.numblocks[1] > 1:
            values = values.rechunk({1: -1})
        known = chunks is not None and not np.isnan((*chunks, *values.chunks[0])).any()
        if known and sum(values.chunks[0]) != sum(chunks or ()):
            raise ValueError(
                f"X has {sum(chunks or ())} rows, but {name} has {sum(values.chunks[0])}: pass one for each row."
            )
        if known and values.chunks[0] != chunks:
            values = values.rechunk({0: chunks})
    parts: list[Any] = np.ravel(values.to_delayed()).tolist()
    return parts


def map_rows(
    ask: Callable[[Any, Any, list[Any] | None], Any],
    model: Any,
    X: Any,
    dtype: Any,
    columns: list[Any] | None,
) -> Any:
    """Apply a function of rows and a model to every partition, lazily; ``columns`` are given for a 2-D result."""
    check_collection(X)
    given = import_extra("dask", "dask").delayed(model, pure=True)
    if is_array(X):
        if X.numblocks[1] > 1:
            X = X.rechunk({1: -1})
        width = {"drop_axis": 1} if columns is None else {"chunks": (X.chunks[0], (len(columns),))}
        empty = np.empty((0,) if columns is None else (0, 0), dtype=dtype)
        return X.map_blocks(ask, given, columns, dtype=dtype, meta=empty, **width)
    pandas = import_extra("pandas", "dask")
    index = X._meta.index
    if columns is None:
        meta: Any = pandas.Series([], dtype=dtype, index=index, name="prediction")
    else:
        meta = pandas.DataFrame({column: pandas.Series([], dtype=dtype, index=index) for column in columns})
    return X.map_partitions(ask, given, columns, meta=meta)


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
