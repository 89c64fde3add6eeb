"""Targets of speed: measurements, and the limiting factor of a missed target."""

from collections.abc import Iterator
from typing import Any

from ..common.pages import Figure, markdown_table
from ..common.results import Result
from . import boosting, categories
from .models import TITLES

_GATHERS = (
    "arithmetic: a level of ours gathers and multiplies up to four features, one of XGBoost's compares one; and ours "
    "takes more rounds"
)
_FOUR_TIMES = (
    "arithmetic: 400 trees of five levels, each of up to four products (26 ns a tree), against 100 trees of one "
    "comparison a level"
)
# One sentence for each row of the table that is missed, by its key. Names in braces are measured bounds:
# {read_gb_s}, {copy_gb_s}, {copy_two_threads}.
LIMITS: dict[str, str] = {
    "row_onnx_magic": "latency: a row visits 1,700 of 168,000 branching blocks, 11 MB that do not fit into the L2 "
    "cache; LightGBM's trees have 3,000 in total",
    "batch_xgboost_spambase": "arithmetic: 11 levels of up to 7 terms per tree, about 4 ns each, against 6 levels of "
    "one comparison",
    "batch_lightgbm_magic": "arithmetic and latency: 17 levels of up to 5 terms, 2.7 ns each (1.5 ns near the root, "
    "where many rows share a block), against 31 leaves per tree; trees are grown until blocks are pure",
    "fit_levels": "bandwidth: learning scales and normalising take 0.65 s, most of the target, before any block "
    "grows; then every level reads the rows for class sums, squares and feature sums and writes them in their new "
    "order (reading {read_gb_s:.1f} GB/s, copying {copy_gb_s:.1f} GB/s)",
    "threads_quiet_0": "bandwidth: two cores copy rows at {copy_two_threads:.2f} times the rate of one, and the upper "
    "levels of a tree are passes over rows that do not fit into the cache",
    "threads_quiet_1": "bandwidth shared by both cores (copying: {copy_two_threads:.2f} times one core's rate)",
    "threads_quiet_4": "bandwidth and cache shared by both cores (copying: {copy_two_threads:.2f} times one's rate)",
    "boost_catboost_eeg": "few features: with 14, a row costs 0.09 µs a round, about half of it in the passes for "
    "hyperplanes",
    "boost_catboost_magic": "few features: with 10, a row costs 0.08 µs a round, about half of it in the passes for "
    "hyperplanes",
    "boost_catboost_skin": "few features: with 3, a row costs 0.04 µs a round, more than a third of it in the passes "
    "for hyperplanes, and as much for derivatives, draws and parting, which do not depend on the number of features",
    "boost_row_spambase": _FOUR_TIMES,
    "boost_row_magic": _FOUR_TIMES,
    "boost_threads_busy": "cause not examined: one measurement on a shared machine",
    "boost_batch_lightgbm_spambase": "400 rounds do not reach LightGBM's log loss on this split: all are walked",
    "boost_batch_xgboost_spambase": _GATHERS,
    "boost_batch_xgboost_magic": _GATHERS,
    "boost_threads_quiet": "bandwidth shared by both cores (copying: {copy_two_threads:.2f} times one core's rate)",
    "rows_batch_mixed forest": "cache: a thousand rows fit, more are read from memory",
}

# The figures at the top of the page, by their keys: the task and the peer.
KEY_FIGURES: dict[str, tuple[str, str]] = {
    "proba_cart_spambase": ("one row, one tree", "CART in scikit-learn"),
    "row_onnx_spambase": ("one row, mixed forest of 100 trees", "LightGBM's 100 trees in onnxruntime"),
    "boost_row_spambase": ("one row, boosted, 400 rounds", "LightGBM's 100 trees in onnxruntime"),
    "batch_cart_magic": ("200,000 rows, one tree", "CART"),
    "boost_batch_lightgbm_magic": ("200,000 rows, boosted", "LightGBM at equal log loss"),
    "boost_batch_xgboost_magic": ("200,000 rows, boosted", "XGBoost at equal log loss"),
    "fit_cart": ("fit of 1,000,000 × 50, one tree", "CART, stopped: at least"),
    "fit_rf_magic": ("fit of magic, mixed forest", "RandomForest"),
    "boost_mixed_1,000,000 × 50": ("fit of 1,000,000 × 50, boosted, 100 rounds", "LightGBM"),
    "boost_catboost_magic": ("fit of magic, boosted, defaults", "CatBoost"),
    "boost_catboost_spambase": ("fit of spambase, boosted, defaults", "CatBoost"),
}

