"""``lhtree report``: an HTML report on a model."""

from __future__ import annotations

from functools import partial
from pathlib import Path
from typing import Annotated

import typer

from ..io.read import read_rows
from ..io.source import Reading
from ..model.model import read as find_model
from . import _options
from ._errors import writing
from ._model import load_model, tell_unseen
from ._output import check_place
from ._show import note, write_bytes

EXAMPLES = (
    "lhtree report model.lht data.csv --target y --out report.html",
    "lhtree report tree.lht data.csv --target y --test test.csv --title 'What sells' --out report.html",
)


def report(
    model: _options.ModelFile,
    data: _options.DataFile,
    target: _options.Target,
    out: Annotated[Path, typer.Option("--out", "-o", metavar="FILE", help="HTML file to write.")],
    test: Annotated[
        str | None,
        typer.Option(metavar="DATA", help="Table of held-out rows; metrics are computed on it."),
    ] = None,
    title: Annotated[
        str | None,
        typer.Option(metavar="TEXT", help="Title of the page."),
    ] = None,
    megabytes: Annotated[
        float,
        typer.Option(
            metavar="SIZE",
            help="Maximum size of the trees in the page; for a larger forest only the first trees are included.",
        ),
    ] = 8.0,
    drop_missing_target: _options.DropMissingTarget = False,
    unseen: _options.Unseen = "error",
    format: _options.Format = None,
    delimiter: _options.Delimiter = None,
    decimal: _options.Decimal = ".",
    encoding: _options.Encoding = None,
    quiet: _options.Quiet = False,
) -> None:
    """Write an HTML report on a model: metrics, warnings, a tree explorer and a row explorer.

    DATA is the table that the model was trained on. The page works offline.
    It contains up to 200 of the rows: keep it as private as the data.
    """
    import lhtree

    check_place(out, model, data, test)
    loaded = load_model(model)
    learned = find_model(loaded, takes_numbers=True)
    read = partial(
        read_rows,
        encoding=learned.encoding,
        classes=None if learned.is_regression else learned.classes,
        reading=Reading(format, delimiter, decimal, encoding),
        unseen=unseen,
        target=target,
        drop_missing_target=drop_missing_target,
    )
    given = read(data)
    held = None if test is None else read(test)
    for rows in filter(None, (given, held)):
        tell_unseen(rows.n_unseen, quiet=quiet)
    with writing(out):
        lhtree.report(
            loaded,
            given.X,
            given.y,
            out,
            X_test=None if held is None else held.X,
            y_test=None if held is None else held.y,
            title=title,
            target_name=target,
            max_megabytes=megabytes,
        )
    note(f"{out} written, {write_bytes(out.stat().st_size)}: open it in a browser", quiet=quiet)
