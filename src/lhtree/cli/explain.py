"""``lhtree explain``: why a model predicts what it does for one row."""

from __future__ import annotations

from html import escape
from io import BytesIO
from pathlib import Path
from typing import Annotated, Any

import typer

from .._extras import import_extra
from ._errors import ExitCode, Problem, reading
from ._names import check_known, find_named
from ._options import Decimal, Delimiter, Encoding, Format, Json, ModelFile, Names, Quiet, Unseen
from ._output import check_place, write_file
from ._row import complete_row, read_row
from ._show import clean, note, show_json
from ._source import Reading

EXAMPLES = (
    "lhtree explain model.lht data.csv --row 17",
    "lhtree explain model.lht data.csv --row 17 --counterfactual",
    "lhtree explain model.lht data.csv --row 17 --to sold --change size",
    "lhtree explain model.lht --values size=48.5 --values colour=red",
    "lhtree explain model.lht data.csv --row 17 --html why.html --plot why.png",
)


def explain(
    model: ModelFile,
    data: Annotated[
        str | None,
        typer.Argument(metavar="DATA", help="Table as for lhtree predict; not needed with --values."),
    ] = None,
    row: Annotated[
        int | None,
        typer.Option(metavar="NUMBER", help="Row of the table; the first one below the header is 0."),
    ] = None,
    values: Annotated[
        Names,
        typer.Option(
            metavar="NAME=VALUE",
            help="A value instead of the table's; may be repeated. Without a table, columns not named are missing.",
        ),
    ] = None,
    tree: Annotated[
        int | None,
        typer.Option(metavar="NUMBER", help="Explain by one tree of a forest alone; the first is 0."),
    ] = None,
    counterfactual: Annotated[
        bool, typer.Option("--counterfactual", help="Find small changes that change the prediction, too.")
    ] = False,
    to: Annotated[
        str | None,
        typer.Option(metavar="CLASS", help="Counterfactuals: the class to reach; any other if not given."),
    ] = None,
    change: Annotated[
        Names,
        typer.Option(metavar="NAME", help="Counterfactuals: a column that may change; may be repeated."),
    ] = None,
    html: Annotated[
        Path | None,
        typer.Option(metavar="FILE", help="Write a page with the explanation, too."),
    ] = None,
    plot: Annotated[
        Path | None,
        typer.Option(metavar="FILE", help="Draw the way through a tree, too: .png, .svg or .pdf."),
    ] = None,
    unseen: Unseen = "error",
    format: Format = None,
    delimiter: Delimiter = None,
    decimal: Decimal = ".",
    encoding: Encoding = None,
    is_json: Json = False,
    quiet: Quiet = False,
) -> None:
    """Say why a model predicts what it does for one row."""
    import lhtree

    from ..model import read

    for place in filter(None, (html, plot)):
        check_place(place, model, data)
    if plot is not None:
        _check_picture(plot)
    if data is None and row is not None:
        raise Problem("--row is a row of a table: pass the table, or leave out --row", ExitCode.USAGE)
    with reading(model):
        loaded = lhtree.load(model)
    how = Reading(format, delimiter, decimal, encoding)
    told = {} if data is None else read_row(data, loaded, row, how, unseen=unseen, quiet=quiet)
    fitted = read(loaded)
    explanation = loaded.explain(complete_row(fitted, told, values or [], decimal))
    if tree is not None:
        if not 0 <= tree < explanation.n_estimators:
            raise Problem(f"there is no tree {tree}: pass --tree from 0 to {explanation.n_estimators - 1}")
        explanation = explanation.tree(tree)
    others = None
    if counterfactual or to is not None or change:
        others = _find_others(fitted.column_names, explanation, to, change)

    if is_json:
        facts = {} if others is None else {"counterfactuals": [other.to_dict() for other in others]}
        show_json(explanation.to_dict() | facts)
    else:
        print(clean("\n".join(_describe(explanation, others))))
    if html is not None:
        write_file(html, _draw_page(explanation, others).encode())
        note(f"{html} written", quiet=quiet)
    if plot is not None:
        write_file(plot, _draw_picture(explanation, plot))
        note(f"{plot} written", quiet=quiet)


def _find_others(names: list[str], explanation: Any, to: str | None, change: list[str] | None) -> list[Any]:
    check_known("--change", change or (), names, "the model")
    label = None if to is None else find_named(to, explanation.classes, "--to: the model has no class")
    if label is not None and label == explanation.prediction:
        raise Problem(f"--to {to}: the model predicts {to} already; pass another class")
    found: list[Any] = explanation.counterfactuals(change or None, to=label)
    return found


def _describe(explanation: Any, others: list[Any] | None) -> list[str]:
    lines = [str(explanation)]
    if others is not None:
        lines += ["", "What would change the prediction:" if others else "No change was found that would do."]
        lines += [f"  {other}" for other in others]
    return lines


def _draw_page(explanation: Any, others: list[Any] | None) -> str:
    """A page by itself around what a notebook shows."""
    from ..explain._html import draw_html

    title = f"Why {escape(str(explanation.prediction))}?"
    listed = "".join(f"<li>{escape(str(other))}</li>" for other in others or ())
    changes = f"<p>What would change the prediction:</p><ul>{listed}</ul>" if listed else ""
    return (
        f"<!doctype html>\n<html lang='en'>\n<meta charset='utf-8'>\n<title>{title}</title>\n"
        "<meta name='viewport' content='width=device-width'>\n"
        "<style>:root{color-scheme:light dark}body{font:16px system-ui,sans-serif;margin:2em auto;padding:0 1em;"
        "max-width:55em}</style>\n"
        f"<h1>{title}</h1>\n{draw_html(explanation)}\n{changes}\n</html>\n"
    )


def _check_picture(path: Path) -> None:
    known = import_extra("matplotlib.backend_bases", "plot").FigureCanvasBase.get_supported_filetypes()
    if path.suffix.lower().removeprefix(".") not in known:
        endings = ", ".join(f".{name}" for name in sorted(known))
        raise Problem(f"--plot {path}: pictures end in {endings}", ExitCode.USAGE)


def _draw_picture(explanation: Any, path: Path) -> bytes:
    import_extra("matplotlib", "plot").use("Agg")  # there may be no screen
    figure = explanation.plot().figure
    picture = BytesIO()
    figure.savefig(picture, format=path.suffix.lower().removeprefix("."), bbox_inches="tight", dpi=150)
    import_extra("matplotlib.pyplot", "plot").close(figure)
    return picture.getvalue()
