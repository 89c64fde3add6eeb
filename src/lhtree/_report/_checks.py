"""Warnings about the data and the model: a list, each with a kind, a title and a text."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy.stats import rankdata

from ..evaluation import Evaluation
from ..model import Model
from ._rows import Rows

FEW_ROWS = 100
FEW_ROWS_OF_CLASS = 20
LARGE_CLASS = 0.8
TINY_LEAF = 5
MUCH_MISSING = 0.05
SEPARATES = 0.999
_MOST_NAMES = 5
_TREATED = (
    "A missing value is replaced by the feature's typical value, so it has no influence. If missingness is "
    "informative, add an indicator feature."
)
_TREATED_BOOSTED = (
    "A block with a single feature sends them to the side that suited the training rows; in a hyperplane of several "
    "features, a missing value counts as the typical one."
)
_ROWS_ENOUGH = 20_000  # to see whether a feature alone separates a class

_TURNS = re.compile("[\u200e\u200f\u202a-\u202e\u2066-\u2069]")

Warned = dict[str, str]


def find_warnings(fitted: Model, classes: Sequence[str], given: Rows, test: Rows | None) -> list[Warned]:
    """Warnings about the supplied rows, the held-out rows and the trees."""
    names = fitted.feature_names
    found = [
        *_check_counts(classes, given.codes, is_boosted=fitted.is_boosted),
        *_check_features(names, given.X),
        *_check_missing(fitted, given.X),
        *_check_leaks(classes, names, given),
        *_check_leaves(fitted),
    ]
    return found if test is None else [*found, *_check_copies(given.X, test.X)]


def find_score_warnings(fitted: Model, given: Evaluation, test: Evaluation | None) -> list[Warned]:
    """Warnings about the figures of the model card."""
    found = []
    if test is None:
        found.append(
            _warn(
                "not-held-out",
                "No held-out rows",
                "All figures are measured on the supplied rows. If the model was trained on them, it will be less "
                "accurate on new data. Pass X_test and y_test to measure by how much.",
            )
        )
    elif given.accuracy - test.accuracy > 0.1:
        found.append(
            _warn(
                "gap",
                "Overfitting",
                f"Accuracy is {100 * given.accuracy:.1f} % on the supplied rows and {100 * test.accuracy:.1f} % on the "
                "held-out rows. A larger min_samples_leaf reduces overfitting; "
                + (
                    "so do fewer rounds, which early_stopping=True finds."
                    if fitted.is_boosted
                    else "with the paper's cuts, so does a larger gamma."
                ),
            )
        )
    shown = given if test is None else test
    if shown.accuracy <= shown.most_frequent:
        found.append(
            _warn(
                "no-better",
                "No better than the majority class",
                f"Always predicting the most frequent class has an accuracy of {100 * shown.most_frequent:.1f} %; the "
                f"model has {100 * shown.accuracy:.1f} %.",
            )
        )
    return found


def _warn(kind: str, title: str, text: str) -> Warned:
    return {"kind": kind, "title": title, "text": text}


def _list(names: Sequence[str]) -> str:
    """Some names, each shortened, and how many more there are; none may turn the direction of the text around it."""
    names = [_TURNS.sub("", name) for name in names]
    shown = [name if len(name) <= 40 else f"{name[:39]}…" for name in names[:_MOST_NAMES]]
    more = len(names) - len(shown)
    return ", ".join([*shown, f"and {more} more"] if more else shown)


def _check_counts(classes: Sequence[str], codes: NDArray[np.int64], *, is_boosted: bool) -> Iterator[Warned]:
    counts = np.bincount(codes, minlength=len(classes))
    if len(codes) < FEW_ROWS:
        yield _warn(
            "few-rows",
            "Few rows",
            f"There are only {len(codes)} rows. With fewer than {FEW_ROWS}, the model and its figures can change "
            "considerably with a few other rows.",
        )
    rare = [f"{classes[c]} ({counts[c]})" for c in range(len(classes)) if counts[c] < FEW_ROWS_OF_CLASS]
    if rare:
        yield _warn(
            "rare-class",
            "Rare classes",
            f"These classes have fewer than {FEW_ROWS_OF_CLASS} rows: {_list(rare)}. Predictions for them are less "
            "reliable.",
        )
    share = counts.max() / len(codes)
    if share >= LARGE_CLASS:
        yield _warn(
            "imbalance",
            "Imbalanced classes",
            f"{100 * share:.1f} % of the rows belong to {_list([classes[int(counts.argmax())]])}, so accuracy is "
            "not informative: check the recall of the other classes. To increase it, lower the probability threshold "
            'of a class, for example to its share, or use class_weight="balanced"'
            + (
                "."
                if is_boosted
                else " together with a larger min_samples_leaf; class weights alone have little effect where leaves "
                "are pure."
            ),
        )


def _check_features(names: Sequence[str], X: NDArray[Any]) -> Iterator[Warned]:
    is_missing = np.isnan(X)
    low = np.min(X, axis=0, where=~is_missing, initial=np.inf)
    high = np.max(X, axis=0, where=~is_missing, initial=-np.inf)
    constant = [name for name, varies in zip(names, low < high, strict=True) if not varies]
    if constant:
        yield _warn(
            "constant",
            "Constant features",
            f"These features have a single value or none at all: {_list(constant)}. They can be removed.",
        )


def _check_missing(fitted: Model, X: NDArray[Any]) -> Iterator[Warned]:
    share = np.isnan(X).mean(axis=0)
    # The categories of a column are missing together.
    column, first = np.unique(fitted.encoding.column, return_index=True)
    names = [fitted.encoding.names[c] for c in column]
    share = share[first]
    gappy = [
        f"{names[c]} ({100 * share[c]:.0f} %)"
        for c in np.argsort(-share, kind="stable")
        if share[c] > MUCH_MISSING
    ]
    if gappy:
        yield _warn(
            "missing",
            "Missing values",
            f"Values are missing in {_list(gappy)}. {_TREATED_BOOSTED if fitted.is_boosted else _TREATED}",
        )


def _check_leaks(classes: Sequence[str], names: Sequence[str], rows: Rows) -> Iterator[Warned]:
    """A single feature that separates a class from the rest is often known only afterwards."""
    step = -(-len(rows.X) // _ROWS_ENOUGH)
    separate = separation(Rows(rows.X[::step], rows.codes[::step]), len(classes))
    found = [
        f"{names[feature]} alone separates {classes[cls]} from the rest"
        for feature, cls in np.argwhere(separate >= SEPARATES)
    ]
    if found:
        yield _warn(
            "leak",
            "Possible target leakage",
            f"{_list(found)}, nearly without error. This may be genuine. But if the value is only known after the "
            "class, it leaks the target: remove the feature and fit again.",
        )


def separation(rows: Rows, n_classes: int) -> NDArray[np.float64]:
    """How well each feature alone orders each class before or after the rest, shape (m, K): 0.5 not at all, 1 fully.

    The area under the ROC curve, whichever way round; features with missing values and classes of less than five rows
    or with less than five others are left at 0.5.
    """
    counts = np.bincount(rows.codes, minlength=n_classes)
    others = len(rows.codes) - counts
    result = np.full((rows.X.shape[1], n_classes), 0.5)
    classes = np.flatnonzero((counts >= 5) & (others >= 5))
    for feature in np.flatnonzero(~np.isnan(rows.X).any(axis=0)):
        ranks = rankdata(rows.X[:, feature])
        sums = np.bincount(rows.codes, weights=ranks, minlength=n_classes)[classes]
        area = (sums - counts[classes] * (counts[classes] + 1) / 2) / (counts[classes] * others[classes])
        result[feature, classes] = np.maximum(area, 1.0 - area)
    return result


def _check_leaves(fitted: Model) -> Iterator[Warned]:
    """For single trees only: the trees of a forest are grown deep and averaged, those of boosting add up."""
    if fitted.n_estimators > 1 or fitted.is_boosted:
        return
    n_samples = fitted.trees.n_samples[fitted.trees.left < 0]
    n_tiny = int((n_samples < TINY_LEAF).sum())
    if n_tiny:
        yield _warn(
            "tiny-leaves",
            "Small leaves",
            f"{n_tiny} of {len(n_samples)} leaves have fewer than {TINY_LEAF} training rows, so their predictions are "
            "unreliable. A larger gamma or min_samples_leaf avoids such leaves.",
        )


def _check_copies(X: NDArray[Any], X_test: NDArray[Any]) -> Iterator[Warned]:
    seen = set(_hash_rows(X))
    n_copies = sum(each in seen for each in _hash_rows(X_test))
    if n_copies:
        yield _warn(
            "copies",
            "Duplicates in the held-out rows",
            f"{n_copies} of the {len(X_test)} held-out rows are exact copies of rows in X. If the model was "
            "trained on those, the held-out figures are too optimistic.",
        )


def _hash_rows(X: NDArray[Any]) -> Iterator[int]:
    return (hash(row.tobytes()) for row in np.ascontiguousarray(X, dtype=np.float64))
