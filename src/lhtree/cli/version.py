"""``lhtree version``: the version of lhtree, and of all that a bug report should name."""

from __future__ import annotations

from typing import Annotated

import typer

from .. import __version__
from ..versions import show_versions

EXAMPLES = ("lhtree version", "lhtree version --verbose")


def version(
    verbose: Annotated[
        bool,
        typer.Option(
            "--verbose",
            help="Also show the versions of Python, the system, the compiled core and the libraries.",
        ),
    ] = False,
) -> None:
    """Show the version; with --verbose, everything that a bug report should name."""
    if verbose:
        show_versions()
    else:
        print(f"lhtree {__version__}")
