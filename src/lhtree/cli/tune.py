"""``lhtree tune``: settings that suit a table, by cross-validation and within a time."""

from __future__ import annotations

import shlex
from pathlib import Path
from typing import Annotated, Any

import typer

from ..tables.read import Training, read_training
from ..tables.source import Reading
from ._errors import writing
from ._folds import split_folds
from ._options import (
    Categorical,
    DataFile,
    Decimal,
    Delimiter,
    Drop,
    DropMissingTarget,
    Encoding,
    Format,
    Json,
    Quiet,
    Target,
    Threads,
    check_least,
    count_threads,
)
from ._output import check_place
from ._search import Candidate, Task, draw_settings, find_best, find_rank, search
from ._show import clean, note, show_bar, show_json, show_table, write_seconds
from .fit import Kind

EXAMPLES = (
    "lhtree tune data.csv --target y",
    "lhtree tune data.csv --target y --model tree --time-limit 10 --out tuned.lht",
    "lhtree tune data.csv --target y --candidates 5 --folds 3 --json",
)


def tune(
    data: DataFile,
    target: Target,
    model: Annotated[
        Kind, typer.Option("--model", help="One tree per class, or a forest of them.")
    ] = Kind.FOREST,
    time_limit: Annotated[
        float,
        typer.Option(metavar="SECONDS", help="No fit goes on after this time, but for the very first."),
    ] = 60.0,
    candidates: Annotated[
        int, typer.Option(metavar="N", help="Settings to try, the two defaults first.")
    ] = 30,
    folds: Annotated[
        int, typer.Option(metavar="N", help="Parts of the rows that are held back in turn.")
    ] = 5,
    seed: Annotated[int, typer.Option(metavar="N", help="Of folds, candidates and forests.")] = 0,
    threads: Threads = -1,
    out: Annotated[
        Path | None,
        typer.Option(
            "--out", "-o", metavar="FILE", help="Fit the best setting on all rows, then, and save it."
        ),
    ] = None,
    drop: Drop = None,
    categorical: Categorical = None,
    drop_missing_target: DropMissingTarget = False,
    format: Format = None,
    delimiter: Delimiter = None,
    decimal: Decimal = ".",
    encoding: Encoding = None,
    is_json: Json = False,
    quiet: Quiet = False,
) -> None:
    """Search beta, gamma, direction and the number of trees by cross-validation.

    The paper's defaults and the direction "mixed" come first, then random
    settings. One that is behind the best by more than chance is left early.
    The same seed gives the same result where the time suffices.
    """
    check_least(time_limit=(time_limit, 0), candidates=(candidates, 1), folds=(folds, 2), seed=(seed, 0))
    n_threads = count_threads(threads)
    if out is not None:
        check_place(out, data)
    how = Reading(format, delimiter, decimal, encoding)
    training = read_training(
        data,
        target,
        how,
        drop=drop or (),
        categorical=categorical or (),
        drop_missing_target=drop_missing_target,
    )
    found = _search(training, model.value, candidates, folds, time_limit, seed, n_threads, quiet=quiet)
    best = find_best(found)
    table = _write_table_options(target, drop, categorical, drop_missing_target, how)
    chosen = [*best.setting.options(), "--seed", str(seed), "--out", str(out or "model.lht")]
    command = shlex.join(["lhtree", "fit", data, *table, *chosen])
    if is_json:
        show_json(_list_facts(training, found, best, folds, command))
    else:
        _show(training, found, folds, command)
    if out is not None:
        _save(best, training, out, seed, n_threads, quiet=quiet)


