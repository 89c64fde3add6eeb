"""Panels of lines against a logarithmic axis, with one legend below."""

from collections.abc import Sequence
from typing import Any, NamedTuple

from ..common.draw import COLOURS, PEER_COLOURS, make_axes, plot_line, save
from ..common.pages import Docs

# Where the number at a point stands: turns taken by the lines, as their ends are often close.
_OFFSETS = ((5, 5), (5, -11), (-15, 5), (-15, -11))


class Panel(NamedTuple):
    """One set of axes: lines of x and y by name, x logarithmic; with marks at the points y is not."""

    title: str
    x_label: str
    y_label: str
    lines: dict[str, tuple[list[float], list[float]]]
    marks: dict[str, list[str]] | None = None


def draw_panels(name: str, panels: Sequence[Panel], docs: Docs) -> None:
    """Draw panels two by two."""
    n_columns = min(2, len(panels))
    n_rows = -(-len(panels) // n_columns)
    figure, grid = make_axes(n_rows, n_columns, 5.5 * n_columns, 4 * n_rows + 0.8)
    handles: dict[str, Any] = {}
    for ax, panel in zip(grid.flat, panels, strict=True):
        for number, (title, (x, y)) in enumerate(panel.lines.items()):
            handles[title] = plot_line(ax, title, x, y)
            marks = (panel.marks or {}).get(title, [])
            text = {
                "fontsize": 7,
                "color": handles[title].get_color(),
                "xytext": _OFFSETS[number % len(_OFFSETS)],
            }
            for i in sorted({0, len(marks) - 1}) if len(marks) > 1 else ():
                ax.annotate(marks[i], (x[i], y[i]), textcoords="offset points", **text)
        ax.set(title=panel.title, xlabel=panel.x_label, ylabel=panel.y_label, xscale="log")
        ax.margins(x=0.08)
        _mark_plainly(ax.xaxis)
        if panel.marks is None:
            ax.set_yscale("log")
            _mark_plainly(ax.yaxis)
        ax.grid(visible=True, which="major", alpha=0.3)
    order = [title for title in (*COLOURS, *PEER_COLOURS) if title in handles]
    style = {"loc": "outside lower center", "ncols": 2 * n_columns, "frameon": False, "fontsize": 9}
    figure.legend([handles[title] for title in order], order, **style)
    save(figure, docs.pages, name)


def _mark_plainly(axis: Any) -> None:
    """Mark a logarithmic axis with plain numbers, as many as there is room for."""
    from matplotlib.ticker import FuncFormatter, LogLocator, NullFormatter

    low, high = axis.get_view_interval()
    axis.set_major_locator(LogLocator(subs=(1, 2, 5) if high / low < 200 else (1,), numticks=12))
    axis.set_major_formatter(FuncFormatter(lambda value, _: _say_short(value)))
    axis.set_minor_formatter(NullFormatter())


def _say_short(value: float) -> str:
    for unit, scale in (("M", 1e6), ("k", 1e3)):
        if value >= scale:
            return f"{value / scale:g} {unit}"
    return f"{value:g}"
