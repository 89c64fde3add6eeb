"""``lhtree evaluate``, ``compare`` and ``monitor``: one model, two models or new tables, measured on rows."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated, Any

import typer

from ..evaluation import Evaluation, OutputEvaluations, find_quantiles
from ..evaluation import compare as compare_models
from ..evaluation import evaluate as evaluate_rows
from ..evaluation import monitor as compare_rows
from ..evaluation.drift import LEVELS
from ..evaluation.event import COLUMNS
from ..evaluation.measures import write_number, write_percent
from ..model.model import has_wolf
from . import _options
from ._errors import ExitCode, Problem
from ._files import check_picture, check_place, find_target, load_scorer, read_table, save_figure, write_file
from ._show import note, show_facts, show_json, show_table, show_tables

EXAMPLES = (
    "lhtree evaluate model.lht test.csv --target y",
    "lhtree evaluate model.lht test.csv --target y --json",
    "lhtree evaluate model.lht test.csv --target y --positive kept --threshold 0.4 --by colour",
    "lhtree compare tree.lht model.lht test.csv --target y",
    "lhtree compare tree.lht model.lht test.csv --target y --positive kept --by colour --plot compared.png",
    "lhtree monitor boosted.lht new.csv --alarm never",
    "lhtree monitor boosted.lht new.csv test.csv --html drift.html --alarm never --json",
    "lhtree monitor boosted.lht test.csv --target y --alarm never",
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


def compare(
    champion: Annotated[str, typer.Argument(metavar="CHAMPION", help="Model file in use.")],
    challenger: Annotated[str, typer.Argument(metavar="CHALLENGER", help="Model file that may replace it.")],
    data: _options.DataFile,
    options: _options.RowOptions,
    target: _options.FittedTarget = None,
    positive: _options.Positive = None,
    threshold: _options.Threshold = None,
    by: _options.By = None,
    resamples: Annotated[int, typer.Option(metavar="N", help="Number of bootstrap samples.")] = 500,
    seed: Annotated[int, typer.Option(metavar="N", help="Random seed of the bootstrap.")] = 0,
    plot: Annotated[
        Path | None, typer.Option(metavar="FILE", help="Also plot the differences: .png, .svg or .pdf.")
    ] = None,
    is_json: _options.Json = False,
    quiet: _options.Quiet = False,
) -> None:
    """Compare two models on rows that neither was trained on.

    The table shows paired differences with 95 % intervals (DeLong for the ROC AUC, else bootstrap) and the
    rows that the models decide differently.
    """
    _options.check_least(resamples=(resamples, 1), seed=(seed, 0))
    _options.check_threshold(threshold)
    if plot is not None:
        check_place(plot, champion, challenger, data)
        check_picture(plot)
    scorers = [load_scorer(path) for path in (champion, challenger)]
    target = find_target(scorers[0]._model, champion, target)
    tables = [
        read_table(scorer, data, options, quiet=quiet, target=target, groups=by or ()) for scorer in scorers
    ]
    X, y = tables[0].X, tables[0].y
    X = X.assign(**{name: tables[1].X[name] for name in tables[1].X if name not in X})
    label = _options.find_class("--positive", positive, scorers[0]._model.labels)
    try:
        compared = compare_models(
            scorers[0],
            scorers[1],
            X,
            y,
            positive=label,
            threshold=threshold,
            by=tables[0].groups or None,
            names=_name(champion, challenger),
            n_resamples=resamples,
            random_state=seed,
        )
    except (TypeError, ValueError) as error:
        raise Problem(f"{champion} and {challenger} cannot be compared: {error}".rstrip(".")) from None
    if is_json:
        show_json(compared.to_dict())
    else:
        show_tables(compared.tables())
    if plot is not None:
        from ..plot import plot_comparison

        write_file(plot, save_figure(lambda: plot_comparison(compared).figure, plot))
        note(f"{plot} written", quiet=quiet)


def _name(*paths: Any) -> tuple[str, str]:
    """Return the names of the files without folder and ending; their roles if both are the same."""
    first, second = (Path(path).stem for path in paths)
    return (first, second) if first != second else ("champion", "challenger")


def monitor(
    model: _options.ModelFile,
    data: Annotated[
        list[str],
        typer.Argument(metavar="DATA...", help="Tables of one or more periods, in the order of time."),
    ],
    options: _options.TableOptions,
    target: Annotated[
        str | None,
        typer.Option("--target", "-t", metavar="NAME", help="Column with known classes or numbers, if any."),
    ] = None,
    html: Annotated[
        Path | None, typer.Option(metavar="FILE", help="Also write a page about all periods.")
    ] = None,
    alarm: Annotated[
        str,
        typer.Option(
            metavar="LEVEL",
            help="Exit with code 5 if the last period has a shift of this level: moderate, large or never.",
        ),
    ] = "large",
    drop_missing_target: _options.DropMissingTarget = False,
    is_json: _options.Json = False,
    quiet: _options.Quiet = False,
) -> None:
    """Compare new tables with the training table of a model.

    The model file keeps a summary of its training table. For every column and the score: the population
    stability index (PSI), a test, missing values, values outside the training range and new categories.
    With --target also performance, compared with the hold-out of lhtree fit --holdout.
    """
    if alarm not in (*LEVELS[1:], "never"):
        raise Problem(f"--alarm {alarm} is not valid: pass moderate, large or never", ExitCode.USAGE)
    if html is not None:
        check_place(html, model, *data)
    scorer = load_scorer(model)
    if scorer._model.profile is None:
        raise Problem(
            f"{model} keeps no summary of its training table (it was written by an earlier version, or has more "
            "than 1,000 columns): fit it again"
        )
    periods = []
    for path in data:
        rows = read_table(
            scorer,
            path,
            options,
            quiet=True,
            unseen="missing",
            target=target,
            drop_missing_target=drop_missing_target,
            keeps_unseen=True,
        )
        if not len(rows.X):
            raise Problem(f"{path} has no rows: pass a table with rows")
        periods.append(compare_rows(scorer, rows.X, rows.y, period=Path(path).stem))
    if is_json:
        show_json({"model": model, "level": periods[-1].level, "periods": [one.to_dict() for one in periods]})
    else:
        show_tables(part for one in periods for part in one.tables())
    if html is not None:
        from ..reports._drift import build_drift_page, encode_text

        write_file(html, encode_text(build_drift_page(periods, f"Drift of {Path(model).stem}")))
        note(f"{html} written: open it in a browser", quiet=quiet)
    if alarm != "never" and LEVELS.index(periods[-1].level) >= LEVELS.index(alarm):
        raise typer.Exit(ExitCode.DRIFT)
