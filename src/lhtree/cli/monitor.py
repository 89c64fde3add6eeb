"""``lhtree monitor``: new tables against the training table of a model."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from ..evaluation import monitor as compare_rows
from ..evaluation.drift import LEVELS
from . import _options
from ._errors import ExitCode, Problem
from ._files import check_place, load_scorer, read_table, write_file
from ._show import note, show_json, show_tables

EXAMPLES = (
    "lhtree monitor boosted.lht new.csv --alarm never",
    "lhtree monitor boosted.lht new.csv test.csv --html drift.html --alarm never --json",
    "lhtree monitor boosted.lht test.csv --target y --alarm never",
)


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
