"""Estimators of commands: from options, fitted on a part of the rows, and the summary that ``lhtree fit`` prints."""

from __future__ import annotations

from collections.abc import Sequence
from enum import Enum
from itertools import pairwise
from typing import Annotated, Any

import numpy as np
import typer
from numpy.typing import NDArray

from .._parameters import (
    BOOST_DIRECTIONS,
    COMPACT_MEMBERSHIPS,
    DIRECTIONS,
    GROWTHS,
    MEMBERSHIPS,
    REGRESSION_LOSSES,
)
from ..evaluation import Measured, OutputEvaluations, evaluate
from ..evaluation.drift import summarise_holdout
from ..evaluation.measures import write_number
from ..io.read import FilePasses, TrainingTable
from ..io.source import Reading
from ..io.streams import open_stream
from ..io.target import read_classes
from ..model.profile import find_scores
from ..model.records import CALIBRATIONS
from ..tables.errors import check_known
from ._errors import ExitCode, Problem
from ._options import TaskName
from ._show import show_facts, show_table, write_bytes, write_seconds, write_settings

# Parameters and the options that set them.
OPTIONS = {
    "direction": "--direction",
    "n_estimators": "--trees",
    "max_iter": "--rounds",
    "learning_rate": "--learning-rate",
    "growth": "--growth",
    "early_stopping": "--early-stopping",
    "monotonic_cst": "--increasing or --decreasing",
    "beta": "--beta",
    "gamma": "--gamma",
    "min_samples_leaf": "--min-samples-leaf",
    "membership": "--membership",
    "max_depth": "--max-depth",
    "n_directed": "--n-directed",
    "l2_regularization": "--l2-regularization",
    "class_weight": "--class-weight",
    "positive": "--positive",
    "calibrate": "--calibrate",
    "loss": "--loss",
    "quantile": "--quantile",
    "intervals": "--intervals",
    "pruning": "--pruning",
    "max_leaf_nodes": "--leaves",
    "max_terms": "--terms",
    "penalty": "--penalty",
    "interactions": "--interactions",
    "smoothing": "--smoothing",
    "max_steps": "--steps",
}
_ESTIMATORS = {
    "tree": "LHT",
    "forest": "LHForest",
    "boost": "LHBoost",
    "ensemble": "LHEnsemble",
    "compact": "CompactLHT",
    "additive": "AdditiveLHT",
}
_ENDINGS = {TaskName.CLASSIFICATION: "Classifier", TaskName.REGRESSION: "Regressor"}


class Kind(str, Enum):
    """Family of the estimator."""

    TREE = "tree"
    FOREST = "forest"
    BOOST = "boost"
    ENSEMBLE = "ensemble"
    COMPACT = "compact"
    ADDITIVE = "additive"

    def find_class(self, task: str) -> Any:
        """Return the class of the estimator for a task."""
        import lhtree

        return getattr(lhtree, _ESTIMATORS[self.value] + _ENDINGS[TaskName(task)])


Model = Annotated[
    Kind,
    typer.Option(
        "--model",
        metavar="KIND",
        help="boost: boosted trees, good predictions and probabilities; ensemble: boosted trees and a forest, the best "
        "predictions, six times as slow; forest: many trees per class; tree: one per class; compact: one "
        "small tree that fits on a page; additive: a curve for every column.",
    ),
]


def read_given(given: dict[str, Any], kind: Kind, task: TaskName | None) -> dict[str, Any]:
    """Return the given parameters; reject parameters that the family does not have for the task."""
    chosen = {name: value for name, value in given.items() if value is not None}
    _check(chosen, kind, list(TaskName) if task is None else [task])
    allowed: dict[str, Sequence[str]] = {
        "direction": BOOST_DIRECTIONS if kind is Kind.BOOST else DIRECTIONS,
        "membership": COMPACT_MEMBERSHIPS if kind is Kind.COMPACT else MEMBERSHIPS,
        "growth": GROWTHS,
        "loss": REGRESSION_LOSSES,
        "calibrate": CALIBRATIONS,
        "class_weight": ("balanced",),
    }
    for name, values in allowed.items():
        if chosen.get(name, values[0]) not in values:
            raise Problem(
                f"{OPTIONS[name]} {chosen[name]} does not apply to --model {kind.value}: pass {' or '.join(values)}",
                ExitCode.USAGE,
            )
    if "quantile" in chosen and chosen["loss"] != "quantile":
        raise Problem(
            f"--quantile does not apply to --loss {chosen['loss']}: omit one of them, or pass --loss quantile",
            ExitCode.USAGE,
        )
    return chosen


