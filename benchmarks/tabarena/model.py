"""Boosted trees of lhtree behind AutoGluon's ``AbstractModel``."""

from __future__ import annotations

import time
from typing import Any

import pandas as pd
from autogluon.common.features.types import R_BOOL, R_CATEGORY, R_FLOAT, R_INT
from autogluon.common.space import Categorical, Int, Real
from autogluon.core.constants import BINARY, MULTICLASS, REGRESSION
from autogluon.core.models import AbstractModel

_BYTES_PER_CELL = 26  # the table as float64, its encoded and its coded rows, and a copy for sorting
_BYTES_PER_SCORE = 40  # scores, gradients and weights of a row, for every class
_BYTES_OF_LIBRARIES = 250_000_000
_SLACK = 0.95  # share of the time limit for the fit; the rest is for building the model


class LHBoostModel(AbstractModel):
    """``LHBoostClassifier`` or ``LHBoostRegressor``, by the type of the problem.

    Hyperparameters are those of the estimators. Validation rows stop the fit early; without them all rounds are kept.
    """

    ag_key = "LHTREE"
    ag_name = "LHTree"
    ag_priority = 60
    seed_name = "random_state"

    def _fit(
        self,
        X: pd.DataFrame,
        y: pd.Series,
        X_val: pd.DataFrame | None = None,
        y_val: pd.Series | None = None,
        time_limit: float | None = None,
        num_cpus: int | str = 1,
        sample_weight: Any = None,
        sample_weight_val: Any = None,
        **kwargs: Any,
    ) -> None:
        begin = time.monotonic()
        from lhtree import LHBoostClassifier, LHBoostRegressor

        kind = LHBoostRegressor if self.problem_type == REGRESSION else LHBoostClassifier
        X = self.preprocess(X, y=y, is_train=True)
        validation = {}
        if X_val is not None and y_val is not None:
            validation = {"X_val": self.preprocess(X_val), "y_val": y_val}
            if sample_weight_val is not None:
                validation["sample_weight_val"] = sample_weight_val
        if time_limit is not None:
            time_limit = max(0.0, _SLACK * (time_limit - (time.monotonic() - begin)))
        n_jobs = -1 if num_cpus == "auto" else int(num_cpus)
        self.model = kind(**self._get_model_params(), time_limit=time_limit, n_jobs=n_jobs)
        self.model.fit(X, y, sample_weight=sample_weight, **validation)
        self.params_trained["max_iter"] = self.model.n_iter_

    def _set_default_params(self) -> None:
        self._set_default_param_value("max_iter", 400)

    def _get_default_auxiliary_params(self) -> dict[str, Any]:
        params: dict[str, Any] = super()._get_default_auxiliary_params()
        return params | {"valid_raw_types": [R_BOOL, R_INT, R_FLOAT, R_CATEGORY]}

    @classmethod
    def supported_problem_types(cls) -> list[str]:
        """Return the types of problems."""
        return [BINARY, MULTICLASS, REGRESSION]

    def _get_default_resources(self) -> tuple[int, int]:
        from autogluon.common.utils.resource_utils import ResourceManager

        return ResourceManager.get_cpu_count(only_physical_cores=True), 0

    def _estimate_memory_usage(self, X: pd.DataFrame, **kwargs: Any) -> int:
        return self.estimate_memory_usage_static(
            X=X,
            problem_type=self.problem_type,
            num_classes=self.num_classes,
            hyperparameters=self._get_model_params(),
            **kwargs,
        )

    @classmethod
    def _estimate_memory_usage_static(
        cls,
        *,
        X: pd.DataFrame,
        hyperparameters: dict[str, Any] | None = None,
        num_classes: int | None = 1,
        **kwargs: Any,
    ) -> int:
        n_rows, n_columns = X.shape
        of_row = _BYTES_PER_CELL * n_columns + _BYTES_PER_SCORE * max(1, num_classes or 1)
        return _BYTES_OF_LIBRARIES + n_rows * of_row

    @classmethod
    def _class_tags(cls) -> dict[str, bool]:
        return {"can_estimate_memory_usage_static": True}

    def _more_tags(self) -> dict[str, bool]:
        return {"can_refit_full": True}  # with the rounds that validation rows chose


SEARCH_SPACE = {
    "learning_rate": Real(0.01, 0.2, log=True),
    "max_depth": Int(3, 9),
    "l2_regularization": Real(1e-2, 20.0, log=True),
    "min_samples_leaf": Int(1, 60),
    "subsample": Real(0.5, 1.0),
    "max_features": Real(0.3, 1.0),
    "n_directed": Int(0, 12),
    "growth": Categorical("symmetric", "free"),
    "max_iter": Categorical(1000),
    "max_one_hot": Categorical(5, 20, 50),
}


def make_generator() -> Any:
    """Return TabArena's generator of configurations: the defaults, then random ones of the search space."""
    from tabarena.utils.config_utils import ConfigGenerator

    return ConfigGenerator(model_cls=LHBoostModel, manual_configs=[{}], search_space=SEARCH_SPACE)