def _search(
    training: Training,
    kind: str,
    n_candidates: int,
    n_folds: int,
    seconds: float,
    seed: int,
    n_threads: int,
    *,
    quiet: bool,
) -> list[Candidate]:
    splits = split_folds(training.y, n_folds, seed)
    task = Task(training.X, training.y, splits, seed, n_threads)
    settings = draw_settings(kind, len(training.y), n_candidates, seed)
    with show_bar(n_candidates, "candidate 1", quiet=quiet) as move:

        def tell(found: list[Candidate]) -> None:
            best = 100 * find_best(found).score.accuracy
            n_done = sum(
                1.0 if candidate.is_behind else len(candidate.folds) / n_folds for candidate in found
            )
            move(n_done, f"candidate {len(found)}, best so far {best:.2f} %")

        return search(task, settings, seconds, tell)


def _show(training: Training, found: list[Candidate], n_folds: int, command: str) -> None:
    n_rows, n_columns = training.X.shape
    title = f"Settings for {n_rows:,} rows of {n_columns:,} columns, accuracy in % over {n_folds} folds, the best first"
    columns = ("direction", ">trees", ">beta", ">gamma", ">accuracy", ">log loss", ">fit", "folds")
    rows = sorted(found, key=find_rank)
    show_table(title, columns, (_write_row(candidate, n_folds) for candidate in rows))
    print("\nThe best accuracy is optimistic: it is the largest of several, each measured")
    print("with some luck. Rows held back from this search would tell more.")
    print(f"\nTo fit the best setting on all rows:\n  {clean(command)}")


def _write_row(candidate: Candidate, n_folds: int) -> list[str]:
    setting, score = candidate.setting, candidate.score
    n_done = len(candidate.folds)
    return [
        setting.direction,
        "–" if setting.trees is None else str(setting.trees),
        str(setting.beta),
        "–" if setting.gamma is None else str(setting.gamma),
        f"{100 * score.accuracy:.2f} ± {100 * score.spread:.2f}"
        if n_done > 1
        else f"{100 * score.accuracy:.2f}",
        f"{score.log_loss:.3f}",
        write_seconds(sum(candidate.seconds) / n_done),
        f"{n_done}{'' if n_done == n_folds else ', behind' if candidate.is_behind else ', time up'}",
    ]


def _list_facts(
    training: Training, found: list[Candidate], best: Candidate, n_folds: int, command: str
) -> dict[str, Any]:
    candidates = [
        {
            "parameters": candidate.setting.parameters(),
            "is_best": candidate is best,
            "is_behind": candidate.is_behind,
            "accuracy": candidate.score.accuracy,
            "spread": candidate.score.spread,
            "log_loss": candidate.score.log_loss,
            "fit_seconds": sum(candidate.seconds) / len(candidate.seconds),
            "folds": [fold.accuracy for fold in candidate.folds],
        }
        for candidate in found
    ]
    n_rows, n_columns = training.X.shape
    return {
        "n_rows": n_rows,
        "n_columns": n_columns,
        "n_folds": n_folds,
        "candidates": candidates,
        "best": best.setting.parameters(),
        "note": "the best accuracy is optimistic: it is the largest of several",
        "command": command,
    }


def _write_table_options(
    target: str, drop: list[str] | None, categorical: list[str] | None, is_dropping: bool, how: Reading
) -> list[str]:
    """The options that say how the table is read, for the command that fits."""
    options = ["--target", target]
    for option, names in (("--drop", drop), ("--categorical", categorical)):
        for name in names or ():
            options += [option, name]
    options += ["--drop-missing-target"] if is_dropping else []
    for option, value in (
        ("--format", how.format),
        ("--delimiter", how.delimiter),
        ("--encoding", how.encoding),
    ):
        options += [] if value is None else [option, value]
    return options if how.decimal == "." else [*options, "--decimal", how.decimal]


def _save(best: Candidate, training: Training, out: Path, seed: int, n_threads: int, *, quiet: bool) -> None:
    import lhtree

    fitted = best.setting.build(seed, n_threads).fit(training.X, training.y)
    fitted.set_params(n_jobs=None)  # of this machine, not of the model
    with writing(out):
        lhtree.save(fitted, out)
    note(f"{out} written: the best setting, fitted on all rows", quiet=quiet)
