"""The page of the ablations: a table per parameter, and what to set for which data."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from . import data as datasets
from .ablation_advice import NOTES, RECOMMENDATIONS, SUMMARY
from .ablation_settings import ABLATIONS, BASES, Ablation, Setting
from .accuracy_runs import keep_complete
from .draw_grid import Dots, draw_dots
from .models import version_key
from .paper_statistics import Mean, summarise
from .report import markdown_table, write_json, write_page

Results = dict[tuple[str, str], dict[int, dict[str, Any]]]


class Row(NamedTuple):
    """One setting beside its base: on every set, and over all of them."""

    rank: float
    differences: list[Mean]  # in accuracy, one per set
    overall: float
    half: float
    fit_ratio: float
    predict_ratio: float


def spread_over_sets(values: Sequence[float]) -> float:
    """Half of the 95 % t interval of the mean over data sets, which are independent of each other."""
    from scipy.stats import t

    if len(values) < 2:
        return math.inf
    return float(t.ppf(0.975, len(values) - 1) * np.std(values, ddof=1) / math.sqrt(len(values)))


class Comparison:
    """The settings of one base, ranked against each other."""

    def __init__(self, results: Results, settings: Sequence[Setting]) -> None:
        self.settings = settings
        self.results = keep_complete(results, [setting.key for setting in settings])
        self.names = [name for name in datasets.NAMES if any(key[0] == name for key in self.results)]

    def values(self, name: str, setting: Setting, metric: str) -> NDArray[np.float64]:
        """Return a metric over the splits."""
        return np.array([result[metric] for result in self.results[name, setting.key].values()])

    def _ratio(self, setting: Setting, metric: str) -> float:
        """Time as a multiple of the base's: geometric mean over the sets."""
        ratios = [
            self.values(name, setting, metric).mean() / self.values(name, self.settings[0], metric).mean()
            for name in self.names
        ]
        return float(np.exp(np.mean(np.log(ratios))))

    def rows(self) -> list[Row]:
        """Return every setting beside the first."""
        from scipy.stats import rankdata

        means = np.array(
            [
                [self.values(name, setting, "accuracy").mean() for name in self.names]
                for setting in self.settings
            ]
        )
        ranks = rankdata(-means.round(12), axis=0).mean(axis=1)
        rows = []
        for setting, rank in zip(self.settings, ranks, strict=True):
            differences = [
                summarise(
                    self.values(name, setting, "accuracy") - self.values(name, self.settings[0], "accuracy")
                )
                for name in self.names
            ]
            overall = [difference.mean for difference in differences]
            rows.append(
                Row(
                    float(rank),
                    differences,
                    float(np.mean(overall)),
                    spread_over_sets(overall),
                    self._ratio(setting, "fit_seconds"),
                    self._ratio(setting, "proba_seconds"),
                )
            )
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
                overall = f"{100 * row.overall:+.2f} ± {100 * row.half:.2f}"
                cells = [say_difference(difference) for difference in row.differences]
            else:
                overall = ""
                cells = [
                    f"{100 * comparison.values(name, setting, 'accuracy').mean():.2f} %" for name in names
                ]
            times = [f"{row.fit_ratio:.2f}×", f"{row.predict_ratio:.2f}×"]
            rows.append([base, ablation.say(setting), f"{row.rank:.1f}", overall, *times, *cells])
    return markdown_table(["from", "setting", "mean rank", "difference", "fit", "predict", *names], rows)


def _draw(results: Results) -> None:
    columns = []
    for base in BASES:
        values = {}
        for ablation in ABLATIONS.values():
            comparison = Comparison(results, ablation.of(base))
            for setting, row in list(zip(comparison.settings, comparison.rows(), strict=True))[1:]:
                values[setting.title] = (100 * row.overall, 100 * row.half)
        columns.append(Dots(f"from the {base} forest", values))
    draw_dots(
        "ablations",
        "points of accuracy, mean over the sets with its 95 % interval\n(logarithmic beyond 1)",
        columns,
    )


def _say_sizes(results: Results) -> str:
    sizes = {key[0]: len(splits) for key, splits in results.items() if key[1] == "paper"}
    found = (data.split() for data in sizes)
    return ", ".join(f"{name} {int(n):,} × {sizes[f'{name} {n}']}" for name, n in found)


def render(results: Results, *, is_draft: bool) -> None:
    """Print the page and, unless it is a draft, write it with its picture."""
    sizes = _say_sizes(results)
    results = {(data.split()[0], key): splits for (data, key), splits in results.items()}
    parts = [
        "`python -m benchmarks ablations`. Each parameter is changed alone, once from the paper's forest "
        '(`LHForestClassifier()`) and once from our mixed one (`direction="mixed"`), 100 trees each; what `"auto"` '
        "stands for is held fast. Stratified 80/20 splits, the same for every setting; rows × splits: "
        f"{sizes}. Where these are fewer rows than the set has, they were drawn by class, once; of skin "
        "only distinct rows, so that no test row was seen in training. One thread. Build of ours: "
        f"`{version_key('mixed_forest')}`.",
        "How to read the tables: the base's row has its accuracy on each set, the other rows the difference from it in "
        "points of accuracy; **bold** where that is beyond its 95 % interval, paired over the splits and widened for "
        "their common rows (Nadeau and Bengio). “difference” is the mean over the sets with its 95 % t interval over "
        "the sets. “mean rank” counts among the settings of one base in one table, 1 is best. “fit” and “predict” are "
        "CPU time as a multiple of the base's, geometric mean over the sets. With some fifty comparisons on nine "
        "sets, expect some bold cells by chance: one in twenty where a setting does nothing.",
        SUMMARY,
        "![Differences](ablations.png)",
    ]
    for name, ablation in ABLATIONS.items():
        parts.append(f"## {ablation.title}\n\n{NOTES[name]}\n\n{table_of(ablation, results)}")
    parts.append(f"## What to set\n\n{RECOMMENDATIONS}")
    print("\n\n".join(parts))
    if is_draft:
        return
    _draw(results)
    kept = [{"data": name, "setting": key, "splits": splits} for (name, key), splits in results.items()]
    write_json("ablations", kept)
    write_page("ablations", "What every parameter is worth", parts)
