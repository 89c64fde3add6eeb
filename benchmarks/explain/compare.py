"""Contributions beside permutation SHAP: do they agree, and what do they cost."""

import warnings
from typing import Any

import numpy as np

from ..common import data as datasets
from ..common.models import TITLES, fit
from ..common.pages import markdown_table
from ..common.timing import time_both
from ..runner import Args, Tell

_N_ROWS = 40
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
        rows, train = data.X[order[:_N_ROWS]], order[_N_ROWS:]
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