Found = Iterator[tuple[str, Figure]]


def _cpu(times: Result, key: str) -> float:
    return float(times[key]["cpu"])


def _one_row(part: Result) -> Found:
    times = part["data"]["spambase"]["times"]
    scorer = _cpu(times, "tree_10|Scorer.proba")
    native = _cpu(times, "lightgbm|C single-row call")
    depth = part["data"]["spambase"]["depths"]["tree_10"]
    what = f"`Scorer` on one row, one tree of depth {depth}, 57 features"
    yield "scorer", Figure(what, scorer * 1e6, 0.6, "µs", is_floor=False)
    what = f"the same, speed-up over LightGBM's C single-row call with 100 trees ({native * 1e6:.2f} µs)"
    yield "scorer_lightgbm", Figure(what, native / scorer, 5.0)
    for name, found in part["data"].items():
        times = found["times"]
        ours = _cpu(times, "paper_tree|predict_proba")
        for peer, title, target in (("cart", "CART's", 50.0), ("xgboost", "XGBClassifier's", 150.0)):
            theirs = _cpu(times, f"{peer}|predict_proba")
            what = (
                f"`LHTClassifier.predict_proba` on (1, m), {name} ({ours * 1e6:.2f} µs), "
                f"speed-up over {title} ({theirs * 1e6:.0f} µs)"
            )
            yield f"proba_{peer}_{name}", Figure(what, theirs / ours, target)
        if (onnx := times.get("lightgbm|onnxruntime, float32")) is None:
            continue
        forest = _cpu(times, "mixed_forest|predict_proba")
        what = (
            f"mixed forest, 100 trees, one row, {name} ({forest * 1e6:.2f} µs), speed-up over onnxruntime "
            f"with LightGBM's model ({onnx['cpu'] * 1e6:.2f} µs)"
        )
        yield f"row_onnx_{name}", Figure(what, onnx["cpu"] / forest, 1.0)


def _batch(part: Result) -> Found:
    for name, found in part.items():
        size = max(found["times"], key=int)
        times = found["times"][size]
        equal = found["equal"]["n_trees"]
        trees = f"{equal} trees" if equal else "100 trees, which are still less accurate"
        pairs = (
            ("xgboost", "mixed_equal", f"XGBoost's at equal accuracy ({trees})", 1.0),
            ("lightgbm", "mixed_forest", "LightGBM's at equal tree count", 1.0),
            ("cart", "paper_tree", "CART's", 0.5),
        )
        for peer, ours, than, target in pairs:
            kind = "one tree" if ours == "paper_tree" else "mixed forest"
            what = f"{kind}, batch of {int(size):,} rows, {name}: throughput relative to {than}"
            yield f"batch_{peer}_{name}", Figure(what, _cpu(times, peer) / _cpu(times, ours), target)


