"""Anything array-like becomes exact arrays, or an error that names the argument, the value and the remedy."""

from __future__ import annotations

import re
from typing import Any, NamedTuple, NoReturn

import numpy as np
import sklearn
from numpy.typing import NDArray
from sklearn.base import BaseEstimator
from sklearn.utils.multiclass import check_classification_targets
from sklearn.utils.validation import check_X_y, validate_data

from ._columns import is_frame, is_missing, is_polars, refuse_lazy
from ._encode import Encoding, find_plain_encoding, learn_encoding
from ._parameters import refuse
from .model import Model

# What to do about scikit-learn's messages, most of which say only what is wrong.
_REMEDIES = {
    "Input y contains NaN": "Drop the rows whose class is unknown.",
    "0 sample(s)": "Pass at least one row, and for fit at least one row of each of two classes.",
    "0 feature(s)": "Pass at least one column.",
    "inconsistent numbers of samples": "Pass one class (and one sample weight) per row of X.",
    "could not convert": "Every column of X must be numeric, as in fit: fit with a pandas or polars frame or with "
    "categorical_features to use text, or encode it first, for example with sklearn.preprocessing.OneHotEncoder.",
    "not compatible with arrays of bytes/strings": "Fit with categorical_features to use text, or encode it first, for "
    "example with sklearn.preprocessing.OneHotEncoder.",
    "argument must be": "Every column of X must be numeric: encode objects first.",
    "features, but": "Pass the columns the model was fitted with, in the same order.",
    "too large to convert": "Pass numbers that fit a float.",
    "could not be promoted": "Every column of X must be numeric: turn dates and times into numbers first.",
    "feature names should match": "Pass the columns the model was fitted with, in the same order.",
    "unique column names": "Give every column of X a name of its own.",
    "Found array with dim": "Pass a table: one row per sample, one column per feature.",
    "array element with a sequence": "Pass a table: one row per sample, one column per feature.",
    "Unknown label type": "Bin a continuous target, for example with pandas.cut, or use a regressor.",
}

_IS_BEFORE_1_9 = tuple(map(int, sklearn.__version__.split(".")[:2])) < (1, 9)
_MAX_WEIGHT = 1e100  # products of weights stay finite
ROBUST_DTYPES = [np.float64, np.float32]


class Training(NamedTuple):
    """What fit works on. Rows of weight 0 are gone; ``weight`` is None where every row weighs 1."""

    X: NDArray[Any]
    codes: NDArray[np.int32]
    classes: NDArray[Any]
    weight: NDArray[np.float64] | None
    prior: NDArray[np.float64]
    row: NDArray[np.int64] | None  # where each row was given, if some are gone
    n_given: int
    encoding: Encoding | None
    columns: tuple[str, ...] | None

    @property
    def n_targets(self) -> int:
        """Trees per estimator: one tree serves two classes."""
        return 1 if len(self.classes) == 2 else len(self.classes)


class _Columns(BaseEstimator):  # type: ignore[misc]  # scikit-learn is not typed
    """What scikit-learn's checks read and write of an estimator: the number and names of the columns."""


def _make_columns(estimator: Any, model: Model | None = None) -> Any:
    columns = type(type(estimator).__name__, (_Columns,), {})()
    if model is not None:
        columns.n_features_in_ = model.n_columns
        if model.columns is not None:
            columns.feature_names_in_ = np.array(model.columns, dtype=object)
    return columns


