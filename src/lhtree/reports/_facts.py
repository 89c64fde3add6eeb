"""All facts of a report as one dictionary; the page draws it and computes nothing else from data."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from .. import __version__, _core
from .._parameters import is_auto
from ..evaluation import Evaluation, Measured, RegressionEvaluation, find_quantile, take_columns
from ..evaluation.classification import ClassPart
from ..evaluation.groups import measure_groups, take_groups
from ..evaluation.regression import NumberPart
from ..explain._columns import find_importances
from ..files import read_file
from ..model.model import Model, read
from ..tables.encoders import Dates, Levels, TargetStatistic
from ._figures import (
    MOST_IN_MATRIX,
    ReportRows,
    check_labelled,
    choose_samples,
    describe_confusions,
    describe_numbers,
    describe_thresholds,
)
from ._trees import describe_effects, describe_terms, describe_trees
from ._warnings import TURNS, find_warnings

_MOST_VALUE = 60
_MOST_CATEGORIES = 500  # of a column to choose from


class LabelledTable(NamedTuple):
    """Rows in the form that the user passed."""

    X: Any
    y: Any


def summarise(
    model: Any,
    given: LabelledTable,
    test: LabelledTable | None,
    *,
    title: str | None,
    target_name: str | None = None,
    positive: Any = None,
    by: Any = None,
    file: Any = None,
    max_bytes: float,
) -> dict[str, Any]:
    """Return the facts: numbers, strings, lists and dictionaries, and NumPy arrays where every bit matters."""
    fitted = read(model, takes_numbers=True)
    code = fitted.find_positive(positive)
    measured_X = given.X if test is None else test.X
    columns = {} if by is None else take_groups(by, measured_X, len(measured_X))
    rows = check_labelled(model, take_columns(model, given.X), given.y, "y")
    test_rows = None
    if test is not None:
        test_rows = check_labelled(model, take_columns(model, test.X), test.y, "y_test")
    name = getattr(given.y, "name", None) if target_name is None else target_name
    target = None if name is None else _shorten(TURNS.sub("", str(name))) or None
    # Sentences need "class 1" where tables need "1". The page treats a response as the only class.
    classes = [label if isinstance(label, str) else f"class {label}" for label in fitted.labels]
    labels = [str(label) for label in fitted.labels]
    if not labels:
        classes = labels = [target or "the response"]
    judged = _judge(model, fitted, rows, classes, code, columns if test_rows is None else {})
    on_given, on_test, shown = judged.measured, None, rows
    if test_rows is not None:
        judged, shown = _judge(model, fitted, test_rows, classes, code, columns), test_rows
        on_test = judged.measured
    samples = _describe_samples(shown, judged.predicted, is_test=test is not None)
    return {
        "lhtree": __version__,
        "title": title or f"{type(model).__name__} for {_tell_target(target, classes, fitted)}",
        "target": target,
        "classes": classes,
        "labels": labels,
        "numbers": None if judged.part is None else describe_numbers(fitted, judged.part),
        "response": _describe_response(fitted),
        "head": _describe_head(fitted),
        "prior": fitted.prior,
        "model": _describe_model(model, fitted),
        "provenance": _describe_provenance(fitted, file),
        "features": _describe_features(fitted, rows.X, samples["X"]),
        "data": {"n_rows": len(rows.X), "counts": np.bincount(rows.codes, minlength=len(classes)).tolist()},
        "given": _describe_measured(on_given),
        "test": None if on_test is None else _describe_measured(on_test),
        **_describe_classes(shown, judged),
        "warnings": find_warnings(fitted, classes, (rows, test_rows), (on_given, on_test)),
        "trees": describe_trees(fitted, rows, max_bytes if fitted.pool is None else max_bytes / 2.0),
        "pool": _describe_pool(fitted, rows, max_bytes / 2.0),
        "effects": describe_effects(fitted, shown),
        **describe_terms(fitted, rows),
        "samples": samples,
        "rounds": _describe_rounds(fitted),
    }


class _Judged(NamedTuple):
    """Probabilities of rows, or predicted numbers as the only column, and their evaluation."""

    predicted: NDArray[np.float64]
    measured: Measured
    part: NumberPart | None = None  # of a regression


def _judge(
    model: Any,
    fitted: Model,
    rows: ReportRows,
    classes: Sequence[str],
    positive: int | None,
    columns: dict[str, NDArray[Any]],
) -> _Judged:
    """Predict encoded rows and evaluate the predictions, also by group."""
    if rows.response is None:
        proba, predicted = fitted.score("proba", rows.X), fitted.score("predict", rows.X)
        sureness = (fitted.score("wolf", rows.X) if fitted.has_wolf else proba).max(axis=1)
        part = ClassPart(rows.codes.astype(np.int32), predicted.astype(np.int32), proba, sureness)
        of_classes = Evaluation.from_parts([part], classes, positive)
        if columns:
            of_groups = 1 if positive is None and len(classes) == 2 else positive
            of_classes = replace(of_classes, groups=measure_groups(part, columns, of_groups, classes))
        return _Judged(proba, of_classes)
    number_part = NumberPart(rows.response, fitted.score("value", rows.X))
    measured = RegressionEvaluation.from_parts([number_part], find_quantile(model))
    if columns:
        measured = replace(measured, groups=measure_groups(number_part, columns, None, ()))
    return _Judged(number_part.predicted[:, None], measured, number_part)


def _describe_measured(measured: Measured) -> dict[str, Any]:
    """Return figures as plain values, without the confusion matrix if there are many classes."""
    if isinstance(measured, Evaluation) and len(measured.classes) > MOST_IN_MATRIX:
        return measured.to_dict() | {"confusion": None}
    return measured.to_dict()


def _describe_classes(rows: ReportRows, judged: _Judged) -> dict[str, Any]:
    """Return thresholds of two classes and confusions of many classes; otherwise None."""
    if not isinstance(judged.measured, Evaluation):
        return {"thresholds": None, "confusions": None}
    return {
        "thresholds": describe_thresholds(rows.codes, judged.predicted, judged.measured),
        "confusions": describe_confusions(judged.measured),
    }


def _describe_response(fitted: Model) -> dict[str, float] | None:
    response = fitted.response
    if response is None:
        return None
    return {"low": response.low, "mean": response.mean, "high": response.high}


def _describe_head(fitted: Model) -> dict[str, Any]:
    """Return the classes of the head, of which the page has words for the first it knows, and its nouns."""
    head = fitted.head
    return {
        "kinds": [kind.__name__ for kind in type(head).__mro__],
        "estimator": head.estimator_noun,
        "total": f"logarithm of the {head.total_noun}" if head.is_log else head.total_noun,
        "is_log": head.is_log,
    }


def _describe_model(model: Any, fitted: Model) -> dict[str, Any]:
    defaults = type(model)().get_params(deep=False)
    trees, chosen = fitted.trees, _list_chosen(model, fitted)
    return {
        "kind": type(model).__name__,
        "link": fitted.link,
        "base": fitted.base,
        "clip": fitted.clip,
        "calibration": _describe_calibration(fitted),
        "confidence": fitted.confidence,
        "n_estimators": fitted.n_estimators,
        "n_trees": trees.n_trees,
        "n_blocks": trees.n_blocks,
        "n_leaves": int((trees.left < 0).sum()),
        "depth": int(trees.depths().max()),
        "is_counted": getattr(model, "class_weight", None) is None and fitted.is_counted,
        "parameters": [
            {
                "name": name,
                "value": _shorten(f"{value!r}: {chosen[name]}" if name in chosen else repr(value)),
                "is_default": _is_same(value, defaults[name]),
            }
            for name, value in model.get_params(deep=False).items()
        ],
    }


def _describe_provenance(fitted: Model, file: Any) -> list[tuple[str, str]]:
    """Return names and texts about the origin of the model, with the SHA-256 of its file."""
    known = [] if fitted.provenance is None else fitted.provenance.figures()
    return known if file is None else [*known, ("model sha256", read_file(file).sha256)]


def _describe_pool(fitted: Model, rows: ReportRows, max_bytes: float) -> dict[str, Any] | None:
    """Return the forest of an ensemble: facts that differ from the facts of the boosted trees."""
    if fitted.pool is None:
        return None
    forest = fitted.pool.forest
    return {
        "weight": fitted.pool.weight,
        "boost_weight": fitted.pool.boost_weight,
        "cv_score": fitted.pool.cv_score,
        "least_membership": _core.LEAST_MEMBERSHIP,
        "n_estimators": forest.n_estimators,
        "centre": forest.normalisation.centre,
        "scale": forest.normalisation.scale,
        "model": {
            "link": forest.link,
            "base": None,
            "clip": forest.clip,
            "calibration": None,
            "confidence": forest.confidence,
            "is_counted": forest.is_counted,
        },
        "trees": describe_trees(forest, rows, max_bytes),
    }


def _list_chosen(model: Any, fitted: Model) -> dict[str, Any]:
    """Return the values in use of parameters that are "auto"."""
    record = fitted.boost
    known = {} if record is None else record.settings | {"learning_rate": record.learning_rate}
    return {name: value for name, value in known.items() if is_auto(getattr(model, name, None))}


def _describe_calibration(fitted: Model) -> dict[str, Any] | None:
    calibration = fitted.calibration
    if calibration is None:
        return None
    knots = [{"x": own.x.tolist(), "y": own.y.tolist()} for own in calibration.knots]
    return {"kind": calibration.kind, "knots": knots}


def _describe_features(fitted: Model, X: NDArray[Any], samples: NDArray[Any]) -> dict[str, Any]:
    shown = np.diff(fitted.encoding.ptr) > 0  # columns that are not dropped
    return {
        "names": fitted.feature_names,
        "centre": fitted.normalisation.centre,
        "scale": fitted.normalisation.scale,
        "low": fitted.span.low,
        "high": fitted.span.high,
        "is_whole": fitted.span.is_whole.tolist(),
        "missing": np.isnan(X).mean(axis=0).tolist(),
        "importance": find_importances(fitted, "gain").values[shown].tolist(),  # by column
        "has_gaps": None if fitted.boost is None else fitted.boost.bins.missing.tolist(),  # in training
        "n_used": len(np.unique(fitted.encoding.column[_list_used(fitted)])),  # columns
        "groups": _describe_groups(fitted, samples),
    }


def _list_used(fitted: Model) -> NDArray[np.int32]:
    """Return the features of all hyperplanes; for a regression, the features of linear models as well."""
    trees = fitted.trees
    slopes = trees.membership_feature[:0] if fitted.head.labels else trees.membership_feature
    return np.concatenate([trees.hyperplane_feature, slopes])


def _describe_groups(fitted: Model, samples: NDArray[Any]) -> list[dict[str, Any]]:
    """Return columns of several features or of categories: the first feature, and the categories with their statistics.

    If there are very many categories, only those of the samples and some others are included.
    """
    groups = []
    for column, encoder in enumerate(fitted.encoding.encoders):
        own = fitted.encoding.features_of(column)
        group: dict[str, Any] = {"name": fitted.column_names[column], "first": own.start}
        group |= {"n_features": own.stop - own.start, "categories": None, "statistics": None}
        if isinstance(encoder, Levels) and encoder.categories:
            codes = encoder.recall(samples[:, own])
            codes = codes[(codes >= 0) & (codes < len(encoder.categories))]
            codes = np.unique(np.concatenate([codes, encoder.spread(_MOST_CATEGORIES)]))
            group["categories"] = [str(encoder.categories[code]) for code in codes]
            if isinstance(encoder, TargetStatistic):
                group["statistics"] = [values[codes] for values in encoder.values]
            groups.append(group)
        elif group["n_features"] > 1:
            groups.append(group | ({"newest": encoder.newest} if isinstance(encoder, Dates) else {}))
    return groups


def _describe_samples(rows: ReportRows, proba: NDArray[np.float64], *, is_test: bool) -> dict[str, Any]:
    """Return rows to choose from, with the predictions of the model."""
    groups = choose_samples(rows, proba)
    chosen = np.concatenate(list(groups.values()))
    return {
        "is_test": is_test,
        "groups": {name: len(group) for name, group in groups.items()},
        "row": chosen.tolist(),
        "X": rows.X[chosen].astype(np.float64),
        "codes": rows.codes[chosen].tolist(),
        "actual": None if rows.response is None else rows.response[chosen].tolist(),
        "proba": proba[chosen],
    }


def _describe_rounds(fitted: Model) -> dict[str, Any] | None:
    """Return the losses after each round, if the fit recorded them."""
    if fitted.boost is None or not len(fitted.boost.train_score):
        return None
    held = fitted.boost.validation_score
    return {
        "training": (-fitted.boost.train_score).tolist(),
        "validation": (-held).tolist() if len(held) else None,
    }


def _tell_target(target: str | None, classes: Sequence[str], fitted: Model) -> str:
    """Return the target for a title: its name, and its classes if they are few."""
    *others, last = classes
    told = f"{', '.join(others)} or {last}" if others else last
    if fitted.head.labels and (len(classes) > 3 or len(told) > _MOST_VALUE):
        told = f"{len(classes)} classes"
    return told if target is None or not fitted.head.labels else f"{target} ({told})"


def _shorten(text: str) -> str:
    return text if len(text) <= _MOST_VALUE else f"{text[: _MOST_VALUE - 1]}…"


def _is_same(value: object, default: object) -> bool:
    return type(value) is type(default) and repr(value) == repr(default)
