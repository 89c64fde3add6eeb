"""What forests have in common: the rows that trees draw, and the trees as estimators of their own."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, overload

import numpy as np

from .._extras import show_progress
from .._parameters import Settled, check_count, check_flag, check_verbose, draw_seed, is_integer, refuse
from ..grow.forest import count_rows
from ..grow.sources import BatchedTable, refuse_parameters
from ..grow.training import Training, prepare
from ..io.passes import open_passes
from ..model.model import Drawn, ForestRecord, Model
from .base import BaseLHT, Growth
from .predictor import Predictor


class BaseForest(BaseLHT):
    """Fitting forests, of classes or of a number."""

    _is_forest = True

    def _plan(self, settled: Settled, training: Training, earlier: Model | None) -> Growth:
        first = 0 if earlier is None else earlier.n_estimators
        if not is_integer(self.n_estimators) or self.n_estimators < 1:
            raise refuse("n_estimators", self.n_estimators, "an integer of at least 1")
        if self.n_estimators < first:
            raise refuse(
                "n_estimators",
                self.n_estimators,
                f"at least {first}, the number of trees already fitted, with warm_start=True",
            )
        if self.warm_start and settled.beta is None:
            raise refuse(
                "warm_start",
                True,
                "a fixed beta as well, because the schedule i/t changes every tree when the number of trees changes",
            )
        check_verbose(self.verbose)
        trees = np.arange(first, self.n_estimators)
        betas = trees / self.n_estimators if settled.beta is None else np.full(len(trees), settled.beta)
        sizes = np.bincount(training.codes)
        bootstrap = check_flag("bootstrap", self.bootstrap)
        counts = count_rows(self.max_samples, sizes, auto=settled.max_samples, bootstrap=bootstrap)
        if check_flag("oob_score", self.oob_score) and counts is None:
            raise refuse(
                "oob_score",
                True,
                "max_samples < 1 or bootstrap=True as well, because otherwise no row is out of bag",
            )
        record = None if earlier is None else earlier.forest
        if self.oob_score and record is not None and not np.array_equal(record.sizes, sizes):
            raise refuse(
                "oob_score",
                True,
                f"the same {record.sizes.sum()} rows as in the earlier fit, or warm_start=False: for other rows it is "
                "unknown which trees were trained on them",
            )
        class_weight = getattr(self, "class_weight", None)
        balances = isinstance(class_weight, str) and class_weight == "balanced_subsample"
        if balances and counts is None:  # the sample is all rows
            counts = sizes
        drawn = (Drawn(len(trees), counts, bootstrap),) if len(trees) else ()
        record = ForestRecord(
            betas=betas if record is None else np.concatenate([record.betas, betas]),
            tree_parameters={},
            sizes=sizes,
            draws=drawn if record is None else record.draws + drawn,
        )
        return Growth(betas, first, counts, bootstrap, balances, record)

    def fit_batches(
        self,
        source: Any,
        *,
        target: str | None = None,
        sample_weight: str | None = None,
        batch_rows: int | None = None,
    ) -> Any:
        """Fit the forest on a table larger than memory; the model is the same, to the bit, as that of ``fit``.

        Labels of all rows are kept in memory, features only of the rows that trees draw: ``max_samples`` must be a
        number of rows. The table is read twice, and once more for each of: columns with many categories, indicators of
        missing values, and out-of-bag rows; the pilot of ``min_samples_leaf="auto"`` reads it twice more.
        ``calibrate``, ``keep_prototypes`` and ``warm_start`` are not supported.

        Parameters
        ----------
        source : path, pyarrow dataset or table, tuple of arrays, or callable
            The path of a Parquet, Arrow or CSV file, or of a folder of Parquet files, which are read as
            ``lhtree fit`` reads them; a pyarrow dataset or table; arrays (X, y) or (X, y, sample_weight), such as
            ``numpy.memmap``; or a function that returns a fresh iterator of such tuples each time it is called.
        target : str, optional
            The column to predict, of files, datasets and tables.
        sample_weight : str, optional
            The column of sample weights, of files, datasets and tables.
        batch_rows : int, optional
            Rows that are read at once. The model does not depend on it.

        Returns
        -------
        self
        """
        if not is_integer(self.max_samples):
            raise refuse("max_samples", self.max_samples, "a number of rows per tree with fit_batches")
        refuse_parameters(self)
        passes = open_passes(
            source,
            target=target,
            sample_weight=sample_weight,
            batch_rows=None if batch_rows is None else check_count("batch_rows", batch_rows, 1),
            is_regression=self._is_regressor,
        )
        seed = draw_seed(self.random_state)
        return self._fit(prepare(self, BatchedTable(self, passes, seed)), seed=seed)

    def _progress(self, n_tasks: int) -> Any:
        return show_progress(n_tasks) if self.verbose else super()._progress(n_tasks)

    @property
    def estimators_(self) -> Estimators:
        """The trees of the forest as fitted estimators, created on access."""
        return Estimators(self._read(), self._tree, self.get_params(deep=False))


class Estimators(Sequence[Any]):
    """Estimator i holds the i-th tree of every class, or the i-th tree of all classes."""

    def __init__(self, model: Model, kind: type[Predictor], params: dict[str, Any]) -> None:
        self._model, self._kind, self._params = model, kind, params

    def __len__(self) -> int:
        return self._model.n_estimators

    @overload
    def __getitem__(self, index: int) -> Any: ...
    @overload
    def __getitem__(self, index: slice) -> list[Any]: ...
    def __getitem__(self, index: int | slice) -> Any:
        if isinstance(index, slice):
            return [self[i] for i in range(*index.indices(len(self)))]
        own = self._model.estimator(index)
        record: ForestRecord = self._model.forest  # type: ignore[assignment]  # it is a forest
        names = self._kind._get_param_names()
        params = {name: value for name, value in self._params.items() if name in names}
        params |= record.tree_parameters | {"beta": float(record.betas[index])}
        if isinstance(params.get("class_weight"), str):  # what it means depends on the rows the tree saw
            params["class_weight"] = None
        tree = self._kind(**params)
        tree._model = own
        return tree
