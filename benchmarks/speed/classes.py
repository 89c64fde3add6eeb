"""Time and accuracy with many classes: trees of all classes, trees per class and RandomForest."""

import time
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ..common import data as datasets
from ..common.pages import markdown_table
from ..common.results import Result
from ..runner import Args, Tell

TITLES = {
    "one_tree": '`multi_class="one_tree"`',
    "one_per_class": '`multi_class="one_per_class"`',
    "rf": "RandomForest",
}
_N_TREES = 20  # time grows in proportion to their number
_N_FEATURES = 20
_N_TEST = 20_000
_SLOW = ("one_per_class",)  # K times the trees: timed with a tenth of the rows

Set = tuple[NDArray[Any], NDArray[Any]]


def build(key: str, seed: int, n_trees: int) -> Any:
    """Return a forest on one thread."""
    from sklearn.ensemble import RandomForestClassifier

    from lhtree import LHForestClassifier

    if key == "rf":
        return RandomForestClassifier(n_trees, random_state=seed, n_jobs=1)
    return LHForestClassifier(n_trees, direction="mixed", multi_class=key, random_state=seed, n_jobs=1)


def load_sets(quick: bool) -> dict[str, Set]:
    """Sets of more than two classes: of the nine, of scikit-learn, and made ones."""
    from sklearn.datasets import load_digits, make_classification

    sets: dict[str, Set] = {}
    for name in ("wine", "seeds"):
        data = datasets.load(name)
        sets[name] = data.X, data.y
    if quick:
        return sets
    sets["digits"] = load_digits(return_X_y=True)
    for n_classes, n_informative in ((7, 10), (26, 12)):
        sets[f"{n_classes} classes"] = make_classification(
            4000 if n_classes == 7 else 6000,
            20,
            n_informative=n_informative,
            n_classes=n_classes,
            n_clusters_per_class=2 if n_classes == 7 else 1,
            random_state=0,
        )
    return sets


def _time(key: str, rows: Set, test: NDArray[Any]) -> Result:
    """CPU seconds of a fit, and of the probabilities of the test rows."""
    model = build(key, 0, _N_TREES)
    begin = time.process_time()
    model.fit(*rows)
    fitted = time.process_time()
    model.predict_proba(test)
    return {"fit": fitted - begin, "score": time.process_time() - fitted, "n_rows": len(rows[1])}


def _compare(key: str, data: Set, n_splits: int) -> Result:
    """Mean accuracy and log loss over splits."""
    from sklearn.metrics import log_loss
    from sklearn.model_selection import StratifiedShuffleSplit

    X, y = data
    accuracy, loss = [], []
    parts = StratifiedShuffleSplit(n_splits, test_size=0.2, random_state=0)
    for seed, (own, other) in enumerate(parts.split(X, y)):
        proba = build(key, seed, 100).fit(X[own], y[own]).predict_proba(X[other])
        classes = np.unique(y)
        accuracy.append(float((classes[proba.argmax(axis=1)] == y[other]).mean()))
        shares = np.clip(proba, 1e-15, 1.0)
        loss.append(float(log_loss(y[other], shares / shares.sum(axis=1, keepdims=True), labels=classes)))
    return {"accuracy": float(np.mean(accuracy)), "log_loss": float(np.mean(loss))}


def measure(tell: Tell, args: Args) -> Result:
    """Times by number of classes and model; accuracy and log loss by set and model."""
    n_rows = 5_000 if args.quick else 500_000
    times: Result = {}
    for n_classes in (3, 7, 26):
        X, y = datasets.make_rows(n_rows, _N_FEATURES, n_classes)
        test, _ = datasets.make_rows(_N_TEST, _N_FEATURES, n_classes, seed=1)
        times[str(n_classes)] = {}
        for key in TITLES:
            tell(f"{n_rows:,} rows, {n_classes} classes: {key}")
            n_own = n_rows // 10 if key in _SLOW else n_rows
            times[str(n_classes)][key] = _time(key, (X[:n_own], y[:n_own]), test)
    scores: Result = {}
    for name, data in load_sets(args.quick).items():
        tell(name)
        n_splits = 2 if args.quick else 20 if len(data[1]) < 1000 else 5
        scores[name] = {key: _compare(key, data, n_splits) for key in TITLES}
    return {"times": times, "scores": scores}


def render(part: Result) -> str:
    """Both tables."""
    times = [
        [n_classes, TITLES[key], f"{found['n_rows']:,}", f"{found['fit']:.1f}", f"{found['score']:.2f}"]
        for n_classes, models in part["times"].items()
        for key, found in models.items()
    ]
    scores = [
        [name, *(f"{models[key][what]:.4f}" for what in ("accuracy", "log_loss") for key in TITLES)]
        for name, models in part["scores"].items()
    ]
    head = " | ".join(
        ["data", *(f"{what}, {key}" for what in ("accuracy", "log loss") for key in TITLES.values())]
    )
    return "\n\n".join(
        [
            f"Forests of {_N_TREES} trees, {_N_FEATURES} features, CPU seconds; probabilities of {_N_TEST:,} rows:",
            markdown_table("classes | model | rows | fit | probabilities", times),
            "Forests of 100 trees, mean over splits:",
            markdown_table(head, scores),
        ]
    )
