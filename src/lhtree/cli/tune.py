"""``lhtree tune``: search for good settings by cross-validation within a time limit."""

from __future__ import annotations

import shlex
from dataclasses import fields
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from ..evaluation.measures import write_number
from ..io.read import TrainingTable
from ..model.numbers import write_share
from . import _options
from ._errors import ExitCode, Problem, writing
from ._estimator import OPTIONS, Kind, Model
from ._files import add_provenance, check_place
from ._show import clean, note, show_bar, show_json, show_table, write_seconds

if TYPE_CHECKING:
    from ..selection.tuning import Candidate, Tuning

EXAMPLES = (
    "lhtree tune data.csv --target y",
    "lhtree tune data.csv --target y --model tree --time-limit 10 --out tuned.lht",
    "lhtree tune data.csv --target y --metric log_loss --candidates 3 --folds 3 --json",
)


def tune(
    data: _options.DataFile,
    target: _options.Target,
    options: _options.TrainingOptions,
    model: Model = Kind.BOOST,
    metric: Annotated[
        str | None,
        typer.Option(
            metavar="NAME",
            help="Metric to optimise: accuracy (the default), balanced_accuracy, log_loss, brier, roc_auc or "
            "average_precision; for regression, r2 (the default), rmse or mae.",
        ),
    ] = None,
    time_limit: Annotated[
        float,
        typer.Option(
            metavar="SECONDS",
            help="Time limit, including the fit for --out; only the first fit may exceed it.",
        ),
    ] = 60.0,
    candidates: Annotated[
        int, typer.Option(metavar="N", help="Number of settings to try, defaults first.")
    ] = 30,
    folds: Annotated[int, typer.Option(metavar="N", help="Number of cross-validation folds.")] = 5,
    seed: Annotated[int, typer.Option(metavar="N", help="Random seed.")] = 0,
    threads: _options.Threads = -1,
    out: Annotated[
        Path | None,
        typer.Option(
            "--out", "-o", metavar="FILE", help="Fit the best setting on all rows and save the model."
        ),
    ] = None,
    is_json: _options.Json = False,
    quiet: _options.Quiet = False,
) -> None:
    """Search for the best settings for a table by cross-validation.

    The defaults and another direction come first, then random settings. Trees and forests:
    direction, beta, gamma, leaf size, membership, depth and number of trees. Boosted trees:
    rounds, learning rate, depth, leaf size, regularization and direction. Compact trees:
    leaves, terms, penalty and leaf size. A setting that is significantly worse than the best
    is abandoned early. The same seed gives the same result, provided the time limit is not
    reached.
    """
    import lhtree

    _options.check_least(
        time_limit=(time_limit, 0), candidates=(candidates, 1), folds=(folds, 2), seed=(seed, 0)
    )
    n_threads = _options.count_threads(threads)
    if out is not None:
        check_place(out, data)
    training = options.read(data, target)
    _check_metric(metric, training.task)
    table = _write_table_options(target, options)
    so_far: list[Tuning] = []

    def show(tuned: Tuning) -> None:
        chosen = ["--model", model.value, *_write_options(tuned, tuned.candidates[0])]
        ending = ["--seed", str(seed), "--out", str(out or "model.lht")]
        command = shlex.join(["lhtree", "fit", data, *table, *chosen, *ending])
        if is_json:
            show_json(_list_facts(training, tuned, command))
        else:
            _show(training, tuned, command)

    try:
        with show_bar(candidates, "candidate 1", quiet=quiet) as move:

            def advance(tuned: Tuning) -> None:
                so_far[:] = [tuned]
                best = f"best so far {_write_score(tuned, tuned.best_score_)}"
                move(tuned.n_done, f"candidate {len(tuned.candidates)}, {best}")

            tuned = lhtree.tune(
                model.find_class(training.task)(),
                training.X,
                training.y,
                metric=metric,
                seconds=time_limit,
                n_candidates=candidates,
                cv=folds,
                random_state=seed,
                n_jobs=n_threads,
                refit=out is not None,
                callback=advance,
            )
    except KeyboardInterrupt:
        if so_far:
            show(so_far[0])
        raise
    show(tuned)
    if out is not None:
        best = tuned.best_estimator_
        best._model = add_provenance(best._model, data, target)
        with writing(out):
            lhtree.save(best, out)
        note(f"{out} written: the best setting, fitted on all rows", quiet=quiet)


def _check_metric(metric: str | None, task: str) -> None:
    from ..selection.tuning import METRICS, NUMBER_METRICS

    kind, fitting = ("numbers", list(NUMBER_METRICS)) if task == "regression" else ("classes", list(METRICS))
    fitting = [name for name in fitting if name != "pinball"]  # for models of quantiles
    if metric is not None and metric not in fitting:
        raise Problem(
            f"--metric {metric} does not apply to a target of {kind}: pass one of {', '.join(fitting)}",
            ExitCode.USAGE,
        )


def _show(training: TrainingTable, tuned: Tuning, command: str) -> None:
    from ..selection.tuning import METRIC_NAMES

    n_rows, n_columns = training.X.shape
    name = METRIC_NAMES.get(tuned.metric, tuned.metric.replace("_", " "))
    show_table(
        f"Settings for {n_rows:,} rows of {n_columns:,} columns by {name} over {tuned.n_folds} folds, best first",
        (f">{name}", ">fit", "folds", "options"),
        (_write_row(tuned, candidate) for candidate in tuned.candidates),
    )
    print(f"\nThe best {name} is optimistic, because it was selected from several")
    print("noisy estimates. Use held-out rows for an unbiased estimate.")
    print(f"\nTo fit the best setting on all rows:\n  {clean(command)}")


def _write_row(tuned: Tuning, candidate: Candidate) -> list[str]:
    n_done, state = len(candidate.scores), tuned.describe_state(candidate)
    score, spread = (_write_score(tuned, value) for value in (candidate.score, candidate.spread))
    return [
        f"{score} ± {spread}" if n_done > 1 else score,
        write_seconds(candidate.fit_seconds),
        str(n_done) if state == "done" else f"{n_done}, {state}",
        " ".join(_write_options(tuned, candidate)) or "(defaults)",
    ]


def _write_score(tuned: Tuning, value: float) -> str:
    if tuned.metric in ("rmse", "mae"):
        return write_number(value)
    return write_share(value, 2) if tuned.metric.endswith("accuracy") else f"{value:.4f}"


def _write_options(tuned: Tuning, candidate: Candidate) -> list[str]:
    """Return the options of ``lhtree fit`` for a setting."""
    options = []
    for name, value in tuned.find_changes(candidate).items():
        options += [OPTIONS[name], str(value)]
    return options


def _list_facts(training: TrainingTable, tuned: Tuning, command: str) -> dict[str, Any]:
    n_rows, n_columns = training.X.shape
    return {
        "n_rows": n_rows,
        "n_columns": n_columns,
        **tuned.to_dict(),
        "note": f"the best {tuned.metric} is optimistic, because it was selected from several",
        "command": command,
    }


def _write_table_options(target: str, options: _options.TrainingOptions) -> list[str]:
    """Return the options for reading the table, for the fit command."""
    written = ["--target", target]
    for field in fields(options):
        value = getattr(options, field.name)
        if value in (field.default, None, []):
            continue
        option = f"--{field.name.replace('_', '-')}"
        each = value if isinstance(value, list) else [getattr(value, "value", value)]
        written += [part for one in each for part in ([option] if one is True else [option, one])]
    return written
