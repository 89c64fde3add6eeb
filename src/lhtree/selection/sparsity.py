"""Sparsity: accuracy, number of features and number of blocks against beta."""

from __future__ import annotations

from contextlib import nullcontext
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray
from sklearn.base import clone
from sklearn.model_selection import check_cv, cross_validate

from .._extras import show_progress
from .._parameters import is_integer, is_real, refuse
from ..estimators.tree import LHTClassifier, WolfClassifier
from ..evaluation.curves import SparsityCurve
from ..model.model import read

BETAS = (0.0, 0.1, 0.25, 0.5, 0.7, 0.8, 0.9)


def sparsity_curve(
    X: Any,
    y: Any,
    betas: ArrayLike = BETAS,
    cv: Any = 5,
    *,
    estimator: Any = None,
    verbose: int = 0,
) -> SparsityCurve:
    """Accuracy, number of features and number of blocks against beta, by cross-validation (the paper's table 1).

    Parameters
    ----------
    X : array-like of shape (n, m)
        Samples; NaN is a missing value.
    y : array-like of shape (n,)
        Class labels, of at least two classes.
    betas : sequence of float, default=(0, 0.1, 0.25, 0.5, 0.7, 0.8, 0.9)
        Values of beta in [0, 1).
    cv : int, splitter or iterable of (train, test), default=5
        As in scikit-learn; all betas use the same splits.
    estimator : LHTClassifier or LHForestClassifier, optional
        Its other parameters are kept. Default: ``LHTClassifier()``.
    verbose : int, default=0
        1 shows a progress bar in terminals and notebooks.

    Returns
    -------
    SparsityCurve

    Examples
    --------
    >>> from sklearn.datasets import load_wine
    >>> from lhtree import sparsity_curve
    >>> curve = sparsity_curve(*load_wine(return_X_y=True), betas=[0, 0.5, 0.9])
    >>> curve.accuracy.shape
    (3, 5)
    """
    estimator = LHTClassifier() if estimator is None else estimator
    if not isinstance(estimator, WolfClassifier):
        raise TypeError(
            f"estimator={estimator!r} is not valid: pass an LHTClassifier or an LHForestClassifier, fitted or not."
        )
    values = _check_betas(betas)
    if not isinstance(verbose, bool) and not (is_integer(verbose) and verbose >= 0):
        raise refuse("verbose", verbose, "0 or 1")
    if y is None:
        raise refuse("y", y, "one class per row of X")
    splits = list(check_cv(cv, y, classifier=True).split(X, y))
    measured = np.empty((5, len(values), len(splits)))
    bar: Any = show_progress(measured[0].size, "measuring sparsity") if verbose else nullcontext()
    with bar as progress:
        for b, beta in enumerate(values):
            for s, split in enumerate(splits):
                measured[:, b, s] = _measure(clone(estimator).set_params(beta=float(beta)), X, y, split)
                if progress is not None:
                    progress(b * len(splits) + s + 1)
    return SparsityCurve(values, *measured)


def _check_betas(betas: ArrayLike) -> NDArray[np.float64]:
    listed = np.asarray(betas).ravel().tolist()
    if not listed or not all(is_real(beta) and 0.0 <= beta < 1.0 for beta in listed):
        raise refuse("betas", betas, "one or more numbers in [0, 1)")
    return np.array(listed, dtype=np.float64)


def _measure(model: WolfClassifier, X: Any, y: Any, split: Any) -> tuple[float, float, int, float, int]:
    """Return accuracy on held-out and training rows, features, features per branching block, and blocks."""
    result = cross_validate(
        model,
        X,
        y,
        cv=[split],
        scoring="accuracy",
        return_train_score=True,
        return_estimator=True,
        error_score="raise",
    )
    trees = read(result["estimator"][0]).trees
    n_branching = int((trees.left >= 0).sum())
    n_features = len(np.unique(trees.hyperplane_feature))
    per_block = len(trees.hyperplane_feature) / n_branching if n_branching else 0.0
    return result["test_score"][0], result["train_score"][0], n_features, per_block, trees.n_blocks
