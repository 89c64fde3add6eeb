"""The generated parts of docs/when.md: the synthetic problems."""

import math
from collections.abc import Sequence

import numpy as np

from ..common.models import TITLES
from ..common.pages import markdown_table
from ..common.results import Results, values
from ..common.statistics import Mean, subtract
from .draw import Curves
from .problems import SCALING, SWEEPS, Clusters
from .runs import COMPARED, PEERS, scaling_key, sweep_key


def say_verdict(difference: Mean) -> str:
    """Return whether ours wins, ties or loses, with the difference in points."""
    points = f"{100 * difference.mean:+.2f}"
    if math.isinf(difference.half):  # a single drawing: no verdict
        return points
    if difference.is_level:
        return f"ties ({points})"
    return f"**{'wins' if difference.mean > 0 else 'loses'} {points}**"


def _row(results: Results, key: str) -> tuple[float, list[float], Mean, str] | None:
    """Bayes accuracy, mean accuracies, boosted trees against the best peer, and which that is; None without results."""
    if any((key, model) not in results for model in COMPARED):
        return None
    bayes = 1 - float(np.mean(values(results, key, COMPARED[0], "bayes_error")))
    means = {model: float(np.mean(values(results, key, model))) for model in COMPARED}
    best = max(PEERS, key=lambda model: means[model])
    # Every drawing is new: nothing is shared between seeds.
    gap = subtract(results, key, "boosted", best, test_share=0.0)
    return bayes, list(means.values()), gap, best


def _cells(row: tuple[float, list[float], Mean, str]) -> list[str]:
    bayes, means, gap, best = row
    shown = [f"**{100 * value:.1f}**" if value == max(means) else f"{100 * value:.1f}" for value in means]
    gap_text = f"{say_verdict(gap)}: {TITLES[best]}"
    return [gap_text, f"{100 * bayes:.1f}", *shown]


_HEAD = ["boosted vs. best peer", "Bayes", *(TITLES[model] for model in COMPARED)]


def table_sweeps(results: Results) -> str:
    """Return accuracies with one property of the data changed at a time."""
    rows = []
    for factor, levels in SWEEPS.items():
        for level, clusters in levels.items():
            if found := _row(results, sweep_key(clusters)):
                base = " (base)" if clusters == Clusters() else ""
                rows.append([factor, level + base, *_cells(found)])
    return markdown_table(["property", "value", *_HEAD], rows)


def table_scaling(results: Results, sizes: Sequence[int]) -> str:
    """Return accuracies by problem and number of training rows."""
    rows = [
        [problem.title, f"{n_rows:,}", *_cells(found)]
        for name, problem in SCALING.items()
        for n_rows in sizes
        if (found := _row(results, scaling_key(name, n_rows)))
    ]
    return markdown_table(["problem", "rows", *_HEAD], rows)


def curves(results: Results, sizes: Sequence[int]) -> list[Curves]:
    """Return the scaling study as curves."""
    panels = []
    for name, problem in SCALING.items():
        found = {n_rows: _row(results, scaling_key(name, n_rows)) for n_rows in sizes}
        rows = {n_rows: row for n_rows, row in found.items() if row}
        lines = {
            TITLES[model]: ([float(n_rows) for n_rows in rows], [100 * row[1][i] for row in rows.values()])
            for i, model in enumerate(COMPARED)
        }
        panels.append(Curves(problem.title, 100 * (1 - problem.bayes_error), lines))
    return panels
