"""Optional dependencies: import on use, the progress bar, and versions for bug reports."""

from __future__ import annotations

import importlib
import os
import platform
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any

from . import __version__


def import_extra(module: str, extra: str) -> Any:
    """Import an optional dependency; the error of a missing one has the command that installs it."""
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


# Distributions in the order of the output: required, then optional.
REQUIRED = ("numpy", "scikit-learn", "scipy")
OPTIONAL = ("pandas", "polars", "pyarrow", "matplotlib", "onnx", "typer", "rich", "dask", "shap")


def find_versions() -> dict[str, str | None]:
    """Return versions by name: lhtree, Python, the system, the core and the libraries; None if not installed."""
    facts: dict[str, str | None] = {
        "lhtree": __version__,
        "Python": f"{platform.python_version()} ({platform.python_implementation()})",
        "system": f"{platform.platform()}, {platform.machine()}",
        "processors": str(os.cpu_count()),
    }
    facts |= _describe_core()
    return facts | {name: _find_version(name) for name in (*REQUIRED, *OPTIONAL)}


def show_versions() -> None:
    """Print the versions of lhtree, Python, the compiled core and the libraries it uses, for bug reports.

    Examples
    --------
    >>> import lhtree
    >>> lhtree.show_versions()  # doctest: +ELLIPSIS
    lhtree ...
    """
    facts = find_versions()
    width = max(map(len, facts))
    for name, value in facts.items():
        print(f"{name:<{width}}  {value or 'not installed'}")


def _describe_core() -> dict[str, str | None]:
    """Return compiler and instruction set of the core, or the error with which it cannot be loaded."""
    try:
        core = importlib.import_module("._core", __package__)
    except ImportError as error:
        return {"core": str(error)}
    return {"compiler": core.compiler(), "instruction set": core.kernels()}


def _find_version(name: str) -> str | None:
    from importlib.metadata import PackageNotFoundError, version

    try:
        return version(name)
    except PackageNotFoundError:
        return None
