"""Summary of a table and its fitted model, as ``lhtree fit`` prints it."""

from __future__ import annotations

from typing import Any

import numpy as np

from ..evaluation import Measured, OutputEvaluations
from ..evaluation.measures import write_number
from ..io.read import FilePasses, TrainingTable
from ._show import show_facts, show_table, write_bytes, write_seconds, write_settings


def describe_table(training: TrainingTable, path: str, target: str) -> dict[str, Any]:
    """Return a summary of the table."""
    X = training.X
    categories = {
        name: X[name].cat.remove_unused_categories().cat.categories.tolist()
        for name in training.names
        if name in training.as_categories
    }
    missing = {name: int(n) for name, n in X.isna().sum().items() if n}
    return describe(training, path, target, categories, missing)


def describe(
    training: TrainingTable | FilePasses,
    path: str,
    target: str,
    categories: dict[str, list[str]],
    missing: dict[str, int],
) -> dict[str, Any]:
    """Return a summary of a table, given the categories and the number of missing values by column."""
    return {
        "path": path,
        "n_rows": len(training.y),
        "n_dropped": training.n_dropped,
        "numbers": [name for name in training.names if name not in categories],
        "categories": categories,
        "missing": missing,
        "target": target,
        "task": training.task,
        **_describe_target(training),
    }


def _describe_target(training: TrainingTable | FilePasses) -> dict[str, Any]:
    """Return the classes, or the range of the numbers."""
    y = training.y
    if training.task == "regression":
        return {"response": {"low": float(y.min()), "mean": float(y.mean()), "high": float(y.max())}}
    pairs = zip(*(values.tolist() for values in np.unique(y, return_counts=True)), strict=True)
    return {"classes": [{"class": label, "n_rows": n} for label, n in pairs]}


def _write_target(table: dict[str, Any]) -> tuple[str, str]:
    if table["task"] == "classification":
        return "classes", _list(f"{one['class']} ({one['n_rows']:,})" for one in table["classes"])
    low, mean, high = map(write_number, table["response"].values())
    return "regression", f"{table['target']}, from {low} to {high}, mean {mean}"


def show_fit(facts: dict[str, Any], measured: Measured | OutputEvaluations | None) -> None:
    """Print the table, the results on held-out rows, and the model."""
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
    if isinstance(measured, OutputEvaluations):
        print()
        show_table("Outputs", *measured.table())
    print(f"\n{model['estimator']}")
    trees = _count(model["n_trees"], "tree")
    trees += f" of {_count(model['n_rounds'], 'round')}" if "n_rounds" in model else ""
    if "n_leaves" in model:
        trees += f" of {_count(model['n_leaves'], 'leaf', 'leaves')} and {_count(model['n_terms'], 'term')}"
    rows = "all rows but a tenth, held out for early stopping," if model["is_stopping"] else "all rows"
    trees += f", leaves of at least {model['min_samples_leaf']}," if "min_samples_leaf" in model else ""
    print(f"{trees} fitted on {rows} in {write_seconds(model['fit_seconds'])}")
    if "cv_score" in model:
        score = model["cv_score"]
        name = f"log loss {-score:.4g}" if table["task"] == "classification" else f"R² {score:.4g}"
        print(f"{name} of out-of-fold predictions")
    if "chosen" in model:
        print(f"learning rate {model['chosen']['learning_rate']:g}, {write_settings(model['chosen'])}")
    print(f"{model['path']} written, {write_bytes(model['n_bytes'])}")


def _count(n: int, one: str, many: str = "") -> str:
    return f"{n:,} {one if n == 1 else many or f'{one}s'}"


def _list(values: Any, most: int = 12) -> str:
    """Return the first values, and the number of the others."""
    listed = list(values)
    more = f" and {len(listed) - most:,} more" if len(listed) > most else ""
    return ", ".join(listed[:most]) + more
