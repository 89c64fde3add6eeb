"""What sparser hyperplanes cost: accuracy, features and blocks against beta."""

from __future__ import annotations

from contextlib import nullcontext
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import ArrayLike, NDArray
from sklearn.base import clone
from sklearn.model_selection import check_cv, cross_validate

from ._extras import import_extra
from ._parameters import is_integer, is_real, refuse
from ._progress import show_progress
from .base import BaseLHT
from .model import read
from .tree import LHTClassifier

if TYPE_CHECKING:
    import pandas as pd

BETAS = (0.0, 0.1, 0.25, 0.5, 0.7, 0.8, 0.9)


@dataclass(frozen=True, eq=False)
class SparsityCurve:
    """What was measured for every beta and every split; each array has shape (n_betas, n_splits).

    ``accuracy`` is on the rows held back and ``training_accuracy`` on the others. ``n_features`` counts the features
    that any hyperplane uses, ``features_per_block`` is how many a branching block uses in the mean (0 without any),
    and ``n_blocks`` counts the blocks of all trees.
    """

    betas: NDArray[np.float64]
    accuracy: NDArray[np.float64]
    training_accuracy: NDArray[np.float64]
    n_features: NDArray[np.float64]
    features_per_block: NDArray[np.float64]
    n_blocks: NDArray[np.float64]

    @property
    def sparsest(self) -> float:
        """Largest beta whose mean accuracy is within one standard error of the best one's."""
        mean = self.accuracy.mean(axis=1)
        best = int(mean.argmax())
        error = _spread(self.accuracy)[best] / np.sqrt(self.accuracy.shape[1])
        return float(self.betas[mean >= mean[best] - error].max())

    def to_dict(self) -> dict[str, list[float]]:
        """Means over the splits, a list with a value per beta for every column of ``to_frame``."""
        columns = {
            "beta": self.betas,
            "accuracy": self.accuracy.mean(axis=1),
            "spread": _spread(self.accuracy),
            "training_accuracy": self.training_accuracy.mean(axis=1),
            "n_features": self.n_features.mean(axis=1),
            "features_per_block": self.features_per_block.mean(axis=1),
            "n_blocks": self.n_blocks.mean(axis=1),
        }
        return {name: values.tolist() for name, values in columns.items()}

    def to_frame(self) -> pd.DataFrame:
        """One row per beta: means over the splits, and the standard deviation of the accuracy as ``spread``."""
        frame: pd.DataFrame = import_extra("pandas", "pandas").DataFrame(self.to_dict())
        return frame

    def __str__(self) -> str:
        lines = ["  beta  accuracy ± spread  features  per block  blocks"]
        columns = self.to_dict()
        names = ("beta", "accuracy", "spread", "n_features", "features_per_block", "n_blocks")
        for beta, accuracy, spread, features, per_block, blocks in zip(
            *(columns[name] for name in names), strict=True
        ):
            lines.append(
                f"{beta:6g}    {accuracy:.4f} ± {spread:.4f}  {features:8.1f}  {per_block:9.1f}  {blocks:6.1f}"
            )
        return "\n".join(lines)


def sparsity_curve(
    X: Any,
    y: Any,
    betas: ArrayLike = BETAS,
    cv: Any = 5,
    *,
    estimator: Any = None,
    verbose: int = 0,
) -> SparsityCurve:
    """Accuracy, features used and blocks against beta, by cross-validation: the paper's table for any data.

    Parameters
    ----------
    X : array-like of shape (n, m)
        Numbers; NaN counts as missing.
    y : array-like of shape (n,)
        Classes, two or more.
    betas : sequence of float, default=(0, 0.1, 0.25, 0.5, 0.7, 0.8, 0.9)
        Each at least 0 and below 1.
    cv : int, splitter or iterable of (train, test), default=5
        As in scikit-learn; every beta sees the same splits.
    estimator : LHTClassifier or LHForestClassifier, optional
        Its other parameters are kept. ``LHTClassifier()`` by default.
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
    if not isinstance(estimator, BaseLHT):
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
        raise refuse("betas", betas, "one or more numbers of at least 0 and below 1")
    return np.array(listed, dtype=np.float64)


def _measure(model: BaseLHT, X: Any, y: Any, split: Any) -> tuple[float, float, int, float, int]:
    """Accuracy on the rows held back and on the others, features, features per branching block, blocks."""
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


def _spread(values: NDArray[np.float64]) -> NDArray[np.float64]:
    """Standard deviation over the splits; 0 where there is only one."""
    if values.shape[1] == 1:
        return np.zeros(len(values))
    return values.std(axis=1, ddof=1)  # type: ignore[no-any-return]
