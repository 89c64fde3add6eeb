"""What ``lhtree fit`` tells: the table, the results on held-out rows, and the model."""

from __future__ import annotations

from typing import Any

import numpy as np

from ..evaluation import Measured, evaluate
from ..evaluation.measures import write_number
from ..io.passes import pass_over_file
from ..io.read import FilePasses, Training
from ._errors import Problem
from ._options import TaskName
from ._show import note, show_facts, write_bytes, write_seconds

_FEW_CLASSES = 20


def tell_numbers(training: Training | FilePasses, target: str, task: TaskName | None, *, quiet: bool) -> None:
    """A note on numbers that are taken for classes, though there are many."""
    if training.is_regression or task is not None or training.y.dtype.kind != "i":
        return
    n_classes = len(np.unique(training.y))
    if n_classes > _FEW_CLASSES:
        note(
            f"lhtree: the {n_classes} different numbers of {target} are taken for classes; to predict them as numbers, "
            "pass --task regression",
            quiet=quiet,
        )


def hold_out(estimator: Any, training: Training, share: float, seed: int) -> Measured:
    """Fit on a part of the rows, stratified by class, and evaluate on the others."""
    from sklearn.base import clone
    from sklearn.model_selection import train_test_split

    n_rows = len(training.y)
    n_held = int(np.ceil(share * n_rows))
    codes = None
    if training.is_regression:
        if n_held == n_rows:
            raise Problem(f"--holdout {share:g} leaves no row to fit: omit --holdout, or pass more rows")
    else:
        codes = _stratify(training.y, share, n_held)
    rows, held = train_test_split(np.arange(n_rows), test_size=share, stratify=codes, random_state=seed)
    model = clone(estimator).fit(training.X.iloc[rows], training.y[rows])
    return evaluate(model, training.X.iloc[held], training.y[held])


def _stratify(y: Any, share: float, n_held: int) -> Any:
    """The number of every row's class, if every class can be in both parts."""
    classes, codes, counts = np.unique(y, return_inverse=True, return_counts=True)
    if counts.min() < 2 or min(n_held, len(codes) - n_held) < len(classes):
        raise Problem(
            f"--holdout {share:g} cannot be stratified: class {classes[counts.argmin()]!r} has "
            f"{counts.min()} of {len(codes)} rows; omit --holdout, or pass more rows"
        )
    return codes


def describe_table(training: Training, path: str, target: str) -> dict[str, Any]:
    """A summary of the table."""
    X = training.X
    categories = {
        name: X[name].cat.remove_unused_categories().cat.categories.tolist()
        for name in training.names
        if name in training.as_categories
    }
    missing = {name: int(n) for name, n in X.isna().sum().items() if n}
    return _describe(training, path, target, categories, missing)


def fit_passes(estimator: Any, file: FilePasses, target: str, *, quiet: bool) -> dict[str, Any]:
    """Fit in passes over a file; a summary of the table."""
    n_cells = len(file.y) * len(file.names)
    note(
        f"lhtree: {file.path} is read in batches; codes take about {write_bytes(n_cells)} of scratch space",
        quiet=quiet,
    )
    surveyed = estimator._fit_passes(pass_over_file(file), None)
    encoding = surveyed.training.encoding
    known = dict(zip(encoding.names, encoding.categories, strict=True))
    categories = {name: list(known[name] or ()) for name in file.names if name in file.as_categories}
    return _describe(file, file.path, target, categories, surveyed.n_missing) | {"is_streamed": True}


def _describe(
    training: Training | FilePasses,
    path: str,
    target: str,
    categories: dict[str, list[str]],
    missing: dict[str, int],
) -> dict[str, Any]:
    return {
        "path": path,
        "n_rows": len(training.y),
        "n_dropped": training.n_dropped,
        "numbers": [name for name in training.names if name not in categories],
        "categories": categories,
        "missing": missing,
        "target": target,
        **_describe_target(training.y, is_regression=training.is_regression),
    }


def _describe_target(y: Any, *, is_regression: bool) -> dict[str, Any]:
    """The task, and the classes or the range of the numbers."""
    if is_regression:
        numbers = {"low": float(y.min()), "mean": float(y.mean()), "high": float(y.max())}
        return {"task": "regression", "response": numbers}
    classes, counts = np.unique(y, return_counts=True)
    pairs = zip(classes.tolist(), counts.tolist(), strict=True)
    return {"task": "classification", "classes": [{"class": label, "n_rows": n} for label, n in pairs]}


def _write_target(table: dict[str, Any]) -> tuple[str, str]:
    if table["task"] == "classification":
        return "classes", _list(f"{one['class']} ({one['n_rows']:,})" for one in table["classes"])
    low, mean, high = map(write_number, table["response"].values())
    return "regression", f"{table['target']}, from {low} to {high}, mean {mean}"


def show(facts: dict[str, Any], measured: Measured | None) -> None:
    table, model = facts["table"], facts["model"]
    n_missing = sum(table["missing"].values())
    categories = (f"{name} ({len(some)})" for name, some in table["categories"].items())
    dropped = f", {table['n_dropped']:,} without a target dropped" if table["n_dropped"] else ""
    show_facts(
        [
            ("table", f"{table['path']}: {table['n_rows']:,} rows{dropped}"),
            ("numeric", _list(table["numbers"]) or None),
            ("categorical", _list(categories) or None),
            ("missing", f"{n_missing:,} values in {_list(table['missing'])}" if n_missing else None),
            _write_target(table),
        ]
    )
    if measured is not None:
        print("\nHold-out results (model fitted on the other rows):")
        show_facts(measured.figures())
    print(f"\n{model['estimator']}")
    trees = _count(model["n_trees"], "tree")
    trees += f" of {_count(model['n_rounds'], 'round')}" if "n_rounds" in model else ""
    if "n_leaves" in model:
        trees += f" of {_count(model['n_leaves'], 'leaf', 'leaves')} and {_count(model['n_terms'], 'term')}"
    rows = "all rows but a tenth, held out for early stopping," if model["is_stopping"] else "all rows"
    trees += f", leaves of at least {model['min_samples_leaf']}," if "min_samples_leaf" in model else ""
    print(f"{trees} fitted on {rows} in {write_seconds(model['fit_seconds'])}")
    print(f"{model['path']} written, {write_bytes(model['n_bytes'])}")


def _count(n: int, one: str, many: str = "") -> str:
    return f"{n:,} {one if n == 1 else many or f'{one}s'}"


def _list(values: Any, most: int = 12) -> str:
    """The first few of some values, and how many more there are."""
    listed = list(values)
    more = f" and {len(listed) - most:,} more" if len(listed) > most else ""
    return ", ".join(listed[:most]) + more
