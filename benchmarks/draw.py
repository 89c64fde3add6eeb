"""Pictures of the pages. matplotlib lives here alone."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from .report import PAGES, Figure

if TYPE_CHECKING:
    from matplotlib.axes import Axes

_OURS = "#1f77b4"


def _axes(width: float, height: float) -> tuple[Any, Axes]:
    import matplotlib

    matplotlib.use("Agg")
    import matplotlib.pyplot as plt

    return plt.subplots(figsize=(width, height), layout="constrained")


def _mark(ax: Axes, values: Sequence[float]) -> None:
    """Mark a logarithmic axis with plain numbers, as far as it reaches."""
    low, high = ax.get_xlim()
    inside = [value for value in values if low <= value <= high]
    ax.set_xticks(inside, [f"{value:g}" for value in inside])
    ax.set_xticks([], minor=True)
    ax.set_xlim(low, high)


def save(figure: Any, name: str, folder: Path = PAGES) -> None:
    """Write a figure as PNG."""
    import matplotlib.pyplot as plt

    folder.mkdir(parents=True, exist_ok=True)
    # No software version in the file: an unchanged picture stays the same bytes.
    figure.savefig(folder / f"{name}.png", dpi=110, metadata={"Software": None})
    plt.close(figure)


def draw_bars(name: str, title: str, labels: Sequence[str], figures: Sequence[Figure]) -> None:
    """Draw ratios as bars with their targets as ticks."""
    figure, ax = _axes(8, 0.4 * len(labels) + 1)
    at = np.arange(len(labels))
    ax.barh(at, [entry.measured for entry in figures], color=_OURS, height=0.6)
    targets = [(i, entry.target) for i, entry in enumerate(figures) if entry.target is not None]
    ax.vlines(
        [target for _, target in targets],
        [i - 0.4 for i, _ in targets],
        [i + 0.4 for i, _ in targets],
        color="black",
        label="target",
    )
    ax.set_yticks(at, labels)
    ax.invert_yaxis()
    ax.set_xscale("log")
    _mark(ax, (0.1, 0.2, 0.5, 1, 2, 5, 10, 20, 50, 100))
    ax.set_title(title)
    ax.legend(frameon=False)
    save(figure, name)


def draw_table(
    name: str, title: str, rows: Sequence[str], columns: Sequence[str], values: NDArray[np.float64]
) -> None:
    """Draw accuracies as a table whose colour is the distance from the best of the row."""
    figure, ax = _axes(1.05 * len(columns) + 1.5, 0.42 * len(rows) + 2.2)
    shortfall = np.nanmax(values, axis=1, keepdims=True) - values
    ax.imshow(np.clip(shortfall, 0, 0.03), cmap="Blues_r", aspect="auto", vmin=-0.01, vmax=0.03)
    for (i, j), value in np.ndenumerate(values):
        if np.isfinite(value):
            is_dark = shortfall[i, j] < 0.008
            weight = "bold" if shortfall[i, j] == 0 else "normal"
            ax.text(
                j,
                i,
                f"{value:.4f}",
                ha="center",
                va="center",
                color="white" if is_dark else "black",
                weight=weight,
            )
    ax.set_xticks(range(len(columns)), columns, rotation=40, ha="left")
    ax.xaxis.tick_top()
    ax.set_yticks(range(len(rows)), rows)
    ax.set_title(title, pad=12)
    ax.tick_params(length=0)
    save(figure, name)


def draw_differences(
    name: str, title: str, rows: Sequence[str], series: dict[str, list[tuple[float, float]]]
) -> None:
    """Draw paired differences in points, one dot with its interval per row and peer."""
    figure, ax = _axes(9, 0.75 * len(rows) + 1.5)
    for i, (peer, values) in enumerate(series.items()):
        at = np.arange(len(rows)) + (i - (len(series) - 1) / 2) * 0.8 / len(series)
        mean, half = (100 * np.array(part) for part in zip(*values, strict=True))
        ax.errorbar(mean, at, xerr=half, fmt="o", markersize=3, linewidth=1, label=peer)
    ax.axvline(0, color="black", linewidth=0.8)
    ax.set_yticks(range(len(rows)), rows)
    ax.invert_yaxis()
    ax.set_xscale("symlog", linthresh=1)
    _mark(ax, (-5, -2, -1, -0.5, 0, 0.5, 1, 2, 5, 10))
    ax.set_xlabel(
        "points of accuracy, 95 % interval over splits (right of 0: ours is better; logarithmic beyond 1)"
    )
    # Above the rows: any place among them would lie on somebody's interval.
    ax.set_title(title, pad=12 + 12 * -(-len(series) // 3))
    ax.legend(frameon=False, ncols=3, fontsize="small", loc="lower center", bbox_to_anchor=(0.5, 1.0))
    save(figure, name)


class Panel(NamedTuple):
    """One set of axes: lines of x and y by name, x logarithmic; with marks at the points y is not."""

    title: str
    x_label: str
    y_label: str
    lines: dict[str, tuple[list[float], list[float]]]
    marks: dict[str, list[str]] | None = None


# One colour per model on every picture; ours are full lines, peers dashed.
COLOURS = {
    "paper tree": "#08306b",
    "readable tree": "#6baed6",
    "paper forest": "#2171b5",
    "Fisher forest": "#238b45",
    "mixed forest": "#cb181d",
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
# Where the number at a point stands: turns taken by the lines, as their ends are often close.
_OFFSETS = ((5, 5), (5, -11), (-15, 5), (-15, -11))


def draw_panels(name: str, panels: Sequence[Panel], folder: Path) -> None:
    """Draw panels two by two, logarithmic, with one legend below."""
    import matplotlib

    matplotlib.use("Agg")
    import matplotlib.pyplot as plt

    n_columns = min(2, len(panels))
    n_rows = -(-len(panels) // n_columns)
    size = (5.5 * n_columns, 4 * n_rows + 0.8)
    figure, grid = plt.subplots(n_rows, n_columns, figsize=size, layout="constrained", squeeze=False)
    handles: dict[str, Any] = {}
    for ax, panel in zip(grid.flat, panels, strict=True):
        for number, (line, (x, y)) in enumerate(panel.lines.items()):
            if line in COLOURS:
                style = {"color": COLOURS[line], "linewidth": 2.2, "marker": "o", "zorder": 3}
            else:
                style = {"color": PEER_COLOURS[line], "linewidth": 1.2, "linestyle": "--", "marker": "s"}
            (handles[line],) = ax.plot(x, y, markersize=4, **style)
            marks = (panel.marks or {}).get(line, [])
            for i in sorted({0, len(marks) - 1}) if len(marks) > 1 else ():
                offset = _OFFSETS[number % len(_OFFSETS)]
                ax.annotate(
                    marks[i],
                    (x[i], y[i]),
                    textcoords="offset points",
                    xytext=offset,
                    fontsize=7,
                    color=style["color"],
                )
        ax.set(title=panel.title, xlabel=panel.x_label, ylabel=panel.y_label, xscale="log")
        ax.margins(x=0.08)
        _mark_plainly(ax.xaxis)
        if panel.marks is None:
            ax.set_yscale("log")
            _mark_plainly(ax.yaxis)
        ax.grid(visible=True, which="major", alpha=0.3)
    order = [line for line in (*COLOURS, *PEER_COLOURS) if line in handles]
    figure.legend(
        [handles[line] for line in order],
        order,
        loc="outside lower center",
        ncols=2 * n_columns,
        frameon=False,
        fontsize=9,
    )
    save(figure, name, folder)


def _mark_plainly(axis: Any) -> None:
    """Mark a logarithmic axis with plain numbers, as many as there is room for."""
    from matplotlib.ticker import FuncFormatter, LogLocator, NullFormatter

    low, high = axis.get_view_interval()
    is_short = high / low < 200
    axis.set_major_locator(LogLocator(subs=(1, 2, 5) if is_short else (1,), numticks=12))
    axis.set_major_formatter(FuncFormatter(lambda value, _: _say_short(value)))
    axis.set_minor_formatter(NullFormatter())


def _say_short(value: float) -> str:
    for unit, scale in (("M", 1e6), ("k", 1e3)):
        if value >= scale:
            return f"{value / scale:g} {unit}"
    return f"{value:g}"
