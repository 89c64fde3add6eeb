"""The command line ``lhtree``: modules of commands, and shared modules with a leading underscore."""

from __future__ import annotations

import importlib
import io
import os
import sys
from typing import Any

from .. import __version__
from .._extras import import_extra
from ._errors import Guard, exit_usage, handle_signals

# Commands in the order of the help, and their modules, which have a function and EXAMPLES of that name.
COMMANDS = {
    "fit": "fit",
    "predict": "predict",
    "evaluate": "evaluate",
    "compare": "evaluate",
    "monitor": "evaluate",
    "explain": "explain",
    "document": "report",
    "report": "report",
    "sheet": "report",
    "inspect": "inspect",
    "export": "export",
    "serve": "serve",
    "replay": "serve",
    "tune": "tune",
    "bench": "bench",
    "version": "inspect",
}

_HELP = """Fit models to tables, explain their predictions and serve them.

Exit codes: 0 done; 1 unsuitable data or model; 2 invalid usage; 3 a file cannot be read; \
4 output cannot be written; 5 a shift was found (monitor); 130 interrupted.
"""


def main() -> None:
    """Run the command line; errors are printed in one line."""
    guard = Guard()
    with guard.handle_errors():
        handle_signals()
        _open_closed_streams()
        _escape_unknown_characters()
        usage_error = import_extra("typer", "cli").BadParameter.__base__  # of click, which Typer may bundle
        try:
            code = build_app(guard)(prog_name="lhtree", standalone_mode=False)
        except usage_error as error:
            exit_usage(error)
        sys.exit(code or 0)


def build_app(guard: Guard | None = None) -> Any:
    """Build the Typer application with all commands."""
    typer, core = import_extra("typer", "cli"), import_extra("typer.core", "cli")
    from ._options import expand_groups  # needs Typer

    guard = Guard() if guard is None else guard
    group, kind = _hide_types_of_flags(core.TyperGroup), _hide_types_of_flags(core.TyperCommand)
    app = typer.Typer(cls=group, no_args_is_help=True, rich_markup_mode="rich", help=_HELP)

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
    for name, place in COMMANDS.items():
        module = importlib.import_module(f".{place}", __package__)
        examples = [example for example in module.EXAMPLES if f"lhtree {name}" in example]
        function = getattr(module, name)
        command = app.command(
            name,
            cls=kind,
            help=_join_lines(function.__doc__),
            epilog=_write_examples(examples),
            no_args_is_help=name != "version",
        )
        command(guard.wrap(expand_groups(function)))
    return app


def _hide_types_of_flags(base: Any) -> Any:
    """Return a class of commands whose help shows options without a value as such; Typer would add ``<bool>``."""

    class WithoutTypes(base):  # type: ignore[misc]  # known at run time only
        def get_params(self, ctx: Any) -> Any:
            params = super().get_params(ctx)
            for param in params:
                if getattr(param, "is_flag", False) and param.metavar is None:
                    param.metavar = ""
            return params

    return WithoutTypes


def _join_lines(text: str) -> str:
    """Return a docstring with one line per paragraph; rich would keep its line breaks in a narrow terminal."""
    return "\n\n".join(" ".join(paragraph.split()) for paragraph in text.split("\n\n"))


def _write_examples(examples: list[str]) -> str:
    """Return the lines at the end of a help text; rich would read brackets as markup and join single lines."""
    return "\n\n".join(("Examples:", *(f"  {example}".replace("[", r"\[") for example in examples)))


def _open_closed_streams() -> None:
    """Open standard streams that the caller has closed."""
    for name, mode in (("stdin", "r"), ("stdout", "w"), ("stderr", "w")):
        if getattr(sys, name) is None:
            setattr(sys, name, open(os.devnull, mode, encoding="utf-8"))  # noqa: SIM115


def _escape_unknown_characters() -> None:
    """Escape characters that the terminal's encoding lacks."""
    if isinstance(sys.stdout, io.TextIOWrapper):
        sys.stdout.reconfigure(errors="backslashreplace")
