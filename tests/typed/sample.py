"""Code as users write it, which mypy and pyright check and a test runs."""

from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt

import lhtree
from lhtree import Evaluation, LHBoostClassifier, LHForestClassifier, LHForestRegressor, LHTClassifier, Scorer


def make_rows(n_rows: int) -> tuple[npt.NDArray[np.float64], npt.NDArray[np.str_]]:
    """Rows of three features in two classes."""
    X = np.random.default_rng(0).normal(size=(n_rows, 3))
    return X, np.where(X.sum(axis=1) > 0, "above", "below")


def fit_and_read(folder: Path) -> list[str]:
    """Fit, explain, save and load; returns texts."""
    X, y = make_rows(200)
    tree: LHTClassifier = LHTClassifier(beta=0.25).fit(X, y)
    forest = LHForestClassifier(5, direction="mixed", random_state=0).fit(X, y)
    boosted = LHBoostClassifier(max_iter=5, random_state=0).fit(X, y)
    probabilities = forest.predict_proba(X)
    best = float(probabilities.max()) + float(boosted.predict_proba(X).max())
    evaluation: Evaluation | Any = lhtree.evaluate(forest, X, y)

    path = folder / "model.lht"
    lhtree.save(tree, path)
    scorer: Scorer = lhtree.load_scorer(path)
    classes = scorer.predict(X[:3])
    text: str = lhtree.export_text(tree)
    version: str = lhtree.__version__
    return [text, str(tree.explain(X[0])), str(classes), str(evaluation), f"{best:.3f}", version]


def predict_numbers() -> npt.NDArray[Any]:
    """Predict a number and its interval."""
    X, _ = make_rows(200)
    model = LHForestRegressor(5, random_state=0).fit(X, X[:, 0])
    low, high = model.predict_interval(X, coverage=0.8).T
    return np.stack([low, model.predict(X), high])
