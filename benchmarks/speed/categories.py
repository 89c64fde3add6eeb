"""A table of categories beside its peers: ``python -m benchmarks.speed.categories rows model`` measures one of them.

Every model is fitted in a process of its own: time and peak memory of the fit and of predictions for all rows.
"""

import json
import subprocess
import sys
from collections.abc import Iterator
from functools import partial
from typing import Any

import numpy as np

from ..common.memory import measure_peak
from ..common.pages import Figure, markdown_table
from ..common.results import ROOT, Result
from ..common.timing import time_both
from ..runner import Args, Tell

N_COLUMNS, N_LEVELS = 10, 200
_LEAF = {"min_samples_leaf": 20}
# Title, and the peer it is measured against.
MODELS: dict[str, tuple[str, str | None]] = {
    "tree": ("paper tree, depth ≤ 8", None),
    "forest": ("paper forest, 10 trees, depth ≤ 8", "rf"),
    "mixed": ("mixed forest, 10 trees", "rf"),
    "boosted": ("boosted, 100 rounds", "lightgbm"),
    "rf": ("RandomForest, 10 trees, sparse", None),
    "lightgbm": ("LightGBM, 100 rounds", None),
}


def make_table(n_rows: int) -> tuple[Any, Any]:
    """Categories, each with an effect of its own, and two classes."""
    import pandas as pd

    generator = np.random.default_rng(0)
    names = [f"{level:03}" for level in range(N_LEVELS)]
    signal, columns = np.zeros(n_rows), {}
    for column in range(N_COLUMNS):
        codes = generator.integers(0, N_LEVELS, n_rows, dtype=np.int16)
        signal += generator.normal(size=N_LEVELS)[codes]
        columns[f"c{column}"] = pd.Categorical.from_codes(codes, names)
    return pd.DataFrame(columns), (signal + generator.normal(size=n_rows) > 0).astype(np.int64)


def _build(model: str) -> Any:
    from lightgbm import LGBMClassifier
    from sklearn.ensemble import RandomForestClassifier
    from sklearn.pipeline import make_pipeline
    from sklearn.preprocessing import OneHotEncoder

    from lhtree import LHBoostClassifier, LHForestClassifier, LHTClassifier

    common = {"max_one_hot": N_LEVELS, "random_state": 0}
    if model == "tree":
        return LHTClassifier(max_depth=8, **common)
    if model == "forest":
        return LHForestClassifier(10, max_depth=8, **common)
    if model == "mixed":
        return LHForestClassifier(10, direction="mixed", **_LEAF, **common)
    if model == "boosted":
        return LHBoostClassifier(100, **common)
    if model == "rf":
        return make_pipeline(OneHotEncoder(), RandomForestClassifier(10, random_state=0, **_LEAF))
    return LGBMClassifier(n_estimators=100, n_jobs=1, verbose=-1, random_state=0)


def _measure_one(n_rows: int, model: str) -> Result:
    X, y = make_table(n_rows)
    some = slice(0, 2000)
    _build(model).fit(X[some], y[some]).predict(X[some])  # whatever a first fit loads
    estimator, result = _build(model), {}
    for name, work in (("fit", lambda: estimator.fit(X, y)), ("predict", lambda: estimator.predict(X))):
        peak, seconds = measure_peak(partial(time_both, work))
        result[name] = {"peak": peak, **seconds._asdict()}
    return result


def measure(tell: Tell, args: Args) -> Result:
    """Return the time and the peak memory of every model."""
    n_rows = 20_000 if args.quick else 1_000_000
    result: Result = {"n_rows": n_rows, "models": {}}
    for model in MODELS:
        tell(f"{n_rows:,} × {N_COLUMNS} categories: {model}")
        command = [sys.executable, "-m", "benchmarks.speed.categories", str(n_rows), model]
        done = subprocess.run(command, capture_output=True, check=True, text=True, cwd=ROOT)
        result["models"][model] = json.loads(done.stdout)
    return result


def find_figures(part: Result) -> Iterator[tuple[str, Figure]]:
    """Return the targets: memory of ours, below a gigabyte."""
    for model, (title, _) in list(MODELS.items())[:4]:
        for name in ("fit", "predict"):
            what = f"{title}: peak memory of {name}, {part['n_rows']:,} × {N_COLUMNS} columns of {N_LEVELS} categories"
            peak = part["models"][model][name]["peak"] / 1e6
            yield f"categories_{name}_{model}", Figure(what, peak, 1000.0, "MB", is_floor=False)


def render(part: Result) -> str:
    """Return the table of the page."""
    rows = []
    for model, (title, peer) in MODELS.items():
        cells = [title]
        for name in ("fit", "predict"):
            own = part["models"][model][name]
            cells += [f"{own['peak'] / 1e6:.0f}", f"{own['cpu']:.2f}"]
            if peer is None:
                cells.append("–")
            else:
                theirs = part["models"][peer][name]
                cells.append(f"{own['peak'] / max(theirs['peak'], 1):.2f}, {own['cpu'] / theirs['cpu']:.2f}")
        rows.append(cells)
    head = f"{part['n_rows']:,} rows | fit, MB | fit, s | over the peer's | predict, MB | predict, s | over the peer's"
    note = "The peer of forests is RandomForest, that of boosted trees LightGBM; MB, then s."
    return f"{markdown_table(head, rows)}\n\n{note}"


if __name__ == "__main__":
    print(json.dumps(_measure_one(int(sys.argv[1]), sys.argv[2])))
