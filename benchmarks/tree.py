"""What one tree costs beside CART: fit, one row, import, memory."""

from __future__ import annotations

import argparse
import statistics
import subprocess
import sys
from functools import partial

import numpy as np

from . import data as datasets
from .draw import draw_bars
from .memory import ask
from .models import fit
from .report import Figure, figure_table, write_json, write_page
from .timing import interleave

_FIT_TARGETS = {"eeg": 10.0, "magic": 10.0, "spambase": 5.0, "skin": 5.0}
_ONE_ROW_DATA = ("wine", "spambase", "magic")
_N_ROWS = 12  # single rows that are timed per data set

_IMPORT = """
import time
import numpy
begin = time.perf_counter()
import lhtree
print(time.perf_counter() - begin)
"""


def add_arguments(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("--quick", action="store_true", help="fewer rounds, smaller memory test, no page")


def measure_fits(*, is_quick: bool) -> list[Figure]:
    """How many times faster than CART a tree is grown, on each of the nine."""
    figures = []
    for model in ("cart", "paper_tree"):  # whatever they import is not part of a fit
        fit(model, np.eye(4), [0, 1, 0, 1])
    for name in datasets.NAMES:
        data = datasets.load(name)
        calls = {model: partial(fit, model, data.X, data.y) for model in ("paper_tree", "cart")}
        times = interleave(calls, n_rounds=3 if is_quick else 15, seconds=3 if is_quick else 30)
        target = _FIT_TARGETS.get(name, 1.0)
        what = f"fit, {name} ({times['paper_tree'] * 1e3:.2f} ms; CART {times['cart'] * 1e3:.2f} ms)"
        figures.append(Figure(what, times["cart"] / times["paper_tree"], target))
    return figures


def measure_one_row(*, is_quick: bool) -> list[Figure]:
    """How many times faster than CART one float64 row gets its probabilities."""
    figures = []
    for name in _ONE_ROW_DATA:
        data = datasets.load(name)
        models = {model: fit(model, data.X, data.y) for model in ("paper_tree", "cart")}
        times: dict[str, list[float]] = {model: [] for model in models}
        step = len(data.y) // _N_ROWS
        for i in range(0, step * (4 if is_quick else _N_ROWS), step):
            row = data.X[i : i + 1].copy()
            calls = {key: partial(model.predict_proba, row) for key, model in models.items()}
            for model, seconds in interleave(calls, n_rounds=7, seconds=5, least=0.01).items():
                times[model].append(seconds)
        ours, cart = (statistics.median(times[model]) for model in ("paper_tree", "cart"))
        what = f"predict_proba of one row, {name} ({ours * 1e6:.2f} µs; CART {cart * 1e6:.1f} µs)"
        figures.append(Figure(what, cart / ours, 40.0))
    return figures


def measure_import(*, is_quick: bool) -> list[Figure]:
    """How long lhtree takes to import once NumPy is there, in fresh processes."""
    times = [
        float(
            subprocess.run([sys.executable, "-c", _IMPORT], capture_output=True, check=True, text=True).stdout
        )
        for _ in range(5 if is_quick else 25)
    ]
    what = "import lhtree beyond numpy"
    return [Figure(what, statistics.median(times) * 1e3, 30.0, "ms", is_floor=False)]


def measure_memory(*, is_quick: bool) -> list[Figure]:
    """Peak memory of a fit beyond what its process held before, in fresh processes."""
    n_rows = 200_000 if is_quick else 1_000_000
    figures = []
    for dtype, n_classes in (("float32", 2), ("float64", 2), ("float32", 3)):
        n_bytes = ask(n_rows, dtype, n_classes)
        copy = n_rows * 50 * 4
        what = f"peak memory of fit, {n_rows:,} × 50 {dtype}, {n_classes} classes (2.5 × float32 X + 50 MB)"
        figures.append(Figure(what, n_bytes / 1e6, 2.5 * copy / 1e6 + 50, "MB", is_floor=False))
    return figures


def main(args: argparse.Namespace) -> None:
    parts = (measure_fits, measure_one_row, measure_import, measure_memory)
    fits, *others = (part(is_quick=args.quick) for part in parts)
    figures = [*fits, *(figure for part in others for figure in part)]
    table = figure_table(figures)
    print(f"\nOne tree beside CART\n\n{table}\n")
    write_json("tree-quick" if args.quick else "tree", [figure._asdict() for figure in figures])
    if args.quick:
        return
    draw_bars("tree", "Fit of one tree: times faster than CART", datasets.NAMES, fits)
    write_page(
        "tree",
        "One tree beside CART",
        [
            "`python -m benchmarks tree`. `LHTClassifier()` and `DecisionTreeClassifier()` take turns on one thread; "
            "medians of CPU time. Each fit takes the whole data set as float64, as published.",
            table,
            "![Fit of one tree beside CART](tree.png)",
        ],
    )
