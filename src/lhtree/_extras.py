"""Optional dependencies, imported when used, and the progress bar."""

from __future__ import annotations

import importlib
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any


def import_extra(module: str, extra: str) -> Any:
    """Import an optional dependency, or say in one line how to get it."""
    try:
        return importlib.import_module(module)
    except ModuleNotFoundError as error:
        if error.name != module.partition(".")[0]:
            raise
        raise ModuleNotFoundError(
            f"{error.name} is not installed: pip install 'lhtree[{extra}]'", name=error.name
        ) from None


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
