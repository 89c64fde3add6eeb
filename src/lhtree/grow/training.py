"""Anything array-like becomes exact arrays, or an error that names the argument, the value and the remedy."""

from __future__ import annotations

import re
from collections.abc import Callable
from typing import Any, NamedTuple, NoReturn

import numpy as np
from numpy.typing import NDArray
from sklearn.utils.multiclass import check_classification_targets
from sklearn.utils.validation import assert_all_finite, check_consistent_length, column_or_1d

from .._parameters import refuse
from ..model.model import Model
from ..model.response import ResponseRecord, scale_down
from ..tables.columns import is_missing
from ..tables.encoding import Encoding
from ..tables.frames import take_table
from ..tables.labels import check_sample_weight
from ..tables.learn import learn_encoding
from ..tables.rows import Encoded, expand
from ..tables.statistics import CrossFit, cross_fit, keep_telling, wants_indicators

# Remedies for scikit-learn's messages, which only say what is wrong; {value} is what y holds.
_REMEDIES = {
    "contains NaN": "Drop the rows whose {value} is unknown.",
    "contains infinity": "Drop those rows, or replace infinity by a finite number.",
    "inconsistent numbers of samples": "Pass one {value} (and one sample weight) per row of X.",
    "is not numeric": "Convert y to numbers, or use a classifier for text and categories.",
    "Complex data": "Pass real numbers, or text as classes.",
    "Unknown label type": "Bin a continuous target, for example with pandas.cut, or use a regressor.",
}
_LARGEST = 1e300  # of a response: sums over trees stay finite


Progress = Callable[[float], None] | None


class Labelled(NamedTuple):
    """Classes in ascending order, and the number of each row's class among them."""

    classes: NDArray[Any]
    codes: NDArray[np.int32]


class Training(NamedTuple):
    """What fit works on. Rows of weight 0 are gone; ``weight`` is None where every row weighs 1."""

    X: Encoded  # of a table that is read in batches, the rows of the sample
    codes: NDArray[np.int32]
    classes: NDArray[Any]
    weight: NDArray[np.float64] | None
    prior: NDArray[np.float64]
    row: NDArray[np.int64] | None  # where each row was given, if some are gone
    n_given: int
    encoding: Encoding
    response: NDArray[np.float64] | None = (
        None  # of a regression: codes are 0, there are no classes and no prior
    )
    crossed: CrossFit | None = None  # where features are statistics of the responses

    @property
    def n_rows(self) -> int:
        """Number of rows."""
        return len(self.codes)

    def predict_rows(self, rows: NDArray[np.integer]) -> NDArray[Any]:
        """All features of some rows, as predictions encode them."""
        return expand(self.X[rows]) if self.crossed is None else self.crossed.predict_rows(self.X, rows)

    def take(self, rows: NDArray[np.int64]) -> Training:
        """Some of the rows."""
        return self._replace(
            X=self.X[rows],
            codes=self.codes[rows],
            weight=None if self.weight is None else self.weight[rows],
            row=rows if self.row is None else self.row[rows],
            response=None if self.response is None else self.response[rows],
            crossed=None,
        )

    @property
    def n_targets(self) -> int:
        """Trees per estimator: one tree serves two classes."""
        return 1 if len(self.classes) == 2 or self.response is not None else len(self.classes)

    @property
    def targets(self) -> NDArray[np.int32]:
        """The classes that trees separate from the rest; 0 of a regression."""
        n_classes = max(len(self.classes), 1)
        return np.arange(n_classes - self.n_targets, n_classes, dtype=np.int32)

    def responses(self) -> tuple[NDArray[Any], int]:
        """What trees learn, a row per target: 0 and 1, or numbers and the exponent of their unit, a power of two."""
        if self.response is None:
            return (self.codes == self.targets[:, None]).astype(np.uint8), 0
        scaled, exponent = scale_down(self.response)
        return scaled[None], exponent

    def raw_responses(self) -> NDArray[Any]:
        """What target statistics are means of, a row per target: whether rows are of a class, or their numbers."""
        if self.response is None:
            is_class: NDArray[np.bool_] = self.codes == self.targets[:, None]
            return is_class
        return self.response[None]

    def target_names(self) -> list[str]:
        """Names of the targets, where there are several."""
        return [str(label) for label in self.classes.tolist()] if self.n_targets > 1 else []

    def record(self) -> ResponseRecord | None:
        """What the model of a regression keeps of its responses."""
        return None if self.response is None else ResponseRecord.of(self.response, self.weight)


