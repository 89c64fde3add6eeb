"""The page of the boosted model's parts: one table and one picture."""

import numpy as np

from ..common import data as datasets
from ..common.draw import make_axes, save
from ..common.pages import Docs, markdown_table
from ..common.results import Results, keep_complete, values
from ..common.statistics import Mean, subtract, summarise
from . import SETTINGS, say


class Parts:
    """Every setting beside the defaults, on the splits that all have."""

    def __init__(self, results: Results) -> None:
        self.keys = [say(params) for group in SETTINGS.values() for params in group]
        self.results = keep_complete(results, self.keys)
        self.names = [name for name in datasets.NAMES if any(key[0] == name for key in self.results)]

    def means(self, key: str, metric: str) -> np.ndarray:
        """Return the mean of a metric on every set."""
        return np.array([np.mean(values(self.results, name, key, metric)) for name in self.names])

    def points(self, key: str) -> Mean:
        """Points of accuracy above the defaults, over the sets."""
        found = [subtract(self.results, name, key, self.keys[0], test_share=0.0).mean for name in self.names]
        return summarise([100 * one for one in found], test_share=0.0)

    def log_ratio(self, key: str, metric: str) -> Mean:
        """Logarithm of a metric as a multiple of the defaults', over the sets."""
        return summarise(np.log(self.means(key, metric) / self.means(self.keys[0], metric)), test_share=0.0)

    def table(self) -> str:
        """Return the table: settings down, sets across with their log loss."""
        rows = []
        for question, group in SETTINGS.items():
            for key in map(say, group):
                losses = [f"{loss:.4f}" for loss in self.means(key, "log_loss")]
                if key == self.keys[0]:
                    rows.append([question, "", "", "", "1.00×", *losses])
                    continue
                points, loss = self.points(key), self.log_ratio(key, "log_loss")
                cells = [f"{points.mean:+.2f} ± {points.half:.2f}", f"{100 * np.expm1(loss.mean):+.1f} %"]
                cells[1] = cells[1] if loss.is_level else f"**{cells[1]}**"
                time = np.exp(self.log_ratio(key, "fit_seconds").mean)
                rows.append([question, f"`{key}`", *cells, f"{time:.2f}×", *losses])
        head = ["what", "setting", "points of accuracy", "log loss", "fit", *self.names]
        return markdown_table(head, rows)

    def draw(self, docs: Docs) -> None:
        """Draw the log loss of every setting as a multiple of the defaults'."""
        keys = self.keys[1:]
        figure, grid = make_axes(1, 1, 7.5, 0.26 * len(keys) + 1.2)
        ax = grid[0, 0]
        for at, key in enumerate(keys):
            found = self.log_ratio(key, "log_loss")
            bounds = 100 * np.expm1([found.mean - found.half, found.mean, found.mean + found.half])
            colour = "#9a9a9a" if found.is_level else "#238b45" if found.mean < 0 else "#cb181d"
            spread = [[bounds[1] - bounds[0]], [bounds[2] - bounds[1]]]
            ax.errorbar(bounds[1], at, xerr=spread, fmt="o", markersize=4, linewidth=1, color=colour)
        ax.axvline(0, color="black", linewidth=0.8)
        ax.set_yticks(range(len(keys)), keys, fontsize=8)
        ax.set_ylim(len(keys) - 0.5, -0.5)
        ax.set_xlabel(
            "log loss against the defaults, %\n(geometric mean over the sets with its 95 % interval)"
        )
        ax.grid(visible=True, axis="x", alpha=0.3)
        save(figure, docs.pages, "boosting")


def render(results: Results, docs: Docs) -> dict[str, str]:
    """Draw the picture and return the table."""
    parts = Parts(results)
    parts.draw(docs)
    counts = {name: len(values(parts.results, name, parts.keys[0])) for name in parts.names}
    return {"sizes": ", ".join(f"{name} {n}" for name, n in counts.items()), "parts": parts.table()}
