"""Whether exported models predict what the model predicts, on all rows of the nine data sets."""

from __future__ import annotations

import argparse
import tempfile
from collections.abc import Callable
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from lhtree import LHForestClassifier

from . import data as datasets
from . import export_runs
from .models import fit
from .report import markdown_table, write_json

_FAR = 1e-5  # rows that differ by more have taken another way


class Agreement(NamedTuple):
    """An exported model beside the model."""

    data: str
    model: str
    format: str
    n_rows: int
    is_equal: bool  # to the bit
    largest: float  # difference of a probability on rows that take the same way
    n_other_ways: int
    n_other_labels: int


def add_arguments(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("--quick", action="store_true", help="the three smallest data sets")
    parser.add_argument("--data", nargs="+", choices=datasets.NAMES, help="these data sets only")


def _compare(key: tuple[str, str, str], model: Any, X: NDArray[Any], run: Callable[[], Any]) -> Agreement:
    result, proba = run(), model.predict_proba(X)
    difference = np.abs(result.proba - proba).max(axis=1)
    is_same = difference <= _FAR
    return Agreement(
        *key,
        n_rows=len(X),
        is_equal=bool(np.array_equal(result.proba, proba)),
        largest=float(difference[is_same].max(initial=0.0)),
        n_other_ways=int((~is_same).sum()),
        n_other_labels=int((result.label != model.predict(X)).sum()),
    )


def _fit_all(split: datasets.Split) -> dict[str, Any]:
    models = {key: fit(key, split.X, split.y) for key in ("paper_tree", "readable_tree")}
    forests = {key: fit(key, split.X, split.y) for key in ("paper_forest", "mixed_forest")}
    small = LHForestClassifier(
        n_estimators=3, direction="mixed", gamma=50, min_samples_leaf=20, random_state=0
    )
    return models | {"small_forest": small.fit(split.X, split.y)} | forests


def compare(name: str, folder: Path) -> list[Agreement]:
    """All formats of all models of a data set; forests of 100 trees are too large for SQL."""
    data = datasets.load(name)
    X, X32 = data.X, data.X.astype(np.float32)
    agreements = []
    for key, model in _fit_all(datasets.split(data, 0)).items():
        batch = 256 if key in ("paper_forest", "mixed_forest") else 4096
        runs = {
            "ONNX": (X, lambda m=model, b=batch: export_runs.run_onnx(m, X, folder, b)),
            "ONNX float32": (X32, lambda m=model, b=batch: export_runs.run_onnx(m, X32, folder, b)),
            "C": (X, lambda m=model: export_runs.run_c(m, X, folder)),
        }
        if batch > 256:
            runs["SQLite"] = (X, lambda m=model: export_runs.run_sqlite(m, X))
            runs["DuckDB"] = (X, lambda m=model: export_runs.run_duckdb(m, X))
        for way, (rows, run) in runs.items():
            agreements.append(_compare((name, key, way), model, rows, run))
            print(*agreements[-1], flush=True)
    return agreements


def main(args: argparse.Namespace) -> None:
    names = args.data or (datasets.NAMES[:3] if args.quick else datasets.NAMES)
    agreements = []
    with tempfile.TemporaryDirectory() as folder:
        for name in names:
            agreements += compare(name, Path(folder))
    head = [
        "data",
        "model",
        "format",
        "rows",
        "to the bit",
        "largest difference",
        "other ways",
        "other labels",
    ]
    rows = [[*a[:4], "yes" if a.is_equal else "no", f"{a.largest:.1g}", *a[6:]] for a in agreements]
    print(f"\nExports\n\n{markdown_table(head, rows)}\n")
    if not args.data:
        write_json("exports-quick" if args.quick else "exports", [a._asdict() for a in agreements])