def check_training(estimator: Any, X: Any, y: Any, sample_weight: Any, earlier: Model | None) -> Training:
    """Check the input of fit; categories become numbers, as in the ``earlier`` model if there is one."""
    columns = _make_columns(estimator)
    encoding = (
        learn_encoding(X, estimator.categorical_features, sample_weight)
        if earlier is None
        else earlier.encoding
    )
    reading = encoding or find_plain_encoding(X)
    if reading is None:
        X, y = _validate(
            columns, X=X, y=y, dtype=ROBUST_DTYPES, ensure_all_finite=False, reset=True, accept_sparse=False
        )
        X = _straighten(X)
    else:
        X, y = _encode(columns, reading, X, y)
    names = tuple(map(str, columns.feature_names_in_)) if hasattr(columns, "feature_names_in_") else None
    is_forest, class_weight = estimator._is_forest, estimator.class_weight
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
        among = "" if weight is None else " among the rows of positive weight"
        raise ValueError(
            f"y has one class only, {classes.tolist()[0]!r}{among}: a classifier needs at least two classes. "
            "Pass rows of another class too."
        )
    weight = _settle_weight(weight, class_weight, classes, codes, is_forest=is_forest)
    counts = np.bincount(codes, weights=weight, minlength=len(classes)).astype(np.float64)
    return Training(X, codes, classes, weight, counts / counts.sum(), row, n_given, encoding, names)


def _encode(estimator: Any, encoding: Encoding, X: Any, y: Any) -> tuple[NDArray[Any], NDArray[Any]]:
    """Rows and classes of a table that is read column by column."""
    encoded = _encode_rows(estimator, encoding, X, reset=True)
    try:
        checked: tuple[NDArray[Any], NDArray[Any]] = check_X_y(
            encoded, y, dtype=np.float64, ensure_all_finite=False, estimator=estimator
        )
    except ValueError as error:
        _raise_with_remedy(error)
    return checked


def _encode_rows(estimator: Any, encoding: Encoding, X: Any, *, reset: bool) -> NDArray[np.float64]:
    """Rows of a table that is read column by column, and the check of its names."""
    encoded = None if is_frame(X) else encoding.encode(X)  # what is no table has no names to check
    _validate(estimator, X=X, reset=reset, skip_check_array=True)
    return encoding.encode(X) if encoded is None else encoded


def check_continued(earlier: Model, training: Training) -> None:
    """With warm_start, the data must be of the kind the trees there are were grown from."""
    if not np.array_equal(earlier.classes, training.classes):
        raise ValueError(
            f"y has the classes {training.classes.tolist()} and the model has {earlier.classes.tolist()}: "
            "pass the same classes with warm_start=True, or fit anew with warm_start=False."
        )
    if earlier.n_features != training.X.shape[1]:
        raise ValueError(
            f"X has {training.X.shape[1]} features and the model has {earlier.n_features}: "
            "pass the same features with warm_start=True, or fit anew with warm_start=False."
        )
    if earlier.columns != training.columns:
        raise ValueError(
            "X has other feature names than the model: pass the same columns in the same order with warm_start=True, "
            "or fit anew with warm_start=False."
        )


def check_rows(estimator: Any, model: Model, X: Any) -> NDArray[Any]:
    """Check the input of predict: float32 or float64, two-dimensional, the features of fit."""
    columns = _make_columns(estimator, model)
    encoding = model.encoding or find_plain_encoding(X)
    if encoding is not None:
        return _encode_rows(columns, encoding, X, reset=False)
    checked: NDArray[Any] = _validate(
        columns, X=X, dtype=ROBUST_DTYPES, ensure_all_finite=False, reset=False, accept_sparse=False
    )
    return _straighten(checked)


def encode_known(y: Any, classes: NDArray[Any], n_rows: int, name: str = "y") -> NDArray[np.int64]:
    """Number of each row's class among those of a model, -1 for a class it does not know; some must be known."""
    labels = np.asarray(y)
    if labels.shape != (n_rows,):
        raise ValueError(
            f"{name} has shape {labels.shape} and there are {n_rows} rows: pass one class per row."
        )
    if labels.dtype.kind == classes.dtype.kind == "M":  # the same day in another unit is another Python value
        labels = labels.astype(classes.dtype)
    code_of = {label: code for code, label in enumerate(classes.tolist())}
    codes = np.array([code_of.get(label, -1) for label in labels.tolist()], dtype=np.int64)
    if (codes < 0).all():
        raise ValueError(
            f"{name} has none of the model's classes {classes.tolist()}, but for example {labels.tolist()[0]!r}: "
            "pass classes as they were given to fit."
        )
    return codes


