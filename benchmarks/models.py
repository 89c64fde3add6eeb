"""The models that are compared, each at its defaults and on one thread."""

from __future__ import annotations

import functools
import hashlib
from collections.abc import Callable
from importlib.metadata import version
from pathlib import Path
from typing import Any, NamedTuple

PACKAGES = ("numpy", "scikit-learn", "xgboost", "lightgbm", "catboost", "onnxruntime", "lhtree")


class Model(NamedTuple):
    """A way to build an estimator from a seed, and what it is called."""

    title: str
    package: str
    build: Callable[[int], Any]
    count: Callable[[Any], int] | None = None  # blocks of a fitted model, where one tree is read


def _cart(min_samples_split: int) -> Model:
    def build(seed: int) -> Any:
        from sklearn.tree import DecisionTreeClassifier

        return DecisionTreeClassifier(min_samples_split=min_samples_split, random_state=seed)

    title = "CART" if min_samples_split == 2 else f"CART, split ≥ {min_samples_split}"
    return Model(title, "scikit-learn", build, lambda model: model.tree_.node_count)


def _ensemble(name: str, **params: Any) -> Callable[[int], Any]:
    def build(seed: int) -> Any:
        import sklearn.ensemble

        return getattr(sklearn.ensemble, name)(random_state=seed, **params)

    return build


def _xgboost(seed: int) -> Any:
    from xgboost import XGBClassifier

    return XGBClassifier(n_jobs=1, random_state=seed)


def _lightgbm(seed: int) -> Any:
    from lightgbm import LGBMClassifier

    return LGBMClassifier(n_jobs=1, random_state=seed, verbose=-1)


def build_catboost(seed: int, **params: Any) -> Any:
    """Return a silent CatBoost that leaves no files."""
    from catboost import CatBoostClassifier

    return CatBoostClassifier(
        thread_count=1, random_seed=seed, verbose=False, allow_writing_files=False, **params
    )


def _logistic(seed: int) -> Any:
    from sklearn.linear_model import LogisticRegression
    from sklearn.pipeline import make_pipeline
    from sklearn.preprocessing import StandardScaler

    return make_pipeline(StandardScaler(), LogisticRegression(max_iter=10_000, random_state=seed))


def _ours(estimator: str, **params: Any) -> Callable[[int], Any]:
    def build(seed: int) -> Any:
        import lhtree

        return getattr(lhtree, estimator)(n_jobs=1, random_state=seed, **params)

    return build


def _count_blocks(model: Any) -> int:
    return 2 * model.n_leaves_ - len(model.trees_)


PEERS = {
    "cart": _cart(2),
    "cart_10": _cart(10),
    "cart_50": _cart(50),
    "logistic": Model("logistic regression", "scikit-learn", _logistic),
    "rf": Model("RandomForest", "scikit-learn", _ensemble("RandomForestClassifier", n_jobs=1)),
    "extra_trees": Model("ExtraTrees", "scikit-learn", _ensemble("ExtraTreesClassifier", n_jobs=1)),
    "hist_gb": Model("HistGradientBoosting", "scikit-learn", _ensemble("HistGradientBoostingClassifier")),
    "xgboost": Model("XGBoost", "xgboost", _xgboost),
    "lightgbm": Model("LightGBM", "lightgbm", _lightgbm),
    "catboost": Model("CatBoost", "catboost", build_catboost),
}
OURS = {
    "paper_tree": Model("paper tree", "lhtree", _ours("LHTClassifier"), _count_blocks),
    "readable_tree": Model(
        "readable tree",
        "lhtree",
        # Chosen by cross-validation on rows that the benchmark's splits test on too: optimistic.
        _ours(
            "LHTClassifier",
            direction="mixed",
            min_samples_split=100,
            min_samples_leaf=5,
            membership="least_squares",
            shrinkage=0.03,
        ),
        _count_blocks,
    ),
    "paper_forest": Model("paper forest", "lhtree", _ours("LHForestClassifier")),
    "fisher_forest": Model("Fisher forest", "lhtree", _ours("LHForestClassifier", direction="fisher")),
    "mixed_forest": Model("mixed forest", "lhtree", _ours("LHForestClassifier", direction="mixed")),
}
MODELS = PEERS | OURS


def fit(name: str, X: Any, y: Any) -> Any:
    """Build a model and fit it."""
    return MODELS[name].build(0).fit(X, y)


def has_forest() -> bool:
    """Whether this lhtree has forests."""
    import lhtree

    return hasattr(lhtree, "LHForestClassifier")


_chosen_build: list[str] = []


def choose_build(digest: str) -> None:
    """Look up results of another build of ours; nothing may be fitted after that."""
    _chosen_build[:] = [digest]


@functools.cache
def _digest_ours() -> str:
    """Digest of the extension and of the modules beside it that a fit may load, whatever is loaded so far."""
    if _chosen_build:
        return _chosen_build[0]
    import lhtree._core

    folder = Path(lhtree.__file__).parent
    files = {Path(lhtree._core.__file__), *folder.glob("_[a-z]*.py")}
    digest = hashlib.sha256()
    for file in sorted(files, key=lambda path: path.name):
        digest.update(file.read_bytes())
    return digest.hexdigest()[:12]


@functools.cache
def version_key(name: str) -> str:
    """What the results of a model depend on; ours change with every build."""
    package = MODELS[name].package
    if package == "lhtree":
        return f"{package}-{version(package)}-{_digest_ours()}"
    return f"{package}-{version(package)}"
