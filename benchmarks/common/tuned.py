"""Peers with the tuned defaults of pytabkit ("Better by default", NeurIPS 2024), as rows of their own.

All of them take 1,000 rounds at most, hold out a fifth of the training rows, and stop after 300 rounds without
improvement.
"""

from importlib import import_module
from typing import Any

_ROUNDS, _HELD_OUT, _PATIENCE = 1000, 0.2, 300
_SETTINGS: dict[str, tuple[str, str, dict[str, Any]]] = {
    "lightgbm_tuned": (
        "LightGBM, tuned defaults",
        "lightgbm.LGBMClassifier",
        {"learning_rate": 0.04, "num_leaves": 50, "min_child_samples": 40, "subsample": 0.75},
    ),
    "xgboost_tuned": (
        "XGBoost, tuned defaults",
        "xgboost.XGBClassifier",
        {
            "learning_rate": 0.08,
            "max_depth": 6,
            "reg_lambda": 0.0,
            "min_child_weight": 5e-6,
            "subsample": 0.65,
            "colsample_bylevel": 0.9,
        },
    ),
    "catboost_tuned": (
        "CatBoost, tuned defaults",
        "catboost.CatBoostClassifier",
        {
            "learning_rate": 0.08,
            "max_depth": 7,
            "l2_leaf_reg": 1e-5,
            "subsample": 0.9,
            "random_strength": 0.8,
            "one_hot_max_size": 15,
            "leaf_estimation_iterations": 1,
        },
    ),
    "lightgbm_tuned_regressor": (
        "LightGBM, tuned defaults",
        "lightgbm.LGBMRegressor",
        {"learning_rate": 0.05, "num_leaves": 100, "min_child_samples": 3, "subsample": 0.7},
    ),
    "xgboost_tuned_regressor": (
        "XGBoost, tuned defaults",
        "xgboost.XGBRegressor",
        {
            "learning_rate": 0.05,
            "max_depth": 9,
            "reg_lambda": 0.0,
            "min_child_weight": 2.0,
            "subsample": 0.7,
        },
    ),
    "catboost_tuned_regressor": (
        "CatBoost, tuned defaults",
        "catboost.CatBoostRegressor",
        {
            "learning_rate": 0.09,
            "max_depth": 9,
            "l2_leaf_reg": 1e-5,
            "subsample": 0.9,
            "random_strength": 0.0,
            "one_hot_max_size": 20,
            "leaf_estimation_iterations": 20,
        },
    ),
}
_OF_LIBRARY: dict[str, dict[str, Any]] = {
    "lightgbm": {"subsample_freq": 1, "min_child_weight": 1e-7, "n_jobs": 1, "verbose": -1},
    "xgboost": {"n_jobs": 1, "early_stopping_rounds": _PATIENCE},
    "catboost": {
        "boosting_type": "Plain",
        "bootstrap_type": "Bernoulli",
        "thread_count": 1,
        "verbose": False,
        "allow_writing_files": False,
    },
}
TITLES = {name: (title, path.partition(".")[0]) for name, (title, path, _) in _SETTINGS.items()}


class Tuned:
    """An estimator that stops early on a part of its training rows."""

    def __init__(self, estimator: Any, package: str, seed: int, *, is_class: bool) -> None:
        self.estimator, self.package, self.seed, self.is_class = estimator, package, seed, is_class

    def fit(self, X: Any, y: Any) -> "Tuned":
        """Fit on four fifths of the rows."""
        from sklearn.model_selection import train_test_split

        X, X_val, y, y_val = train_test_split(
            X, y, test_size=_HELD_OUT, stratify=y if self.is_class else None, random_state=self.seed
        )
        options: dict[str, Any] = {"eval_set": [(X_val, y_val)]}
        if self.package == "lightgbm":
            options["callbacks"] = [import_module("lightgbm").early_stopping(_PATIENCE, verbose=False)]
        elif self.package == "xgboost":
            options["verbose"] = False
        else:
            options["early_stopping_rounds"] = _PATIENCE
        self.estimator.fit(X, y, **options)
        return self

    def predict(self, X: Any) -> Any:
        """Predict rows."""
        return self.estimator.predict(X)

    def predict_proba(self, X: Any) -> Any:
        """Return probabilities."""
        return self.estimator.predict_proba(X)


def build_tuned(name: str, seed: int) -> Tuned:
    """Return the estimator of a name."""
    _, path, settings = _SETTINGS[name]
    package, _, kind = path.partition(".")
    seed_name = "random_seed" if package == "catboost" else "random_state"
    rounds = "iterations" if package == "catboost" else "n_estimators"
    settings = _OF_LIBRARY[package] | settings | {rounds: _ROUNDS, seed_name: seed}
    estimator = getattr(import_module(package), kind)(**settings)
    return Tuned(estimator, package, seed, is_class=kind.endswith("Classifier"))
