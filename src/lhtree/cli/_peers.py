"""The models that ``lhtree bench`` compares, each at its defaults and on one thread."""

from __future__ import annotations

import importlib
from collections.abc import Callable, Mapping
from importlib.util import find_spec
from types import MappingProxyType
from typing import Any, NamedTuple


class Peer(NamedTuple):
    """A way to build an estimator from a seed, and what it is called."""

    title: str
    package: str
    build: Callable[[int], Any]
    error: str | None = None  # the package's own exception, where it is no ValueError
    options: Mapping[str, Any] = MappingProxyType({})  # of every call of predict_proba

    @property
    def is_there(self) -> bool:
        """Whether the package is installed."""
        return find_spec(self.package) is not None

    def errors(self) -> tuple[type[BaseException], ...]:
        """What the estimator raises where data do not suit it."""
        if self.error is None:
            return (ValueError,)
        module, _, name = self.error.rpartition(".")
        return (ValueError, getattr(importlib.import_module(module), name))


def _build(path: str, **parameters: Any) -> Callable[[int], Any]:
    """Import a class when it is needed and make one with a seed."""

    def build(seed: int) -> Any:
        module, _, name = path.rpartition(".")
        return getattr(importlib.import_module(module), name)(random_state=seed, **parameters)

    return build


PEERS = {
    "tree": Peer("lhtree: tree", "lhtree", _build("lhtree.LHTClassifier")),
    "forest": Peer("lhtree: forest", "lhtree", _build("lhtree.LHForestClassifier", n_jobs=1)),
    "mixed": Peer(
        "lhtree: mixed forest", "lhtree", _build("lhtree.LHForestClassifier", direction="mixed", n_jobs=1)
    ),
    "cart": Peer("CART", "sklearn", _build("sklearn.tree.DecisionTreeClassifier")),
    "rf": Peer("RandomForest", "sklearn", _build("sklearn.ensemble.RandomForestClassifier", n_jobs=1)),
    "hist_gb": Peer(
        "HistGradientBoosting", "sklearn", _build("sklearn.ensemble.HistGradientBoostingClassifier")
    ),
    "xgboost": Peer("XGBoost", "xgboost", _build("xgboost.XGBClassifier", n_jobs=1)),
    "lightgbm": Peer(
        "LightGBM",
        "lightgbm",
        _build("lightgbm.LGBMClassifier", n_jobs=1, verbose=-1),
        error="lightgbm.basic.LightGBMError",
    ),
    "catboost": Peer(
        "CatBoost",
        "catboost",
        _build("catboost.CatBoostClassifier", thread_count=1, verbose=False, allow_writing_files=False),
        error="catboost.CatBoostError",
        options=MappingProxyType({"thread_count": 1}),  # a call takes all cores unless it says so itself
    ),
}
