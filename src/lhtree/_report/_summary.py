"""All facts of a report as one dictionary; the page draws it and computes nothing else from data."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from .. import __version__
from .._parameters import refuse
from ..evaluation import Evaluation
from ..evaluation.judge import judge
from ..explain._importances import find_importances
from ..model import Model, read
from ..sparsity import BETAS, sparsity_curve
from ._checks import find_score_warnings, find_warnings
from ._rows import Rows, check_labelled, choose_samples
from ._trees import describe_trees

_MOST_VALUE = 60
_MANY_ROWS = 50_000  # for a curve that takes dozens of fits


class Table(NamedTuple):
    """Rows as the user gave them."""

    X: Any
    y: Any


def summarise(
    model: Any,
    given: Table,
    test: Table | None,
    *,
    title: str | None,
    betas: Sequence[float] | str | None,
    max_bytes: float,
) -> dict[str, Any]:
    """The facts: plain numbers, strings, lists and dictionaries, and NumPy arrays where every bit counts."""
    fitted = read(model)
    rows = check_labelled(model, given.X, given.y, "y")
    test_rows = None if test is None else check_labelled(model, test.X, test.y, "y_test")
    # A number alone could be mistaken for a value.
    classes = [label if isinstance(label, str) else f"class {label}" for label in fitted.labels]
    part = judge(model, given.X, rows.codes)
    on_given = Evaluation.from_parts([part], classes)
    on_test, shown = None, rows
    if test is not None and test_rows is not None:
        part, shown = judge(model, test.X, test_rows.codes), test_rows
        on_test = Evaluation.from_parts([part], classes)
    return {
        "lhtree": __version__,
        "title": title or f"{type(model).__name__} for {_join(classes)}",
        "classes": classes,
        "labels": [str(label) for label in fitted.labels],  # where it is plain that they are classes
        "prior": fitted.prior,
        "model": _describe_model(model, fitted),
        "features": _describe_features(fitted, rows.X),
        "data": {"n_rows": len(rows.X), "counts": np.bincount(rows.codes, minlength=len(classes)).tolist()},
        "given": on_given.to_dict(),
        "test": None if on_test is None else on_test.to_dict(),
        "warnings": find_score_warnings(fitted, on_given, on_test)
        + find_warnings(fitted, classes, rows, test_rows),
        "trees": describe_trees(fitted, rows, max_bytes),
        "samples": _describe_samples(shown, part.proba, is_test=test is not None),
        "rounds": _describe_rounds(fitted),
        "sparsity": _measure_sparsity(model, given, rows.codes, betas),
    }


def _describe_model(model: Any, fitted: Model) -> dict[str, Any]:
    defaults = type(model)().get_params(deep=False)
    trees = fitted.trees
    return {
        "kind": type(model).__name__,
        "link": fitted.link,
        "base": fitted.base,
        "clip": fitted.clip,
        "confidence": fitted.confidence,
        "n_estimators": fitted.n_estimators,
        "n_trees": trees.n_trees,
        "n_blocks": trees.n_blocks,
        "n_leaves": int((trees.left < 0).sum()),
        "depth": int(trees.depths().max()),
        "is_counted": model.class_weight is None and fitted.is_counted,
        "parameters": [
            {"name": name, "value": _shorten(repr(value)), "is_default": _is_same(value, defaults[name])}
            for name, value in model.get_params(deep=False).items()
        ],
    }


def _describe_features(fitted: Model, X: NDArray[Any]) -> dict[str, Any]:
    return {
        "names": fitted.feature_names,
        "centre": fitted.normalisation.centre,
        "scale": fitted.normalisation.scale,
        "low": fitted.span.low,
        "high": fitted.span.high,
        "missing": np.isnan(X).mean(axis=0).tolist(),
        "importance": find_importances(fitted, "gain").values.tolist(),  # by column
        "has_gaps": None if fitted.boost is None else fitted.boost.bins.missing.tolist(),  # in training
        "n_used": len(np.unique(fitted.encoding.column[fitted.trees.hyperplane_feature])),  # columns
        "groups": _describe_groups(fitted),
    }


def _describe_groups(fitted: Model) -> list[dict[str, Any]]:
    """Columns of categories: the first of their features, and the categories in the order of the features."""
    encoding = fitted.encoding
    return [
        {"name": name, "first": int(first), "categories": list(map(str, categories))}
        for name, first, categories in zip(encoding.names, encoding.ptr, encoding.categories, strict=False)
        if categories
    ]


def _describe_samples(rows: Rows, proba: NDArray[np.float64], *, is_test: bool) -> dict[str, Any]:
    """Rows to choose from, with the model's own predictions."""
    groups = choose_samples(rows, proba)
    chosen = np.concatenate(list(groups.values()))
    return {
        "is_test": is_test,
        "groups": {name: len(group) for name, group in groups.items()},
        "row": chosen.tolist(),
        "X": rows.X[chosen].astype(np.float64),
        "codes": rows.codes[chosen].tolist(),
        "proba": proba[chosen],
    }


def _describe_rounds(fitted: Model) -> dict[str, Any] | None:
    """Log losses after each round, as far as the fit kept them."""
    if fitted.boost is None or not len(fitted.boost.train_score):
        return None
    held = fitted.boost.validation_score
    return {
        "training": (-fitted.boost.train_score).tolist(),
        "validation": (-held).tolist() if len(held) else None,
    }


def _measure_sparsity(
    model: Any, given: Table, codes: NDArray[np.int64], betas: Sequence[float] | str | None
) -> dict[str, Any] | None:
    """The sparsity curve; None if it is not wanted, or if a class has no two rows to part."""
    if read(model).is_boosted:
        if betas is not None and not isinstance(betas, str):
            raise refuse("betas", betas, "'auto' or None: a boosted model has no beta")
        return None
    if isinstance(betas, str):
        betas = None if read(model).n_estimators > 1 or len(codes) > _MANY_ROWS else BETAS
    sizes = np.unique_counts(codes).counts
    if betas is None or len(sizes) < 2 or sizes.min() < 2:
        return None
    n_splits = min(5, int(sizes.min()))
    curve = sparsity_curve(given.X, given.y, betas, cv=n_splits, estimator=model)
    return curve.to_dict() | {"sparsest": curve.sparsest, "n_splits": n_splits}


def _join(classes: Sequence[str]) -> str:
    return " or ".join(map(_shorten, classes)) if len(classes) <= 3 else f"{len(classes)} classes"


def _shorten(text: str) -> str:
    return text if len(text) <= _MOST_VALUE else f"{text[: _MOST_VALUE - 1]}…"


def _is_same(value: object, default: object) -> bool:
    return type(value) is type(default) and repr(value) == repr(default)
