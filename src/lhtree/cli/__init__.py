"""The command line ``lhtree``: a module per command, and what they share in modules with a leading underscore."""

from __future__ import annotations

import importlib
import io
import os
import sys
from typing import Any

from .. import __version__
from .._extras import import_extra
from . import _signals
from ._errors import Guard, tell_usage

# In the order of the help. Each is a module of that name with a function of that name and its EXAMPLES.
COMMANDS = (
    "fit",
    "predict",
    "evaluate",
    "explain",
    "report",
    "sheet",
    "inspect",
    "export",
    "tune",
    "bench",
    "demo",
    "version",
)
BARE = ("demo", "version")  # work without arguments; the others then show their help

_HELP = """Learning Hyperplane Trees on the command line.

Exit codes: 0 done; 1 unsuitable data or model; 2 invalid usage; 3 a file cannot be read; \
4 output cannot be written; 130 interrupted.
"""


def main() -> None:
    """Run the command line; errors are one line, not a traceback."""
    guard = Guard()
    with guard.telling():
        _signals.install()
        _open_closed()
        _allow_any_sign()
        usage_error = import_extra(
            "typer", "cli"
        ).BadParameter.__base__  # of click, which Typer may bring along
        try:
            code = build_app(guard)(prog_name="lhtree", standalone_mode=False)
        except usage_error as error:
            tell_usage(error)
        sys.exit(code or 0)


def build_app(guard: Guard | None = None) -> Any:
    """Build the Typer application with all commands."""
    typer = import_extra("typer", "cli")
    guard = Guard() if guard is None else guard
    app = typer.Typer(no_args_is_help=True, rich_markup_mode="rich", help=_HELP)

    def show_version(is_wanted: bool) -> None:
        if is_wanted:
            typer.echo(f"lhtree {__version__}")
            raise typer.Exit

    def options(
        version: bool = typer.Option(
            False, "--version", help="Show the version.", callback=show_version, is_eager=True
        ),
        debug: bool = typer.Option(
            False, "--debug", envvar="LHTREE_DEBUG", help="Show tracebacks instead of one-line errors."
        ),
    ) -> None:
        guard.is_debug = debug

    app.callback()(options)
    for name in COMMANDS:
        module = importlib.import_module(f".{name}", __package__)
        command = app.command(name, epilog=_show_examples(module.EXAMPLES), no_args_is_help=name not in BARE)
        command(guard.wrap(getattr(module, name)))
    return app


def _show_examples(examples: tuple[str, ...]) -> str:
    """Lines at the end of a help text; rich would read brackets as markup and join single lines."""
    return "\n\n".join(("Examples:", *(f"  {example}".replace("[", r"\[") for example in examples)))


def _open_closed() -> None:
    """Replace streams that the caller has closed: they are None, and print to None goes to stdout."""
    for name, mode in (("stdin", "r"), ("stdout", "w"), ("stderr", "w")):
        if getattr(sys, name) is None:
            setattr(sys, name, open(os.devnull, mode, encoding="utf-8"))  # noqa: SIM115


def _allow_any_sign() -> None:
    """Escape characters that the terminal's encoding lacks instead of failing."""
    if isinstance(sys.stdout, io.TextIOWrapper):
        sys.stdout.reconfigure(errors="backslashreplace")