def _straighten(X: NDArray[Any]) -> NDArray[Any]:
    """Copy where values are not aligned or lie no whole number of values apart, as in a packed record."""
    is_straight = X.flags.aligned and not any(stride % X.itemsize for stride in X.strides)
    return X if is_straight else X.copy()


def check_sample_weight(sample_weight: Any, n_rows: int) -> NDArray[np.float64] | None:
    """One finite weight of at least 0 per row, not all 0."""
    if sample_weight is None:
        return None
    try:
        weight = np.asarray(sample_weight, dtype=np.float64)
    except (ValueError, TypeError) as error:
        raise ValueError(f"sample_weight is not numeric ({error}): pass one number per row of X.") from None
    if weight.ndim == 0:
        weight = np.full(n_rows, weight)
    if weight.ndim != 1:
        raise ValueError(
            f"Sample weights must be 1D array or scalar: sample_weight has shape {weight.shape}. "
            "Pass one number per row of X."
        )
    if len(weight) != n_rows:
        raise ValueError(
            f"sample_weight has {len(weight)} values and X has {n_rows} rows: pass one weight per row."
        )
    if not np.isfinite(weight).all():
        raise ValueError("sample_weight contains NaN or infinity: pass finite weights of at least 0.")
    if (weight < 0.0).any():
        raise ValueError(
            f"sample_weight contains a negative value, {weight.min()}: pass weights of at least 0."
        )
    if not (weight > 0.0).any():
        raise ValueError("sample_weight is zero everywhere: give at least one row of two classes weight.")
    if weight.max() > _MAX_WEIGHT:  # a power of two keeps the ratios; against any count they stay huge
        weight = np.ldexp(weight, -int(np.frexp(weight.max() / _MAX_WEIGHT)[1]))
    return weight


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
            raise ValueError(f"Input y contains NaN or None. {_REMEDIES['Input y contains NaN']}") from None
        raise TypeError(
            f"y mixes types that cannot be sorted ({error}): use strings only or numbers only."
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
            factors = counts.sum() / (len(classes) * counts)
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
            raise refuse("class_weight", class_weight, f"classes of y only: {label!r} is none of them")
        if not isinstance(factor, (int, float, np.number)) or not 0.0 < factor < np.inf:
            raise refuse("class_weight", class_weight, f"positive finite weights (class {label!r})")
        factors[known[label]] = factor
    return factors


class _Named:
    """A frame of polars as scikit-learn before 1.9 reads names: polars no longer offers what it looks for."""

    def __init__(self, frame: Any) -> None:
        self._frame = frame
        self.shape = frame.shape

    def __dataframe__(self) -> _Named:
        return self

    def column_names(self) -> list[str]:
        return list(self._frame.columns)

    def __array__(self, dtype: Any = None, copy: bool | None = None) -> NDArray[Any]:
        return np.asarray(self._frame.to_numpy(), dtype=dtype)


def _validate(estimator: Any, *, X: Any, **arguments: Any) -> Any:
    refuse_lazy(X)
    if is_polars(X) and not hasattr(X, "__dataframe__") and _IS_BEFORE_1_9:
        X = _Named(X)
    try:
        return validate_data(estimator, X=X, **arguments)
    except (ValueError, TypeError, OverflowError) as error:
        _raise_with_remedy(error)


def _raise_with_remedy(error: ValueError | TypeError | OverflowError) -> NoReturn:
    message = str(error)
    if "unique column names" in message:  # told in several lines
        message = f"{' '.join(message.split())}."
    message = message.replace("Input contains", "Input y contains")  # X is not asked for that
    if not re.search(r"\b([Xy]|label)\b", message):
        message = f"X: {message}"
    for fragment, remedy in _REMEDIES.items():
        if fragment in message:
            message = f"{message} {remedy}"
            break
    kind = TypeError if isinstance(error, TypeError) else ValueError
    raise kind(message) from error
