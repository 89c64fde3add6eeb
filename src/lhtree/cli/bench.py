"""``lhtree bench``: lhtree against the other libraries that are installed, on the user's table."""

from __future__ import annotations

from typing import Annotated, Any

import typer

from ..evaluation import Evaluation, Measured
from ..evaluation.measures import write_number, write_percent
from ..io.read import TrainingTable
from ..model.numbers import write_shares
from ..selection.comparison import PEERS, Result, compare_learners
from ..tables.errors import find_nearest
from . import _options
from ._errors import ExitCode, Problem
from ._show import clean, show_bar, show_json, show_table, write_seconds

EXAMPLES = (
    "lhtree bench data.csv --target y",
    "lhtree bench data.csv --target y --only mixed --only rf --folds 3 --json",
)
_NOTES = (
    "All models use their defaults, one thread, and the same folds and features:",
    "numbers as they are, and one column per category. Missing values stay missing;",
    "all of these models accept them, so nothing is imputed.",
    "fit: on the training rows of a fold. one row: the prediction (probabilities, for",
    "classes) of a single row that is already an array. Both are medians.",
)


def bench(
    data: _options.DataFile,
    target: _options.Target,
    options: _options.TrainingOptions,
    only: Annotated[
        _options.Names,
        typer.Option(
            metavar="MODEL",
            help="Model to compare; may be repeated: boost, tree, compact, additive, forest, mixed, cart, rf, hist_gb, "
            "xgboost, lightgbm, catboost. Default: all that are installed.",
        ),
    ] = None,
    folds: Annotated[int, typer.Option(metavar="N", help="Number of cross-validation folds.")] = 5,
    seed: Annotated[int, typer.Option(metavar="N", help="Random seed.")] = 0,
    is_json: _options.Json = False,
    quiet: _options.Quiet = False,
) -> None:
    """Compare lhtree with CART, random forests and boosting on your own table, by cross-validation."""
    _options.check_least(folds=(folds, 2), seed=(seed, 0))
    _check_only(only)
    training = options.read(data, target)
    names = _choose(only, training.task)
    with show_bar(len(names) * folds, "comparing", quiet=quiet) as move:
        results = compare_learners(
            names, training.X, training.y, folds, seed, lambda title, n_done: move(n_done, title)
        )
    absent = [peer.title for peer in PEERS.values() if not peer.is_installed]
    if is_json:
        show_json(_list_facts(training, results, absent, folds))
    else:
        _show(training, results, absent, folds)


def _check_only(only: list[str] | None) -> None:
    for name in only or ():
        if name not in PEERS:
            raise Problem(
                f"--only {name} is not a known model ({find_nearest(name, list(PEERS))})", ExitCode.USAGE
            )
        if not PEERS[name].is_installed:
            raise Problem(f"--only {name} is not installed: pip install {PEERS[name].package}")


def _choose(only: list[str] | None, task: str) -> list[str]:
    fitting = [name for name, peer in PEERS.items() if task == "classification" or peer.has_regressor]
    for name in only or ():
        if name not in fitting:
            raise Problem(f"--only {name} has no regressor of its own: pass one of {', '.join(fitting)}")
    return [name for name in fitting if (name in only if only else PEERS[name].is_installed)]


def _show(training: TrainingTable, results: list[Result], absent: list[str], n_folds: int) -> None:
    n_rows, n_columns = training.X.shape
    size = f"{n_rows:,} rows of {n_columns:,} columns, {n_folds} folds"
    if training.task == "regression":
        title, figures = f"{size}, errors in the unit of the target", (">R²", ">RMSE", ">MAE")
    else:
        title, figures = f"{size}, accuracy in % with 95 % interval", (">accuracy", ">interval", ">log loss")
    rows = (_write_row(result, result.measured) for result in results if result.measured is not None)
    show_table(title, ("model", *figures, ">fit", ">one row"), rows)
    for result in results:
        if result.failure is not None:
            print(clean(f"{PEERS[result.name].title} failed: {result.failure}"))
    print()
    for line in (*_NOTES, *([f"Not installed: {', '.join(absent)}."] if absent else [])):
        print(line)


def _write_row(result: Result, measured: Measured) -> list[str]:
    if isinstance(measured, Evaluation):
        accuracy = write_percent(measured.accuracy).removesuffix(" %")
        interval = write_shares(measured.accuracy_low, measured.accuracy_high, 2)
        figures = [accuracy, interval, f"{measured.log_loss:.3f}"]
    else:
        figures = [f"{measured.r2:.4f}", write_number(measured.rmse), write_number(measured.mae)]
    seconds = (result.fit_seconds, result.row_seconds)
    return [PEERS[result.name].title, *figures, *map(write_seconds, seconds)]


def _list_facts(
    training: TrainingTable, results: list[Result], absent: list[str], n_folds: int
) -> dict[str, Any]:
    n_rows, n_columns = training.X.shape
    return {
        "n_rows": n_rows,
        "n_columns": n_columns,
        "n_folds": n_folds,
        "models": [_list_model(result) for result in results],
        "not_installed": absent,
        "notes": " ".join(_NOTES),
    }


def _list_model(result: Result) -> dict[str, Any]:
    facts: dict[str, Any] = {"model": result.name, "failure": result.failure}
    if result.measured is None:
        return facts
    is_classes = isinstance(result.measured, Evaluation)
    names = ("accuracy", "accuracy_low", "accuracy_high", "log_loss") if is_classes else ("r2", "rmse", "mae")
    facts |= {name: getattr(result.measured, name) for name in names}
    return facts | {"fit_seconds": result.fit_seconds, "row_seconds": result.row_seconds}
