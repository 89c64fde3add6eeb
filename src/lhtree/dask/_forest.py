"""Forests whose trees are grown on workers."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ..estimators.base_forest import AddLeftOut, BaseForest, LeftOut, draw_left_out
from ..estimators.forest import LHForestClassifier, LHForestRegressor
from ..grow.training import Training
from ..model.model import Model
from ..tables.normalise import Normalisation, Span, learn_normalisation
from ..tables.rows import Encoded
from ._base import DaskClassifier, DaskRegressor
from ._client import fetch
from ._grow import grow_on_workers
from ._rows import Rows, WorkerRows, keep, take
from ._training import find_span, load_sample


class _DaskForest(BaseForest):
    """What forests do where the rows are."""

    def _normalise(
        self, training: Training, how: str | None, earlier: Model | None, n_threads: int, seed: int
    ) -> tuple[Normalisation, Span]:
        if not isinstance(training.X, WorkerRows):  # as fit_batches has them
            return super()._normalise(training, how, earlier, n_threads, seed)
        span = find_span(training.X)
        X, rows = load_sample(training.X, seed)
        weight = None if training.weight is None else training.weight[rows]
        return learn_normalisation(X, weight, how, n_threads=n_threads), span

    def _find_grower(self, X: Any, n_threads: int) -> Callable[..., list[dict[str, Any]]] | None:
        return (
            partial(grow_on_workers, X) if isinstance(X, WorkerRows) else super()._find_grower(X, n_threads)
        )

    def _add_left_out(self, add: AddLeftOut, model: Model, training: Training) -> tuple[NDArray[Any], ...]:
        X: Any = training.X
        if not isinstance(X, WorkerRows):
            return super()._add_left_out(add, model, training)
        given = X.session.submit(keep, model)
        drawn = list(draw_left_out(model, training.codes))
        numbers, first, futures = [number for number, _ in drawn], 0, []
        for part, rows in X.divide():
            n_rows = int(X.first[part + 1] - X.first[part]) if rows is None else len(rows)
            some = slice(first, first + n_rows)
            bits = np.array([np.packbits(left_out[some]) for _, left_out in drawn], dtype=np.uint8)
            futures.append(
                X.session.submit(_add_part, X.parts[part], rows, given, add, numbers, bits, n_rows)
            )
            first += n_rows
        return tuple(map(np.concatenate, zip(*fetch(X.session, futures), strict=True)))


def _add_part(
    part: Encoded,
    rows: Rows | None,
    model: Model,
    add: AddLeftOut,
    numbers: list[int],
    bits: NDArray[np.uint8],
    n_rows: int,
) -> tuple[NDArray[Any], ...]:
    left_out: list[LeftOut] = [
        (number, np.unpackbits(own, count=n_rows).astype(bool))
        for number, own in zip(numbers, bits, strict=True)
    ]
    return add(model, take(part, rows), left_out)


class DaskLHForestClassifier(DaskClassifier, _DaskForest, LHForestClassifier):
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


class DaskLHForestRegressor(DaskRegressor, _DaskForest, LHForestRegressor):
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
