"""What explanations cost beside predictions, and how they compare with permutation SHAP."""

from functools import partial
from typing import Any, ClassVar

import numpy as np

from ..common import data as datasets
from ..common.models import fit
from ..common.pages import Docs, Figure, figure_table, read_figures
from ..common.timing import time_cpu
from ..runner import Args, Parts, Tell
from .compare import measure_shap, tabulate

_N_ROWS = 10_000


def measure_batch(tell: Tell, args: Args) -> list[Figure]:
    """Explaining 10,000 rows with one tree, as a multiple of predicting them."""
    figures = []
    for name in ("spambase",) if args.quick else ("wdbc", "spambase", "eeg", "magic"):
        tell(name)
        data = datasets.load(name)
        X = np.ascontiguousarray(data.X[np.resize(np.arange(len(data.y)), _N_ROWS)])
        for key in ("paper_tree", "readable_tree"):
            model = fit(key, data.X, data.y)
            calls = {"predict": partial(model.predict, X), "explain": partial(model.explain_batch, X)}
            times = time_cpu(calls, n_rounds=3 if args.quick else 9, seconds=20)
            what = f"explain_batch, {name}, {key} ({times['explain'] * 1e3:.0f} ms for {_N_ROWS:,} rows)"
            figures.append(Figure(what, times["explain"] / times["predict"], 100.0, is_floor=False))
    return figures


def measure_one_row(tell: Tell, args: Args) -> list[Figure]:
    """One row explained in words by a forest of 100 trees per class."""
    figures = []
    for name in ("wine", "wdbc") if args.quick else ("wine", "wdbc", "spambase"):
        tell(name)
        data = datasets.load(name)
        for key in ("paper_forest", "mixed_forest"):
            explain = fit(key, data.X, data.y).explain
            calls = {key: lambda explain=explain, row=data.X[0]: str(explain(row))}
            times = time_cpu(calls, n_rounds=5, seconds=10)
            what = f"str(explain(row)), {name}, {key}"
            figures.append(Figure(what, times[key] * 1e3, 20.0, "ms", is_floor=False))
    return figures


class Explain(Parts):
    """The question."""

    name = "explain"
    fills = "benchmarks/explain.md"
    quick = "fewer rounds and data sets"
    parts: ClassVar = {"batch": measure_batch, "one_row": measure_one_row, "shap": measure_shap}

    def page(self, results: dict[str, Any], docs: Docs) -> dict[str, str]:
        figures = (figure for part in ("batch", "one_row") for figure in read_figures(results.get(part, ())))
        return {"figures": figure_table(figures), "shap": tabulate(results["shap"])}


QUESTION = Explain()