def check_training(estimator: Any, X: Any, y: Any, sample_weight: Any, earlier: Model | None) -> Training:
    """Check the input of fit; columns become features as in the ``earlier`` model, or as is learned from X."""
    owner = type(estimator).__name__
    table = take_table(X, owner)
    if earlier is None:
        encoding = learn_encoding(
            table,
            estimator.categorical_features,
            sample_weight,
            max_one_hot=estimator.max_one_hot,
            missing_indicator=wants_indicators(
                getattr(estimator, "missing_indicator", False), estimator.direction
            ),
            owner=owner,
        )
    else:
        encoding = earlier.encoding.to_numbers()
    training = settle_rows(estimator, encoding.code(table, owner=owner), y, sample_weight, encoding)
    return _learn_columns(estimator, training, earlier)


def settle_rows(estimator: Any, X: Any, y: Any, sample_weight: Any, encoding: Encoding) -> Training:
    """Classes or responses, and weights, of encoded rows; those of weight 0 are dropped."""
    y = check_labels(estimator, X, y)
    n_given = len(X)
    weight = check_sample_weight(sample_weight, len(X))
    row = None
    if weight is not None and not weight.all():
        row = np.flatnonzero(weight)
        X, y, weight = X[row], y[row], weight[row]
    return label_rows(estimator, X, y, weight, row, n_given, encoding)


def label_rows(
    estimator: Any,
    X: Encoded,
    y: NDArray[Any] | Labelled,
    weight: NDArray[np.float64] | None,
    row: NDArray[np.int64] | None,
    n_given: int,
    encoding: Encoding,
) -> Training:
    """Check the labels of all rows that have weight; classes may be coded already."""
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
        return Training(X, codes, none, weight, none, row, n_given, encoding, response)
    classes, codes = y if isinstance(y, Labelled) else encode(y)
    try:
        check_classification_targets(
            np.repeat(classes, 3)
        )  # alone they would look like too many for the rows
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
    weight = _weigh_classes(
        _settle_weight(weight), estimator.class_weight, classes, codes, is_forest=estimator._is_forest
    )
    counts = np.bincount(codes, weights=weight, minlength=len(classes)).astype(np.float64)
    return Training(X, codes, classes, weight, counts / counts.sum(), row, n_given, encoding)


def _learn_columns(estimator: Any, training: Training, earlier: Model | None) -> Training:
    """The rest of the encoding, which depends on the responses: indicators that tell something, target statistics.

    A row has the statistics of the rows of the other folds.
    """
    responses = training.raw_responses()
    if (
        earlier is None
        and training.encoding.is_indicator.any()
        and isinstance(estimator.missing_indicator, str)
    ):
        encoding, X = keep_telling(training.encoding, training.X, responses)
        training = training._replace(encoding=encoding, X=X)
    if not training.encoding.counted:
        return training
    crossed = cross_fit(
        training.encoding,
        training.X,
        responses,
        training.weight,
        training.target_names(),
        None if earlier is None else earlier.encoding,
    )
    return training._replace(X=crossed.X, encoding=crossed.encoding, crossed=crossed)


def check_labels(estimator: Any, X: Any, y: Any) -> NDArray[Any]:
    """One class, or one finite number, per row of X."""
    return (check_response if estimator._is_regressor else _check_classes)(X, y, type(estimator).__name__)


def _check_classes(X: Any, y: Any, owner: str) -> NDArray[Any]:
    """One class per row, none of them missing."""
    if y is None:
        raise ValueError(
            f"{owner} requires y to be passed, but the target y is None. Pass one class per row of X."
        )
    try:
        classes: NDArray[Any] = column_or_1d(y, warn=True)
        if classes.dtype == object and any(map(is_missing, classes)):  # scikit-learn fails at pd.NA
            raise ValueError("Input y contains NaN or None")
        assert_all_finite(classes, input_name="y")
        check_consistent_length(X, classes)
    except ValueError as error:
        _raise_with_remedy(error)
    return classes


