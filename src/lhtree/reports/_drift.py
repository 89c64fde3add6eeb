"""A page about drift over several periods: static HTML, without scripts."""

from __future__ import annotations

import os
from collections.abc import Sequence
from html import escape
from pathlib import Path
from typing import Any

from .._parameters import refuse
from .._write import check_output, write_whole
from ..evaluation.drift import LARGE, LEVELS, MODERATE, ColumnDrift, Drift
from ..evaluation.measures import write_number
from ..model.numbers import write_share

_COLOURS = dict(zip(LEVELS, ("#e7f3ec", "#fdf0d5", "#f9d9d6"), strict=True))
STYLE = """
:root { color-scheme: light; }
body { font: 16px/1.5 system-ui, sans-serif; margin: 2rem auto; padding: 0 1rem; max-width: 70rem; color: #1c2333; }
h1 { font-size: 1.6rem; } h2 { font-size: 1.2rem; margin-top: 2rem; } p.hint, td.hint { color: #566079; }
table { border-collapse: collapse; font-size: .92rem; } .scroll { overflow-x: auto; }
th, td { padding: .3rem .7rem; text-align: right; border-bottom: 1px solid #dde1ea; white-space: nowrap; }
th:first-child, td:first-child, table.facts td { text-align: left; } thead th { border-bottom: 2px solid #9aa3b8; }
svg text { font: 12px system-ui, sans-serif; fill: #566079; }
.gap { background: #fdf0d5; padding: .1rem .4rem; } ul { padding-left: 1.2rem; }
@media print { body { margin: 0; } h2, h3 { break-after: avoid; } tr, svg { break-inside: avoid; } }
"""


def drift_report(periods: Sequence[Drift], path: str | os.PathLike[str], *, title: str = "Drift") -> Path:
    """Write an HTML page about drift over several periods; it contains no rows and no scripts.

    Parameters
    ----------
    periods : list of Drift
        Results of ``monitor``, in the order of time.
    path : str or path
        Output file. An existing file is replaced atomically.
    title : str, default="Drift"
        Title of the page.

    Returns
    -------
    pathlib.Path
        The path of the page.

    Examples
    --------
    >>> from sklearn.datasets import load_wine
    >>> from lhtree import LHForestClassifier, drift_report, monitor
    >>> X, y = load_wine(return_X_y=True, as_frame=True)
    >>> model = LHForestClassifier(20, random_state=0).fit(X, y)
    >>> drift_report([monitor(model, X[::2], period="May"), monitor(model, X[1::2], period="June")], "drift.html").name
    'drift.html'
    """
    if isinstance(periods, Drift):
        periods = [periods]
    if not periods or not all(isinstance(one, Drift) for one in periods):
        raise refuse("periods", periods, "a list of results of monitor(model, X)")
    path = check_output(path, "drift_report(periods, path)")
    write_whole(path, encode_text(build_drift_page(list(periods), title)))
    return path


def build_drift_page(periods: Sequence[Drift], title: str) -> str:
    """Return the page."""
    body = f"<h1>{escape(title)}</h1>\n{draw_drift(periods)}"
    return wrap_page(title, body)


def encode_text(text: str) -> bytes:
    """Return text as UTF-8; halves of characters, which names may contain, are written as escapes."""
    return text.encode(errors="backslashreplace")


def wrap_page(title: str, body: str) -> str:
    """Return a page with the shared style."""
    return (
        "<!DOCTYPE html>\n<html lang='en'>\n<head>\n<meta charset='utf-8'>\n"
        "<meta name='viewport' content='width=device-width, initial-scale=1'>\n"
        f"<title>{escape(title)}</title>\n<style>{STYLE}</style>\n</head>\n<body>\n{body}\n</body>\n</html>\n"
    )


def draw_drift(periods: Sequence[Drift], level: int = 2) -> str:
    """Return the sections of a page: the score over time, a table of columns by period, and performance.

    ``level`` is that of their headings.
    """
    names = [one.period or f"period {number}" for number, one in enumerate(periods, 1)]
    parts = {
        "Score and the columns that moved most": draw_lines(
            names, _choose_lines(periods), limits=(MODERATE, LARGE)
        ),
        "All columns": _draw_table(periods, names),
        "Values that training did not have": _draw_news(periods, names),
    }
    if any(one.performance for one in periods):
        parts["Performance"] = _draw_performance(periods, names)
    hint = (
        f"<p class='hint'>Population stability index against the training table. Moderate from {MODERATE:g} on, large "
        f"from {LARGE:g} on, if the shift is more than chance (p below 0.01).</p>"
    )
    return "\n".join([hint, *(f"<h{level}>{title}</h{level}>\n{part}" for title, part in parts.items())])


def _list_columns(periods: Sequence[Drift]) -> dict[str, list[ColumnDrift | None]]:
    """Return the results of every period by column, the largest index first; the score is before all."""
    found = [{one.column: one for one in period.columns} for period in periods]
    names = {name: max(own[name].psi for own in found if name in own) for own in found for name in own}
    order = sorted(names, key=lambda name: -names[name])
    scores: list[ColumnDrift | None] = [one.score for one in periods]
    return {"score": scores} | {name: [own.get(name) for own in found] for name in order}


def _choose_lines(periods: Sequence[Drift]) -> dict[str, list[float | None]]:
    columns = _list_columns(periods)
    return {name: [None if one is None else one.psi for one in columns[name]] for name in list(columns)[:5]}


