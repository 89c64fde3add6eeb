"""Log loss against the CPU time of a fit: every boosting library with few and with many rounds."""

import functools
import itertools
import math
from collections.abc import Mapping
from typing import Any, ClassVar

import numpy as np

from .common import data, tables
from .common.draw import make_axes, mark, save
from .common.models import BY_ROUNDS, MODELS
from .common.pages import Docs, markdown_table
from .common.results import Results, Task
from .runner import Args
from .tables import Tables

_NUMERIC = [name for name in data.NAMES if name != "skin"]  # all models reach almost no loss there
_COLOURS = {"boosted": "C3", "catboost": "C4", "lightgbm": "C2", "xgboost": "C1", "hist_gb": "0.5"}
_DEFAULTS = {"boosted": 400, "catboost": 1000, "lightgbm": 100, "xgboost": 100, "hist_gb": 100}


@functools.lru_cache(maxsize=2)
def _load(name: str, seed: int) -> data.Split:
    """Return a split of one of the nine data sets, or of a table."""
    if name in tables.CLASSES:
        return tables.split(name, seed)
    import pandas as pd

    part = data.split(data.load(name), seed)
    return part._replace(X=pd.DataFrame(part.X), X_test=pd.DataFrame(part.X_test))


class Time(Tables):
    """The question."""

    name = "time"
    fills = "benchmarks/time.md"
    quick = "the tables below 1500 rows"
    metric = "log_loss"
    models: ClassVar[tuple[str, ...]] = tuple(BY_ROUNDS)
    sources: ClassVar[Mapping[str, Any]] = dict.fromkeys(_NUMERIC) | tables.CLASSES

    def plan(self, args: Args) -> list[Task]:
        small = (name for name in args.data if not args.quick or len(self.load(name, 0).y) < 1200)
        return [Task(self.name, name, model, 0) for name in small for model in args.models]

    def load(self, name: str, seed: int) -> data.Split:
        return _load(name, seed)

    def page(self, results: Results, docs: Docs) -> dict[str, str]:
        curves = find_curves(results, list(self.sources))
        draw(curves, docs)
        return {"curves": table_curves(curves), "verdicts": table_verdicts(curves)}


Curve = dict[
    int, tuple[float, float]
]  # by rounds: CPU seconds and log loss, both relative to LightGBM's defaults


def find_curves(results: Results, sources: list[str]) -> dict[str, Curve]:
    """Return the curve of every library: geometric means over the tables that all models were fitted on."""
    found = {model for _, model in results}
    complete = [name for name in sources if all((name, model) in results for model in found)]
    logs = {
        model: np.array(
            [
                [math.log(results[name, model][0][metric]) for metric in ("fit_seconds", "log_loss")]
                for name in complete
            ]
        )
        for model in found
    }
    base = logs["lightgbm_100"]
    curves: dict[str, Curve] = {}
    for model in (name for name in BY_ROUNDS if name in found):
        library, _, rounds = model.rpartition("_")
        seconds, loss = np.exp((logs[model] - base).mean(axis=0)).tolist()
        curves.setdefault(library, {})[int(rounds)] = seconds, loss
    return curves


def interpolate(curve: Curve, x: float, *, axis: int) -> float:
    """Return the other coordinate where the curve first reaches x on an axis; NaN if it never does."""
    points = [(math.log(one[axis]), math.log(one[1 - axis])) for one in curve.values()]
    at = math.log(x)
    for (a, other_a), (b, other_b) in itertools.pairwise(points):
        if min(a, b) <= at <= max(a, b):
            return (
                math.exp(other_a + (other_b - other_a) * (at - a) / (b - a)) if a != b else math.exp(other_a)
            )
    return math.nan


def table_curves(curves: dict[str, Curve]) -> str:
    """Return every point; the defaults are bold."""
    rows = []
    for library, curve in curves.items():
        for rounds, (seconds, loss) in curve.items():
            cells = [MODELS[library].title, f"{rounds:,}", f"{seconds:.2f}", f"{loss:.3f}"]
            rows.append([f"**{cell}**" for cell in cells] if rounds == _DEFAULTS[library] else cells)
    return markdown_table("model | rounds | time | log loss", rows)


def table_verdicts(curves: dict[str, Curve]) -> str:
    """Return ours at the time, and at the log loss, of every peer's defaults."""
    ours, rows = curves["boosted"], []
    for library, curve in curves.items():
        if library == "boosted":
            continue
        seconds, loss = curve[_DEFAULTS[library]]
        reached = [one[1] for one in ours.values() if one[0] <= seconds]
        in_its_time = float(np.nanmin([*reached, interpolate(ours, seconds, axis=0)]))
        same_loss = interpolate(ours, loss, axis=1) / seconds
        fastest = min(one[0] for one in ours.values()) / seconds
        rows.append(
            [
                f"{MODELS[library].title}, {_DEFAULTS[library]:,} rounds",
                f"{in_its_time / loss - 1:+.1%}",
                f"below {fastest:.2f}×" if math.isnan(same_loss) else f"{same_loss:.2f}×",
            ]
        )
    return markdown_table("peer at its defaults | our log loss in its time | our time at its log loss", rows)


def draw(curves: dict[str, Curve], docs: Docs) -> None:
    """Draw log loss against time."""
    figure, grid = make_axes(1, 1, 8, 4.6)
    ax = grid[0, 0]
    for library, curve in curves.items():
        seconds, losses = zip(*curve.values(), strict=True)
        is_ours = library == "boosted"
        style = {"linewidth": 2.4, "zorder": 3} if is_ours else {"linewidth": 1.4, "linestyle": "--"}
        title = "lhtree (boosted)" if is_ours else MODELS[library].title
        ax.plot(seconds, losses, marker="o", markersize=4, color=_COLOURS[library], label=title, **style)
        ax.plot(
            *curve[_DEFAULTS[library]], marker="o", markersize=11, fillstyle="none", color=_COLOURS[library]
        )
    ax.set_xscale("log")
    mark(ax, (0.1, 0.2, 0.5, 1, 2, 5, 10, 20, 50, 100))
    ax.set_xlabel("CPU time of a fit relative to LightGBM's defaults")
    ax.set_ylabel("log loss relative to LightGBM's defaults")
    ax.set_title("Log loss against time, geometric means; circles are defaults")
    ax.grid(visible=True, alpha=0.3)
    ax.legend(frameon=False)
    save(figure, docs.pages, "time")


QUESTION = Time()
