"""What a forest of 100 trees costs beside its peers: fit, one row, batches, bytes."""

import pickle
from functools import partial
from typing import Any, ClassVar

from ..common import data as datasets
from ..common.draw import draw_bars
from ..common.models import TITLES, fit, fit_100
from ..common.pages import Docs, Figure, figure_table, markdown_table, read_figures
from ..common.timing import time_cpu, time_single_rows
from ..runner import Args, Parts, Tell

_FORESTS = ("paper_forest", "fisher_forest", "mixed_forest")
_SCORED = ("paper_forest", "mixed_forest")
_SCORED_DATA = ("spambase", "magic")
_PAPER_TARGETS = {"magic": 8.0, "eeg": 4.0, "spambase": 1.5}
_BATCH = 20_000


def measure_fits(tell: Tell, args: Args) -> dict[str, dict[str, float]]:
    """CPU seconds of fits of our forests, RandomForestClassifier(100) and CatBoost."""
    seconds = {}
    models = (*_FORESTS, "rf") if args.quick else (*_FORESTS, "rf", "catboost")
    for name in _SCORED_DATA if args.quick else datasets.NAMES:
        tell(name)
        data = datasets.load(name)
        calls = {model: partial(fit, model, data.X, data.y) for model in models}
        seconds[name] = time_cpu(calls, n_rounds=1 if args.quick else 5, seconds=5 if args.quick else 40)
    return seconds


def compare_fits(seconds: dict[str, dict[str, float]]) -> list[Figure]:
    """Our forests against RandomForestClassifier(100) and CatBoost."""
    figures = []
    for name, times in seconds.items():
        targets = {"paper_forest": _PAPER_TARGETS.get(name), "fisher_forest": 1.0, "mixed_forest": 0.5}
        for model, target in targets.items():
            what = f"fit, {name}: {TITLES[model]}, times faster than RandomForest(100)"
            figures.append(Figure(what, times["rf"] / times[model], target))
        if "catboost" in times:
            slowest = max(times[model] for model in _FORESTS)
            what = f"fit, {name}: slowest of our forests, times faster than CatBoost"
            figures.append(Figure(what, times["catboost"] / slowest, 1.0))
    return figures


def measure_one_row(tell: Tell, args: Args) -> list[Figure]:
    """``predict`` of one row through 100 trees."""
    figures = []
    for name in _SCORED_DATA:
        tell(name)
        data = datasets.load(name)
        calls = {key: fit_100(key, data.X, data.y).predict for key in (*_SCORED, "catboost", "xgboost")}
        median = time_single_rows(calls, data.X, 3 if args.quick else 10)
        for ours in _SCORED:
            for peer in ("catboost", "xgboost"):
                what = (
                    f"predict of one row, {name}: {TITLES[ours]} ({median[ours] * 1e6:.1f} µs), "
                    f"times faster than {TITLES[peer]} ({median[peer] * 1e6:.0f} µs)"
                )
                figures.append(Figure(what, median[peer] / median[ours], 5.0))
    return figures


def measure_batches(tell: Tell, args: Args) -> list[Figure]:
    """``predict`` of 20,000 rows through 100 trees, as a share of LightGBM's rate."""
    figures = []
    for name in _SCORED_DATA:
        tell(name)
        data = datasets.load(name)
        rows = datasets.resample(data.X, _BATCH)
        models = {key: fit(key, data.X, data.y) for key in (*_SCORED, "lightgbm")}
        calls = {key: partial(model.predict, rows) for key, model in models.items()}
        times = time_cpu(calls, n_rounds=3 if args.quick else 9, seconds=10 if args.quick else 60)
        for ours in _SCORED:
            rates = [_BATCH / times[model] / 1e6 for model in (ours, "lightgbm")]
            what = (
                f"predict of {_BATCH:,} rows, {name}: {TITLES[ours]} ({rates[0]:.3f} M rows/s), "
                f"share of LightGBM's rate ({rates[1]:.3f})"
            )
            figures.append(Figure(what, rates[0] / rates[1], 0.5))
    return figures


def measure_bytes(tell: Tell, _: Args) -> list[Figure]:
    """Pickled forests against a pickled RandomForestClassifier(100) on MAGIC."""
    data = datasets.load("magic")
    sizes = {name: len(pickle.dumps(fit(name, data.X, data.y))) for name in (*_FORESTS, "rf")}
    figures = []
    for ours in _FORESTS:
        what = (
            f"bytes of the pickled model, magic: {TITLES[ours]} ({sizes[ours] / 1e6:.1f} MB), "
            f"share of RandomForest's ({sizes['rf'] / 1e6:.1f} MB)"
        )
        figures.append(Figure(what, sizes[ours] / sizes["rf"], 0.5, is_floor=False))
    return figures


class Cost(Parts):
    """The question."""

    name = "cost"
    fills = "benchmarks/cost.md"
    quick = "spambase and MAGIC only, one round"
    parts: ClassVar = {
        "fit": measure_fits,
        "one_row": measure_one_row,
        "batches": measure_batches,
        "bytes": measure_bytes,
    }

    def page(self, results: dict[str, Any], docs: Docs) -> dict[str, str]:
        seconds = results.get("fit", {})
        fits = compare_fits(seconds)
        models = list(next(iter(seconds.values()), {}))
        rows = [[name, *(f"{times[model]:.3f}" for model in models)] for name, times in seconds.items()]
        mixed = [figure for figure in fits if "mixed" in figure.what]
        title = "Fit of the mixed forest: times faster than RandomForestClassifier(100)"
        if mixed:
            draw_bars(docs.pages, "cost", title, list(seconds), mixed)
        others = [results.get(part, []) for part in ("one_row", "batches", "bytes")]
        return {
            "seconds": markdown_table(["data", *(TITLES[model] for model in models)], rows),
            "fits": figure_table(fits),
            "scoring": figure_table(figure for part in others for figure in read_figures(part)),
        }


QUESTION = Cost()
