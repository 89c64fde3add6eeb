"""Fits from codes of rows, in memory or in batches, and the fit of boosted trees."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from functools import partial
from typing import Any

import numpy as np
from numpy.typing import NDArray

from .. import _core
from .._parameters import REGRESSION_LOSSES, check_flag, draw_seed
from ..grow.batched import BatchedTable, refuse_parameters
from ..grow.boosting import (
    BoostSettings,
    CodedFit,
    FinishRound,
    boost_rounds,
    code_fit,
    warn_opposed,
)
from ..grow.calibrate import N_FOLDS, calibrate, check_calibrate, check_intervals, learn_residuals
from ..grow.deadline import Deadline, start_deadline
from ..grow.holdout import hold_out, take_validation
from ..grow.labels import Progress
from ..grow.sources import MemoryTable, Sample
from ..grow.training import Training, check_continued, prepare, shift
from ..io.passes import Passes
from ..model.model import Model
from ..model.profile import Profiler
from ..model.records import BoostRecord
from ..tables.learn import TableSummary
from .base import BatchPredictor, count_threads, normalise, record_fit

try:
    from sklearn.callback import CallbackSupportMixin, with_callbacks
except ModuleNotFoundError:  # scikit-learn before 1.9

    class CallbackSupportMixin:  # type: ignore[no-redef]
        """Estimators without callbacks."""

    def with_callbacks(method: Callable[..., Any]) -> Callable[..., Any]:
        """Return the method as it is."""
        return method


# Settings of trees that the provenance lists with the values in use.
_USED = (
    "growth",
    "max_depth",
    "min_samples_leaf",
    "subsample",
    "max_features",
    "n_directed",
    "l2_regularization",
)

# The parameter that losses are described in.
LOSS: str = f"""
loss : {{{", ".join(f'"{loss}"' for loss in REGRESSION_LOSSES)}}}
    Loss to minimise. "poisson" and "gamma" fit the logarithm of the mean of y. For "poisson", y must be at least 0
    and not 0 everywhere; for "gamma" it must be positive.
