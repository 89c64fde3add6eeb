"""Printing: tables and facts to stdout, notes and progress bars to stderr."""

from __future__ import annotations

import json
import sys
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import contextmanager
from typing import Any

from .._extras import import_extra

_WIDTH = 160  # of output that is not a terminal: lines stay whole for grep

_UNITS = (("s", 1.0), ("ms", 1e-3), ("µs", 1e-6))

Update = Callable[[float, str], None]  # amount done, and description of the current step


def show_json(document: Any) -> None:
    """Print a JSON document in ASCII, which does not depend on the encoding of stdout."""
    print(json.dumps(document, indent=2, allow_nan=False))


def show_facts(facts: Iterable[tuple[str, Any]]) -> None:
    """Print names and values, one per line; values of None are left out."""
    grid = import_extra("rich.table", "cli").Table.grid(padding=(0, 2))
    grid.add_column(no_wrap=True)
    grid.add_column(overflow="fold")
    for name, value in facts:
        if value is not None:
            grid.add_row(_text(name), _text(value))
    _show(grid)


def show_table(title: str, columns: Sequence[str], rows: Iterable[Sequence[Any]]) -> None:
    """Print a table below its title; columns whose names begin with ">" are right-aligned."""
    box = import_extra("rich.box", "cli").SIMPLE_HEAD
    table = import_extra("rich.table", "cli").Table(
        box=box, show_edge=False, pad_edge=False, collapse_padding=True
    )
    for column in columns:
        side = "right" if column.startswith(">") else "left"
        table.add_column(_text(column.removeprefix(">")), justify=side, overflow="fold")
    for row in rows:
        table.add_row(*map(_text, row))
    print(clean(title))
    _show(table)


def note(message: str, *, quiet: bool = False) -> None:
    """Print a line on stderr."""
    if not quiet:
        print(clean(message), file=sys.stderr)


def show_tables(tables: Iterable[tuple[str, Sequence[str], Iterable[Sequence[Any]]]]) -> None:
    """Print titles, columns and rows of tables, with blank lines between them; only the first column is text."""
    for number, (title, columns, rows) in enumerate(tables):
        print("\n" * (number > 0), end="")
        show_table(title, (columns[0], *(f">{column}" for column in columns[1:])), rows)


@contextmanager
def show_bar(total: float, what: str, *, quiet: bool = False) -> Iterator[Update]:
    """Show a progress bar on stderr, in terminals only; yields a function that advances it."""
    console = import_extra("rich.console", "cli").Console(stderr=True)
    if quiet or not console.is_terminal:
        yield lambda n_done, what: None
        return
    rich = import_extra("rich.progress", "cli")
    columns = (
        rich.TextColumn("{task.description}", markup=False),
        rich.BarColumn(),
        rich.TaskProgressColumn(),
        rich.TimeElapsedColumn(),
    )
    with rich.Progress(*columns, console=console, transient=True) as bar:
        task = bar.add_task(clean(what), total=total)
        yield lambda n_done, what: bar.update(task, completed=n_done, description=clean(what))


def clean(value: Any) -> str:
    """Escape unprintable characters, which might control the terminal."""
    return "".join(sign if sign.isprintable() or sign == "\n" else ascii(sign)[1:-1] for sign in str(value))


def write_bytes(n_bytes: int) -> str:
    """Write a size in the largest unit that leaves a number above 1."""
    size = float(n_bytes)
    for unit in ("bytes", "kB", "MB"):
        if size < 1000:
            return f"{n_bytes} bytes" if unit == "bytes" else f"{size:.3g} {unit}"
        size /= 1000
    return f"{size:.3g} GB"


def write_seconds(seconds: float) -> str:
    """Write a time in seconds, milliseconds or microseconds."""
    unit, size = next(((unit, size) for unit, size in _UNITS if seconds >= size), _UNITS[-1])
    return f"{seconds / size:.{1 if seconds < 10 * size else 0}f} {unit}"


def _show(table: Any) -> None:
    console = import_extra("rich.console", "cli").Console(highlight=False)
    if console.is_terminal:
        console.print(table)
        return
    console.width = _WIDTH
    with console.capture() as captured:
        console.print(table)
    print("\n".join(line.rstrip() for line in captured.get().splitlines()))


def _text(value: Any) -> Any:
    """Return literal text, whose brackets are not markup."""
    return import_extra("rich.text", "cli").Text(clean(value))


def join_settings(settings: dict[str, Any]) -> str:
    """Write values of parameters in one line."""
    return ", ".join(f"{name} {value}" for name, value in settings.items())


def write_settings(chosen: dict[str, Any]) -> str:
    """Write the settings in use of a boosted model, and how they were chosen."""
    n_raced = len(chosen["race"])
    return join_settings(chosen["settings"]) + (
        f": best of {n_raced} on held-out rows" if n_raced > 1 else ""
    )
