"""Arguments and options that commands share, for their signatures; some of them in groups."""

from __future__ import annotations

import inspect
import json
import os
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from enum import Enum
from typing import Annotated, Any, get_type_hints

import typer

from .._parameters import UNSEEN
from ..io.read import TrainingTable, read_training
from ..io.source import FORMATS, Reading
from ..model.records import DECLARED
from ..tables.errors import find_nearest
from ._errors import ExitCode, Problem, reading

DataFile = Annotated[
    str,
    typer.Argument(metavar="DATA", help="Table: CSV, TSV, Parquet or Arrow, optionally gzipped; - is stdin."),
]
ModelFile = Annotated[
    str, typer.Argument(metavar="MODEL", help="Model file written by lhtree fit or lhtree.save.")
]
Target = Annotated[
    str, typer.Option("--target", "-t", metavar="NAME", help="Column to predict: classes, or numbers.")
]
Targets = Annotated[
    list[str],
    typer.Option(
        "--target",
        "-t",
        metavar="NAME",
        help="Column to predict: classes, or numbers. May be repeated, to predict several numbers (boosted trees).",
    ),
]
FittedTarget = Annotated[
    str | None,
    typer.Option("--target", "-t", metavar="NAME", help="Column to predict. Default: that of the fit."),
]
FittedTargets = Annotated[
    list[str] | None,
    typer.Option(
        "--target",
        "-t",
        metavar="NAME",
        help="Column to predict; repeat it for a model of several. Default: those of the fit.",
    ),
]
Output = Annotated[
    str | None,
    typer.Option(
        "--output",
        metavar="NAME",
        help="One of several outputs of the model: a quantile, or the name of a target.",
    ),
]
Names = list[str] | None
Drop = Annotated[
    Names, typer.Option("--drop", "--id", metavar="NAME", help="Ignore a column; may be repeated.")
]
Categorical = Annotated[
    Names,
    typer.Option(
        "--categorical", metavar="NAME", help="Treat a numeric column as categorical; may be repeated."
    ),
]
DropMissingTarget = Annotated[
    bool, typer.Option("--drop-missing-target", help="Ignore rows whose target is missing.")
]


class TaskName(str, Enum):
    """Task of a model."""

    CLASSIFICATION = "classification"
    REGRESSION = "regression"


Task = Annotated[
    TaskName | None,
    typer.Option(
        "--task",
        metavar="NAME",
        help="classification or regression. Default: regression if the target holds many different numbers.",
    ),
]
Format = Annotated[
    str | None,
    typer.Option(
        "--format",
        metavar="FORMAT",
        help="csv, tsv, parquet or arrow. Default: detected automatically.",
        autocompletion=lambda: list(FORMATS),
    ),
]
Delimiter = Annotated[
    str | None,
    typer.Option(
        "--delimiter", metavar="CHAR", help="Field delimiter of a CSV. Default: detected automatically."
    ),
]
Decimal = Annotated[str, typer.Option("--decimal", metavar="CHAR", help="Decimal separator of a CSV: . or ,")]
Encoding = Annotated[
    str | None,
    typer.Option(
        "--encoding",
        metavar="NAME",
        help="Text encoding of a CSV. Default: UTF-8, or according to its byte-order mark.",
    ),
]
Unseen = Annotated[
    str,
    typer.Option(
        "--unseen",
        metavar="error|missing",
        help="Categories not seen in training: error, or treat as missing.",
        autocompletion=lambda: list(UNSEEN),
    ),
]
Positive = Annotated[
    str | None,
    typer.Option(
        "--positive", metavar="CLASS", help="Class of interest. Default: that declared in the model, if any."
    ),
]
Threshold = Annotated[
    float | None,
    typer.Option(
        "--threshold",
        metavar="NUMBER",
        help="Two classes: probability from which the positive class, else the second, is predicted.",
    ),
]
By = Annotated[
    Names,
    typer.Option(
        "--by",
        metavar="NAME",
        help="Also show results by the groups of a column, which the model need not use; may be repeated.",
    ),
]
ReasonTexts = Annotated[
    str | None,
    typer.Option(
        "--texts",
        metavar="FILE",
        help="Reasons: JSON file with an object of codes and sentences by column, such as "
        '{"income": ["R1", "Income is too low"]}.',
    ),
]
ReasonGroups = Annotated[
    Names,
    typer.Option(
        "--group",
        metavar="NAME=A,B",
        help="Reasons: columns that mean the same, by a common name; may be repeated.",
    ),
]
Quiet = Annotated[bool, typer.Option("--quiet", "-q", help="Show no progress bar and no notes.")]
Json = Annotated[bool, typer.Option("--json", help="Print one JSON document instead of text.")]
Threads = Annotated[
    int,
    typer.Option(
        "--threads", metavar="N", help="Number of threads; -1 uses all cores. Results do not depend on it."
    ),
]


class OptionGroup:
    """Options that commands take as one argument; subclasses are dataclasses with one field per option."""


@dataclass(frozen=True)
class TableOptions(OptionGroup):
    """How a table is read."""

    format: Format = None
    delimiter: Delimiter = None
    decimal: Decimal = "."
    encoding: Encoding = None

    @property
    def reading(self) -> Reading:
        """Return the checked options."""
        return Reading(self.format, self.delimiter, self.decimal, self.encoding)


