"""Classes, responses and weights of the training rows, checked."""

from __future__ import annotations

import re
from collections.abc import Callable
from typing import Any, NamedTuple, NoReturn

import numpy as np
from numpy.typing import NDArray
from sklearn.utils.multiclass import check_classification_targets
from sklearn.utils.validation import assert_all_finite, check_consistent_length, column_or_1d

from .._parameters import refuse
from ..tables.columns import is_missing
from ..tables.encoding import MOST_LETTERS
from ..tables.errors import shorten
from ..tables.labels import MAX_WEIGHT

# Remedies that are added to scikit-learn's messages; {value} is a class or a number.
_REMEDIES = {
    "contains NaN": "Drop the rows whose {value} is unknown.",
    "contains infinity": "Drop those rows, or replace infinity by a finite number.",
    "inconsistent numbers of samples": "Pass one {value} (and one sample weight) per row of X.",
    "is not numeric": "Convert y to numbers, or use a classifier for text and categories.",
    "Complex data": "Pass real numbers, or text as classes.",
    "Unknown label type": "Bin a continuous target, for example with pandas.cut, or use a regressor.",
}
_LARGEST = 1e300  # of a response: sums over trees stay finite
_PLAIN_KINDS = "biuU"  # of NumPy: classes that need none of the checks of scikit-learn


Progress = Callable[[float], None] | None  # of a fit


class Labelled(NamedTuple):
    """Classes in ascending order, and the number of each row's class among them."""

    classes: NDArray[Any]
    codes: NDArray[np.int32]


class Labels(NamedTuple):
    """Labels of the rows that have weight, checked.

    ``codes`` are 0 for a regression, which has no classes and no prior. ``weight`` is None where every row weighs 1.
    """

    codes: NDArray[np.int32]
    classes: NDArray[Any]
    weight: NDArray[np.float64] | None
    prior: NDArray[np.float64]
    response: NDArray[np.float64] | None = None


def settle_labels(estimator: Any, y: NDArray[Any] | Labelled, weight: NDArray[np.float64] | None) -> Labels:
    """Return the labels of all rows that have weight; classes may be coded already."""
    if estimator._is_regressor:
        response = np.asarray(y)
        weight = _settle_weight(weight)
        total = float(len(response) if weight is None else weight.sum())
        if np.abs(response).max() > np.finfo(np.float64).max / total:
            raise ValueError(
                f"y and sample_weight are too large: their products add up to more than {np.finfo(float).max:.3g}. "
                "Pass smaller weights."
            )
        codes, none = np.zeros(len(response), dtype=np.int32), np.empty(0)
        return Labels(codes, none, weight, none, response)
    classes, codes = y if isinstance(y, Labelled) else encode(y)
    try:
        if classes.dtype.kind not in _PLAIN_KINDS:
            # alone they would look like too many for the rows
            check_classification_targets(np.repeat(classes, 3))
    except ValueError as error:
        if classes.dtype == object:
            kinds = sorted({type(label).__name__ for label in classes.tolist()})
            raise ValueError(
                f"Unknown label type: y is an array of objects ({', '.join(kinds)}). Convert it to integers or text, "
                "for example with y.astype(int) or y.astype(str)."
            ) from None
        _raise_with_remedy(error)
    if len(classes) < 2:
        among = "" if weight is None else " with positive weight"
        raise ValueError(
            f"y contains only one class{among}, {classes.tolist()[0]!r}, but a classifier needs at least two classes. "
            "Pass rows of another class as well."
        )
    longest = max((label for label in classes.tolist() if isinstance(label, str)), key=len, default="")
    if len(longest) > MOST_LETTERS:
        raise ValueError(
            f"y contains the class {shorten(longest)} of {len(longest):,} letters, more than {MOST_LETTERS:,}. Use "
            "shorter names of classes."
        )
    weight = _weigh_classes(
        _settle_weight(weight), estimator.class_weight, classes, codes, is_forest=estimator._is_forest
    )
    counts = np.bincount(codes, weights=weight, minlength=len(classes)).astype(np.float64)
    return Labels(codes, classes, weight, counts / counts.sum())


def check_labels(estimator: Any, X: Any, y: Any) -> NDArray[Any]:
    """Check y: one class, one finite number or, if the estimator supports them, several numbers per row of X."""
    owner = type(estimator).__name__
    if estimator._is_regressor:
        return check_response(X, y, owner, takes_several=estimator._takes_several)
    return _check_classes(X, y, owner)


def name_responses(y: Any) -> tuple[str, ...]:
    """Return names of several responses: the columns of a frame or table, or y0, y1, …; empty for a single response."""
    shape = getattr(y, "shape", None) or np.asarray(y).shape
    if len(shape) != 2 or shape[1] < 2:
        return ()
    names = getattr(y, "column_names", getattr(y, "columns", None))
    names = range(shape[1]) if names is None else list(names)
    texts = tuple(name if isinstance(name, str) else f"y{name}" for name in names)
    if len(set(texts)) < len(texts):
        raise ValueError(f"y has the columns {', '.join(texts)}: give every column another name.")
    return texts


def _check_classes(X: Any, y: Any, owner: str) -> NDArray[Any]:
    """Check classes: one per row, none missing."""
    if y is None:
        raise ValueError(
            f"{owner} requires y to be passed, but the target y is None. Pass one class per row of X."
        )
    try:
        is_plain = type(y) is np.ndarray and y.ndim == 1 and y.dtype.kind in _PLAIN_KINDS
        classes: NDArray[Any] = np.ascontiguousarray(y) if is_plain else column_or_1d(_unwrap(y), warn=True)
        if classes.dtype.kind in "OMm" and any(map(is_missing, classes)):  # scikit-learn fails at pd.NA
            raise ValueError("Input y contains NaN or None")
        assert_all_finite(classes, input_name="y")
        check_consistent_length(X, classes)
    except ValueError as error:
        _raise_with_remedy(error)
    return classes


