"""Metrics of a model on rows whose classes or responses are known; scikit-learn is not needed."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from .._parameters import check_count, is_integer, is_real, refuse
from ..model.model import read
from ..model.profile import find_scores
from ..tables.frames import is_arrow, is_frame
from ..tables.labels import check_sample_weight, encode_known, find_class, take_numbers
from .classification import ClassPart, Evaluation, judge
from .drift import Drift, compare_performance, find_drift, read_score, summarise_holdout
from .event import EventScores
from .groups import Groups, measure_groups, take_groups
from .measures import find_quantile, find_quantiles, name_outputs, predicts_number
from .paired import Comparison, compare_parts
from .regression import OutputEvaluations, RegressionEvaluation, judge_numbers

__all__ = [
    "Comparison",
    "Drift",
    "Evaluation",
    "EventScores",
    "Groups",
    "Measured",
    "OutputEvaluations",
    "RegressionEvaluation",
    "compare",
    "evaluate",
    "find_quantile",
    "find_quantiles",
    "monitor",
    "predicts_number",
]

Measured = Evaluation | RegressionEvaluation  # of one output


def evaluate(
    model: Any,
    X: Any,
    y: Any,
    *,
    sample_weight: Any = None,
    coverage: float | None = None,
    positive: Any = None,
    threshold: float | None = None,
    by: Any = None,
    reference: Mapping[str, Any] | None = None,
) -> Measured | OutputEvaluations:
    """Evaluate a model on rows with known classes or responses, normally rows not used for training.

    Parameters
    ----------
    model : fitted classifier or regressor
        An lhtree estimator, a ``Scorer``, or any scikit-learn regressor, or classifier with ``predict_proba``.
    X : array-like of shape (n, m)
        Samples.
    y : array-like of shape (n,)
        Their class labels, all known to the model; for a regressor, their responses, shape (n, k) if it has several.
    sample_weight : array-like of shape (n,), optional
        Non-negative weights; rows of weight 0 are ignored.
    coverage : float between 0 and 1, optional
        Coverage of the prediction intervals to check, if the model has them (``LHForestRegressor``, or
        ``LHBoostRegressor`` with ``intervals=True``). Default: 0.9, or no check if too few rows were left out for it
        (fewer than nine).
    positive : class label, optional
        The class of interest. Default: that of the model, if it declares one (the parameter ``positive``).
    threshold : float between 0 and 1, optional
        Probability from which the positive class (without one, the second) of two classes is predicted; see
        ``choose_threshold``. Default: the most probable class.
    by : str, list of str, dict, DataFrame or array-like of shape (n,), optional
        Also evaluate by group: columns of X, which the model need not use, or values of all rows, by name. Several
        columns also give their intersections.
    reference : dict, optional
        By column, the group that others are compared with. Default: the largest.

    Returns
    -------
    Evaluation, RegressionEvaluation or OutputEvaluations

    Examples
    --------
    >>> from sklearn.datasets import load_wine
    >>> from lhtree import LHTClassifier, evaluate
    >>> X, y = load_wine(return_X_y=True)
    >>> measured = evaluate(LHTClassifier().fit(X[::2], y[::2]), X[1::2], y[1::2])
    >>> measured.n_rows
    89
    >>> measured.confusion.shape
    (3, 3)
    """
    n_rows = len(X) if hasattr(X, "__len__") else np.shape(X)[0]
    weight = check_sample_weight(sample_weight, n_rows)
    columns = {} if by is None else take_groups(by, X, n_rows)
    if weight is not None:
        columns = {name: groups[weight > 0.0] for name, groups in columns.items()}
    X = take_columns(model, X) if columns else X
    if predicts_number(model):
        if positive is not None or threshold is not None:
            name = "positive" if positive is not None else "threshold"
            raise TypeError(f"{name} needs classes, but the model predicts a number: omit it.")
        names, quantiles = name_outputs(model), find_quantiles(model)
        actual = take_numbers(y, n_rows, n_responses=len(names) if names and quantiles is None else 1)
        number_part = judge_numbers(model, X, actual, weight, coverage)
        if names:
            if columns:
                raise TypeError("by needs a model with one output: pass model.output(…), or omit by.")
            return OutputEvaluations.from_parts([number_part], names, quantiles)
        numbers = RegressionEvaluation.from_parts([number_part], find_quantile(model))
        if not columns:
            return numbers
        return replace(numbers, groups=measure_groups(number_part, columns, None, (), reference))
    code = find_positive(model, positive)
    part = judge(model, X, encode_known(y, model.classes_, n_rows, is_strict=True), weight)
    if threshold is not None:
        part = decide_by(part, threshold, 1 if code is None else code)
    labels = model.classes_.tolist()
    measured = Evaluation.from_parts([part], labels, code)
    if not columns:
        return measured
    of_groups = 1 if code is None and len(labels) == 2 else code
    return replace(measured, groups=measure_groups(part, columns, of_groups, labels, reference))


def compare(
    champion: Any,
    challenger: Any,
    X: Any,
    y: Any,
    *,
    sample_weight: Any = None,
    positive: Any = None,
    threshold: float | tuple[float, float] | None = None,
    by: Any = None,
    names: tuple[str, str] = ("champion", "challenger"),
    n_resamples: int = 500,
    random_state: int = 0,
) -> Comparison:
    """Compare two fitted models on the same rows: paired differences with intervals, and rows decided differently.

    Parameters
    ----------
    champion, challenger : fitted classifiers or regressors
        Models of lhtree or scikit-learn with the same classes. Of a frame, each gets the columns that it was fitted on.
    X : array-like of shape (n, m)
        Samples that neither model was trained on.
    y : array-like of shape (n,)
        Their classes or responses.
    sample_weight : array-like of shape (n,), optional
        Non-negative weights; there is no comparison of the ROC AUC with weights.
    positive : class label, optional
        The class of interest. Default: that of the champion, or of the challenger, if one declares it.
    threshold : float, or two floats, optional
        Probability from which the positive class (without one, the second) of two classes is predicted, for both models
        or for each. Default: the most probable class.
    by : str, list of str, dict, DataFrame or array-like of shape (n,), optional
        Also count the rows that are decided differently by group: columns of X, which the models need not use, or
        values of all rows, by name.
    names : tuple of two str, default=("champion", "challenger")
        Names of the models in the result.
    n_resamples : int, default=500
        Number of bootstrap samples of the rows.
    random_state : int, default=0
        Random seed of these.

    Returns
    -------
    Comparison
        ``print(…)`` shows it, ``to_frame()`` and ``moved_frame()`` return tables, ``plot_comparison`` draws it.

    Examples
    --------
    >>> from sklearn.datasets import load_diabetes
    >>> from sklearn.linear_model import LinearRegression
    >>> from lhtree import LHForestRegressor, compare
    >>> X, y = load_diabetes(return_X_y=True)
    >>> models = LinearRegression().fit(X[:300], y[:300]), LHForestRegressor(20, random_state=0).fit(X[:300], y[:300])
    >>> print(compare(*models, X[300:], y[300:], names=("linear", "forest")))
    142 rows
    measure  linear  forest  difference (95 % interval)      better
    rmse     52.86   53.11   +0.2433 (-3.33 to +3.79)        not certain
    mae      41.20   41.72   +0.52 (-2.66 to +3.98)          not certain
    r2       0.5072  0.5026  -0.004546 (-0.0733 to +0.0626)  not certain
    """
    models, n_rows = (champion, challenger), len(X) if hasattr(X, "__len__") else np.shape(X)[0]
    check_count("n_resamples", n_resamples, 1)
    if not is_integer(random_state):
        raise refuse("random_state", random_state, "an integer")
    weight = check_sample_weight(sample_weight, n_rows)
    rows = np.arange(n_rows) if weight is None else np.flatnonzero(weight)
    columns = {name: own[rows] for name, own in take_groups(by, X, n_rows).items()} if by is not None else {}
    options: dict[str, Any] = {"names": names, "n_resamples": n_resamples, "seed": random_state}
    if predicts_number(champion) != predicts_number(challenger):
        raise TypeError(
            "one model predicts classes, the other a number: pass two classifiers or two regressors."
        )
    if predicts_number(champion):
        response = take_numbers(y, n_rows)
        numbers = [judge_numbers(model, take_columns(model, X), response, weight) for model in models]
        return compare_parts(*numbers, rows=rows, **options)
    codes = [find_positive(model, positive, name) for model, name in zip(models, names, strict=True)]
    labels = champion.classes_.tolist()
    if challenger.classes_.tolist() != labels:
        raise ValueError(
            f"the models have different classes, {labels} and {challenger.classes_.tolist()}: fit both with the same."
        )
    code = codes[1] if codes[0] is None else codes[0]
    truth = encode_known(y, champion.classes_, n_rows, is_strict=True)
    parts = [judge(model, take_columns(model, X), truth, weight) for model in models]
    if len(np.unique(parts[0].codes)) < 2:
        raise ValueError(f"y has only rows of {labels[int(truth[0])]!r}: pass rows of at least two classes.")
    if threshold is not None:
        each = threshold if isinstance(threshold, tuple) and len(threshold) == 2 else (threshold, threshold)
        parts = [
            decide_by(part, own, 1 if code is None else code) for part, own in zip(parts, each, strict=True)
        ]
    return compare_parts(
        parts[0], parts[1], labels=labels, positive=code, columns=columns, rows=rows, **options
    )


def monitor(
    model: Any,
    X: Any,
    y: Any = None,
    *,
    holdout: tuple[Any, Any] | None = None,
    period: str | None = None,
) -> Drift:
    """Compare new rows with the training table of a model, whose summary is a part of the model.

    For every column and the score, the population stability index (PSI) and a chi-squared test are computed over about
    ten bins, or the categories, and missing values. A shift is moderate from an index of 0.1 on, large from 0.25 on, if
    the p value is below 0.01. With ``y``, performance and calibration are compared with those on held-out rows.

    Parameters
    ----------
    model : classifier or regressor of lhtree
        The fitted model, or a ``Scorer``.
    X : array-like of shape (n, m)
        New samples.
    y : array-like of shape (n,), optional
        Their classes or responses, if they are known by now.
    holdout : tuple (X, y), optional
        Rows that the model was not trained on, to compare scores and performance with. Default: the results that
        ``lhtree fit --holdout`` has stored in the model; without them, scores are compared with those of training
        rows, which are more extreme than scores of new rows if the model has learned noise, and do not count for the
        ``level`` of the result.
    period : str, optional
        Name of the period that the rows are from.

    Returns
    -------
    Drift
        ``print(…)`` shows it, ``to_frame()`` returns a table, ``level`` is "stable", "moderate" or "large".

    Examples
    --------
    >>> from sklearn.datasets import load_wine
    >>> from lhtree import LHForestClassifier, monitor
    >>> X, y = load_wine(return_X_y=True, as_frame=True)
    >>> model = LHForestClassifier(20, random_state=0).fit(X[::2], y[::2])
    >>> drift = monitor(model, X[1::2].assign(hue=0.5))
    >>> [one.column for one in drift.columns if one.level == "large"]
    ['hue']
    """
    learned = read(model, takes_numbers=True)
    if learned.n_outputs > 1 and not learned.labels and not (y is None and holdout is None):
        raise TypeError(
            "the model predicts several numbers, whose errors are not compared: omit y and holdout."
        )
    kept = None if learned.provenance is None else learned.provenance.holdout
    if holdout is not None:
        if not isinstance(holdout, tuple) or len(holdout) != 2:
            raise refuse("holdout", holdout, "a tuple of rows and their classes or responses, (X, y)")
        rows = learned.code(holdout[0], model)
        of_holdout: Any = evaluate(model, *holdout)
        kept = summarise_holdout(of_holdout, find_scores(learned, rows), "rows passed to monitor")
    drift = find_drift(model, X, period, read_score(kept))
    if y is None:
        return drift
    measured: Any = evaluate(model, X, y)
    proba = is_event = None
    if isinstance(measured, Evaluation) and measured.event is not None:
        code = 1 if learned.positive is None else learned.positive
        proba = np.asarray(model.predict_proba(X))[:, code]
        is_event = encode_known(y, learned.classes, len(proba)) == code
    return replace(drift, performance=compare_performance(measured, proba, is_event, kept))


def find_positive(model: Any, positive: Any = None, name: str = "model") -> int | None:
    """Return the index of the class of interest of a fitted classifier; ``name`` is that of the model in errors."""
    if not hasattr(model, "predict_proba"):
        raise TypeError(
            f"{name}={model!r} has no predict_proba: pass a classifier that has one, for example "
            "this one wrapped in sklearn.calibration.CalibratedClassifierCV, or a regressor."
        )
    if not hasattr(model, "classes_"):
        raise ValueError(f"{name}={model!r} is not fitted: call fit first.")
    if positive is not None:
        return find_class(positive, model.classes_.tolist(), "positive")
    return read(model).positive if hasattr(type(model), "_read") else None


def decide_by(part: ClassPart, threshold: Any, code: int) -> ClassPart:
    """Return the rows with the class of this code predicted from a probability on, for two classes."""
    if not is_real(threshold) or not 0.0 <= threshold <= 1.0:
        raise refuse("threshold", threshold, "a number from 0 to 1")
    if part.proba.shape[1] != 2:
        raise refuse("threshold", threshold, f"None: the model has {part.proba.shape[1]} classes, not two")
    is_chosen = part.proba[:, code] >= threshold
    predicted: NDArray[np.int32] = np.where(is_chosen, code, 1 - code).astype(np.int32)
    return part._replace(predicted=predicted)


def take_columns(model: Any, X: Any) -> Any:
    """Return the columns of a frame that the model was fitted on, if there are such columns; else the table."""
    names = getattr(model, "feature_names_in_", None)
    if names is None or not is_frame(X):
        return X
    listed, known = list(names), X.column_names if is_arrow(X) else X.columns
    if list(known) == listed or any(name not in known for name in listed):
        return X  # the model names missing columns
    return X.select(listed) if is_arrow(X) else X[listed]
