"""Anything array-like becomes exact arrays, or an error that names the argument, the value and the remedy."""

from __future__ import annotations

import re
from typing import Any, NamedTuple, NoReturn

import numpy as np
from numpy.typing import NDArray
from sklearn.utils.multiclass import check_classification_targets
from sklearn.utils.validation import assert_all_finite, check_consistent_length, column_or_1d

from ._parameters import refuse
from .model import Model
from .tables.columns import is_missing
from .tables.encoding import Encoding
from .tables.frames import take_table
from .tables.labels import check_sample_weight
from .tables.learn import learn_encoding

# Remedies for scikit-learn's messages, which only say what is wrong.
_REMEDIES = {
    "contains NaN": "Drop the rows whose class is unknown.",
    "inconsistent numbers of samples": "Pass one class (and one sample weight) per row of X.",
    "Unknown label type": "Bin a continuous target, for example with pandas.cut, or use a regressor.",
}


class Training(NamedTuple):
    """What fit works on. Rows of weight 0 are gone; ``weight`` is None where every row weighs 1."""

    X: NDArray[Any]
    codes: NDArray[np.int32]
    classes: NDArray[Any]
    weight: NDArray[np.float64] | None
    prior: NDArray[np.float64]
    row: NDArray[np.int64] | None  # where each row was given, if some are gone
    n_given: int
    encoding: Encoding

    @property
    def n_targets(self) -> int:
        """Trees per estimator: one tree serves two classes."""
        return 1 if len(self.classes) == 2 else len(self.classes)


def check_training(estimator: Any, X: Any, y: Any, sample_weight: Any, earlier: Model | None) -> Training:
    """Check the input of fit; columns become features as in the ``earlier`` model, or as is learned from X."""
    owner, is_forest, class_weight = type(estimator).__name__, estimator._is_forest, estimator.class_weight
    table = take_table(X, owner)
    if earlier is None:
        encoding = learn_encoding(table, estimator.categorical_features, sample_weight, owner=owner)
    else:
        encoding = earlier.encoding
    X = encoding.encode(table, owner=owner)
    y = _check_classes(X, y, owner)
    n_given = len(X)
    weight = check_sample_weight(sample_weight, len(X))
    row = None
    if weight is not None and not weight.all():
        row = np.flatnonzero(weight)
        X, y, weight = X[row], y[row], weight[row]
    classes, codes = encode(y)
    try:
        check_classification_targets(
            np.repeat(classes, 3)
        )  # alone they would look like too many for the rows
    except ValueError as error:
        _raise_with_remedy(error)
    if len(classes) < 2:
        among = "" if weight is None else " with positive weight"
        raise ValueError(
            f"y contains only one class{among}, {classes.tolist()[0]!r}, but a classifier needs at least two classes. "
            "Pass rows of another class as well."
        )
    weight = _settle_weight(weight, class_weight, classes, codes, is_forest=is_forest)
    counts = np.bincount(codes, weights=weight, minlength=len(classes)).astype(np.float64)
    return Training(X, codes, classes, weight, counts / counts.sum(), row, n_given, encoding)


def _check_classes(X: NDArray[Any], y: Any, owner: str) -> NDArray[Any]:
    """One class per row, none of them missing."""
    if y is None:
        raise ValueError(
            f"{owner} requires y to be passed, but the target y is None. Pass one class per row of X."
        )
    try:
        classes: NDArray[Any] = column_or_1d(y, warn=True)
        assert_all_finite(classes, input_name="y")
        check_consistent_length(X, classes)
    except ValueError as error:
        _raise_with_remedy(error)
    return classes


def check_continued(earlier: Model, training: Training) -> None:
    """With warm_start, the data must be of the kind the trees there are were grown from."""
    if not np.array_equal(earlier.classes, training.classes):
        raise ValueError(
            f"y has the classes {training.classes.tolist()}, but the model has {earlier.classes.tolist()}: "
            "pass the same classes with warm_start=True, or refit with warm_start=False."
        )


def encode(y: NDArray[Any]) -> tuple[NDArray[Any], NDArray[np.int32]]:
    """Classes in ascending order, and the number of each row's class among them."""
    if y.dtype.kind in "iu" and y.itemsize <= 8 and len(y):
        low, high = int(y.min()), int(y.max())
        if high - low < 1024 and high < 2**62 and low > -(2**62):  # a table is ten times faster than sorting
            shifted = y.astype(np.int64) - low
            is_there = np.bincount(shifted, minlength=high - low + 1) > 0
            table = np.cumsum(is_there, dtype=np.int32) - np.int32(1)
            return (np.flatnonzero(is_there) + low).astype(y.dtype), table[shifted]
    try:
        classes, codes = np.unique(y, return_inverse=True)
    except TypeError as error:
        if any(map(is_missing, y)):
            raise ValueError(f"Input y contains NaN or None. {_REMEDIES['contains NaN']}") from None
        raise TypeError(
            f"y mixes types that cannot be sorted ({error}): use only strings or only numbers."
        ) from None
    return classes, codes.astype(np.int32)


def _settle_weight(
    weight: NDArray[np.float64] | None,
    class_weight: Any,
    classes: NDArray[Any],
    codes: NDArray[np.int32],
    *,
    is_forest: bool,
) -> NDArray[np.float64] | None:
    if weight is not None and weight.max() < 1.0:  # boosting passes weights that sum to 1
        weight = weight / weight.max()
        weight = weight * (len(weight) / weight.sum()) if weight.min() < 1.0 else weight
    name = class_weight if isinstance(class_weight, str) else ""
    if class_weight is not None and not (is_forest and name == "balanced_subsample"):
        if name == "balanced":
            counts = np.bincount(codes, weights=weight, minlength=len(classes))
            with np.errstate(over="ignore"):
                factors = counts.sum() / (len(classes) * counts)
            if weight is not None and not np.isfinite(factors).all():
                weight = weight / counts[codes]
                factors = np.full(len(classes), counts.sum() / len(classes))
        elif isinstance(class_weight, dict):
            factors = _factors_from_dict(class_weight, classes)
        else:
            names = "'balanced', 'balanced_subsample'" if is_forest else "'balanced'"
            raise refuse("class_weight", class_weight, f"None, {names} or a dict from class to weight")
        weight = factors[codes] if weight is None else weight * factors[codes]
    return None if weight is None or (weight == 1.0).all() else np.ascontiguousarray(weight)


def _factors_from_dict(class_weight: dict[Any, Any], classes: NDArray[Any]) -> NDArray[np.float64]:
    factors = np.ones(len(classes))
    known = {label: number for number, label in enumerate(classes.tolist())}
    for label, factor in class_weight.items():
        if label not in known:
            raise refuse("class_weight", class_weight, f"classes of y only: {label!r} is not one of them")
        if not isinstance(factor, (int, float, np.number)) or not 0.0 < factor < np.inf:
            raise refuse("class_weight", class_weight, f"positive finite weights (class {label!r})")
        factors[known[label]] = factor
    return factors


def _raise_with_remedy(error: ValueError) -> NoReturn:
    message = str(error).replace("Input contains", "Input y contains")
    remedy = next(
        (remedy for part, remedy in _REMEDIES.items() if part in message), "Pass one class per row of X."
    )
    message = message if re.search(r"\b([Xy]|label)\b", message) else f"y: {message}"
    raise ValueError(f"{message}{'' if message.endswith('.') else '.'} {remedy}") from error