def check_response(X: Any, y: Any, owner: str) -> NDArray[np.float64]:
    """One finite number per row."""
    if y is None:
        raise ValueError(
            f"{owner} requires y to be passed, but the target y is None. Pass one number per row of X."
        )
    shape = np.asarray(y).shape
    if len(shape) == 2 and shape[1] != 1:
        raise ValueError(
            f"y has shape {shape}, but {owner} predicts one number per row. Fit one model per column of y, for "
            "example with sklearn.multioutput.MultiOutputRegressor."
        )
    try:
        response = _take_numbers(column_or_1d(y, warn=True))
        assert_all_finite(response, input_name="y")
        check_consistent_length(X, response)
    except ValueError as error:
        _raise_with_remedy(error, "number")
    if np.abs(response).max(initial=0.0) > _LARGEST:
        raise ValueError(
            f"y contains {response[np.abs(response).argmax()]:.3g}, but numbers beyond ±{_LARGEST} would overflow. "
            "Divide y by a constant."
        )
    return response


def _take_numbers(column: NDArray[Any]) -> NDArray[np.float64]:
    """A new float64 array; None and pd.NA become NaN."""
    values = column.tolist() if column.dtype.kind not in "biuf" else []
    try:
        if any(isinstance(value, (str, bytes)) for value in values):
            raise TypeError("it contains text")
        if values and column.dtype != object:
            raise TypeError(f"its type is {column.dtype}")
        if values:
            column = np.array([np.nan if is_missing(value) else value for value in values], dtype=object)
        return np.array(column, dtype=np.float64)
    except (ValueError, TypeError, OverflowError) as error:
        raise ValueError(f"y is not numeric ({error})") from None


def check_continued(earlier: Model, training: Training) -> None:
    """With warm_start, the data must be of the kind the trees there are were grown from."""
    if not np.array_equal(earlier.classes, training.classes):
        raise ValueError(
            f"y has the classes {training.classes.tolist()}, but the model has {earlier.classes.tolist()}: "
            "pass the same classes with warm_start=True, or refit with warm_start=False."
        )


def encode(y: NDArray[Any]) -> Labelled:
    """The classes of rows."""
    if y.dtype.kind in "iu" and y.itemsize <= 8 and len(y):
        low, high = int(y.min()), int(y.max())
        if high - low < 1024 and high < 2**62 and low > -(2**62):  # a table is ten times faster than sorting
            shifted = y.astype(np.int64) - low
            is_there = np.bincount(shifted, minlength=high - low + 1) > 0
            table = np.cumsum(is_there, dtype=np.int32) - np.int32(1)
            return Labelled((np.flatnonzero(is_there) + low).astype(y.dtype), table[shifted])
    try:
        classes, codes = np.unique(y, return_inverse=True)
    except TypeError as error:
        if any(map(is_missing, y)):
            raise ValueError("Input y contains NaN or None. Drop the rows whose class is unknown.") from None
        raise TypeError(
            f"y mixes types that cannot be sorted ({error}): use only strings or only numbers."
        ) from None
    return Labelled(classes, codes.astype(np.int32))


def _settle_weight(weight: NDArray[np.float64] | None) -> NDArray[np.float64] | None:
    """Weights that are all small, scaled to mean 1; None where every row weighs 1."""
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
    """The weights with those of the classes multiplied in."""
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


def _raise_with_remedy(error: ValueError, value: str = "class") -> NoReturn:
    message = str(error).partition("\n")[0].replace("Input contains", "Input y contains")
    remedy = next(
        (remedy for part, remedy in _REMEDIES.items() if part in message), "Pass one {value} per row of X."
    ).format(value=value)
    message = message if re.search(r"\b([Xy]|label)\b", message) else f"y: {message}"
    raise ValueError(f"{message}{'' if message.endswith('.') else '.'} {remedy}") from error


def shift(progress: Progress, n_done: int) -> Progress:
    """Report progress that continues after some trees."""
    if progress is None or n_done == 0:
        return progress
    return lambda n: progress(n_done + n)
