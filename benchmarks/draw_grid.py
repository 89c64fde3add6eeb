"""Pictures of several panels side by side: dots with intervals, error against size, regions of two features."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from .draw import COLOURS, PEER_COLOURS, save
from .report import PAGES

_CLASS_COLOURS = (
    "#e69f00",
    "#0072b2",
)  # those of plot_decision_regions: the target of two classes is the second


def _panels(n_rows: int, n_columns: int, size: tuple[float, float], **options: Any) -> tuple[Any, Any]:
    import matplotlib

    matplotlib.use("Agg")
    import matplotlib.pyplot as plt

    return plt.subplots(n_rows, n_columns, figsize=size, layout="constrained", squeeze=False, **options)


class Dots(NamedTuple):
    """A column of labelled values with half of their intervals."""

    title: str
    values: dict[str, tuple[float, float]]


def draw_dots(name: str, x_label: str, columns: Sequence[Dots]) -> None:
    """Draw columns of dots with intervals; those that leave 0 out are dark."""
    n_labels = max(len(column.values) for column in columns)
    figure, grid = _panels(1, len(columns), (6 * len(columns), 0.24 * n_labels + 1.2))
    for ax, column in zip(grid.flat, columns, strict=True):
        for at, (mean, half) in enumerate(column.values.values()):
            colour = "#9a9a9a" if abs(mean) <= half else "#238b45" if mean > 0 else "#cb181d"
            ax.errorbar(mean, at, xerr=half, fmt="o", markersize=4, linewidth=1, color=colour)
        ax.axvline(0, color="black", linewidth=0.8)
        ax.set_yticks(range(len(column.values)), list(column.values), fontsize=8)
        ax.set_ylim(len(column.values) - 0.5, -0.5)
        ax.set_xscale("symlog", linthresh=1)
        ticks = [-10, -5, -2, -1, 0, 1, 2, 5, 10]
        low, high = ax.get_xlim()
        ax.set_xticks([tick for tick in ticks if low <= tick <= high])
        ax.xaxis.set_major_formatter("{x:g}")
        ax.set_xlabel(x_label, fontsize=9)
        ax.set_title(column.title)
        ax.grid(visible=True, axis="x", alpha=0.3)
    save(figure, name, PAGES)


class Curves(NamedTuple):
    """Accuracy of models against the number of rows, below what Bayes' rule reaches."""

    title: str
    bayes: float
    lines: dict[str, tuple[list[float], list[float]]]


def draw_curves(name: str, panels: Sequence[Curves]) -> None:
    """Draw accuracies in % against rows, two panels beside each other; ours are full lines."""
    figure, grid = _panels(-(-len(panels) // 2), 2, (11, 4.2 * -(-len(panels) // 2) + 0.6))
    for ax, panel in zip(grid.flat, panels, strict=True):
        for line, (x, y) in panel.lines.items():
            is_ours = line in COLOURS
            colour = COLOURS[line] if is_ours else PEER_COLOURS[line]
            style = {"linewidth": 2.2, "marker": "o"} if is_ours else {"linestyle": "--", "marker": "s"}
            ax.plot(x, y, color=colour, markersize=4, zorder=3 if is_ours else 2, label=line, **style)
        ax.axhline(panel.bayes, color="black", linewidth=1, linestyle=":", label="Bayes' rule")
        ax.set(title=panel.title, xlabel="training rows", ylabel="accuracy, %", xscale="log")
        ax.set_xticks(x, [f"{value:,.0f}" for value in x])
        ax.set_xticks([], minor=True)
        ax.grid(visible=True, alpha=0.3)
    handles, labels = grid.flat[0].get_legend_handles_labels()
    figure.legend(handles, labels, loc="outside lower center", ncols=4, frameon=False, fontsize=9)
    save(figure, name, PAGES)


class Region(NamedTuple):
    """One model of two features: what is written above it, how it predicts, and the rows it learned from."""

    title: str
    model: Any
    X: NDArray[np.float64]
    y: NDArray[np.int64]
    has_lines: bool  # whether it is a tree of ours, whose hyperplanes are drawn, too


def draw_regions(name: str, rows: Mapping[str, Sequence[Region]]) -> None:
    """Draw the regions of models, a problem per row; our trees with their hyperplanes."""
    n_columns = max(len(regions) for regions in rows.values())
    figure, grid = _panels(len(rows), n_columns, (3 * n_columns, 3 * len(rows)))
    for line, (problem, regions) in zip(grid, rows.items(), strict=True):
        for ax, region in zip(line, regions, strict=True):
            _draw_region(ax, region)
        line[0].set_ylabel(problem, fontsize=11)
    save(figure, name, PAGES)


def _draw_region(ax: Any, region: Region) -> None:
    import lhtree

    (left, low), (right, high) = region.X.min(axis=0), region.X.max(axis=0)
    if region.has_lines:
        lhtree.plot_decision_regions(region.model, region.X, region.y, n_points=200, ax=ax)
        ax.get_legend().remove()
        for text in ax.texts:
            text.remove()
    else:
        x, y = np.meshgrid(np.linspace(left, right, 200), np.linspace(low, high, 200))
        codes = np.ravel(region.model.predict(np.column_stack([x.ravel(), y.ravel()]))).reshape(x.shape)
        ax.contourf(x, y, codes, levels=[-0.5, 0.5, 1.5], colors=[_pale(0), _pale(1)])
        for code in (0, 1):
            own = region.y == code
            ax.scatter(
                *region.X[own].T,
                s=20,
                marker="os"[code],
                color=_CLASS_COLOURS[code],
                edgecolor="black",
                linewidth=0.5,
            )
    ax.set(xlim=(left, right), ylim=(low, high), xticks=[], yticks=[], xlabel="", ylabel="")
    ax.set_title(region.title, fontsize=9)


def _pale(code: int) -> tuple[float, ...]:
    from matplotlib.colors import to_rgb

    return tuple(0.28 * part + 0.72 for part in to_rgb(_CLASS_COLOURS[code]))
