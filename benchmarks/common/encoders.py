"""Peers that take a table as people have it: each with the treatment of categories that its library recommends."""

from typing import Any

from .tuned import Tuned

_MOST_LEVELS = 255  # of HistGradientBoosting


def wrap(name: str, estimator: Any, X: Any) -> Any:
    """Return an estimator that takes the table X: native categories where there are any, one-hot features elsewhere."""
    if isinstance(estimator, Tuned):
        estimator.estimator = wrap(name, estimator.estimator, X)
        return estimator
    package = type(estimator).__module__.partition(".")[0]
    if package in ("lhtree", "lightgbm", "interpret"):
        return estimator
    if package == "xgboost":
        return estimator.set_params(enable_categorical=True)
    categories = list(X.select_dtypes("category").columns)
    if package == "catboost":
        return _CatBoost(estimator, categories)
    if name.startswith("hist_gb"):
        return _limit_levels(estimator, [each for each in categories if X[each].nunique() > _MOST_LEVELS])
    return _one_hot(estimator, name, categories)


class _CatBoost:
    """CatBoost, which needs categories as text, missing values included."""

    def __init__(self, estimator: Any, categories: list[str]) -> None:
        self.estimator = estimator.set_params(cat_features=categories)
        self.categories = categories

    def _convert(self, X: Any) -> Any:
        X = X.copy()
        for each in self.categories:
            X[each] = X[each].astype(object).where(X[each].notna(), "missing")
        return X

    def fit(self, X: Any, y: Any, eval_set: Any = (), **options: Any) -> "_CatBoost":
        if eval_set:
            options["eval_set"] = [(self._convert(X_val), y_val) for X_val, y_val in eval_set]
        self.estimator.fit(self._convert(X), y, **options)
        return self

    def predict(self, X: Any) -> Any:
        return self.estimator.predict(self._convert(X), thread_count=1)

    def predict_proba(self, X: Any) -> Any:
        return self.estimator.predict_proba(self._convert(X), thread_count=1)


def _limit_levels(estimator: Any, too_many: list[str]) -> Any:
    """Columns with more levels than it takes become numbers."""
    if not too_many:
        return estimator
    from sklearn.compose import make_column_transformer
    from sklearn.pipeline import make_pipeline
    from sklearn.preprocessing import OrdinalEncoder

    unknown = {"handle_unknown": "use_encoded_value", "unknown_value": -1}
    numbers = make_column_transformer(
        (OrdinalEncoder(**unknown), too_many), remainder="passthrough", verbose_feature_names_out=False
    ).set_output(transform="pandas")
    return make_pipeline(numbers, estimator)


def _one_hot(estimator: Any, name: str, categories: list[str]) -> Any:
    """One feature per level; a linear model also needs values in place of gaps, and one scale."""
    from sklearn.compose import make_column_transformer
    from sklearn.impute import SimpleImputer
    from sklearn.pipeline import make_pipeline
    from sklearn.preprocessing import OneHotEncoder, StandardScaler

    is_linear = name.startswith(("linear", "logistic"))
    others: Any = make_pipeline(SimpleImputer(), StandardScaler()) if is_linear else "passthrough"
    encoder = OneHotEncoder(
        handle_unknown="ignore", sparse_output=False
    )  # forests take no gaps in sparse rows
    return make_pipeline(make_column_transformer((encoder, categories), remainder=others), estimator)
