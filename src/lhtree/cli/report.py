"""Pages about a model: ``lhtree report``, ``sheet`` (a compact tree on one page) and ``document`` (for validators)."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated, Any

import typer

from ..evaluation import find_quantiles, monitor
from ..model.model import read as read_model
from . import _options
from ._errors import ExitCode, Problem, writing
from ._files import check_place, choose_output, find_target, load_model, load_scorer, read_table
from ._show import note, write_bytes

EXAMPLES = (
    "lhtree report model.lht data.csv --target y --out report.html",
    "lhtree report tree.lht data.csv --target y --test test.csv --title 'What sells' --out report.html",
    "lhtree report model.lht data.csv --target y --positive kept --by colour --out report.html",
    "lhtree sheet compact.lht --out sheet.html",
    "lhtree sheet compact.lht test.csv --target y --row 3 --title 'What sells' --out sheet.html",
    "lhtree document boosted.lht --data test.csv --target y --out boosted.html",
    "lhtree document boosted.lht --data test.csv --target y --by colour --challenger tree.lht --period new.csv "
    "--text purpose='Which articles to order' --out boosted.md",
)
Title = Annotated[str | None, typer.Option(metavar="TEXT", help="Title of the page.")]


def report(
    model: _options.ModelFile,
    data: _options.DataFile,
    out: Annotated[Path, typer.Option("--out", "-o", metavar="FILE", help="HTML file to write.")],
    options: _options.RowOptions,
    target: _options.FittedTarget = None,
    test: Annotated[
        str | None,
        typer.Option(metavar="DATA", help="Table of held-out rows; metrics are computed on it."),
    ] = None,
    output: _options.Output = None,
    title: Title = None,
    positive: _options.Positive = None,
    by: _options.By = None,
    megabytes: Annotated[
        float,
        typer.Option(
            metavar="SIZE",
            help="Maximum size of the trees in the page; for a larger forest only the first trees are included.",
        ),
    ] = 8.0,
    quiet: _options.Quiet = False,
) -> None:
    """Write an HTML report on a model: metrics, warnings, a tree explorer and a row explorer.

    DATA is the table that the model was trained on. The page works offline.
    It contains up to 200 of the rows: keep it as private as the data.
    """
    import lhtree

    check_place(out, model, data, test)
    whole = load_model(model)
    loaded = choose_output(whole, output)
    learned = read_model(loaded, takes_numbers=True)
    if output is not None and not find_quantiles(whole):
        target = target or output
    label = _options.find_class("--positive", positive, learned.labels)
    target = find_target(learned, model, target)
    wanted: dict[str, Any] = {"quiet": quiet, "target": target, "groups": by or ()}
    table = read_table(loaded, data, options, **wanted)
    held = None if test is None else read_table(loaded, test, options, **wanted)
    with writing(out):
        lhtree.report(
            *(loaded, table.X, table.y, out),
            X_test=None if held is None else held.X,
            y_test=None if held is None else held.y,
            title=title,
            target_name=target,
            positive=label,
            by=(held or table).groups or None,
            max_megabytes=megabytes,
            file=model,
        )
    note(f"{out} written, {write_bytes(out.stat().st_size)}: open it in a browser", quiet=quiet)


def sheet(
    model: _options.ModelFile,
    out: Annotated[Path, typer.Option("--out", "-o", metavar="FILE", help="HTML or PDF file to write.")],
    options: _options.RowOptions,
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
    title: Title = None,
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
    if scorer._model.compact is None:
        raise Problem(f"{model} is not a compact tree: fit one with lhtree fit --model compact")
    X = y = None
    if data is not None:
        rows = read_table(scorer, data, options, quiet=quiet, target=target)
        X, y = rows.X, rows.y
        if not 0 <= row < len(X):
            raise Problem(f"--row {row} is not valid: pass 0 to {len(X) - 1}", ExitCode.USAGE)
    with writing(out):
        lhtree.sheet(scorer, out, X, y, row=row, title=title)
    note(f"{out} written, {write_bytes(out.stat().st_size)}", quiet=quiet)


def document(
    model: _options.ModelFile,
    out: Annotated[Path, typer.Option("--out", "-o", metavar="FILE", help="HTML or Markdown file to write.")],
    options: _options.RowOptions,
    data: Annotated[
        str | None,
        typer.Option(metavar="DATA", help="Table of held-out rows, on which results are measured."),
    ] = None,
    target: _options.FittedTarget = None,
    by: _options.By = None,
    challenger: Annotated[
        str | None, typer.Option(metavar="MODEL", help="Model file to compare with on the same rows.")
    ] = None,
    period: Annotated[
        list[str] | None,
        typer.Option(
            metavar="DATA",
            help="Table of new rows for the section on monitoring; may be repeated, in the order of time.",
        ),
    ] = None,
    text: Annotated[
        list[str] | None,
        typer.Option(metavar="HEADING=TEXT", help="Text that fills the gap of a heading; may be repeated."),
    ] = None,
    positive: _options.Positive = None,
    threshold: _options.Threshold = None,
    title: Annotated[str | None, typer.Option(metavar="TEXT", help="Title of the document.")] = None,
    quiet: _options.Quiet = False,
) -> None:
    """Write a document about a model: purpose, data, method, performance, limits, groups, and so on.

    It is filled with what the model file and the tables show; what only people know is a marked gap, unless --text or
    --metadata of lhtree fit has a text for the heading. It contains no rows.
    """
    import lhtree

    if out.suffix.lower() not in (".html", ".htm", ".md"):
        raise Problem(f"--out {out} has another ending: pass a file ending in .html or .md", ExitCode.USAGE)
    if data is None and (by or challenger):
        raise Problem("--by and --challenger need rows to measure on: pass --data, too", ExitCode.USAGE)
    _options.check_threshold(threshold)
    check_place(out, model, *(path for path in (data, challenger, *(period or ())) if path))
    scorer = load_scorer(model)
    if data is not None:
        target = find_target(scorer._model, model, target)
    X: Any = None
    y = groups = None
    if data is not None:
        table = read_table(scorer, data, options, quiet=quiet, target=target, groups=by or ())
        X, y, groups = table.X, table.y, table.groups or None
    if data is not None and challenger is not None:
        more = read_table(load_scorer(challenger), data, options, quiet=quiet, target=target).X
        X = X.assign(**{name: more[name] for name in more if name not in X})
    label = _options.find_class("--positive", positive, scorer._model.labels)
    periods = []
    for path in period or ():
        rows = read_table(scorer, path, options, quiet=quiet, unseen="missing", keeps_unseen=True)
        periods.append(monitor(scorer, rows.X, period=Path(path).stem))
    with writing(out):
        lhtree.document(
            model,
            out,
            X,
            y,
            by=groups,
            challenger=challenger,
            periods=periods,
            positive=label,
            threshold=threshold,
            texts=_read_texts(text or ()),
            title=title,
        )
    note(f"{out} written, {write_bytes(out.stat().st_size)}", quiet=quiet)


def _read_texts(pairs: Any) -> dict[str, str]:
    """Return the texts of ``--text``."""
    from ..reports._document import GAPS

    texts: dict[str, str] = {}
    for pair in pairs:
        heading, sign, text = pair.partition("=")
        if not sign or heading.capitalize() not in GAPS:
            raise Problem(
                f"--text {pair} is not valid: pass HEADING=TEXT with one of {', '.join(GAPS).lower()}",
                ExitCode.USAGE,
            )
        texts[heading] = text
    return texts