def _unwrap(y: Any) -> Any:
    """Return nullable integers and booleans of pandas as an array: scikit-learn would convert them to floats."""
    numpy_dtype = getattr(getattr(y, "dtype", None), "numpy_dtype", None)
    if numpy_dtype is None or numpy_dtype.kind not in "biu" or y.isna().any():
        return y
    return y.to_numpy(dtype=numpy_dtype)


def check_response(X: Any, y: Any, owner: str, *, takes_several: bool = False) -> NDArray[np.float64]:
    """Check responses: one finite number per row, shape (n,), or several, shape (n, k)."""
    if y is None:
        raise ValueError(
            f"{owner} requires y to be passed, but the target y is None. Pass one number per row of X."
        )
    shape = np.asarray(y).shape
    is_several = takes_several and len(shape) == 2 and shape[1] > 1
    if len(shape) == 2 and shape[1] != 1 and not is_several:
        raise ValueError(
            f"y has shape {shape}, but {owner} predicts one number per row. Fit one model per column of y, for "
            "example with sklearn.multioutput.MultiOutputRegressor."
        )
    try:
        response = _take_numbers(np.asarray(y) if is_several else column_or_1d(y, warn=True))
        assert_all_finite(response, input_name="y")
        check_consistent_length(X, response)
    except ValueError as error:
        _raise_with_remedy(error, "number")
    if np.abs(response).max(initial=0.0) > _LARGEST:
        raise ValueError(
            f"y contains {response.flat[np.abs(response).argmax()]:.3g}, but numbers beyond ±{_LARGEST} would "
            "overflow. Divide y by a constant."
        )
    return response


def _take_numbers(column: NDArray[Any]) -> NDArray[np.float64]:
    """Return a new float64 array; None and pd.NA become NaN."""
    values = column.ravel().tolist() if column.dtype.kind not in "biuf" else []
    try:
        if any(isinstance(value, (str, bytes)) for value in values):
            raise TypeError("it contains text")
        if values and column.dtype != object:
            raise TypeError(f"its type is {column.dtype}")
        if values:
            known = [np.nan if is_missing(value) else value for value in values]
            column = np.array(known, dtype=object).reshape(column.shape)
        return np.array(column, dtype=np.float64, order="C")
    except (ValueError, TypeError, OverflowError) as error:
        raise ValueError(f"y is not numeric ({error})") from None


def encode(y: NDArray[Any]) -> Labelled:
    """Return the classes of rows."""
    if y.dtype.kind in "iu" and y.itemsize <= 8 and len(y):
        low, high = int(y.min()), int(y.max())
        if high - low < 1024 and high < 2**62 and low > -(2**62):  # a table is ten times faster than sorting
            shifted = np.subtract(y, low, dtype=np.int64)
            is_there = np.bincount(shifted, minlength=high - low + 1) > 0
            table = np.cumsum(is_there, dtype=np.int32) - np.int32(1)
            return Labelled((np.flatnonzero(is_there) + low).astype(y.dtype), table.take(shifted))
    try:
        classes, codes = np.unique(y, return_inverse=True)
    except TypeError as error:
        if any(map(is_missing, y)):
            raise ValueError("Input y contains NaN or None. Drop the rows whose class is unknown.") from None
        raise TypeError(
            f"y mixes types that cannot be sorted ({error}): use only strings or only numbers."
        ) from None
    if classes.dtype.kind == "U" and len(classes):  # as wide as they need, as in model files
        classes = classes.astype(f"U{max(map(len, classes.tolist()))}")
    return Labelled(classes, codes.astype(np.int32))


def _settle_weight(weight: NDArray[np.float64] | None) -> NDArray[np.float64] | None:
    """Return weights that are all small, scaled to mean 1; None where every row weighs 1."""
    if weight is not None and weight.max() < 1.0:  # boosting passes weights that sum to 1
        weight = weight / weight.max()
        weight = weight * (len(weight) / weight.sum()) if weight.min() < 1.0 else weight
    return None if weight is None or (weight == 1.0).all() else np.ascontiguousarray(weight)


def _weigh_classes(
    weight: NDArray[np.float64] | None,
    class_weight: Any,
    classes: NDArray[Any],
    codes: NDArray[np.int32],
    *,
    is_forest: bool,
) -> NDArray[np.float64] | None:
    """Multiply weights by the weights of their classes."""
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
        if not isinstance(factor, (int, float, np.number)) or not 1.0 / MAX_WEIGHT <= factor <= MAX_WEIGHT:
            limits = f"from {1.0 / MAX_WEIGHT} to {MAX_WEIGHT}"
            raise refuse("class_weight", class_weight, f"positive weights {limits} (class {label!r})")
        factors[known[label]] = factor
    return factors


def _raise_with_remedy(error: ValueError, value: str = "class") -> NoReturn:
    message = str(error).partition("\n")[0].replace("Input contains", "Input y contains")
    remedy = next(
        (remedy for part, remedy in _REMEDIES.items() if part in message), "Pass one {value} per row of X."
    ).format(value=value)
    message = message if re.search(r"\b([Xy]|label)\b", message) else f"y: {message}"
    raise ValueError(f"{message}{'' if message.endswith('.') else '.'} {remedy}") from error
