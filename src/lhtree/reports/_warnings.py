"""Warnings about data, figures and model: a list, each with a kind, a title and a text."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray
from scipy.stats import rankdata

from ..evaluation import Evaluation, Measured
from ..evaluation.measures import write_number
from ..model.heads import Head, MeanHead, RawScoreHead, WolfHead
from ..model.model import Model
from ..model.numbers import write_share
from ..tables.encoders import Dropped, Numbers
from ._figures import ReportRows

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
_TREATED_ADDITIVE = "They have a step of their own in the curve of their column."
_ROWS_ENOUGH = 20_000  # to test whether a feature alone separates a class
_LEAST_NUMBERED = 30  # rows
_SPARSEST = 10  # largest mean distance between the numbers of rows

TURNS = re.compile("[\u200e\u200f\u202a-\u202e\u2066-\u2069]")

Warned = dict[str, str]


class _Advice(NamedTuple):
    """Parameters that warnings recommend for one kind of model."""

    overfitting: str
    class_weight: str = (
        " together with a larger min_samples_leaf; class weights alone have little effect where leaves are "
        "pure."
    )
    tiny_leaves: str | None = "min_samples_leaf"  # None: small leaves are harmless


_ROUNDS = _Advice("so do fewer rounds, which early_stopping=True finds.", ".", None)
_CLASSES = _Advice("with the paper's cuts, so does a larger gamma.", tiny_leaves="gamma or min_samples_leaf")
_ADVICE: dict[type[Head], _Advice] = {
    WolfHead: _CLASSES,
    MeanHead: _Advice("so does a smaller max_depth."),
    RawScoreHead: _ROUNDS,
}
_COMPACT = _Advice("so do a smaller max_leaf_nodes and a larger penalty.")
_ADDITIVE = _Advice("so do fewer interactions and a smaller max_steps.", ".", None)


def _advise(fitted: Model) -> _Advice:
    if fitted.additive is not None:
        return _ADDITIVE
    return _COMPACT if fitted.compact is not None else fitted.head.choose(_ADVICE)


def find_warnings(
    fitted: Model,
    classes: Sequence[str],
    rows: tuple[ReportRows, ReportRows | None],
    measured: tuple[Measured, Measured | None],
) -> list[Warned]:
    """Return warnings about figures, rows and trees; both pairs are of the supplied rows and the held-out rows."""
    names, (given, test) = fitted.feature_names, rows
    found = [
        *_check_held_out(fitted, *measured),
        *_check_baseline(measured[0] if measured[1] is None else measured[1]),
        *_check_size(len(given.X)),
        *_check_counts(fitted, classes, given),
        *_check_features(names, given.X),
        *_check_ids(fitted, given.X),
        *_check_missing(fitted, given.X),
        *_check_leaks(classes, names, given),
        *_check_leaves(fitted),
    ]
    return found if test is None else [*found, *_check_copies(given.X, test.X)]


def _warn(kind: str, title: str, text: str) -> Warned:
    return {"kind": kind, "title": title, "text": text}


def _list(texts: Sequence[str]) -> str:
    """Return some of the texts, and the number of the others."""
    more = len(texts) - _MOST_NAMES
    return ", ".join([*texts[:_MOST_NAMES], f"and {more} more"] if more > 0 else texts)


def _list_names(names: Sequence[str]) -> str:
    return _list([_shorten(name) for name in names])


def _shorten(name: str) -> str:
    """Return a name that fits a sentence and cannot change the direction of the text around it."""
    name = TURNS.sub("", name)
    return name if len(name) <= _MOST_LETTERS else f"{name[: _MOST_LETTERS - 1]}…"


def _check_held_out(fitted: Model, given: Measured, test: Measured | None) -> Iterator[Warned]:
    if test is None:
        yield _warn(
            "not-held-out",
            "No held-out rows",
            "All figures are measured on the supplied rows. If the model was trained on them, it will be less "
            "accurate on new data. Pass X_test and y_test to measure by how much.",
        )
    elif (score := _find_score(given)).value - _find_score(test).value > 0.1:
        yield _warn(
            "gap",
            "Overfitting",
            f"{score.name} is {score.text} on the supplied rows and {_find_score(test).text} on the "
            f"held-out rows. A larger min_samples_leaf reduces overfitting; {_advise(fitted).overfitting}",
        )


def _check_baseline(shown: Measured) -> Iterator[Warned]:
    """Check that the model is better than a constant prediction."""
    if isinstance(shown, Evaluation):
        if shown.accuracy <= shown.most_frequent:
            yield _warn(
                "no-better",
                "No better than the majority class",
                f"Always predicting the most frequent class has an accuracy of {write_share(shown.most_frequent)}; "
                f"the model has {write_share(shown.accuracy)}.",
            )
    elif shown.quantile is not None:
        if shown.quantile.pinball >= shown.quantile.baseline:
            yield _warn(
                "no-better",
                "No better than a constant",
                "Always predicting the same quantile of all rows has a pinball loss of "
                f"{write_number(shown.quantile.baseline)}; the model has {write_number(shown.quantile.pinball)}.",
            )
    elif shown.rmse >= shown.baseline_rmse:
        yield _warn(
            "no-better",
            "No better than the mean",
            f"Always predicting the mean has an RMSE of {write_number(shown.baseline_rmse)}; the model has "
            f"{write_number(shown.rmse)}.",
        )


class _Score(NamedTuple):
    """Accuracy, R² or pinball loss; the value of the last is the share of the baseline's loss that is avoided."""

    name: str
    value: float
    text: str


