"""``lhtree export``: a model as ONNX, C or SQL."""

from __future__ import annotations

from enum import Enum
from pathlib import Path
from typing import Annotated

import typer

from ._errors import ExitCode, Problem, writing
from ._files import check_place, load_model, write_file
from ._options import ModelFile, Names, Quiet
from ._show import note, write_bytes

EXAMPLES = (
    "lhtree export model.lht --out model.onnx",
    "lhtree export model.lht --to c --name sales --out sales.c",
    "lhtree export tree.lht --to sql --dialect duckdb --table sales --key shop --out sales.sql",
    "lhtree export tree.lht --to sql",
)


class Format(str, Enum):
    """Export formats."""

    ONNX = "onnx"
    C = "c"
    SQL = "sql"


class Dialect(str, Enum):
    """SQL dialects."""

    SQLITE = "sqlite"
    DUCKDB = "duckdb"
    POSTGRESQL = "postgresql"


def export(
    model: ModelFile,
    to: Annotated[
        Format | None,
        typer.Option(help="Output language. Default: detected from the extension of --out."),
    ] = None,
    out: Annotated[
        Path | None,
        typer.Option("--out", "-o", metavar="FILE", help="Output file. Default: SQL is printed."),
    ] = None,
    name: Annotated[str, typer.Option(metavar="NAME", help="C: prefix of public names.")] = "lhtree",
    float32: Annotated[
        bool, typer.Option("--float32", help="ONNX: float32 input instead of float64.")
    ] = False,
    single_input: Annotated[
        bool, typer.Option("--single-input", help="ONNX: one input for all columns, which must be numbers.")
    ] = False,
    dialect: Annotated[Dialect, typer.Option(help="SQL: target database.")] = Dialect.SQLITE,
    table: Annotated[str, typer.Option(metavar="NAME", help="SQL: table to predict.")] = "data",
    key: Annotated[
        Names, typer.Option(metavar="NAME", help="SQL: column to keep in the result; may be repeated.")
    ] = None,
    force: Annotated[
        bool, typer.Option("--force", help="SQL: write the statement however large it is.")
    ] = False,
    quiet: Quiet = False,
) -> None:
    """Export a model to ONNX, C or SQL; predictions are bit-identical."""
    import lhtree

    if out == Path("-"):
        out = None
    chosen = _choose(to, out)
    if out is not None:
        check_place(out, model)
    loaded = load_model(model)
    if chosen is Format.SQL:
        text = lhtree.export_sql(loaded, table=table, keys=key or (), dialect=dialect.value, force=force)
        if out is None:
            print(text)
            return
        write_file(out, f"{text}\n".encode())
    elif out is None:
        raise Problem(f"{chosen.value} needs a file: pass --out FILE", ExitCode.USAGE)
    else:
        with writing(out):
            if chosen is Format.C:
                lhtree.export_c(loaded, out, name=name)
            else:
                dtype = "float32" if float32 else "float64"
                lhtree.export_onnx(loaded, out, dtype=dtype, single_input=single_input)
    note(f"{out} written: {chosen.value.upper()}, {write_bytes(out.stat().st_size)}", quiet=quiet)


def _choose(to: Format | None, out: Path | None) -> Format:
    """Return the requested format, or that of the file's extension."""
    if to is not None:
        return to
    ending = "" if out is None else out.suffix.lower().removeprefix(".")
    if ending not in list(Format):
        raise Problem("specify the format: --to onnx, --to c or --to sql", ExitCode.USAGE)
    return Format(ending)
