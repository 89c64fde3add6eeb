"""Shared drawing code. matplotlib is imported when a picture is drawn."""

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import numpy as np

# One colour per model in every picture; ours have full lines, peers dashed ones.
COLOURS = {
    "paper tree": "#08306b",
    "readable tree": "#6baed6",
    "paper forest": "#2171b5",
    "Fisher forest": "#238b45",
    "mixed forest": "#cb181d",
    "boosted": "#800026",
    "ensemble": "#253494",
    "additive": "#41ab5d",
    "compact tree": "#6a51a3",
    "mixed forest, as accurate as XGBoost": "#fc9272",
}
PEER_COLOURS = {
    "CART": "#8c564b",
    "logistic regression": "#17becf",
    "ExtraTrees": "#bcbd22",
    "RandomForest": "#e377c2",
    "HistGradientBoosting": "#7f7f7f",
    "LightGBM": "#9a9b0a",
    "XGBoost": "#ff7f0e",
    "CatBoost": "#9467bd",
}


def make_axes(n_rows: int, n_columns: int, width: float, height: float, **options: Any) -> tuple[Any, Any]:
    """Return a figure and its grid of axes."""
    import matplotlib

    matplotlib.use("Agg")
    import matplotlib.pyplot as plt

    size = (width, height)
    return plt.subplots(n_rows, n_columns, figsize=size, layout="constrained", squeeze=False, **options)


def save(figure: Any, folder: Path, name: str) -> None:
    """Write a figure as PNG."""
    import matplotlib.pyplot as plt

    folder.mkdir(parents=True, exist_ok=True)
    # No software version in the file: an unchanged picture stays the same bytes.
    figure.savefig(folder / f"{name}.png", dpi=110, metadata={"Software": None})
    plt.close(figure)


def plot_line(ax: Any, title: str, x: Sequence[float], y: Sequence[float]) -> Any:
    """Plot the line of a model in its colour and style."""
    if title in COLOURS:
        style = {"color": COLOURS[title], "linewidth": 2.2, "marker": "o", "zorder": 3}
    else:
        style = {"color": PEER_COLOURS[title], "linestyle": "--", "marker": "s"}
    return ax.plot(x, y, markersize=4, label=title, **style)[0]


def mark(ax: Any, values: Sequence[float]) -> None:
    """Mark a logarithmic axis with plain numbers within its limits."""
    low, high = ax.get_xlim()
    inside = [value for value in values if low <= value <= high]
    ax.set_xticks(inside, [f"{value:g}" for value in inside])
    ax.set_xticks([], minor=True)
    ax.set_xlim(low, high)


def draw_differences(
    folder: Path, name: str, title: str, rows: Sequence[str], series: Mapping[str, Sequence[Any]]
) -> None:
    """Draw paired differences in points: one dot with its interval per row and series of ``Mean``."""
    figure, grid = make_axes(1, 1, 9, 0.75 * len(rows) + 1.5)
    ax = grid[0, 0]
    for i, (peer, found) in enumerate(series.items()):
        at = np.arange(len(rows)) + (i - (len(series) - 1) / 2) * 0.8 / len(series)
        means, halves = ([100 * getattr(one, part) for one in found] for part in ("mean", "half"))
        ax.errorbar(means, at, xerr=halves, fmt="o", markersize=3, linewidth=1, label=peer)
    ax.axvline(0, color="black", linewidth=0.8)
    ax.set_yticks(range(len(rows)), rows)
    ax.invert_yaxis()
    ax.set_xscale("symlog", linthresh=1)
    mark(ax, (-5, -2, -1, -0.5, 0, 0.5, 1, 2, 5, 10))
    ax.set_xlabel(
        "points of accuracy, 95 % interval over splits (right of 0: ours is better; logarithmic beyond 1)"
    )
    # Above the rows: any place among them would lie on somebody's interval.
    ax.set_title(title, pad=12 + 12 * -(-len(series) // 3))
    ax.legend(frameon=False, ncols=3, fontsize="small", loc="lower center", bbox_to_anchor=(0.5, 1.0))
    save(figure, folder, name)
