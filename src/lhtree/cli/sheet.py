"""``lhtree sheet``: a compact tree on one page."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from ..io.read import read_rows
from ..io.source import Reading
from ..model.model import read as find_model
from . import _options
from ._errors import ExitCode, Problem, writing
from ._model import load_scorer, tell_unseen
from ._output import check_place
from ._show import note, write_bytes

EXAMPLES = (
    "lhtree sheet compact.lht --out sheet.html",
    "lhtree sheet compact.lht test.csv --target y --row 3 --title 'What sells' --out sheet.html",
)


def sheet(
    model: _options.ModelFile,
    out: Annotated[Path, typer.Option("--out", "-o", metavar="FILE", help="HTML or PDF file to write.")],
    data: Annotated[
        str | None,
        typer.Argument(metavar="DATA", help="Table of held-out rows: metrics are computed on it."),
    ] = None,
    target: Annotated[
        str | None,
        typer.Option("--target", "-t", metavar="NAME", help="Column of DATA with the classes or numbers."),
    ] = None,
    row: Annotated[
        int, typer.Option(metavar="NUMBER", help="Row of DATA to show as an example, counted from 0.")
    ] = 0,
    title: Annotated[str | None, typer.Option(metavar="TEXT", help="Title of the page.")] = None,
    drop_missing_target: _options.DropMissingTarget = False,
    unseen: _options.Unseen = "error",
    format: _options.Format = None,
    delimiter: _options.Delimiter = None,
    decimal: _options.Decimal = ".",
    encoding: _options.Encoding = None,
    quiet: _options.Quiet = False,
) -> None:
    """Write a decision sheet of a compact tree: the whole model on one printable page.

    With DATA, the sheet shows how the tree decides on one of its rows, whose values are then in the
    file; with --target also the accuracy and the calibration (of a regression, the errors) on all of
    them.
    """
    import lhtree

    if out.suffix.lower() not in (".html", ".htm", ".pdf"):
        raise Problem(f"--out {out} has another ending: pass a file ending in .html or .pdf", ExitCode.USAGE)
    if data is None and target is not None:
        raise Problem("--target needs DATA: pass a table, or leave it out", ExitCode.USAGE)
    check_place(out, model, *filter(None, [data]))
    scorer = load_scorer(model)
    learned = find_model(scorer, takes_numbers=True)
    rows = None
    if data is not None:
        rows = read_rows(
            data,
            encoding=learned.encoding,
            classes=None if learned.is_regression else learned.classes,
            reading=Reading(format, delimiter, decimal, encoding),
            unseen=unseen,
            target=target,
            drop_missing_target=drop_missing_target,
        )
        tell_unseen(rows.n_unseen, quiet=quiet)
        if not 0 <= row < len(rows.X):
            raise Problem(f"--row {row} is not valid: pass 0 to {len(rows.X) - 1}", ExitCode.USAGE)
    with writing(out):
        lhtree.sheet(
            scorer,
            out,
            None if rows is None else rows.X,
            None if rows is None else rows.y,
            row=row,
            title=title,
        )
    note(f"{out} written, {write_bytes(out.stat().st_size)}", quiet=quiet)
