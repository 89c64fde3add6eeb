"""Two more pages of the same measurements: one tree beside CART, and a forest of 100 trees beside its peers."""

from collections.abc import Iterator
from typing import Any

from ..common.draw import draw_bars
from ..common.pages import Docs, Figure, figure_table, markdown_table
from ..common.results import Result
from .fit import FORESTS, OURS
from .models import TITLES

_TREE_FIT_TARGETS = {"eeg": 10.0, "magic": 10.0, "spambase": 5.0, "skin": 5.0}
_FOREST_FIT_TARGETS = {"magic": 8.0, "eeg": 4.0, "spambase": 1.5}
_SCORED = ("paper_forest", "mixed_forest")


def _seconds(found: Result) -> dict[str, float]:
    return {key: timing["cpu"] for key, timing in found["times"].items()}


def _tree_fits(nine: Result) -> list[Figure]:
    figures = []
    for name, found in nine.items():
        ours, cart = (_seconds(found)[key] for key in ("paper_tree", "cart"))
        what = f"fit, {name} ({ours * 1e3:.2f} ms; CART {cart * 1e3:.2f} ms)"
        figures.append(Figure(what, cart / ours, _TREE_FIT_TARGETS.get(name, 1.0)))
    return figures


def _tree_needs(results: dict[str, Any]) -> Iterator[Figure]:
    """Other costs of one tree: time for a row, time to import, memory to fit."""
    for name, found in results.get("one_row", {}).get("data", {}).items():
        ours, cart = (_seconds(found)[f"{key}|predict_proba"] for key in ("paper_tree", "cart"))
        what = f"predict_proba of one row, {name} ({ours * 1e6:.2f} µs; CART {cart * 1e6:.1f} µs)"
        yield Figure(what, cart / ours, 40.0)
    if "import" in results:
        seconds = results["import"]["lhtree, after numpy"]["wall"]
        yield Figure("import lhtree, after numpy", seconds * 1e3, 30.0, "ms", is_floor=False)
    for n_rows, dtype, n_classes, n_bytes in results.get("memory", {}).get("peak_tree", []):
        what = f"peak memory of fit, {n_rows:,} × 50 {dtype}, {n_classes} classes (2.5 × float32 X + 50 MB)"
        yield Figure(what, n_bytes / 1e6, 2.5 * n_rows * 50 * 4 / 1e6 + 50, "MB", is_floor=False)


def render_tree(results: dict[str, Any], docs: Docs) -> dict[str, str]:
    """Return the table of one tree, and draw its fits."""
    nine = results.get("fit", {}).get("nine", {})
    fits = _tree_fits(nine)
    if fits:
        draw_bars(docs.pages, "tree", "Fitting one tree: speed-up over CART", list(nine), fits)
    return {"figures": figure_table([*fits, *_tree_needs(results)])}


def _forest_fits(nine: Result) -> Iterator[tuple[str, Figure]]:
    for name, found in nine.items():
        times = _seconds(found)
        targets = (_FOREST_FIT_TARGETS.get(name), 1.0, 0.5)
        for model, target in zip(OURS, targets, strict=True):
            what = f"fit, {name}: {TITLES[model]}, speed-up over RandomForest(100)"
            yield model, Figure(what, times["rf"] / times[model], target)
        if "catboost" in times:
            what = f"fit, {name}: slowest of our forests, speed-up over CatBoost"
            yield "catboost", Figure(what, times["catboost"] / max(times[model] for model in OURS), 1.0)


def _forest_needs(results: dict[str, Any]) -> Iterator[Figure]:
    """Scoring time and size of a forest."""
    for name, found in results.get("one_row", {}).get("data", {}).items():
        for model in _SCORED:
            for peer in ("catboost", "xgboost"):
                ours, theirs = (_seconds(found)[f"{key}|predict"] for key in (model, peer))
                what = f"predict of one row, {name}: {TITLES[model]} ({ours * 1e6:.1f} µs), "
                what += f"speed-up over {TITLES[peer]} ({theirs * 1e6:.0f} µs)"
                yield Figure(what, theirs / ours, 5.0)
    for name, found in results.get("batch", {}).items():
        size = max(found["times"], key=int)
        for model in _SCORED:
            ours, theirs = (int(size) / found["times"][size][key]["cpu"] / 1e6 for key in (model, "lightgbm"))
            what = f"predict_proba of {int(size):,} rows, {name}: {TITLES[model]} ({ours:.3f} M rows/s), "
            yield Figure(what + f"relative to LightGBM's ({theirs:.3f})", ours / theirs, 0.5)
    for name, sizes in results.get("memory", {}).get("pickled", {}).items():
        for model in _SCORED:
            what = f"size of the pickled model, {name}: {TITLES[model]} ({sizes[model] / 1e6:.1f} MB), "
            what += f"relative to RandomForest's ({sizes['rf'] / 1e6:.1f} MB)"
            yield Figure(what, sizes[model] / sizes["rf"], 0.5, is_floor=False)


def render_forest(results: dict[str, Any], docs: Docs) -> dict[str, str]:
    """Return the tables of a forest, and draw the fits of the mixed one."""
    nine = results.get("fit", {}).get("nine", {})
    fits = list(_forest_fits(nine))
    if nine:
        title = "Fitting the mixed forest: speed-up over RandomForestClassifier(100)"
        mixed = [figure for model, figure in fits if model == "mixed_forest"]
        draw_bars(docs.pages, "cost", title, list(nine), mixed)
    models = (*FORESTS, "catboost")
    rows = [
        [name, *(f"{_seconds(found)[key]:.3f}" if key in found["times"] else "–" for key in models)]
        for name, found in nine.items()
    ]
    return {
        "seconds": markdown_table(["data", *(TITLES[key].removesuffix(" (100)") for key in models)], rows),
        "fits": figure_table(figure for _, figure in fits),
        "scoring": figure_table(_forest_needs(results)),
    }
