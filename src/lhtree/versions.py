"""Versions for bug reports."""

from __future__ import annotations

import importlib
import os
import platform
from importlib.metadata import PackageNotFoundError, version

from . import __version__

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
    try:
        return version(name)
    except PackageNotFoundError:
        return None
