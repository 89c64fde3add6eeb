"""Predictions of exported models compared with the model, on all rows of the nine data sets."""

import tempfile
from collections.abc import Callable
from functools import partial
from pathlib import Path
from typing import Any, ClassVar, NamedTuple

import numpy as np
from numpy.typing import NDArray
from tests.support import exports as runs

from .common import data as datasets
from .common.models import fit
from .common.pages import Docs, markdown_table
from .runner import Args, Parts, Tell

_FAR = 1e-5  # rows that differ by more have taken another path
_LARGE = ("paper_forest", "mixed_forest")


class Agreement(NamedTuple):
    """An exported model beside the model."""

    data: str
    model: str
    format: str
    n_rows: int
    is_equal: bool  # to the bit
    largest: float  # difference of a probability on rows that take the same path
    n_other_ways: int
    n_other_labels: int


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
    small = {"n_estimators": 3, "gamma": 50, "min_samples_leaf": 20}
    models["small_forest"] = fit("mixed_forest", split.X, split.y, **small)
    return models | {key: fit(key, split.X, split.y) for key in _LARGE}


def _compare_all(name: str, tell: Tell, _: Args) -> list[Agreement]:
    """All formats of all models of a data set; forests of 100 trees are too large for SQL."""
    data = datasets.load(name)
    X, X32 = data.X, data.X.astype(np.float32)
    agreements = []
    with tempfile.TemporaryDirectory() as temporary:
        folder = Path(temporary)
        for key, model in _fit_all(datasets.split(data, 0)).items():
            batch = 256 if key in _LARGE else 4096
            ways = {
                "ONNX": (X, partial(runs.run_onnx, model, X, folder, batch)),
                "ONNX float32": (X32, partial(runs.run_onnx, model, X32, folder, batch)),
                "C": (X, partial(runs.run_c, model, X, folder)),
            }
            if key not in _LARGE:
                ways["SQLite"] = (X, partial(runs.run_sqlite, model, X))
                ways["DuckDB"] = (X, partial(runs.run_duckdb, model, X))
            for way, (rows, run) in ways.items():
                tell(f"{key}, {way}")
                agreements.append(_compare((name, key, way), model, rows, run))
    return agreements


class Exports(Parts):
    """The question, one part per data set; it has no page."""

    name = "exports"
    quick = "the three smallest data sets"
    parts: ClassVar = {name: partial(_compare_all, name) for name in datasets.NAMES}
    quick_parts = datasets.NAMES[:3]

    def page(self, results: dict[str, Any], docs: Docs) -> dict[str, str]:
        agreements = [Agreement(*cells) for part in results.values() for cells in part]
        head = "data | model | format | rows | to the bit | largest difference | other ways | other labels"
        rows = [[*a[:4], "yes" if a.is_equal else "no", f"{a.largest:.1g}", *a[6:]] for a in agreements]
        return {"figures": markdown_table(head, rows)}


QUESTION = Exports()
