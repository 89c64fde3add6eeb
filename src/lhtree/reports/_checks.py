"""Warnings about the data and the model: a list, each with a kind, a title and a text."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy.stats import rankdata

from ..model.model import Model
from ._ids import find_ids
from ._rows import Rows

FEW_ROWS = 100
FEW_ROWS_OF_CLASS = 20
LARGE_CLASS = 0.8
TINY_LEAF = 5
MUCH_MISSING = 0.05
SEPARATES = 0.999
_MOST_NAMES, _MOST_LETTERS = 5, 40
_TREATED = (
    "A missing value is replaced by the feature's typical value, so it has no influence. If missingness is "
    "informative, use missing_indicator=True."
)
_TREATED_INDICATED = (
    "A missing value is replaced by the feature's typical value; that it is missing is a feature of its own."
)
_TREATED_BOOSTED = (
    "A block with a single feature sends them to the side that suited the training rows; in a hyperplane of several "
    "features, a missing value counts as the typical one."
)
_ROWS_ENOUGH = 20_000  # to see whether a feature alone separates a class

TURNS = re.compile("[\u200e\u200f\u202a-\u202e\u2066-\u2069]")

Warned = dict[str, str]


def find_warnings(fitted: Model, classes: Sequence[str], given: Rows, test: Rows | None) -> list[Warned]:
    """Warnings about the supplied rows, the held-out rows and the trees."""
    names = fitted.feature_names
    found = [
        *_check_size(len(given.X)),
        *([] if fitted.is_regression else _check_counts(classes, given.codes, is_boosted=fitted.is_boosted)),
        *_check_features(names, given.X),
        *_check_ids(fitted, given.X),
        *_check_missing(fitted, given.X),
        *_check_leaks(classes, names, given),
        *_check_leaves(fitted),
    ]
    return found if test is None else [*found, *_check_copies(given.X, test.X)]


def warn(kind: str, title: str, text: str) -> Warned:
    """A warning."""
    return {"kind": kind, "title": title, "text": text}


def _list(texts: Sequence[str]) -> str:
    """Some of the texts, and how many more there are."""
    more = len(texts) - _MOST_NAMES
    return ", ".join([*texts[:_MOST_NAMES], f"and {more} more"] if more > 0 else texts)


def _list_names(names: Sequence[str]) -> str:
    return _list([_shorten(name) for name in names])


def _shorten(name: str) -> str:
    """A name that fits a sentence and cannot turn the direction of the text around it."""
    name = TURNS.sub("", name)
    return name if len(name) <= _MOST_LETTERS else f"{name[: _MOST_LETTERS - 1]}…"


def _check_size(n_rows: int) -> Iterator[Warned]:
    if n_rows < FEW_ROWS:
        yield warn(
            "few-rows",
            "Few rows",
            f"There are only {n_rows} rows. With fewer than {FEW_ROWS}, the model and its figures can change "
            "considerably with a few other rows.",
        )


def _check_counts(classes: Sequence[str], codes: NDArray[np.int64], *, is_boosted: bool) -> Iterator[Warned]:
    counts = np.bincount(codes, minlength=len(classes))
    rare = [
        f"{_shorten(classes[c])} ({counts[c]})" for c in range(len(classes)) if counts[c] < FEW_ROWS_OF_CLASS
    ]
    if rare:
        yield warn(
            "rare-class",
            "Rare classes",
            f"These classes have fewer than {FEW_ROWS_OF_CLASS} rows: {_list(rare)}. Predictions for them are less "
            "reliable.",
        )
    share = counts.max() / len(codes)
    if share >= LARGE_CLASS:
        yield warn(
            "imbalance",
            "Imbalanced classes",
            f"{100 * share:.1f} % of the rows belong to {_shorten(classes[int(counts.argmax())])}, so accuracy is "
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
        yield warn(
            "constant",
            "Constant features",
            f"These features have a single value or none at all: {_list_names(constant)}. They can be removed.",
        )


def _check_ids(fitted: Model, X: NDArray[Any]) -> Iterator[Warned]:
    ignored, numbering = find_ids(fitted, X)
    told = []
    if numbering:
        told.append(
            f"These columns have a different whole number in every row: {_list_names(numbering)}. If they identify or "
            "number the rows, they say nothing about new ones: remove them and fit again."
        )
    if ignored:
        told.append(f"The model ignores these columns, because they name the rows: {_list_names(ignored)}.")
    if told:
        yield warn("id-like", "Columns that look like ids", " ".join(told))


def _check_missing(fitted: Model, X: NDArray[Any]) -> Iterator[Warned]:
    share = np.isnan(X).mean(axis=0)
    # The categories of a column are missing together.
    column, first = np.unique(fitted.encoding.column, return_index=True)
    names = [fitted.encoding.names[c] for c in column]
    share = share[first]
    gappy = [
        f"{_shorten(names[c])} ({100 * share[c]:.0f} %)"
        for c in np.argsort(-share, kind="stable")
        if share[c] > MUCH_MISSING
    ]
    if gappy:
        treated = _TREATED_INDICATED if fitted.encoding.is_indicator.any() else _TREATED
        treated = _TREATED_BOOSTED if fitted.is_boosted else treated
        yield warn(
            "missing",
            "Missing values",
            f"Values are missing in {_list(gappy)}. {treated}",
        )


def _check_leaks(classes: Sequence[str], names: Sequence[str], rows: Rows) -> Iterator[Warned]:
    """A single feature that separates a class from the rest, or orders responses, is often known only afterwards."""
    step = -(-len(rows.X) // _ROWS_ENOUGH)
    X, codes, response = rows.X[::step], rows.codes[::step], rows.response
    if response is not None:
        told = [
            f"{_shorten(names[feature])} alone puts the rows in the order of the response"
            for feature in np.flatnonzero(np.abs(correlate(X, response[::step])) >= SEPARATES).tolist()
        ]
    else:
        told = [
            f"{_shorten(names[feature])} alone separates {_shorten(classes[cls])} from the rest"
            for feature, cls in np.argwhere(separation(Rows(X, codes), len(classes)) >= SEPARATES).tolist()
        ]
    if told:
        yield warn(
            "leak",
            "Possible target leakage",
            f"{_list(told)}, nearly without error. This may be genuine. But if the value is only known after the "
            "target, it leaks the target: remove the feature and fit again.",
        )


def correlate(X: NDArray[Any], response: NDArray[np.float64]) -> NDArray[np.float64]:
    """Spearman's rank correlation of every feature with the response, shape (m,); 0 where a value is missing."""
    result = np.zeros(X.shape[1])
    ranks = rankdata(response)
    for feature in np.flatnonzero(~np.isnan(X).any(axis=0)):
        own = rankdata(X[:, feature])
        if len(ranks) >= 10 and np.ptp(own) > 0.0 and np.ptp(ranks) > 0.0:
            result[feature] = np.corrcoef(own, ranks)[0, 1]
    return result


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
        has_gamma = not (fitted.is_regression or fitted.compact)
        yield warn(
            "tiny-leaves",
            "Small leaves",
            f"{n_tiny} of {len(n_samples)} leaves have fewer than {TINY_LEAF} training rows, so their predictions are "
            f"unreliable. A larger {'gamma or ' if has_gamma else ''}min_samples_leaf avoids such leaves.",
        )


def _check_copies(X: NDArray[Any], X_test: NDArray[Any]) -> Iterator[Warned]:
    seen = set(_hash_rows(X))
    n_copies = sum(each in seen for each in _hash_rows(X_test))
    if n_copies:
        told = "is an exact copy of a row" if n_copies == 1 else "are exact copies of rows"
        yield warn(
            "copies",
            "Duplicates in the held-out rows",
            f"{n_copies} of the {len(X_test)} held-out rows {told} in X. If the model was trained on those, the "
            "held-out figures are too optimistic.",
        )


def _hash_rows(X: NDArray[Any]) -> Iterator[int]:
    return (hash(row.tobytes()) for row in np.ascontiguousarray(X, dtype=np.float64))
