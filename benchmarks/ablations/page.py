"""The page of the ablations: a table per parameter, and what to set for which data."""

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np

from ..common import data as datasets
from ..common.draw import make_axes, mark, save
from ..common.pages import Docs, markdown_table
from ..common.results import Results, keep_complete, values
from ..common.statistics import Mean, subtract, summarise
from .settings import ABLATIONS, BASES, Ablation, Setting


class Row(NamedTuple):
    """One setting beside its base: on every set, and over all of them."""

    rank: float
    differences: list[Mean]  # in accuracy, one per set
    overall: Mean  # over the sets, which are independent of each other
    fit_ratio: float
    predict_ratio: float


class Comparison:
    """The settings of one base, the base first, ranked against each other."""

    def __init__(self, results: Results, settings: Sequence[Setting]) -> None:
        self.settings = settings
        self.results = keep_complete(results, [setting.key for setting in settings])
        self.names = [name for name in datasets.NAMES if any(key[0] == name for key in self.results)]

    def means(self, setting: Setting, metric: str = "accuracy") -> np.ndarray:
        """Return the mean of a metric on every set."""
        return np.array([np.mean(values(self.results, name, setting.key, metric)) for name in self.names])

    def _ratio(self, setting: Setting, metric: str) -> float:
        """Time as a multiple of the base's: geometric mean over the sets."""
        ratios = self.means(setting, metric) / self.means(self.settings[0], metric)
        return float(np.exp(np.log(ratios).mean()))

    def rows(self) -> list[Row]:
        """Return every setting beside the base."""
        from scipy.stats import rankdata

        means = np.array([self.means(setting) for setting in self.settings])
        ranks = rankdata(-means.round(12), axis=0).mean(axis=1)
        rows = []
        for setting, rank in zip(self.settings, ranks, strict=True):
            pair = (setting.key, self.settings[0].key)
            found = [subtract(self.results, name, *pair) for name in self.names]
            overall = summarise([difference.mean for difference in found], test_share=0.0)
            ratios = [self._ratio(setting, metric) for metric in ("fit_seconds", "proba_seconds")]
            rows.append(Row(float(rank), found, overall, *ratios))
        return rows


def say_difference(difference: Mean) -> str:
    """Return points, in bold where they are beyond their interval."""
    text = f"{100 * difference.mean:+.2f}"
    return text if difference.is_level else f"**{text}**"


def table_of(ablation: Ablation, results: Results) -> str:
    """Return the table of one parameter, both bases below each other."""
    rows, names = [], []
    for base in BASES:
        comparison = Comparison(results, ablation.of(base))
        names = comparison.names
        for setting, row in zip(comparison.settings, comparison.rows(), strict=True):
            if setting.changes:
                overall = f"{100 * row.overall.mean:+.2f} ± {100 * row.overall.half:.2f}"
                cells = [say_difference(difference) for difference in row.differences]
            else:
                overall = ""
                cells = [f"{100 * mean:.2f} %" for mean in comparison.means(setting)]
            times = [f"{row.fit_ratio:.2f}×", f"{row.predict_ratio:.2f}×"]
            rows.append([base, ablation.say(setting), f"{row.rank:.1f}", overall, *times, *cells])
    return markdown_table(["base", "setting", "mean rank", "difference", "fit", "predict", *names], rows)


def _draw(results: Results, docs: Docs) -> None:
    """Draw the mean differences as dots with intervals, coloured where the interval leaves out 0."""
    columns: list[dict[str, Mean]] = []
    for base in BASES:
        compared = [Comparison(results, ablation.of(base)) for ablation in ABLATIONS.values()]
        rows = [pair for one in compared for pair in list(zip(one.settings, one.rows(), strict=True))[1:]]
        columns.append({setting.title: row.overall for setting, row in rows})
    figure, grid = make_axes(1, len(columns), 6 * len(columns), 0.24 * max(map(len, columns)) + 1.2)
    for ax, base, column in zip(grid.flat, BASES, columns, strict=True):
        for at, found in enumerate(column.values()):
            mean, half = 100 * found.mean, 100 * found.half
            colour = "#9a9a9a" if found.is_level else "#238b45" if mean > 0 else "#cb181d"
            ax.errorbar(mean, at, xerr=half, fmt="o", markersize=4, linewidth=1, color=colour)
        ax.axvline(0, color="black", linewidth=0.8)
        ax.set_yticks(range(len(column)), list(column), fontsize=8)
        ax.set_ylim(len(column) - 0.5, -0.5)
        ax.set_xscale("symlog", linthresh=1)
        mark(ax, (-10, -5, -2, -1, 0, 1, 2, 5, 10))
        text = "difference in points of accuracy, mean over the sets with its 95 % interval\n(logarithmic beyond 1)"
        ax.set_xlabel(text, fontsize=9)
        ax.set_title(f"{base} forest")
        ax.grid(visible=True, axis="x", alpha=0.3)
    save(figure, docs.pages, "ablations")


def _say_sizes(results: Results) -> str:
    sizes = {data: len(splits) for (data, key), splits in results.items() if key == "paper"}
    return ", ".join(f"{data.split()[0]} {int(data.split()[1]):,} × {n}" for data, n in sizes.items())


def render(results: Results, docs: Docs) -> dict[str, str]:
    """Draw the picture and return the tables by the names of the parameters."""
    sizes = f"Rows × splits: {_say_sizes(results)}."
    results = {(data.split()[0], key): splits for (data, key), splits in results.items()}
    _draw(results, docs)
    return {"sizes": sizes} | {name: table_of(ablation, results) for name, ablation in ABLATIONS.items()}
