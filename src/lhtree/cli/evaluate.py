"""``lhtree evaluate``: metrics of a model on a table whose classes or numbers are known."""

from __future__ import annotations

from dataclasses import replace
from typing import Annotated, Any

import numpy as np
import typer

from ..evaluation import (
    Evaluation,
    Measured,
    OutputEvaluations,
    RegressionEvaluation,
    decide_by,
    find_positive,
    find_quantiles,
)
from ..evaluation.classification import judge
from ..evaluation.event import COLUMNS
from ..evaluation.groups import measure_groups, name_groups
from ..evaluation.measures import join_parts, write_number, write_percent
from ..evaluation.regression import judge_numbers
from ..io.source import Reading
from ..io.streams import open_stream
from ..io.target import find_complete, match_classes, read_groups, read_responses, refuse_missing
from ..model.model import has_wolf
from ..tables.errors import check_known
from . import _options
from ._errors import ExitCode, Problem, check_signals
from ._files import Encoder, load_scorer, note_unseen
from ._show import note, show_bar, show_facts, show_json, show_table

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
    target: _options.Targets,
    drop_missing_target: _options.DropMissingTarget = False,
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
    unseen: _options.Unseen = "error",
    threads: _options.Threads = -1,
    format: _options.Format = None,
    delimiter: _options.Delimiter = None,
    decimal: _options.Decimal = ".",
    encoding: _options.Encoding = None,
    is_json: _options.Json = False,
    quiet: _options.Quiet = False,
) -> None:
    """Evaluate a model on a table with a known target, normally on rows not used for training.

    For classes, the last table shows the accuracy at each coverage: the accuracy if the model
    decides only the rows with the largest WOLF values (boosted trees: probabilities).
    """
    n_threads = _options.count_threads(threads)
    if interval is not None and not 0.0 < interval < 1.0:
        raise Problem(f"--interval {interval:g} is not valid: pass a share between 0 and 1", ExitCode.USAGE)
    _options.check_threshold(threshold)
    scorer = load_scorer(model)
    predicts_classes = scorer._model.head.predicts_classes
    label = _options.find_class("--positive", positive, scorer._model.labels)
    code = find_positive(scorer, label) if predicts_classes else None
    if threshold is not None and len(scorer.classes_) != 2:
        raise Problem("--threshold needs a model of two classes: omit it", ExitCode.USAGE)
    names = scorer._model.head.names
    _check_targets(target, 1 if find_quantiles(scorer) else len(names) or 1)
    if by and names:
        raise Problem("--by needs a model with one output: omit it", ExitCode.USAGE)
    parts: list[Any] = []
    groups: dict[str, list[Any]] = {name: [] for name in by or ()}
    n_missing = 0
    with (
        open_stream(data, Reading(format, delimiter, decimal, encoding)) as stream,
        show_bar(1.0, "predicting", quiet=quiet) as update,
    ):
        check_known("target", target, stream.names, stream.name)
        check_known("by", list(groups), stream.names, stream.name)
        encoder = Encoder(scorer, stream, unseen)
        for rows in stream.batches(list(dict.fromkeys([*encoder.columns, *target, *groups]))):
            X = encoder.encode(rows)
            if predicts_classes:
                truth: Any = match_classes(rows, target[0], scorer.classes_)
                known = np.flatnonzero(truth >= 0)
            else:
                truth = read_responses(rows, target)
                known = find_complete(truth)
            n_missing += len(rows) - len(known)
            if not len(known):
                continue
            X, truth = X[known], truth[known]
            for name, found in groups.items():
                found += read_groups(rows, name)[known].tolist()
            parts.append(
                judge(encoder.scorer, X, truth, n_threads=n_threads)
                if predicts_classes
                else judge_numbers(encoder.scorer, X, truth, coverage=interval, n_threads=n_threads)
            )
            check_signals()
            update(stream.share() or 0.0, "predicting")
    n_rows = sum(len(part.predicted) for part in parts)
    if n_missing and not drop_missing_target:
        raise refuse_missing(n_missing, n_missing + n_rows, ", ".join(target))
    if not n_rows:
        raise Problem(f"{stream.name} has no rows with a target: pass a table with rows")
    if threshold is not None:
        parts = [decide_by(part, threshold, 1 if code is None else code) for part in parts]
    labels = scorer.classes_.tolist()
    measured: Measured | OutputEvaluations
    if predicts_classes:
        measured = Evaluation.from_parts(parts, labels, code)
    elif names:
        measured = OutputEvaluations.from_parts(parts, names, find_quantiles(scorer))
    else:
        measured = RegressionEvaluation.from_parts(parts, scorer.quantile)
    if groups and not isinstance(measured, OutputEvaluations):  # checked above
        columns = {name: name_groups(np.array(found, dtype=object), name) for name, found in groups.items()}
        of_groups = 1 if code is None and len(labels) == 2 else code
        measured = replace(measured, groups=measure_groups(join_parts(parts), columns, of_groups, labels))
    if n_missing:
        note(f"lhtree: {n_missing} rows without a target were dropped", quiet=quiet)
    note_unseen(encoder.n_unseen, quiet=quiet)
    if is_json:
        show_json(measured.to_dict() | {"n_dropped": n_missing})
    elif isinstance(measured, OutputEvaluations):
        show_facts(measured.figures())
        print()
        show_table("Outputs", *measured.table())
    elif isinstance(measured, RegressionEvaluation):
        _show_numbers(measured)
    else:
        _show_classes(measured, "WOLF" if has_wolf(scorer) else "probability")
    if not is_json and not isinstance(measured, OutputEvaluations) and measured.groups is not None:
        for title, titles, table in measured.groups.tables():
            print()
            show_table(title, (titles[0], *(f">{one}" for one in titles[1:])), table)


def _check_targets(targets: list[str], n_wanted: int) -> None:
    """Reject another number of targets than the model has."""
    if len(targets) != n_wanted:
        wanted = "one column" if n_wanted == 1 else f"{n_wanted} columns, in their order"
        raise Problem(f"--target: the model predicts {wanted}: pass {n_wanted} of them", ExitCode.USAGE)


def _show_numbers(measured: RegressionEvaluation) -> None:
    show_facts(measured.figures())
    print()
    show_table(
        "Ranges of the prediction",
        (">rows", ">predicted", ">actual", ">RMSE", ">MAE"),
        ((f"{one.n_rows:,}", *map(write_number, one[1:])) for one in measured.ranges),
    )


def _show_classes(measured: Evaluation, sureness: str) -> None:
    show_facts(measured.figures())
    classes = measured.classes
    print()
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
