"""``lhtree document``: a document about a model by the headings that validators expect."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated, Any

import typer

from ..evaluation import monitor
from . import _options
from ._errors import ExitCode, Problem, writing
from ._files import check_place, find_target, load_scorer, read_table
from ._show import note, write_bytes

EXAMPLES = (
    "lhtree document boosted.lht --data test.csv --target y --out boosted.html",
    "lhtree document boosted.lht --data test.csv --target y --by colour --challenger tree.lht --period new.csv "
    "--text purpose='Which articles to order' --out boosted.md",
)


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
