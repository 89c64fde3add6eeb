"""Pictures of the pages. matplotlib lives here alone."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

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


def _save(figure: Any, name: str) -> None:
    import matplotlib.pyplot as plt

    PAGES.mkdir(parents=True, exist_ok=True)
    # No software version in the file: an unchanged picture stays the same bytes.
    figure.savefig(PAGES / f"{name}.png", dpi=110, metadata={"Software": None})
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
    _save(figure, name)


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
    _save(figure, name)


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
    ax.set_xlabel("points of accuracy, 95 % interval over the splits (right of 0: ours is better)")
    ax.set_title(title)
    ax.legend(frameon=False, ncols=2, fontsize="small")
    _save(figure, name)
