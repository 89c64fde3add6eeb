"""A progress bar for long operations."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager

from ._extras import import_extra


@contextmanager
def show_progress(
    n_tasks: int | None, what: str = "growing trees"
) -> Iterator[Callable[[float], None] | None]:
    """Show a progress bar in a terminal or a notebook; ``None`` if the length is unknown."""
    console = import_extra("rich.console", "progress").Console(stderr=True)
    if not (console.is_terminal or console.is_jupyter):
        yield None
        return
    with import_extra("rich.progress", "progress").Progress(console=console) as bar:
        task = bar.add_task(what, total=n_tasks)
        yield lambda n_done: bar.update(task, completed=n_done)
        bar.update(task, completed=n_tasks)
