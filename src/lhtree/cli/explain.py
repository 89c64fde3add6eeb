"""``lhtree explain``: explain the prediction for one row."""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Sequence
from html import escape
from pathlib import Path
from typing import Annotated, Any

import typer

from .._extras import import_extra
from ..evaluation.measures import write_number
from ..explain._reasons import Comparer, list_reasons
from ..io.fields import FileRows
from ..io.source import Reading
from ..io.streams import open_stream
from ..model.model import Model as LearnedModel
from ..model.model import read
from ..tables.encoding import Encoding as TableEncoding
from ..tables.errors import check_known, find_nearest
from . import _options
from ._errors import ExitCode, Problem
from ._files import (
    check_picture,
    check_place,
    choose_output,
    load_model,
    load_scorer,
    note_unseen,
    read_table,
    save_figure,
    write_file,
)
from ._show import clean, note, show_json
from .predict import make_task

EXAMPLES = (
    "lhtree explain model.lht data.csv --row 17",
    "lhtree explain model.lht data.csv --row 17 --counterfactual",
    "lhtree explain model.lht data.csv --row 17 --to sold --change size",
    "lhtree explain model.lht data.csv --all --reasons 2 --target sold",
    "lhtree explain model.lht --values size=48.5 --values colour=red",
    "lhtree explain model.lht data.csv --row 17 --html why.html --plot why.png",
)

Row = dict[str, Any]  # values by column


def explain(
    model: _options.ModelFile,
    table: _options.TableOptions,
    data: Annotated[
        str | None,
        typer.Argument(metavar="DATA", help="Table as for lhtree predict; not needed with --values."),
    ] = None,
    row: Annotated[
        int | None,
        typer.Option(metavar="NUMBER", help="Row of the table; the first one below the header is 0."),
    ] = None,
    values: Annotated[
        _options.Names,
        typer.Option(
            metavar="NAME=VALUE",
            help="Value that replaces the table's; may be repeated. Without a table, all other columns are missing.",
        ),
    ] = None,
    every: Annotated[
        bool,
        typer.Option(
            "--all", help="Show the main reasons of all rows of the table instead of one explanation."
        ),
    ] = False,
    reasons: Annotated[
        int, typer.Option(min=1, metavar="N", help="With --all: number of reasons of a row.")
    ] = 4,
    texts: _options.ReasonTexts = None,
    group: _options.ReasonGroups = None,
    target: Annotated[
        str | None,
        typer.Option(
            metavar="CLASS",
            help="Class to explain. Default: the positive class of the model, if declared, else the prediction.",
        ),
    ] = None,
    output: _options.Output = None,
    tree: Annotated[
        int | None,
        typer.Option(
            metavar="NUMBER",
            help="Explain one tree of a forest, or one round of a boosted model; the first is 0.",
        ),
    ] = None,
    counterfactual: Annotated[
        bool,
        typer.Option("--counterfactual", help="Also show small changes that would change the prediction."),
    ] = False,
    to: Annotated[
        str | None,
        typer.Option(
            metavar="CLASS",
            help="Counterfactuals: class to reach. Default: any other. Of a number, the range to reach: LOW..HIGH, "
            "LOW.. or ..HIGH.",
        ),
    ] = None,
    change: Annotated[
        _options.Names,
        typer.Option(
            metavar="NAME", help="Counterfactuals: column that may change; may be repeated. Default: all."
        ),
    ] = None,
    html: Annotated[
        Path | None,
        typer.Option(metavar="FILE", help="Also write the explanation as an HTML page."),
    ] = None,
    plot: Annotated[
        Path | None,
        typer.Option(metavar="FILE", help="Also plot the explanation: .png, .svg or .pdf."),
    ] = None,
    unseen: _options.Unseen = "error",
    is_json: _options.Json = False,
    quiet: _options.Quiet = False,
) -> None:
    """Explain the prediction for one row."""
    for place in filter(None, (html, plot)):
        check_place(place, model, data)
    if plot is not None:
        check_picture(plot)
    if every:
        if data is None or row is not None or values:
            raise Problem("--all explains a table: pass one, without --row and --values", ExitCode.USAGE)
        scorer = load_scorer(model)
        label = _options.find_class("--target", target, scorer._model.labels)
        task = make_task(scorer._model, reasons, label, None, _options.read_texts(texts), group)
        rows = read_table(scorer, data, table, quiet=quiet, unseen=unseen)
        if not len(rows.X):
            raise Problem(f"{data} has no rows: pass a table with rows")
        _show_reasons(list_reasons(scorer, rows.X, task, Comparer(scorer._model)), is_json=is_json)
        return
    if data is None and row is not None:
        raise Problem("--row needs a table: pass one, or omit --row", ExitCode.USAGE)
    if data is None and not values:
        raise Problem("specify a row: a table and --row NUMBER, or --values NAME=VALUE", ExitCode.USAGE)
    loaded = choose_output(load_model(model), output)
    learned = read(loaded, takes_numbers=True)
    columns = learned.encoding
    chosen: Row = dict.fromkeys(columns.names)
    if data is not None:
        chosen |= _read_row(data, columns, row, table.reading, unseen=unseen, quiet=quiet)
    row_values = chosen | parse_values(values or [], columns, table.decimal, unseen)
    explanation = loaded.explain(row_values, target=_options.find_class("--target", target, learned.labels))
    if tree is not None:
        if not 0 <= tree < explanation.n_estimators:
            raise Problem(f"--tree {tree} is out of range: pass 0 to {explanation.n_estimators - 1}")
        explanation = explanation.tree(tree)
    others = None
    if counterfactual or to is not None or change:
        others = _find_others(learned, explanation, to, change)

    if is_json:
        facts: dict[str, Any] = {}
        if others is not None:
            facts["counterfactuals"] = [other.to_dict() for other in others]
            facts |= {} if others.reason is None else {"reason": others.reason}
        show_json(explanation.to_dict() | facts)
    else:
        print(clean("\n".join(_describe(explanation, others))))
    if html is not None:
        write_file(html, _draw_page(explanation, others).encode())
        note(f"{html} written", quiet=quiet)
    if plot is not None:
        write_file(plot, save_figure(lambda: explanation.plot().figure, plot))
        note(f"{plot} written", quiet=quiet)