def build(kind: Kind, chosen: dict[str, Any], task: str, **others: Any) -> Any:
    """Return the unfitted estimator with the chosen parameters, and with parameters of ``others`` that it has."""
    _check(chosen, kind, [TaskName(task)])
    estimator = kind.find_class(task)
    known = estimator().get_params(deep=False)
    return estimator(**chosen, **{name: value for name, value in others.items() if name in known})


def _check(chosen: dict[str, Any], kind: Kind, tasks: Sequence[TaskName]) -> None:
    """Reject parameters that no estimator of the family has for any of the tasks."""
    known = {(one, task): one.find_class(task)().get_params(deep=False) for one in Kind for task in TaskName}
    for name in chosen:
        having = [(one, task) for one, task in known if name in known[one, task]]
        if any((kind, task) in having for task in tasks):
            continue
        fitting = dict.fromkeys(one.value for one, task in having if task in tasks)
        if fitting:
            reason = f"--model {kind.value}: omit it, or pass --model {' or '.join(fitting)}"
        elif kind in [one for one, _ in having]:
            reason = f"a {tasks[0].value}: omit it"
        else:
            reason = f"--model {kind.value}: omit it"
        raise Problem(f"{OPTIONS[name]} does not apply to {reason}", ExitCode.USAGE)


def read_quantiles(text: str | None) -> float | list[float] | None:
    """Parse a quantile, or several with commas between them."""
    if text is None:
        return None
    try:
        some = [float(part) for part in text.split(",")]
    except ValueError:
        some = []
    if not some or not all(0.0 < one < 1.0 for one in some) or any(a >= b for a, b in pairwise(some)):
        raise Problem(
            f"--quantile {text} is not valid: pass a share between 0 and 1, or several in ascending order, such as "
            "0.05,0.5,0.95",
            ExitCode.USAGE,
        )
    return some[0] if len(some) == 1 else some


def read_number(option: str, text: str | None, *words: str) -> float | str | None:
    """Parse a number, an integer where it has no decimal point; or return one of some words."""
    if text is None or text in words:
        return text
    try:
        number = float(text)
    except ValueError:
        remedy = " or ".join(("a number", *words))
        raise Problem(f"{option} {text} is not valid: pass {remedy}", ExitCode.USAGE) from None
    return int(text) if text.isdecimal() else number


def order_rows(
    path: str, target: str, name: str, reading: Reading, training: TrainingTable
) -> NDArray[np.int64]:
    """Return the rows of a table in the order of a column: numbers, or dates written as text."""
    if path == "-":
        raise Problem(
            "--holdout-by reads the table again: pass a file instead of standard input", ExitCode.USAGE
        )
    with open_stream(path, reading) as stream:
        check_known("holdout-by", [name], stream.names, stream.name)
        rows = stream.read_all(dict.fromkeys([name, target]))
        is_known = read_classes(rows, target).codes >= 0
        column = rows.column(name)
        if column.kind == "numbers":
            values: Any = column.numbers()[is_known]
        else:
            values = column.days()[is_known] if column.kind == "dates" else np.array([np.nan])
    if len(values) != len(training.y) or np.isnan(values).any():
        raise Problem(
            f"--holdout-by {name} is missing in some rows, or neither a number nor a date such as 2026-01-31: fill it "
            "in, or hold out random rows with --holdout alone"
        )
    return np.argsort(values, kind="stable")


def hold_out(
    estimator: Any,
    training: TrainingTable,
    targets: Sequence[str],
    share: float,
    seed: int,
    order: NDArray[np.int64] | None,
    by: str | None,
) -> tuple[Measured | OutputEvaluations, dict[str, Any] | None]:
    """Fit on a part of the rows and evaluate on the others: random rows, stratified by class, or the last of an order.

    Also returns the results as the provenance of a model keeps them; None of several outputs.
    """
    from sklearn.base import clone
    from sklearn.model_selection import train_test_split

    n_rows = len(training.y)
    n_held = int(np.ceil(share * n_rows))
    codes = None
    if training.task == "classification":
        classes, codes, counts = np.unique(training.y, return_inverse=True, return_counts=True)
        if counts.min() < 2 or min(n_held, n_rows - n_held) < len(classes):
            raise Problem(
                f"--holdout {share:g} cannot be stratified: class {classes[counts.argmin()]!r} has "
                f"{counts.min()} of {n_rows} rows; omit --holdout, or pass more rows"
            )
    elif n_held == n_rows:
        raise Problem(f"--holdout {share:g} leaves no row to fit: omit --holdout, or pass more rows")
    if order is None:
        rows, held = train_test_split(np.arange(n_rows), test_size=share, stratify=codes, random_state=seed)
    else:
        rows, held = order[:-n_held], order[-n_held:]
        if codes is not None and len(np.unique(codes[rows])) < len(np.unique(codes)):
            raise Problem(f"--holdout {share:g} leaves no row of a class to fit: pass a smaller share")
    model = clone(estimator).fit(training.X.iloc[rows], training.take_responses(targets, rows))
    X, learned = training.X.iloc[held], model._model
    measured = evaluate(model, X, training.y[held])
    if isinstance(measured, OutputEvaluations):
        return measured, None
    how = f"{share:g} of the rows, {'at random' if by is None else f'the last by {by}'}"
    return measured, summarise_holdout(measured, find_scores(learned, learned.code(X, model)), how)


