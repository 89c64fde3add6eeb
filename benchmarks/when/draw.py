"""Pictures of the page: accuracy against rows, and regions of two features."""

from collections.abc import Mapping, Sequence
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from ..common.draw import make_axes, plot_line, save
from ..common.pages import Docs

_CLASS_COLOURS = ("#e69f00", "#0072b2")


class Curves(NamedTuple):
    """Accuracy of models against the number of rows, below what Bayes' rule reaches."""

    title: str
    bayes: float
    lines: dict[str, tuple[list[float], list[float]]]


def draw_curves(docs: Docs, name: str, panels: Sequence[Curves]) -> None:
    """Draw accuracies in % against rows, two panels beside each other; ours are full lines."""
    n_rows = -(-len(panels) // 2)
    figure, grid = make_axes(n_rows, 2, 11, 4.2 * n_rows + 0.6)
    for ax, panel in zip(grid.flat, panels, strict=True):
        for title, (x, y) in panel.lines.items():
            plot_line(ax, title, x, y)
        ax.axhline(panel.bayes, color="black", linewidth=1, linestyle=":", label="Bayes' rule")
        ax.set(title=panel.title, xlabel="training rows", ylabel="accuracy, %", xscale="log")
        ax.set_xticks(x, [f"{value:,.0f}" for value in x])
        ax.set_xticks([], minor=True)
        ax.grid(visible=True, alpha=0.3)
    handles, labels = grid.flat[0].get_legend_handles_labels()
    figure.legend(handles, labels, loc="outside lower center", ncols=4, frameon=False, fontsize=9)
    save(figure, docs.pages, name)


class Region(NamedTuple):
    """One model of two features: its title, its prediction function and its training rows."""

    title: str
    model: Any
    X: NDArray[np.float64]
    y: NDArray[np.int64]


def draw_regions(docs: Docs, name: str, rows: Mapping[str, Sequence[Region]]) -> None:
    """Draw the regions of models, a problem per row."""
    n_columns = max(len(regions) for regions in rows.values())
    figure, grid = make_axes(len(rows), n_columns, 3 * n_columns, 3 * len(rows))
    for line, (problem, regions) in zip(grid, rows.items(), strict=True):
        for ax, region in zip(line, regions, strict=True):
            _draw_region(ax, region)
        line[0].set_ylabel(problem, fontsize=11)
    save(figure, docs.pages, name)


def _draw_region(ax: Any, region: Region) -> None:
    (left, low), (right, high) = region.X.min(axis=0), region.X.max(axis=0)
    x, y = np.meshgrid(np.linspace(left, right, 200), np.linspace(low, high, 200))
    codes = np.ravel(region.model.predict(np.column_stack([x.ravel(), y.ravel()]))).reshape(x.shape)
    ax.contourf(x, y, codes, levels=[-0.5, 0.5, 1.5], colors=[_pale(0), _pale(1)])
    for code in (0, 1):
        own = region.y == code
        colours = {"color": _CLASS_COLOURS[code], "edgecolor": "black"}
        ax.scatter(*region.X[own].T, s=20, marker="os"[code], linewidth=0.5, **colours)
    ax.set(xlim=(left, right), ylim=(low, high), xticks=[], yticks=[], xlabel="", ylabel="")
    ax.set_title(region.title, fontsize=9)


def _pale(code: int) -> tuple[float, ...]:
    from matplotlib.colors import to_rgb

    return tuple(0.28 * part + 0.72 for part in to_rgb(_CLASS_COLOURS[code]))
