"""Cost of explanations relative to predictions, and agreement with permutation SHAP."""

import warnings
from functools import partial
from typing import Any, ClassVar

import numpy as np

from .common import data as datasets
from .common.models import TITLES, fit
from .common.pages import Docs, Figure, figure_table, markdown_table, read_figures
from .common.timing import time_both, time_cpu
from .runner import Args, Parts, Tell

_N_COMPARED = 40  # rows compared with SHAP
_N_ROWS = 10_000  # rows of a batch
_N_BACKGROUND = 100
_MODELS = ("readable_tree", "mixed_forest", "boosted")


def measure_shap(tell: Tell, args: Args) -> list[dict[str, Any]]:
    """Correlation with permutation SHAP of the same sum, and the CPU seconds of both, on rows not trained on."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", PendingDeprecationWarning)  # by shap, when it is imported
        import shap

    found = []
    for name in ("wine",) if args.quick else ("wine", "wdbc", "spambase", "magic"):
        data = datasets.load(name)
        order = np.random.default_rng(0).permutation(len(data.y))
        rows, train = data.X[order[:_N_COMPARED]], order[_N_COMPARED:]
        for key in _MODELS:
            tell(f"{name}, {key}")
            model = fit(key, data.X[train], data.y[train])
            call = model.decision_function if key == "boosted" else model.predict_membership
            explainer = shap.explainers.Permutation(call, data.X[train[:_N_BACKGROUND]], seed=0)
            explainer(rows[:1], silent=True)  # numba compiles
            found.append({"data": name, "model": key} | _compare(model, explainer, rows))
    return found


def _compare(model: Any, explainer: Any, rows: Any) -> dict[str, float]:
    kept: dict[str, Any] = {}
    theirs = time_both(lambda: kept.update(theirs=explainer(rows, silent=True)))
    ours = time_both(lambda: kept.update(ours=model.explain_batch(rows)), n_calls=5)
    return {
        "correlation": _correlate(kept["ours"].to_shap().values, kept["theirs"].values),
        "ours": ours.cpu / len(rows),
        "theirs": theirs.cpu / len(rows),
    }


def _correlate(ours: Any, theirs: Any) -> float:
    """Correlation of all rows and features, of all classes, or of the second of two."""
    ours = ours[:, :, 1:] if ours.shape[2] == 2 else ours
    theirs = theirs.reshape(*theirs.shape[:2], -1)[:, :, -ours.shape[2] :]
    return float(np.corrcoef(ours.ravel(), theirs.ravel())[0, 1])


def tabulate(found: list[dict[str, Any]]) -> str:
    """The measurements as a table, and their medians."""
    rows = [
        [
            one["data"],
            TITLES[one["model"]],
            f"{one['correlation']:.2f}",
            f"{1e3 * one['ours']:.2f}",
            f"{1e3 * one['theirs']:.0f}",
            f"{one['theirs'] / one['ours']:.0f}×",
        ]
        for one in found
    ]
    head = "data | model | correlation | contributions, ms per row | SHAP, ms per row | ratio"
    correlation = float(np.median([one["correlation"] for one in found]))
    ratio = float(np.median([one["theirs"] / one["ours"] for one in found]))
    summary = (
        f"Median correlation {correlation:.2f}; permutation SHAP takes {ratio:.0f} times as long (median)."
    )
    return f"{markdown_table(head, rows)}\n\n{summary}"


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