def _fit(part: Result, bound: Result | None) -> Found:
    n_rows = max(part["large"], key=int)
    large = part["large"][n_rows]
    seconds = _cpu(large["times"], "paper_tree")
    cart = large["cart"]["seconds"]
    said = f"{cart:.0f} s" if large["cart"]["is_done"] else f"stopped after {cart:.0f} s without a result"
    what = f"one tree, fit, {int(n_rows):,} × 50 ({seconds:.2f} s), speed-up over CART ({said})"
    yield "fit_cart", Figure(what, cart / seconds, 50.0)
    if bound:
        levels, one_pass = large["mean_depth"], bound["pass_seconds"] * int(n_rows) / 1e6
        what = f"the same, over reading the data once per level ({levels:.1f} × {one_pass * 1e3:.1f} ms)"
        yield "fit_levels", Figure(what, seconds / (levels * one_pass), 4.0, is_floor=False)
    ratios = {
        name: _cpu(found["times"], "rf") / _cpu(found["times"], "mixed_forest")
        for name, found in part["nine"].items()
    }
    for name, ratio in ratios.items():
        what = f"mixed forest, fit, {name}, 100 trees, speed-up over RandomForestClassifier(100)"
        yield f"fit_rf_{name}", Figure(what, ratio, 1.0)
    forest = part["forest"]
    ours, light = (_cpu(forest["times"], key) for key in ("mixed_forest", "lightgbm"))
    accuracies = {TITLES[key]: f"{value:.4f}" for key, value in forest["accuracy"].items()}
    said = ", ".join(f"{title} {value}" for title, value in accuracies.items())
    what = (
        f"mixed forest, fit, {forest['n_rows']:,} × 50, 100 trees, `max_samples={forest['max_samples']:_}` "
        f"({ours:.1f} s), relative to LightGBM's ({light:.1f} s); accuracy: {said}"
    )
    yield "fit_lightgbm", Figure(what, ours / light, 3.0, is_floor=False)


def _scaling(part: Result) -> Found:
    for i, (what, states) in enumerate(part["threads"]["work"].items()):
        for state, target in (("quiet", 1.7), ("busy", 1.0)):
            ratio = states[state]["1"]["wall"] / states[state]["2"]["wall"]
            said = "" if state == "quiet" else ", all cores busy with other work"
            yield f"threads_{state}_{i}", Figure(f"speed-up of two threads, {what}{said}", ratio, target)
    rows, features = part["axes"]["rows"], part["axes"]["features"]
    for name in ("paper tree", "mixed forest"):
        for kind, target in (("fit", 1.15), ("batch", 1.0)):
            slope = rows[kind][name]["exponent"]
            if slope is not None:
                said = "fit at depth ≤ 8" if kind == "fit" else "scoring"
                what = f"exponent in n, {name}, {said}"
                yield f"rows_{kind}_{name}", Figure(what, round(slope, 2), target, "", is_floor=False)
    slope = features["fit"]["paper tree"]["exponent"]
    what = "exponent in m, paper tree, fit (linear within 10 %)"
    yield "features", Figure(what, round(slope, 2), 1.1, "", is_floor=False)


def find_figures(results: dict[str, Any]) -> list[tuple[str, Figure]]:
    """Return every row of the specification whose parts were measured, with its key in ``LIMITS``."""
    parts = {"one_row": _one_row, "batch": _batch, "scaling": _scaling, "boosting": boosting.find_figures}
    parts["categories"] = categories.find_figures
    parts["fit"] = lambda part: _fit(part, results.get("bound"))
    order = ("one_row", "batch", "fit", "scaling", "boosting", "categories")
    return [row for name in order if name in results for row in parts[name](results[name])]


def target_table(results: dict[str, Any]) -> str:
    """Return the table: what, target, measured, verdict, limiting factor."""
    rows = []
    for key, figure in find_figures(results):
        limit = "" if figure.is_met else LIMITS.get(key, "")
        rows.append([*figure.row(), limit.format(**results["bound"]) if "bound" in results else limit])
    return markdown_table("what | target | measured | verdict | limiting factor", rows)


def key_table(results: dict[str, Any]) -> str:
    """Return the figures at the top of the page as speed-ups; a ratio of times, which should be small, is inverted."""
    found = dict(find_figures(results))
    rows = []
    for key, (task, peer) in KEY_FIGURES.items():
        if key in found:
            ratio = found[key].measured if found[key].is_floor else 1 / found[key].measured
            rows.append([task, peer, f"{ratio:.0f}×" if ratio >= 10 else f"{ratio:.2f}×"])
    return markdown_table("task | peer | speed-up", rows)
