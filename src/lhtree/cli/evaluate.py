"""``lhtree evaluate``: metrics of a model on a table whose classes or numbers are known."""

from __future__ import annotations

from typing import Annotated

import typer

from ..evaluation import Evaluation, OutputEvaluations, find_quantiles
from ..evaluation import evaluate as evaluate_rows
from ..evaluation.event import COLUMNS
from ..evaluation.measures import write_number, write_percent
from ..model.model import has_wolf
from . import _options
from ._errors import ExitCode, Problem
from ._files import find_target, load_scorer, read_table
from ._show import note, show_facts, show_json, show_table, show_tables

EXAMPLES = (
    "lhtree evaluate model.lht test.csv --target y",
    "lhtree evaluate model.lht test.csv --target y --json",
    "lhtree evaluate model.lht test.csv --target y --positive kept --threshold 0.4 --by colour",
)
_MOST_CLASSES = 20  # a larger confusion matrix is not readable; --json has it
_COVERAGES = (1.0, 0.95, 0.9, 0.8, 0.7, 0.6, 0.5, 0.25, 0.1)


def evaluate(
    model: _options.ModelFile,
    data: _options.DataFile,
    options: _options.RowOptions,
    target: _options.FittedTargets = None,
    interval: Annotated[
        float | None,
        typer.Option(
            "--interval",
            metavar="SHARE",
            help="Regression: coverage of the prediction intervals to check, if the model has them. Default: 0.9.",
        ),
    ] = None,
    positive: _options.Positive = None,
    threshold: _options.Threshold = None,
    by: _options.By = None,
    is_json: _options.Json = False,
    quiet: _options.Quiet = False,
) -> None:
    """Evaluate a model on a table with a known target, normally on rows not used for training.

    For classes, the last table shows the accuracy at each coverage: the accuracy if the model
    decides only the rows it is surest of, by probability (the paper's trees and forests: by WOLF
    value).
    """
    if interval is not None and not 0.0 < interval < 1.0:
        raise Problem(f"--interval {interval:g} is not valid: pass a share between 0 and 1", ExitCode.USAGE)
    _options.check_threshold(threshold)
    scorer = load_scorer(model)
    learned = scorer._model
    label = _options.find_class("--positive", positive, learned.labels)
    if threshold is not None and len(learned.labels) != 2:
        raise Problem("--threshold needs a model of two classes: omit it", ExitCode.USAGE)
    responses = [] if find_quantiles(scorer) else list(learned.head.names)
    target = target or responses or [find_target(learned, model, None)]
    _check_targets(target, len(responses) or 1)
    if by and learned.head.names:
        raise Problem("--by needs a model with one output: omit it", ExitCode.USAGE)
    rows = read_table(scorer, data, options, quiet=quiet, target=target, groups=by or ())
    if not len(rows.X):
        raise Problem(f"{data} has no rows with a target: pass a table with rows")
    X = rows.X if learned.encoding.has_names else rows.X.set_axis(range(learned.encoding.n_columns), axis=1)
    measured = evaluate_rows(
        scorer, X, rows.y, coverage=interval, positive=label, threshold=threshold, by=rows.groups or None
    )
    if rows.n_dropped:
        note(f"lhtree: {rows.n_dropped} rows without a target were dropped", quiet=quiet)
    if is_json:
        show_json(measured.to_dict() | {"n_dropped": rows.n_dropped})
        return
    show_facts(measured.figures())
    print()
    if isinstance(measured, OutputEvaluations):
        show_table("Outputs", *measured.table())
        return
    if isinstance(measured, Evaluation):
        _show_classes(measured, "WOLF" if has_wolf(scorer) else "probability")
    else:
        show_table(
            "Ranges of the prediction",
            (">rows", ">predicted", ">actual", ">RMSE", ">MAE"),
            ((f"{one.n_rows:,}", *map(write_number, one[1:])) for one in measured.ranges),
        )
    if measured.groups is not None:
        print()
        show_tables(measured.groups.tables())


def _check_targets(targets: list[str], n_wanted: int) -> None:
    """Reject another number of targets than the model has."""
    if len(targets) != n_wanted:
        wanted = "one column" if n_wanted == 1 else f"{n_wanted} columns, in their order"
        raise Problem(f"--target: the model predicts {wanted}: pass {n_wanted} of them", ExitCode.USAGE)


def _show_classes(measured: Evaluation, sureness: str) -> None:
    classes = measured.classes
    show_table(
        "Classes",
        ("class", ">rows", ">predicted", ">recall", ">precision"),
        ((*one[:3], write_percent(one.recall), write_percent(one.precision)) for one in classes),
    )
    if len(classes) <= _MOST_CLASSES:
        print()
        show_table(
            "Confusion matrix (rows: true class, columns: predicted)",
            ("", *(f">{one.label}" for one in classes)),
            ((one.label, *counts) for one, counts in zip(classes, measured.confusion.tolist(), strict=True)),
        )
    if measured.event is not None and measured.event.is_declared:
        print()
        show_table(
            f"Event {measured.event.positive}, by tenths of its probability",
            [f">{title}" for title in COLUMNS],
            measured.event.rows(),
        )
    points = {point["n_decided"]: point for point in map(measured.coverage.at, _COVERAGES)}  # without copies
    print()
    show_table(
        "Accuracy at each coverage",
        (">coverage", ">rows", f">{sureness} at least", ">accuracy"),
        (
            (
                write_percent(point["coverage"]),
                point["n_decided"],
                f"{point['threshold']:.4f}",
                write_percent(point["accuracy"]),
            )
            for point in points.values()
        ),
    )
