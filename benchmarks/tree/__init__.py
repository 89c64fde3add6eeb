"""What one tree costs beside CART: fit, one row, import, memory."""

import statistics
import subprocess
import sys
from functools import partial
from typing import Any, ClassVar

import numpy as np

from ..common import data as datasets
from ..common.draw import draw_bars
from ..common.memory import ask
from ..common.models import fit
from ..common.pages import Docs, Figure, figure_table, read_figures
from ..common.timing import time_cpu, time_single_rows
from ..runner import Args, Parts, Tell

_MODELS = ("paper_tree", "cart")
_FIT_TARGETS = {"eeg": 10.0, "magic": 10.0, "spambase": 5.0, "skin": 5.0}
_ONE_ROW_DATA = ("wine", "spambase", "magic")
_IMPORT = """
import time
import numpy
begin = time.perf_counter()
import lhtree
print(time.perf_counter() - begin)
"""


def measure_fits(tell: Tell, args: Args) -> list[Figure]:
    """How many times faster than CART a tree is grown, on each of the nine."""
    figures = []
    for model in _MODELS:  # whatever they import is not part of a fit
        fit(model, np.eye(4), [0, 1, 0, 1])
    for name in datasets.NAMES:
        tell(name)
        data = datasets.load(name)
        calls = {model: partial(fit, model, data.X, data.y) for model in _MODELS}
        times = time_cpu(calls, n_rounds=3 if args.quick else 15, seconds=3 if args.quick else 30)
        what = f"fit, {name} ({times['paper_tree'] * 1e3:.2f} ms; CART {times['cart'] * 1e3:.2f} ms)"
        figures.append(Figure(what, times["cart"] / times["paper_tree"], _FIT_TARGETS.get(name, 1.0)))
    return figures


def measure_one_row(tell: Tell, args: Args) -> list[Figure]:
    """How many times faster than CART one float64 row gets its probabilities."""
    figures = []
    for name in _ONE_ROW_DATA:
        tell(name)
        data = datasets.load(name)
        calls = {model: fit(model, data.X, data.y).predict_proba for model in _MODELS}
        times = time_single_rows(calls, data.X, 4 if args.quick else 12)
        ours, cart = (times[model] for model in _MODELS)
        what = f"predict_proba of one row, {name} ({ours * 1e6:.2f} µs; CART {cart * 1e6:.1f} µs)"
        figures.append(Figure(what, cart / ours, 40.0))
    return figures


def measure_import(_: Tell, args: Args) -> list[Figure]:
    """How long lhtree takes to import after NumPy, in fresh processes."""
    command = [sys.executable, "-c", _IMPORT]
    times = [
        float(subprocess.run(command, capture_output=True, check=True, text=True).stdout)
        for _ in range(5 if args.quick else 25)
    ]
    return [Figure("import lhtree beyond numpy", statistics.median(times) * 1e3, 30.0, "ms", is_floor=False)]


def measure_memory(tell: Tell, args: Args) -> list[Figure]:
    """Peak memory of a fit beyond what its process held before, in fresh processes."""
    n_rows = 200_000 if args.quick else 1_000_000
    most = 2.5 * n_rows * 50 * 4 / 1e6 + 50
    figures = []
    for dtype, n_classes in (("float32", 2), ("float64", 2), ("float32", 3)):
        what = f"peak memory of fit, {n_rows:,} × 50 {dtype}, {n_classes} classes (2.5 × float32 X + 50 MB)"
        tell(what)
        figures.append(Figure(what, ask(n_rows, dtype, n_classes) / 1e6, most, "MB", is_floor=False))
    return figures


class Tree(Parts):
    """The question."""

    name = "tree"
    fills = "benchmarks/tree.md"
    quick = "fewer rounds, smaller memory test"
    parts: ClassVar = {
        "fit": measure_fits,
        "one_row": measure_one_row,
        "import": measure_import,
        "memory": measure_memory,
    }

    def page(self, results: dict[str, Any], docs: Docs) -> dict[str, str]:
        figures = {part: read_figures(found) for part, found in results.items()}
        if "fit" in figures:
            title = "Fit of one tree: times faster than CART"
            draw_bars(docs.pages, "tree", title, datasets.NAMES, figures["fit"])
        return {"figures": figure_table(one for part in figures.values() for one in part)}


QUESTION = Tree()