def _find_score(measured: Measured) -> _Score:
    if isinstance(measured, Evaluation):
        return _Score("Accuracy", measured.accuracy, write_share(measured.accuracy))
    if measured.quantile is None:
        return _Score("R²", measured.r2, f"{measured.r2:.3f}")
    loss, baseline = measured.quantile.pinball, measured.quantile.baseline
    return _Score("The pinball loss", 1.0 - loss / baseline if baseline > 0.0 else 0.0, write_number(loss))


def _check_size(n_rows: int) -> Iterator[Warned]:
    if n_rows < FEW_ROWS:
        yield _warn(
            "few-rows",
            "Few rows",
            f"There are only {n_rows} rows. With fewer than {FEW_ROWS}, the model and its figures can change "
            "considerably with a few other rows.",
        )


def _check_counts(fitted: Model, classes: Sequence[str], rows: ReportRows) -> Iterator[Warned]:
    if rows.response is not None:
        return
    counts = np.bincount(rows.codes, minlength=len(classes))
    rare = [
        f"{_shorten(classes[c])} ({counts[c]})" for c in range(len(classes)) if counts[c] < FEW_ROWS_OF_CLASS
    ]
    if rare:
        yield _warn(
            "rare-class",
            "Rare classes",
            f"These classes have fewer than {FEW_ROWS_OF_CLASS} rows: {_list(rare)}. Predictions for them are less "
            "reliable.",
        )
    share = counts.max() / len(rows.codes)
    if share >= LARGE_CLASS:
        yield _warn(
            "imbalance",
            "Imbalanced classes",
            f"{write_share(share)} of the rows belong to {_shorten(classes[int(counts.argmax())])}, so accuracy is "
            "not informative: check the recall of the other classes. To increase it, lower the probability threshold "
            'of a class, for example to its share, or use class_weight="balanced"'
            + _advise(fitted).class_weight,
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
            f"These features have a single value or none at all: {_list_names(constant)}. They can be removed.",
        )


def _check_ids(fitted: Model, X: NDArray[Any]) -> Iterator[Warned]:
    ignored, numbering = _find_ids(fitted, X)
    told = []
    if numbering:
        told.append(
            f"These columns have a different whole number in every row: {_list_names(numbering)}. If they identify or "
            "number the rows, they say nothing about new ones: remove them and fit again."
        )
    if ignored:
        told.append(f"The model ignores these columns, because they name the rows: {_list_names(ignored)}.")
    if told:
        yield _warn("id-like", "Columns that look like ids", " ".join(told))


def _check_missing(fitted: Model, X: NDArray[Any]) -> Iterator[Warned]:
    share = np.isnan(X).mean(axis=0)
    # The categories of a column are missing together.
    column, first = np.unique(fitted.encoding.column, return_index=True)
    names = [fitted.encoding.names[c] for c in column]
    share = share[first]
    gappy = [
        f"{_shorten(names[c])} ({write_share(share[c], 0)})"
        for c in np.argsort(-share, kind="stable")
        if share[c] > MUCH_MISSING
    ]
    if gappy:
        treated = _TREATED_INDICATED if fitted.encoding.is_indicator.any() else _TREATED
        treated = _TREATED_BOOSTED if fitted.head.adds_rounds else treated
        treated = treated if fitted.additive is None else _TREATED_ADDITIVE
        yield _warn(
            "missing",
            "Missing values",
            f"Values are missing in {_list(gappy)}. {treated}",
        )