"""


class CodedPredictor(BatchPredictor):
    """Base class of estimators that learn from codes of rows, in memory or in batches."""

    def _fit_passes(self, passes: Passes, scratch_dir: str | None) -> TableSummary:
        refuse_parameters(self)
        seed = draw_seed(self.random_state)
        with self._progress(passes.n_rows, "reading the table") as progress:
            table = BatchedTable(self, passes, seed, progress, scratch_dir)
            training = prepare(self, table)
        self._fit(training, seed=seed, scratch_dir=scratch_dir)
        return table.summary


class BaseBoost(CallbackSupportMixin, CodedPredictor):  # type: ignore[misc]  # scikit-learn is not typed
    """The fit of boosted trees."""

    def fit(
        self,
        X: Any,
        y: Any,
        sample_weight: Any = None,
        X_val: Any = None,
        y_val: Any = None,
        sample_weight_val: Any = None,
        **unknown: Any,
    ) -> Any:
        """Fit the model.

        Parameters
        ----------
        X : array-like of shape (n, m)
            Training samples: an array, a pandas or polars DataFrame or an Arrow table. Text and categories are allowed
            in frames and tables (see ``categorical_features``). NaN, None and null are missing values.
        y : array-like of shape (n,), or (n, k) for a regressor
            Class labels, of at least two classes; for a regressor, finite numbers. Names of the columns of a frame are
            kept as names of the outputs.
        sample_weight : array-like of shape (n,), optional
            Sample weights. Integer weights are equivalent to repeated rows if ``subsample=1``.
        X_val, y_val, sample_weight_val : optional
            A validation set for early stopping, instead of held-out training rows.
        **unknown : not accepted
            For ``eval_set`` of other libraries, the error names X_val and y_val.

        Returns
        -------
        self
        """
        if unknown:
            name = min(unknown, key=lambda name: name != "eval_set")
            remedy = ": pass X_val=… and y_val=… instead" if name == "eval_set" else ""
            raise TypeError(f"fit() got an unexpected keyword argument {name!r}{remedy}.")
        deadline = start_deadline(self.time_limit)
        earlier = self._model if check_flag("warm_start", self.warm_start) else None
        training = prepare(self, MemoryTable(self, X, y, sample_weight), earlier)
        validation = X_val, y_val, sample_weight_val
        metadata = None if sample_weight is None else {"sample_weight": sample_weight}
        rows = {"X": X, "y": y, "metadata": metadata}
        return self._fit(training, earlier, validation=validation, deadline=deadline, rows=rows)

    @with_callbacks  # type: ignore[untyped-decorator]
    def _fit(
        self,
        training: Training,
        earlier: Model | None = None,
        seed: int | None = None,
        validation: tuple[Any, Any, Any] = (None, None, None),
        scratch_dir: str | None = None,
        deadline: Deadline | None = None,
        rows: dict[str, Any] | None = None,
    ) -> Any:
        """Fit the model to checked rows; ``earlier`` has the rounds to keep, ``seed`` is drawn unless given."""
        end = start_deadline(self.time_limit) if deadline is None else deadline
        if earlier is not None:
            check_continued(earlier, training)
        params = self.get_params(deep=False)
        settings = BoostSettings.of(params, training, earlier)
        method = check_calibrate(params.get("calibrate"), training, continues=self.warm_start)
        has_intervals = check_intervals(params.get("intervals", False), training, continues=self.warm_start)
        n_threads = count_threads(self.n_jobs)
        if seed is None:
            seed = draw_seed(self.random_state) if earlier is None else earlier.seed
        given = take_validation(self, training, *validation)
        sample = training.X.sample(seed)
        normalisation, span = normalise(training, "robust", earlier, n_threads, sample)
        warn_opposed(settings.of_trees["monotonic"], training, sample)
        profiler = Profiler(training.encoding, sample.X, training.counts or {})
        n_trees = settings.n_rounds * settings.n_each

        def code(training: Training, sample: Sample, settings: BoostSettings) -> Any:
            own = given and given._replace(held=np.zeros(training.n_rows, dtype=np.uint8))
            if own is None and settings.stops:
                own = hold_out(training, self.validation_fraction, seed)
            return code_fit(
                training,
                sample,
                settings.max_bins,
                own,
                normalisation,
                earlier,
                n_threads,
                self._progress,
                scratch_dir,
            )

        def build(
            training: Training,
            settings: BoostSettings,
            coded: CodedFit,
            progress: Progress,
            n_left: int,
            finish_round: FinishRound = None,
        ) -> Model:
            own_end = end.take_share(1 / (n_left + 1))
            boosted = boost_rounds(
                training, settings, coded, earlier, seed, n_threads, progress, own_end, finish_round
            )
            objective = settings.objective
            return training.make_model(
                boosted.trees if earlier is None else earlier.trees + boosted.trees,
                normalisation,
                span,
                seed,
                objective.link,
                outputs=objective.record_outputs(training),
                base=boosted.base,
                clip=_core.BOOST_CLIP,
                boost=boosted.record,
            )

        def build_part(part: Training, number: int, **fixed: Any) -> Model:
            own = BoostSettings.of(params | fixed, part, None)
            with code(part, part.X.sample(seed), own) as coded:
                return build(part, own, coded, shift(progress, (number + 1) * n_trees), N_FOLDS - 1 - number)

        with code(training, sample, settings) as coded:
            del sample  # memory is free for growing
            n_parts = N_FOLDS if method or has_intervals else 0
            with self._progress(n_trees * (n_parts + 1)) as progress:
                tasks = RoundTasks(self, settings.n_rounds, **rows or {})
                model = build(training, settings, coded, progress, n_parts, tasks.finish_round)
                if method is not None:
                    model = calibrate(model, training, method, build_part, n_threads, seed)
                if has_intervals:
                    # With another rate, the models without a fold would have other errors than the model.
                    assert model.boost is not None
                    same = partial(build_part, learning_rate=model.boost.learning_rate)
                    model = learn_residuals(model, training, same, n_threads, seed)
        used = {name: settings.of_trees[name] for name in _USED}
        record: Any = model.boost
        used |= record.settings | {"learning_rate": record.learning_rate, "n_iter": model.n_estimators}
        used["early_stopping"] = settings.stops
        self._model = record_fit(model, training, profiler, earlier, used)
        tasks.finish()
        return self

    def _staged(self, model: Model, X: Any) -> Iterator[NDArray[np.float64]]:
        """Return raw scores after each round, shape (n, n_targets) each."""
        return model.staged_raw_score(model.code(X, self), count_threads(self.n_jobs))

    @property
    def n_iter_(self) -> int:
        """Number of rounds that were kept."""
        return self._read().n_estimators

    @property
    def learning_rate_(self) -> float:
        """The learning rate in use."""
        return self._read_record().learning_rate

    @property
    def chosen_(self) -> dict[str, Any]:
        """The settings in use that a race can choose, and the runs of the race (none: an empty list)."""
        return self._read_record().describe()

    @property
    def train_score_(self) -> NDArray[np.float64]:
        """Minus the training loss before the first round and after each; empty without early stopping."""
        return self._read_record().train_score

    @property
    def validation_score_(self) -> NDArray[np.float64]:
        """Minus the loss on held-out rows before the first round and after each; empty without early stopping."""
        return self._read_record().validation_score

    def _read_record(self) -> BoostRecord:
        record: BoostRecord = self._read().boost  # type: ignore[assignment]  # of a boosted model
        return record


class RoundTasks:
    """Calls the callbacks of an estimator, if it has any, for the fit and after every round.

    Begin and end of a round are reported together, because early stopping decides whether a round begins.
    """

    def __init__(self, estimator: Any, n_rounds: int, **rows: Any) -> None:
        self._given = {"estimator": estimator, **rows}
        self._fit = None
        if hasattr(estimator, "_skl_callbacks"):
            self._fit = estimator._init_callback_context(max_subtasks=n_rounds)
            self._fit.call_on_fit_task_begin(**self._given)

    def finish_round(self) -> bool:
        """Report a round; return whether a callback ends the fit."""
        if self._fit is None:
            return False
        task = self._fit.subcontext(task_name="round")
        task.call_on_fit_task_begin(**self._given)
        return bool(task.call_on_fit_task_end(**self._given))

    def finish(self) -> None:
        """Report the end of the fit."""
        if self._fit is not None:
            self._fit.call_on_fit_task_end(**self._given)