def draw_lines(
    names: Sequence[str], lines: dict[str, list[float | None]], limits: Sequence[float] = ()
) -> str:
    """Return a chart of a few lines over periods as SVG."""
    width, height, left, right, top, bottom = 900, 260, 50, 190, 12, 40
    known = [value for line in lines.values() for value in line if value is not None]
    most = 1.15 * max([*known, *limits, 1e-9])
    step = (width - left - right) / max(len(names) - 1, 1)
    colours = ("#3D4FB8", "#D55E00", "#009E73", "#CC79A7", "#6B6B6B")

    def up(value: float) -> float:
        return height - bottom - value / most * (height - top - bottom)

    shown = [f"<svg viewBox='0 0 {width} {height}' role='img' aria-label='Index by period'>"]
    shown += [
        f"<line x1='{left}' x2='{width - right}' y1='{up(limit):.1f}' y2='{up(limit):.1f}' stroke='#9aa3b8' "
        f"stroke-dasharray='4 4'/><text x='{left - 6}' y='{up(limit) + 4:.1f}' text-anchor='end'>{limit:g}</text>"
        for limit in (0.0, *limits)
    ]
    every = max(1, len(names) // 12)
    shown += [
        f"<text x='{left + place * step:.1f}' y='{height - 14}' text-anchor='middle'>{escape(names[place])}</text>"
        for place in range(0, len(names), every)
    ]
    ends = sorted((line[-1] or 0.0, name) for name, line in lines.items())
    places: dict[str, float] = {}
    last = float(height)
    for value, name in ends:  # names at the ends of lines must not touch
        last = places[name] = min(up(value), last - 15.0)
    for (name, line), colour in zip(lines.items(), colours, strict=False):
        points = [(left + number * step, up(value)) for number, value in enumerate(line) if value is not None]
        path = " ".join(f"{x:.1f},{y:.1f}" for x, y in points)
        thick = 3 if name == "score" else 1.8
        shown.append(f"<polyline points='{path}' fill='none' stroke='{colour}' stroke-width='{thick}'/>")
        shown += [f"<circle cx='{x:.1f}' cy='{y:.1f}' r='3.5' fill='{colour}'/>" for x, y in points]
        x = left + (len(names) - 1) * step + 8 if len(names) > 1 else left + 12
        shown.append(
            f"<text x='{x:.1f}' y='{places[name] + 4:.1f}' style='fill:{colour};font-weight:600'>"
            f"{escape(name[:24])}</text>"
        )
    return "".join([*shown, "</svg>"])


def draw_table(heads: Sequence[str], rows: Sequence[Sequence[Any]]) -> str:
    """Return a table; a cell is text, or text and a colour. Without titles, it is a list of facts."""
    titles = "".join(f"<th>{escape(head)}</th>" for head in heads)
    top = f"<table><thead><tr>{titles}</tr></thead>" if any(heads) else "<table class='facts'>"
    lines = []
    for row in rows:
        cells = "".join(
            f"<td style='background:{cell[1]}'>{escape(cell[0])}</td>"
            if isinstance(cell, tuple)
            else f"<td>{escape(str(cell))}</td>"
            for cell in row
        )
        lines.append(f"<tr>{cells}</tr>")
    return f"<div class='scroll'>{top}<tbody>{''.join(lines)}</tbody></table></div>"


def _draw_table(periods: Sequence[Drift], names: Sequence[str]) -> str:
    rows: list[list[Any]] = [["rows", *(f"{one.n_rows:,}" for one in periods)]]
    for name, found in _list_columns(periods).items():
        cells = [
            "–"
            if one is None
            else (f"{one.psi:.3f}", _COLOURS[one.level] if one.level != LEVELS[0] else "none")
            for one in found
        ]
        rows.append([name, *cells])
    return draw_table(["column", *names], rows)


def _draw_news(periods: Sequence[Drift], names: Sequence[str]) -> str:
    rows = [
        [
            one.column,
            name,
            write_share(one.outside),
            ", ".join(one.new_categories) or "–",
            f"{write_share(one.missing)} ({write_share(one.missing_before)})",
        ]
        for name, period in zip(names, periods, strict=True)
        for one in period.columns
        if one.outside > 0.0 or abs(one.missing - one.missing_before) > 0.05
    ]
    if not rows:
        return "<p>None.</p>"
    heads = ["column", "period", "outside the training range", "new categories", "missing (in training)"]
    return draw_table(heads, rows)


def _draw_performance(periods: Sequence[Drift], names: Sequence[str]) -> str:
    measures = dict.fromkeys(one.measure for period in periods for one in period.performance)
    rows = []
    for measure in measures:
        found = [
            next((one for one in period.performance if one.measure == measure), None) for period in periods
        ]
        before = next((one.before for one in found if one is not None), None)
        cells: list[Any] = [measure.replace("_", " "), "–" if before is None else write_number(before)]
        for one in found:
            if one is None:
                cells.append("–")
                continue
            value, low, high = map(write_number, (one.value, one.low, one.high))
            text = f"{value} ({low} to {high})"
            cells.append((text, _COLOURS[LEVELS[2]]) if one.is_worse else text)
        rows.append(cells)
    return draw_table(["measure", "hold-out", *names], rows)