def _check_leaks(classes: Sequence[str], names: Sequence[str], rows: ReportRows) -> Iterator[Warned]:
    """Find single features that separate a class from the rest, or order responses: they often leak the target."""
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
            for feature, cls in np.argwhere(
                separation(ReportRows(X, codes), len(classes)) >= SEPARATES
            ).tolist()
        ]
    if told:
        yield _warn(
            "leak",
            "Possible target leakage",
            f"{_list(told)}, nearly without error. This may be genuine. But if the value is only known after the "
            "target, it leaks the target: remove the feature and fit again.",
        )


def correlate(X: NDArray[Any], response: NDArray[np.float64]) -> NDArray[np.float64]:
    """Return Spearman's rank correlation of every feature with the response, shape (m,); 0 if a value is missing."""
    result = np.zeros(X.shape[1])
    ranks = rankdata(response)
    for feature in np.flatnonzero(~np.isnan(X).any(axis=0)):
        own = rankdata(X[:, feature])
        if len(ranks) >= 10 and np.ptp(own) > 0.0 and np.ptp(ranks) > 0.0:
            result[feature] = np.corrcoef(own, ranks)[0, 1]
    return result


def separation(rows: ReportRows, n_classes: int) -> NDArray[np.float64]:
    """Return how well each feature alone separates each class from the rest, shape (m, K): from 0.5 to 1.

    This is the area under the ROC curve, in either direction. It is 0.5 for features with missing values and for
    classes with fewer than five rows or fewer than five others.
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
    """Check single trees only: the trees of a forest are deep and averaged, and boosted trees add up."""
    parameters = _advise(fitted).tiny_leaves
    if fitted.n_estimators > 1 or parameters is None:
        return
    n_samples = fitted.trees.n_samples[fitted.trees.left < 0]
    n_tiny = int((n_samples < TINY_LEAF).sum())
    if n_tiny:
        yield _warn(
            "tiny-leaves",
            "Small leaves",
            f"{n_tiny} of {len(n_samples)} leaves have fewer than {TINY_LEAF} training rows, so their predictions are "
            f"unreliable. A larger {parameters} avoids such leaves.",
        )


def _check_copies(X: NDArray[Any], X_test: NDArray[Any]) -> Iterator[Warned]:
    seen = set(_hash_rows(X))
    n_copies = sum(each in seen for each in _hash_rows(X_test))
    if n_copies:
        told = "is an exact copy of a row" if n_copies == 1 else "are exact copies of rows"
        yield _warn(
            "copies",
            "Duplicates in the held-out rows",
            f"{n_copies} of the {len(X_test)} held-out rows {told} in X. If the model was trained on those, the "
            "held-out figures are too optimistic.",
        )


def _hash_rows(X: NDArray[Any]) -> Iterator[int]:
    return (hash(row.tobytes()) for row in np.ascontiguousarray(X, dtype=np.float64))


def _find_ids(fitted: Model, X: NDArray[Any]) -> tuple[list[str], list[str]]:
    """Return the columns that the model ignores because they name rows, and those it uses that seem to number them."""
    encoding = fitted.encoding
    ignored, numbering = [], []
    for column, encoder in enumerate(encoding.encoders):
        if isinstance(encoder, Dropped):
            ignored.append(encoding.names[column])
        elif isinstance(encoder, Numbers) and is_numbering(X[:, encoding.ptr[column]]):
            numbering.append(encoding.names[column])
    return ignored, numbering


def is_numbering(values: NDArray[Any]) -> bool:
    """Return whether values are whole numbers, all different, and either close together or in the order of the rows.

    They need not be consecutive, because other numbers may be in other tables. Amounts are rarely all different.
    """
    if len(values) < _LEAST_NUMBERED or not np.isfinite(values).all() or (values != np.floor(values)).any():
        return False
    steps = np.diff(values / 2.0)  # differences of numbers near 1e308 would overflow
    if (steps > 0).all() or (steps < 0).all():
        return True
    is_close = float(values.max()) - float(values.min()) < _SPARSEST * len(values)
    return bool(is_close and len(np.unique(values)) == len(values))