@dataclass(frozen=True)
class RowOptions(TableOptions):
    """How rows for a model, with their targets, are read."""

    drop_missing_target: DropMissingTarget = False
    unseen: Unseen = "error"


@dataclass(frozen=True)
class TrainingOptions(TableOptions):
    """How a training table is read."""

    task: Task = None
    drop: Drop = None
    categorical: Categorical = None
    drop_missing_target: DropMissingTarget = False

    def arguments(self) -> dict[str, Any]:
        """Return the arguments of ``read_training``."""
        return {
            "reading": self.reading,
            "drop": self.drop or (),
            "categorical": self.categorical or (),
            "drop_missing_target": self.drop_missing_target,
            "task": self.task and self.task.value,
        }

    def read(self, path: str, target: str) -> TrainingTable:
        """Read the table."""
        return read_training(path, target, **self.arguments())


def expand_groups(command: Callable[..., None]) -> Callable[..., None]:
    """Return a command that takes every option of its groups as an argument, as Typer needs it."""
    types = get_type_hints(command, include_extras=True)
    groups: dict[str, Any] = {}
    parameters: list[inspect.Parameter] = []
    for parameter in inspect.signature(command).parameters.values():
        kind, some = types[parameter.name], [parameter]
        if isinstance(kind, type) and issubclass(kind, OptionGroup):
            some = groups[parameter.name] = list(inspect.signature(kind).parameters.values())
            types |= get_type_hints(kind, include_extras=True)
        parameters += [
            each.replace(annotation=types[each.name], kind=inspect.Parameter.KEYWORD_ONLY) for each in some
        ]

    def expanded(**given: Any) -> None:
        for name, some in groups.items():
            given[name] = types[name](**{each.name: given.pop(each.name) for each in some})
        command(**given)

    expanded.__doc__, expanded.__name__ = command.__doc__, command.__name__
    expanded.__signature__ = inspect.Signature(parameters)  # type: ignore[attr-defined]
    expanded.__annotations__ = {each.name: each.annotation for each in parameters}
    return expanded


def count_threads(wanted: int) -> int:
    """Return the number of threads of ``--threads``."""
    if wanted != -1 and wanted < 1:
        raise Problem(f"--threads {wanted} is not valid: pass 1 or more, or -1 for all cores", ExitCode.USAGE)
    if wanted != -1:
        return wanted
    return len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1


def find_class(option: str, text: str | None, labels: Sequence[Any]) -> Any:
    """Return the class of a text; None if the option is not given."""
    if text is None:
        return None
    by_text = {str(label): label for label in labels}
    if not by_text:
        raise Problem(f"{option}: the model predicts a number, which has no classes; omit it")
    if text not in by_text:
        raise Problem(f"{option}: the model has no class {text!r} ({find_nearest(text, list(by_text))})")
    return by_text[text]


def read_texts(path: str | None) -> dict[str, Any] | None:
    """Return the texts of ``--texts``."""
    if path is None:
        return None
    with reading(path), open(path, encoding="utf-8") as file:
        try:
            found = json.load(file)
        except ValueError as error:
            raise Problem(f"--texts {path} is not valid JSON ({error})") from None
    if not isinstance(found, dict):
        raise Problem(f"--texts {path} is not an object of texts by column")
    return found


def read_groups(pairs: list[str] | None) -> dict[str, list[str]] | None:
    """Return the groups of ``--group``."""
    groups: dict[str, list[str]] = {}
    for pair in pairs or ():
        name, sign, members = pair.partition("=")
        if not sign or not name or not members:
            raise Problem(f"--group {pair} is not valid: pass NAME=COLUMN,COLUMN", ExitCode.USAGE)
        groups[name] = members.split(",")
    return groups or None


def check_threshold(threshold: float | None) -> None:
    """Reject a probability that is not from 0 to 1."""
    if threshold is not None and not 0.0 <= threshold <= 1.0:
        raise Problem(f"--threshold {threshold:g} is not valid: pass a number from 0 to 1", ExitCode.USAGE)


def check_least(**least: tuple[float | None, float]) -> None:
    """Reject numbers below their minimum; pass, by option, the number (None: not given) and the minimum."""
    for option, (value, lowest) in least.items():
        if value is not None and not value >= lowest:
            name = option.replace("_", "-")
            raise Problem(f"--{name} {value:g} is too small: pass {lowest:g} or more", ExitCode.USAGE)


def read_metadata(pairs: list[str]) -> dict[str, str] | None:
    """Return the notes of ``--metadata``."""
    kept: dict[str, str] = {}
    for pair in pairs:
        key, sign, value = pair.partition("=")
        if not sign or not key:
            raise Problem(f"--metadata {pair} is not valid: pass KEY=VALUE", ExitCode.USAGE)
        kept[key] = value
    return kept or None


def read_declared(pairs: list[str]) -> dict[str, list[str]]:
    """Return the columns of ``--declare`` by kind."""
    declared: dict[str, list[str]] = {}
    for pair in pairs:
        name, _, kind = pair.rpartition("=")
        if not name or kind not in DECLARED:
            kinds = ", ".join(f"NAME={own}" for own in DECLARED)
            raise Problem(f"--declare {pair} is not valid: pass one of {kinds}", ExitCode.USAGE)
        declared.setdefault(kind, []).append(name)
    return declared
