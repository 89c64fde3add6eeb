"""Held-out rows of ``lhtree fit``: random rows, or the last rows by a column."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ..evaluation import Measured, OutputEvaluations, evaluate
from ..evaluation.drift import summarise_holdout
from ..io.read import TrainingTable
from ..io.source import Reading
from ..io.streams import open_stream
from ..io.target import read_classes
from ..model.profile import find_scores
from ..tables.errors import check_known
from ._errors import ExitCode, Problem


def order_rows(
    path: str, target: str, name: str, reading: Reading, training: TrainingTable
) -> NDArray[np.int64]:
    """Return the rows of a table in the order of a column: numbers, or dates written as text."""
    if path == "-":
        raise Problem(
            "--holdout-by reads the table again: pass a file instead of standard input", ExitCode.USAGE
        )
    with open_stream(path, reading) as stream:
        check_known("holdout-by", [name], stream.names, stream.name)
        rows = stream.read_all(dict.fromkeys([name, target]))
        is_known = read_classes(rows, target).codes >= 0
        column = rows.column(name)
        if column.kind == "numbers":
            values: Any = column.numbers()[is_known]
        else:
            values = column.days()[is_known] if column.kind == "dates" else np.array([np.nan])
    if len(values) != len(training.y) or np.isnan(values).any():
        raise Problem(
            f"--holdout-by {name} is missing in some rows, or neither a number nor a date such as 2026-01-31: fill it "
            "in, or hold out random rows with --holdout alone"
        )
    return np.argsort(values, kind="stable")


def hold_out(
    estimator: Any,
    training: TrainingTable,
    targets: Sequence[str],
    share: float,
    seed: int,
    order: NDArray[np.int64] | None,
    by: str | None,
) -> tuple[Measured | OutputEvaluations, dict[str, Any] | None]:
    """Fit on a part of the rows and evaluate on the others: random rows, stratified by class, or the last of an order.

    Also returns the results as the provenance of a model keeps them; None of several outputs.
    """
    from sklearn.base import clone
    from sklearn.model_selection import train_test_split

    n_rows = len(training.y)
    n_held = int(np.ceil(share * n_rows))
    codes = None
    if training.task == "classification":
        classes, codes, counts = np.unique(training.y, return_inverse=True, return_counts=True)
        if counts.min() < 2 or min(n_held, n_rows - n_held) < len(classes):
            raise Problem(
                f"--holdout {share:g} cannot be stratified: class {classes[counts.argmin()]!r} has "
                f"{counts.min()} of {n_rows} rows; omit --holdout, or pass more rows"
            )
    elif n_held == n_rows:
        raise Problem(f"--holdout {share:g} leaves no row to fit: omit --holdout, or pass more rows")
    if order is None:
        rows, held = train_test_split(np.arange(n_rows), test_size=share, stratify=codes, random_state=seed)
    else:
        rows, held = order[:-n_held], order[-n_held:]
        if codes is not None and len(np.unique(codes[rows])) < len(np.unique(codes)):
            raise Problem(f"--holdout {share:g} leaves no row of a class to fit: pass a smaller share")
    model = clone(estimator).fit(training.X.iloc[rows], training.take_responses(targets, rows))
    X, learned = training.X.iloc[held], model._model
    measured = evaluate(model, X, training.y[held])
    if isinstance(measured, OutputEvaluations):
        return measured, None
    how = f"{share:g} of the rows, {'at random' if by is None else f'the last by {by}'}"
    return measured, summarise_holdout(measured, find_scores(learned, learned.code(X, model)), how)
