"""``lhtree evaluate``: how well a model does on a table whose classes are known."""

from __future__ import annotations

from typing import Any

import numpy as np

from ..tables.batches import open_stream
from ..tables.names import check_known
from ..tables.source import Reading
from ..tables.target import match_classes, refuse_missing
from . import _signals
from ._errors import Problem
from ._metrics import join, judge, list_figures, measure, write_percent
from ._model import Encoder, load_scorer, tell_unseen
from ._options import (
    DataFile,
    Decimal,
    Delimiter,
    DropMissingTarget,
    Encoding,
    Format,
    Json,
    ModelFile,
    Quiet,
    Target,
    Threads,
    Unseen,
    count_threads,
)
from ._show import note, show_bar, show_facts, show_json, show_table

EXAMPLES = (
    "lhtree evaluate model.lht test.csv --target y",
    "lhtree evaluate model.lht test.csv --target y --json",
)
_MOST_CLASSES = 20  # beyond these a confusion table is not readable; --json has it


def evaluate(
    model: ModelFile,
    data: DataFile,
    target: Target,
    drop_missing_target: DropMissingTarget = False,
    unseen: Unseen = "error",
    threads: Threads = -1,
    format: Format = None,
    delimiter: Delimiter = None,
    decimal: Decimal = ".",
    encoding: Encoding = None,
    is_json: Json = False,
    quiet: Quiet = False,
) -> None:
    """Measure a model on a table whose classes are known: rows it was not trained on, as a rule.

    Accuracy has an interval of 95 %. Coverage tells how many rows have a WOLF value of at least a threshold, and how
    many of those are predicted rightly.
    """
    n_threads = count_threads(threads)
    scorer = load_scorer(model)
    with open_stream(data, Reading(format, delimiter, decimal, encoding)) as stream:
        check_known("target", [target], stream.names, stream.name)
        encoder = Encoder(scorer, stream, unseen)
        columns = list(dict.fromkeys([*encoder.columns, target]))
        parts, n_missing = [], 0
        with show_bar(1.0, "predicting", quiet=quiet) as update:
            for rows in stream.batches(columns):
                codes = match_classes(rows, target, scorer.classes_)
                known = np.flatnonzero(codes >= 0)
                n_missing += len(codes) - len(known)
                features = encoder.encode(rows)[known]
                if len(known):
                    parts.append(judge(encoder.scorer, features, codes[known], n_threads=n_threads))
                _signals.check()
                update(stream.share() or 0.0, "predicting")
    if n_missing and not drop_missing_target:
        raise refuse_missing(n_missing, n_missing + sum(len(part.codes) for part in parts), target)
    if not parts:
        raise Problem(f"{stream.name} has no rows with a class: pass a table with rows")
    judged = join(parts)
    facts = measure(judged, scorer.classes_.tolist()) | {"n_dropped": n_missing}
    if n_missing:
        note(f"lhtree: {n_missing} rows without a class were left out", quiet=quiet)
    tell_unseen(encoder.n_unseen, quiet=quiet)
    if is_json:
        show_json(facts)
    else:
        _show(facts)


def _show(facts: dict[str, Any]) -> None:
    show_facts(list_figures(facts))
    classes = facts["classes"]
    print()
    show_table(
        "Classes",
        ("class", ">rows", ">predicted", ">precision", ">recall"),
        (
            (
                one["class"],
                one["n_rows"],
                one["n_predicted"],
                write_percent(one["precision"]),
                write_percent(one["recall"]),
            )
            for one in classes
        ),
    )
    if len(classes) <= _MOST_CLASSES:
        print()
        show_table(
            "Rows of each class (down) by what is predicted (across)",
            ("", *(f">{one['class']}" for one in classes)),
            ((one["class"], *counts) for one, counts in zip(classes, facts["confusion"], strict=True)),
        )
    print()
    show_table(
        "Rows with a WOLF value of at least a threshold",
        (">threshold", ">rows", ">coverage", ">accuracy"),
        (
            (
                f"{one['threshold']:g}",
                one["n_decided"],
                write_percent(one["coverage"]),
                write_percent(one["accuracy"]),
            )
            for one in facts["coverage"]
        ),
    )