def _show_reasons(reasons: Any, *, is_json: bool) -> None:
    """Print the main reasons of all rows, as CSV or JSON."""
    found = reasons.reset_index()
    if is_json:
        show_json(json.loads(found.to_json(orient="records")))
    else:
        print(clean(found.to_csv(index=False)), end="")


def _read_row(
    data: str, encoding: TableEncoding, row: int | None, how: Reading, *, unseen: str, quiet: bool
) -> Row:
    """Read one row of a table; later rows are not checked. Without a number, the table must have exactly one row."""
    if row is not None and row < 0:
        raise Problem(f"--row {row} is not valid: rows are numbered from 0", ExitCode.USAGE)
    with open_stream(data, how) as stream:
        columns = encoding.find_columns(stream.names, stream.name)
        one = None
        for rows in stream.batches(columns):
            if row is None and (one is not None or len(rows) > 1):
                raise Problem(f"{stream.name} has more than one row: choose one with --row", ExitCode.USAGE)
            at = (row or 0) - stream.n_rows
            if at < len(rows):
                one = rows.take(at)
                if row is not None:
                    break
        if one is None:
            raise Problem(
                f"row {row or 0} is out of range: {stream.name} has {stream.n_rows} rows, numbered from 0"
            )
        n_unseen: Counter[str] = Counter()
        x = encoding.encode(one, unseen=unseen, n_unseen=n_unseen)[0]
    note_unseen(n_unseen, quiet=quiet)
    return encoding.decode(x)


def parse_values(typed: Sequence[str], encoding: TableEncoding, decimal: str, unseen: str) -> Row:
    """Parse NAME=VALUE like the fields of a table."""
    texts: dict[str, str] = {}
    for item in typed:
        name = _find_name(item, encoding.names)
        if name in texts:
            raise Problem(f"--values sets {name!r} twice: set it once")
        texts[name] = item[len(name) + 1 :]
    pa = import_extra("pyarrow", "cli")
    columns = [pa.array([texts.get(name)], pa.string()) for name in encoding.names]
    records = pa.RecordBatch.from_arrays(columns, list(encoding.names))
    rows = FileRows(records, "--values", decimal, lambda _: "--values")
    row = encoding.decode(encoding.encode(rows, unseen=unseen)[0])
    return {name: row[name] for name in texts}


def _find_name(item: str, names: Sequence[str]) -> str:
    found = [name for name in names if item.startswith(f"{name}=")]  # a name may contain "="
    if found:
        return max(found, key=len)
    typed, equals, _ = item.partition("=")
    if not equals:
        raise Problem(f"--values {item!r} is not NAME=VALUE: pass, for example, --values '{names[0]}=1'")
    raise Problem(f"--values: the model has no column {typed!r} ({find_nearest(typed, names)})")


def _find_others(learned: LearnedModel, explanation: Any, to: str | None, change: list[str] | None) -> Any:
    check_known("change", change or (), learned.encoding.names, "the model")
    goal = _read_class(explanation, to) if learned.head.predicts_classes else _read_range(to)
    return explanation.counterfactuals(change or None, to=goal)


def _read_class(explanation: Any, to: str | None) -> Any:
    """Return the class to reach; None for any other."""
    label = _options.find_class("--to", to, explanation.classes)
    if to is not None and label == explanation.prediction:
        raise Problem(f"--to {to}: the model already predicts {to}; pass another class")
    return label


def _read_range(to: str | None) -> tuple[float | None, float | None]:
    """Return the range of predictions to reach."""
    ends: list[float | None] = []
    if to is not None:
        low, dots, high = to.partition("..")
        try:
            ends = [float(end) if end else None for end in (low, high)] if dots else []
        except ValueError:
            ends = []
    if ends in ([], [None, None]):
        given = "the model predicts a number" if to is None else f"--to {to} is not a range"
        raise Problem(
            f"{given}: pass the range to reach, --to LOW..HIGH, --to LOW.. or --to ..HIGH", ExitCode.USAGE
        )
    return ends[0], ends[1]


def _describe(explanation: Any, others: Any) -> list[str]:
    lines = [str(explanation)]
    if others is not None:
        lines += ["", "What would change the prediction:" if others else others.reason]
        lines += [f"  {other}" for other in others]
    return lines


def _draw_page(explanation: Any, others: Any) -> str:
    """Return an HTML page with the notebook's output."""
    from ..explain._text import draw_html

    predicted = explanation.prediction
    title = f"Why {write_number(predicted) if isinstance(predicted, float) else escape(str(predicted))}?"
    listed = "".join(f"<li>{escape(str(other))}</li>" for other in others or ())
    changes = f"<p>What would change the prediction:</p><ul>{listed}</ul>" if listed else ""
    if others is not None and not others:
        changes = f"<p>{escape(others.reason)}</p>"
    return (
        f"<!doctype html>\n<html lang='en'>\n<meta charset='utf-8'>\n<title>{title}</title>\n"
        "<meta name='viewport' content='width=device-width'>\n"
        "<style>:root{color-scheme:light dark}body{font:16px system-ui,sans-serif;margin:2em auto;padding:0 1em;"
        "max-width:55em}</style>\n"
        f"<h1>{title}</h1>\n{draw_html(explanation)}\n{changes}\n</html>\n"
    )
