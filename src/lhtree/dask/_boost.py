"""Boosted trees whose rows stay on the workers that have them."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from .. import _core
from .._parameters import draw_seed, refuse
from ..estimators.base_boost import BaseBoost, make_model
from ..estimators.boost import LHBoostClassifier, LHBoostRegressor
from ..estimators.predictor import count_threads
from ..grow.boosting import BoostSettings, Grow, boost_rounds, grow_in_memory
from ..grow.coded_boosting import learn_bins
from ..grow.holdout import Validation, hold_out, join
from ..grow.passes import Surveyed, split_rows
from ..grow.training import Training
from ..tables.normalise import Normalisation
from ..tables.rows import Encoded
from ._base import DaskClassifier, DaskRegressor
from ._exchange import Coded, Exchange, Given
from ._rows import Rows, WorkerRows, keep, take
from ._training import find_span, load_sample


class _DaskBoost(BaseBoost):
    """Boosting where the rows are."""

    _exchange: Exchange | None = None  # of the last fit

    def _fit(self, training: Training) -> Any:
        params = self.get_params(deep=False)
        if params.get("calibrate"):
            raise refuse("calibrate", params["calibrate"], "None with Dask")
        seed, n_threads = draw_seed(self.random_state), count_threads(self.n_jobs)
        settings = BoostSettings.of(params, training, None)
        span = find_span(training.X)
        X, rows = load_sample(training.X, seed)
        sampled = Surveyed(training._replace(X=X), rows, span, training.encoding, {}, {})
        normalisation = sampled.normalise("robust", n_threads)
        validation = hold_out(training, self.validation_fraction, seed) if settings.stops else None
        bins = learn_bins(sampled, settings, validation, normalisation, n_threads)
        with self._progress(settings.n_rounds * training.n_targets) as progress:
            grow = self._grow_on_workers(training, settings, bins, normalisation)
            pilot = grow_in_memory(sampled.training, settings, normalisation, None)  # of all rows, if few
            boosted = boost_rounds(
                training, settings, validation, grow, None, seed, n_threads, progress, pilot
            )
        self._model = make_model(boosted, training, settings, normalisation, span, None, seed)
        return self

    def _grow_on_workers(
        self,
        training: Training,
        settings: BoostSettings,
        bins: _core.BoostBins,
        normalisation: Normalisation,
    ) -> Grow:
        """How to grow from rows on workers."""
        X: Any = training.X
        levels = training.encoding.levels

        def grow(validation: Validation | None, **common: Any) -> dict[str, Any]:
            objective = {name: common[name] for name in ("loss", "quantile", "n_classes")}
            shared = Given(bins.arrays(), *normalisation, levels if levels.any() else None, objective)
            given = X.session.submit(keep, shared)
            labels = join(training, validation, settings.objective)
            exchange = Exchange(X.session, _code_parts(X, given, labels), given)
            found = _core.boost_rows(exchange, bins, **common)
            self._exchange = exchange
            return found | {"bins": bins.arrays()}

        return grow


def _code_parts(X: WorkerRows, given: Any, labels: dict[str, Any]) -> list[Any]:
    """Futures of the codes and labels of every part."""
    if "classes" in labels and labels["classes"].max(initial=0) < 256:  # a byte each, as long as they travel
        labels = labels | {"classes": labels["classes"].astype(np.uint8)}
    futures, first = [], 0
    for part, rows in X.divide():
        n_rows = int(X.first[part + 1] - X.first[part]) if rows is None else len(rows)
        some = slice(first, first + n_rows)
        own = {name: None if values is None else values[some] for name, values in labels.items()}
        futures.append(X.session.submit(_code, X.parts[part], rows, given, own, first))
        first += n_rows
    return futures


def _code(
    part: Encoded, rows: Rows | None, given: Given, labels: dict[str, NDArray[Any] | None], first: int
) -> Coded:
    codes = given.make_bins().encode(*split_rows(take(part, rows)))
    assert codes is not None  # infinities were refused before
    classes = labels.get("classes")
    if classes is not None:
        labels = labels | {"classes": classes.astype(np.int32)}
    return Coded(codes, labels, first)


class DaskLHBoostClassifier(DaskClassifier, _DaskBoost, LHBoostClassifier):  # type: ignore[misc]  # another fit
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


class DaskLHBoostRegressor(DaskRegressor, _DaskBoost, LHBoostRegressor):  # type: ignore[misc]  # another fit
    """``LHBoostRegressor`` that learns from Dask collections: the same model, to the bit.

    Rows stay on the workers that have them, a byte per feature beside what Dask keeps; in every level of a tree each
    worker sends its statistics. Labels and weights are gathered on the client. Parameters are those of
    :class:`lhtree.LHBoostRegressor`, but for ``warm_start``.

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