def describe_table(training: TrainingTable, path: str, target: str) -> dict[str, Any]:
    """Return a summary of the table."""
    X = training.X
    categories = {
        name: X[name].cat.remove_unused_categories().cat.categories.tolist()
        for name in training.names
        if name in training.as_categories
    }
    missing = {name: int(n) for name, n in X.isna().sum().items() if n}
    return describe(training, path, target, categories, missing)


def describe(
    training: TrainingTable | FilePasses,
    path: str,
    target: str,
    categories: dict[str, list[str]],
    missing: dict[str, int],
) -> dict[str, Any]:
    """Return a summary of a table, given the categories and the number of missing values by column."""
    return {
        "path": path,
        "n_rows": len(training.y),
        "n_dropped": training.n_dropped,
        "numbers": [name for name in training.names if name not in categories],
        "categories": categories,
        "missing": missing,
        "target": target,
        "task": training.task,
        **_describe_target(training),
    }


def _describe_target(training: TrainingTable | FilePasses) -> dict[str, Any]:
    """Return the classes, or the range of the numbers."""
    y = training.y
    if training.task == "regression":
        return {"response": {"low": float(y.min()), "mean": float(y.mean()), "high": float(y.max())}}
    pairs = zip(*(values.tolist() for values in np.unique(y, return_counts=True)), strict=True)
    return {"classes": [{"class": label, "n_rows": n} for label, n in pairs]}


def _write_target(table: dict[str, Any]) -> tuple[str, str]:
    if table["task"] == "classification":
        return "classes", _list(f"{one['class']} ({one['n_rows']:,})" for one in table["classes"])
    low, mean, high = map(write_number, table["response"].values())
    return "regression", f"{table['target']}, from {low} to {high}, mean {mean}"


def show_fit(facts: dict[str, Any], measured: Measured | OutputEvaluations | None) -> None:
    """Print the table, the results on held-out rows, and the model."""
    table, model = facts["table"], facts["model"]
    n_missing = sum(table["missing"].values())
    categories = (f"{name} ({len(some)})" for name, some in table["categories"].items())
    dropped = f", {table['n_dropped']:,} without a target dropped" if table["n_dropped"] else ""
    show_facts(
        [
            ("table", f"{table['path']}: {table['n_rows']:,} rows{dropped}"),
            ("numeric", _list(table["numbers"]) or None),
            ("categorical", _list(categories) or None),
            ("missing", f"{n_missing:,} values in {_list(table['missing'])}" if n_missing else None),
            _write_target(table),
        ]
    )
    if measured is not None:
        print("\nHold-out results (model fitted on the other rows):")
        show_facts(measured.figures())
    if isinstance(measured, OutputEvaluations):
        print()
        show_table("Outputs", *measured.table())
    print(f"\n{model['estimator']}")
    trees = _count(model["n_trees"], "tree")
    trees += f" of {_count(model['n_rounds'], 'round')}" if "n_rounds" in model else ""
    if "n_leaves" in model:
        trees += f" of {_count(model['n_leaves'], 'leaf', 'leaves')} and {_count(model['n_terms'], 'term')}"
    rows = "all rows but a tenth, held out for early stopping," if model["is_stopping"] else "all rows"
    trees += f", leaves of at least {model['min_samples_leaf']}," if "min_samples_leaf" in model else ""
    print(f"{trees} fitted on {rows} in {write_seconds(model['fit_seconds'])}")
    if "cv_score" in model:
        score = model["cv_score"]
        name = f"log loss {-score:.4g}" if table["task"] == "classification" else f"R² {score:.4g}"
        print(f"{name} of out-of-fold predictions")
    if "chosen" in model:
        print(f"learning rate {model['chosen']['learning_rate']:g}, {write_settings(model['chosen'])}")
    print(f"{model['path']} written, {write_bytes(model['n_bytes'])}")


def _count(n: int, one: str, many: str = "") -> str:
    return f"{n:,} {one if n == 1 else many or f'{one}s'}"


def _list(values: Any, most: int = 12) -> str:
    """Return the first values, and the number of the others."""
    listed = list(values)
    more = f" and {len(listed) - most:,} more" if len(listed) > most else ""
    return ", ".join(listed[:most]) + more
