"""Compared models, each at its defaults and on one thread."""

import functools
import hashlib
from collections.abc import Callable
from importlib import import_module
from importlib.metadata import version
from pathlib import Path
from typing import Any, NamedTuple

from lhtree.selection import comparison

from . import tuned

PACKAGES = ("numpy", "scikit-learn", "xgboost", "lightgbm", "catboost", "onnxruntime", "lhtree")
# Folders of the package that no fit and no prediction needs: results do not depend on them.
_OUTER_FOLDERS = {"cli", "describe", "draw", "explain", "export", "plot", "reports"}


class Model(NamedTuple):
    """How to build an estimator from a seed and further parameters, and its name on the pages."""

    title: str
    package: str
    build: Callable[..., Any]
    count: Callable[[Any], int] | None = None  # blocks of a fitted model that is meant to be read


def _model(
    title: str,
    path: str,
    seed_name: str = "random_state",
    count: Any = None,
    distribution: str | None = None,
    **params: Any,
) -> Model:
    """Return a model that imports its library when it is built; ``distribution``: the library's name on PyPI."""
    module, _, name = path.rpartition(".")
    package = distribution or module.partition(".")[0].replace("sklearn", "scikit-learn")

    def build(seed: int, **others: Any) -> Any:
        return getattr(import_module(module), name)(**{seed_name: seed} | params | others)

    return Model(title, package, build, count)


def _logistic(seed: int, **params: Any) -> Any:
    from sklearn.linear_model import LogisticRegression
    from sklearn.pipeline import make_pipeline
    from sklearn.preprocessing import StandardScaler

    return make_pipeline(StandardScaler(), LogisticRegression(max_iter=10_000, random_state=seed, **params))


def _compared(name: str, ending: str = "Classifier") -> Model:
    """Return a peer of ``lhtree bench``."""
    peer = comparison.PEERS[name]
    package = peer.package.replace("sklearn", "scikit-learn")
    return Model(peer.title, package, functools.partial(peer.build, ending))


def _cart(title: str, **params: Any) -> Model:
    path = "sklearn.tree.DecisionTreeClassifier"
    return _model(title, path, count=lambda model: model.tree_.node_count, **params)


def _tree(title: str, **params: Any) -> Model:
    def count(model: Any) -> int:
        return int(2 * model.n_leaves_ - len(model.trees_))

    return _model(title, "lhtree.LHTClassifier", count=count, n_jobs=1, **params)


_forest = functools.partial(_model, path="lhtree.LHForestClassifier", n_jobs=1)
PEERS = {
    "cart": _cart("CART"),
    "cart_10": _cart("CART, split ≥ 10", min_samples_split=10),
    "cart_50": _cart("CART, split ≥ 50", min_samples_split=50),
    "logistic": Model("logistic regression", "scikit-learn", _logistic),
    "rf": _compared("rf"),
    "extra_trees": _model("ExtraTrees", "sklearn.ensemble.ExtraTreesClassifier", n_jobs=1),
    **{name: _compared(name) for name in ("hist_gb", "xgboost", "lightgbm", "catboost")},
}
# Chosen by cross-validation on rows that the benchmark's splits test on too: optimistic.
_READABLE = {
    "direction": "mixed",
    "min_samples_split": 100,
    "min_samples_leaf": 5,
    "membership": "least_squares",
    "shrinkage": 0.03,
}
OURS = {
    "paper_tree": _tree("paper tree"),
    "readable_tree": _tree("readable tree", **_READABLE),
    "paper_forest": _forest("paper forest"),
    "fisher_forest": _forest("Fisher forest", direction="fisher"),
    "mixed_forest": _forest("mixed forest", direction="mixed"),
    "boosted": _model("boosted", "lhtree.LHBoostClassifier", n_jobs=1),
}
MODELS = PEERS | OURS


def _chosen_cart(seed: int, **params: Any) -> Any:
    """CART whose number of leaves is chosen by 5-fold cross-validation on the training rows."""
    from sklearn.model_selection import GridSearchCV
    from sklearn.tree import DecisionTreeClassifier

    leaves = {"max_leaf_nodes": [16, 32, 64]}
    return GridSearchCV(DecisionTreeClassifier(random_state=seed, **params), leaves)


# Models that people can read, besides those above; benchmarks/readable counts their numbers.
READABLE = {
    "cart_chosen": Model("CART, 16 to 64 leaves", "scikit-learn", _chosen_cart),
    "cart_16": _cart("CART, 16 leaves", max_leaf_nodes=16),
    "figs": _model("FIGS", "imodels.FIGSClassifier", max_rules=15),
    "optimal": _model(
        "optimal tree",
        "pystreed.STreeDClassifier",
        "random_seed",
        max_depth=3,
        n_thresholds=10,
    ),
    "ebm": _model(
        "EBM",
        "interpret.glassbox.ExplainableBoostingClassifier",
        distribution="interpret-core",
        n_jobs=1,
    ),
    "additive": _model("additive", "lhtree.AdditiveLHTClassifier", n_jobs=1),
    "compact": _model("compact tree", "lhtree.CompactLHTClassifier", n_jobs=1),
    "compact_auto": _model("compact tree", "lhtree.CompactLHTClassifier", n_jobs=1),
    "compact_regressor": _model("compact tree", "lhtree.CompactLHTRegressor", n_jobs=1),
    "additive_regressor": _model("additive", "lhtree.AdditiveLHTRegressor", n_jobs=1),
    "ebm_regressor": _model(
        "EBM",
        "interpret.glassbox.ExplainableBoostingRegressor",
        distribution="interpret-core",
        n_jobs=1,
    ),
}


