"""What a forest of 100 trees costs beside its peers: fit, one row, batches, bytes."""

from __future__ import annotations

import argparse
import pickle
import statistics
from functools import partial
from typing import Any

import numpy as np

from . import data as datasets
from .draw import draw_bars
from .models import MODELS, build_catboost, fit, has_forest
from .report import Figure, figure_table, markdown_table, write_json, write_page
from .timing import interleave

_FORESTS = ("paper_forest", "fisher_forest", "mixed_forest")
_QUICK_DATA = ("spambase", "magic")
_PAPER_TARGETS = {"magic": 8.0, "eeg": 4.0, "spambase": 1.5}
_BATCH = 20_000


def add_arguments(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("--quick", action="store_true", help="spambase and MAGIC only, one round, no page")
    parser.add_argument("--data", nargs="+", choices=datasets.NAMES, default=None)


def measure_fits(
    names: tuple[str, ...], *, is_quick: bool
) -> tuple[list[Figure], dict[str, dict[str, float]]]:
    """Fit of our forests against RandomForestClassifier(100) and CatBoost."""
    figures, seconds = [], {}
    peers = ("rf",) if is_quick else ("rf", "catboost")
    for name in names:
        data = datasets.load(name)
        calls = {model: partial(fit, model, data.X, data.y) for model in (*_FORESTS, *peers)}
        times = interleave(calls, n_rounds=1 if is_quick else 5, seconds=5 if is_quick else 40)
        seconds[name] = times
        targets = {"paper_forest": _PAPER_TARGETS.get(name), "fisher_forest": 1.0, "mixed_forest": 0.5}
        for model, target in targets.items():
            what = f"fit, {name}: {MODELS[model].title}, times faster than RandomForest(100)"
            figures.append(Figure(what, times["rf"] / times[model], target))
        if "catboost" in times:
            slowest = max(times[model] for model in _FORESTS)
            what = f"fit, {name}: slowest of our forests, times faster than CatBoost"
            figures.append(Figure(what, times["catboost"] / slowest, 1.0))
    return figures, seconds


def _fit_scored(data: datasets.Data, names: tuple[str, ...]) -> dict[str, Any]:
    """Fit models of 100 trees each."""
    own = {"catboost": lambda X, y: build_catboost(0, iterations=100).fit(X, y)}
    return {name: own.get(name, partial(fit, name))(data.X, data.y) for name in names}


def measure_one_row(*, is_quick: bool) -> list[Figure]:
    """``predict`` of one row through 100 trees."""
    figures = []
    for name in _QUICK_DATA:
        data = datasets.load(name)
        models = _fit_scored(data, ("paper_forest", "mixed_forest", "catboost", "xgboost"))
        times: dict[str, list[float]] = {model: [] for model in models}
        n_rows = 3 if is_quick else 10
        for i in range(n_rows):
            row = data.X[i * len(data.y) // n_rows][None].copy()
            calls = {key: partial(model.predict, row) for key, model in models.items()}
            for model, value in interleave(calls, n_rounds=5, seconds=5, least=0.01).items():
                times[model].append(value)
        median = {model: statistics.median(values) for model, values in times.items()}
        for ours in ("paper_forest", "mixed_forest"):
            for peer in ("catboost", "xgboost"):
                what = (
                    f"predict of one row, {name}: {MODELS[ours].title} ({median[ours] * 1e6:.1f} µs), "
                    f"times faster than {MODELS[peer].title} ({median[peer] * 1e6:.0f} µs)"
                )
                figures.append(Figure(what, median[peer] / median[ours], 5.0))
    return figures


def measure_batches(*, is_quick: bool) -> list[Figure]:
    """``predict`` of 20,000 rows through 100 trees, as a share of LightGBM's rate."""
    figures = []
    for name in ("spambase", "magic"):
        data = datasets.load(name)
        models = _fit_scored(data, ("paper_forest", "mixed_forest", "lightgbm"))
        rows = data.X[np.random.default_rng(0).integers(len(data.y), size=_BATCH)]
        calls = {key: partial(model.predict, rows) for key, model in models.items()}
        times = interleave(calls, n_rounds=3 if is_quick else 9, seconds=10 if is_quick else 60)
        for ours in ("paper_forest", "mixed_forest"):
            rates = [_BATCH / times[model] / 1e6 for model in (ours, "lightgbm")]
            what = (
                f"predict of {_BATCH:,} rows, {name}: {MODELS[ours].title} ({rates[0]:.3f} M rows/s), "
                f"share of LightGBM's rate ({rates[1]:.3f})"
            )
            figures.append(Figure(what, rates[0] / rates[1], 0.5))
    return figures


def measure_bytes() -> list[Figure]:
    """Pickled forests against a pickled RandomForestClassifier(100) on MAGIC."""
    data = datasets.load("magic")
    sizes = {name: len(pickle.dumps(model)) for name, model in _fit_scored(data, (*_FORESTS, "rf")).items()}
    return [
        Figure(
            f"bytes of the pickled model, magic: {MODELS[ours].title} ({sizes[ours] / 1e6:.1f} MB), "
            f"share of RandomForest's ({sizes['rf'] / 1e6:.1f} MB)",
            sizes[ours] / sizes["rf"],
            0.5,
            is_floor=False,
        )
        for ours in _FORESTS
    ]


def main(args: argparse.Namespace) -> None:
    if not has_forest():
        print("This lhtree has no LHForestClassifier yet: nothing to measure.")
        return
    names = tuple(args.data or (_QUICK_DATA if args.quick else datasets.NAMES))
    fits, seconds = measure_fits(names, is_quick=args.quick)
    others = [*measure_one_row(is_quick=args.quick), *measure_batches(is_quick=args.quick), *measure_bytes()]
    fit_table, other_table = figure_table(fits), figure_table(others)
    print(f"\nA forest of 100 trees beside its peers\n\n{fit_table}\n\n{other_table}\n")
    is_draft = args.quick or args.data
    kept = {"figures": [figure._asdict() for figure in [*fits, *others]], "fit_seconds": seconds}
    write_json("cost-draft" if is_draft else "cost", kept)
    if is_draft:
        return
    models = list(seconds[names[0]])
    rows = [[name, *(f"{seconds[name][model]:.3f}" for model in models)] for name in names]
    draw_bars(
        "cost",
        "Fit of the mixed forest: times faster than RandomForestClassifier(100)",
        names,
        [figure for figure in fits if "mixed" in figure.what],
    )
    write_page(
        "cost",
        "A forest of 100 trees beside its peers",
        [
            "`python -m benchmarks cost`. One thread each, calls take turns, medians of CPU time; on the largest set "
            "a slow model has one round. CatBoost is fitted at its defaults (1000 trees) and scores with 100.",
            "## Fit, seconds",
            markdown_table(["data", *(MODELS[model].title for model in models)], rows),
            fit_table,
            "![Fit of the mixed forest](cost.png)",
            "## Prediction and size",
            other_table,
        ],
    )
