"""Files of commands: models, tables for them, and output files."""

from __future__ import annotations

import hashlib
import io
import os
from collections import Counter
from collections.abc import Callable, Sequence
from dataclasses import replace
from datetime import datetime, timezone
from pathlib import Path
from typing import Any

from .._extras import import_extra
from .._write import write_whole
from ..io.read import RowsTable, read_rows
from ..model.model import Model, read
from ..scorer import Scorer
from ._errors import ExitCode, Problem, check_signals, reading, writing
from ._options import RowOptions, TableOptions
from ._show import note


def add_provenance(model: Any, path: str, target: str, held: dict[str, Any] | None = None) -> Any:
    """Return the model with its target, the date, the file with its hash, and the results on held-out rows."""
    source: dict[str, Any] = {"path": "standard input" if path == "-" else path}
    if os.path.isfile(path):
        digest = hashlib.sha256()
        with reading(path), open(path, "rb") as file:
            while part := file.read(1 << 20):
                digest.update(part)
        source["sha256"] = digest.hexdigest()
    now = datetime.now(timezone.utc).isoformat(timespec="seconds")
    provenance = replace(model.provenance, target=target, date=now, source=source, holdout=held)
    return replace(model, provenance=provenance)


def load_scorer(path: str) -> Scorer:
    """Load a model for prediction only."""
    from ..scorer import load_scorer

    with reading(path):
        scorer = load_scorer(path)
    check_signals()  # before a read of standard input, which may block
    return scorer


def load_model(path: str) -> Any:
    """Load a model."""
    from lhtree import load

    with reading(path):
        return load(path)


def choose_output(model: Any, output: str | None) -> Any:
    """Return a model, or the model of one of its outputs, of which there must be several."""
    names = read(model, takes_numbers=True, takes_several=True).head.names
    if output is None and names:
        raise Problem(f"the model has several outputs: pass --output {' or '.join(names)}", ExitCode.USAGE)
    if output is not None and output not in names:
        remedy = f"pass {' or '.join(names)}" if names else "omit it: the model has one output"
        raise Problem(f"--output {output} is not valid: {remedy}", ExitCode.USAGE)
    return model if output is None else model.output(output)


def find_target(model: Model, path: str, given: str | None) -> str:
    """Return the column that a model predicts: the given one, else that of the fit."""
    target = given or getattr(model.provenance, "target", None)
    if target is None:
        raise Problem(f"{path} does not name its target: pass --target", ExitCode.USAGE)
    return target


def read_table(
    model: Any, path: str, options: TableOptions, *, quiet: bool = False, **others: Any
) -> RowsTable:
    """Read a whole table with the columns of a model; ``others`` are arguments of ``read_rows``."""
    learned = read(model, takes_numbers=True, takes_several=True)
    classes = learned.classes if learned.head.predicts_classes else None
    if isinstance(options, RowOptions):
        others = {"unseen": options.unseen, "drop_missing_target": options.drop_missing_target} | others
    rows = read_rows(path, learned.encoding, classes, options.reading, **others)
    note_unseen(rows.n_unseen, quiet=quiet)
    return rows


def note_unseen(n_unseen: Counter[str], *, quiet: bool) -> None:
    """Print a note on values that were treated as missing."""
    counts = ", ".join(f"{n} of column {name!r}" for name, n in n_unseen.items())
    if counts:
        note(f"lhtree: categories not seen in training are treated as missing: {counts}", quiet=quiet)


def check_place(path: Path, *sources: str | None) -> None:
    """Reject an output path that cannot be written or is an input, before any work is done."""
    with writing(path):
        reason = _find_reason(path, [source for source in sources if source is not None])
    if reason is not None:
        raise Problem(f"cannot write {path}: {reason}", ExitCode.WRITE)


def _find_reason(path: Path, sources: Sequence[str]) -> str | None:
    if path == Path("-"):
        return "it means standard output; pass a file name"
    if path.is_dir():
        return "it is a directory; pass the name of a file"
    if path.exists() and not path.is_file():  # a device would be replaced by a file
        return "it is not a regular file"
    if not path.parent.is_dir():
        return f"the directory {path.parent} does not exist"
    if not os.access(path.parent, os.W_OK):
        return f"the directory {path.parent} is not writable"
    if path.exists() and any(os.path.exists(source) and path.samefile(source) for source in sources):
        return "it is an input file; write to another file"
    if any(os.path.isdir(source) and Path(source).resolve() in path.resolve().parents for source in sources):
        return "it is in the input folder; write to another folder"
    return None


def write_file(path: Path, content: bytes) -> None:
    """Write a file atomically."""
    check_place(path)
    with writing(path):
        write_whole(path, content)


def check_picture(path: Path) -> None:
    """Reject a picture whose format is unknown."""
    known = import_extra("matplotlib.backend_bases", "plot").FigureCanvasBase.get_supported_filetypes()
    if path.suffix.lower().removeprefix(".") not in known:
        endings = ", ".join(f".{name}" for name in sorted(known))
        raise Problem(f"--plot {path}: the extension must be one of {endings}", ExitCode.USAGE)


def save_figure(draw: Callable[[], Any], path: Path) -> bytes:
    """Return the picture of a figure in the format of the path's extension; it is drawn without a screen."""
    import_extra("matplotlib", "plot").use("Agg")
    figure = draw()
    picture = io.BytesIO()
    figure.savefig(picture, format=path.suffix.lower().removeprefix("."), bbox_inches="tight", dpi=150)
    import_extra("matplotlib.pyplot", "plot").close(figure)
    return picture.getvalue()