def _linear(seed: int, **params: Any) -> Any:
    from sklearn.linear_model import RidgeCV

    return RidgeCV(**params)


def _pruned(seed: int, **params: Any) -> Any:
    """CART whose pruning is chosen by cross-validation on the training rows; the target is of one scale."""
    from sklearn.compose import TransformedTargetRegressor
    from sklearn.model_selection import GridSearchCV
    from sklearn.preprocessing import StandardScaler
    from sklearn.tree import DecisionTreeRegressor

    alphas = {"ccp_alpha": [0.0, *(2.0**-k for k in range(4, 17, 2))]}
    search = GridSearchCV(DecisionTreeRegressor(random_state=seed, **params), alphas)
    return TransformedTargetRegressor(search, transformer=StandardScaler())


REGRESSORS = {
    "linear_regressor": Model("linear regression", "scikit-learn", _linear),
    "cart_regressor": Model(
        "CART, pruned",
        "scikit-learn",
        _pruned,
        lambda model: model.regressor_.best_estimator_.tree_.node_count,
    ),
    "rf_regressor": _compared("rf", "Regressor"),
    "extra_trees_regressor": _model("ExtraTrees", "sklearn.ensemble.ExtraTreesRegressor", n_jobs=1),
    **{f"{name}_regressor": _compared(name, "Regressor") for name in ("hist_gb", "xgboost", "lightgbm")},
    "lightgbm_linear_regressor": _model(
        "LightGBM, linear trees", "lightgbm.LGBMRegressor", n_jobs=1, verbose=-1, linear_tree=True
    ),
    "catboost_regressor": _compared("catboost", "Regressor"),
    "tree_regressor": _model(
        "readable tree", "lhtree.LHTRegressor", count=lambda model: 2 * model.n_leaves_ - 1, n_jobs=1
    ),
    "forest_regressor": _model("forest", "lhtree.LHForestRegressor", n_jobs=1),
    "boosted_regressor": _model("boosted", "lhtree.LHBoostRegressor", n_jobs=1),
}
TUNED = {
    name: Model(title, package, functools.partial(tuned.build_tuned, name))
    for name, (title, package) in tuned.TITLES.items()
}
# The ensemble is a row of the pages of tables.
ENSEMBLES = {
    "ensemble": _model("ensemble", "lhtree.LHEnsembleClassifier", n_jobs=1),
    "ensemble_regressor": _model("ensemble", "lhtree.LHEnsembleRegressor", n_jobs=1),
}
# Boosting libraries at their defaults with other numbers of rounds.
_ROUNDS = {
    "boosted": ("max_iter", (25, 50, 100, 200, 400, 800)),
    "catboost": ("iterations", (50, 100, 300, 1000)),
    "lightgbm": ("n_estimators", (25, 50, 100, 200, 400)),
    "xgboost": ("n_estimators", (25, 50, 100, 200, 400)),
    "hist_gb": ("max_iter", (25, 50, 100, 200, 400)),
}
BY_ROUNDS = {
    f"{name}_{n}": Model(
        f"{MODELS[name].title}, {n} rounds",
        MODELS[name].package,
        functools.partial(MODELS[name].build, **{parameter: n}),
    )
    for name, (parameter, counts) in _ROUNDS.items()
    for n in counts
}
ALL_MODELS = MODELS | REGRESSORS | READABLE | TUNED | ENSEMBLES | BY_ROUNDS
TITLES = {name: model.title for name, model in ALL_MODELS.items()}


def name_in_a_sentence(name: str) -> str:
    """Return the name of a model in a sentence, where ours need their library."""
    title = TITLES[name].replace("boosted", "boosted trees")
    return f"lhtree's {title}" if ALL_MODELS[name].package == "lhtree" else title


_HUNDRED = {"catboost": {"iterations": 100}, "boosted": {"max_iter": 100}}


def fit(name: str, X: Any, y: Any, **params: Any) -> Any:
    """Build a model and fit it."""
    return MODELS[name].build(0, **params).fit(X, y)


def fit_100(name: str, X: Any, y: Any, **params: Any) -> Any:
    """Build a model of 100 trees and fit it."""
    return fit(name, X, y, **_HUNDRED.get(name, {}) | params)


def one_thread(name: str, model: Any, method: str = "predict_proba") -> Callable[[Any], Any]:
    """Return a method that scores on one thread.

    CatBoost takes all cores unless each call limits it, and leaves the array it was given read-only.
    """
    call: Callable[..., Any] = getattr(model, method)
    return (lambda X: call(X.view(), thread_count=1)) if name == "catboost" else call


_chosen_build: list[str] = []


def choose_build(key: str) -> None:
    """Read results of another build of lhtree, named as on the pages; nothing may be fitted afterwards."""
    _chosen_build[:] = [key]


@functools.cache
def _digest_ours() -> str:
    """Return a digest of the extension and of all modules that a fit or a prediction may import."""
    import lhtree._core

    folder = Path(lhtree.__file__).parent
    modules = {path.relative_to(folder).as_posix(): path for path in folder.rglob("*.py")}
    digest = hashlib.sha256(Path(lhtree._core.__file__).read_bytes())
    for name, path in sorted(modules.items()):
        if name.partition("/")[0] not in _OUTER_FOLDERS:
            digest.update(path.read_bytes())
    return digest.hexdigest()[:12]


@functools.cache
def version_key(name: str) -> str:
    """Return the version that results of a model depend on; ours changes with every build."""
    package = ALL_MODELS[name].package if name in ALL_MODELS else "lhtree"
    if _chosen_build and package == "lhtree":
        return _chosen_build[0]
    own = f"-{_digest_ours()}" if package == "lhtree" else ""
    return f"{package}-{version(package)}{own}"
