"""Ablations: the effect of every parameter, changed alone in the paper's forest and in the mixed forest."""

import argparse
import functools
from collections.abc import Sequence
from typing import Any, NamedTuple

import numpy as np

from .common import data as datasets
from .common.draw import make_axes, mark, save
from .common.pages import Docs, markdown_table
from .common.results import Result, Results, Task, keep_complete, values
from .common.scores import score
from .common.statistics import Mean, subtract, summarise
from .runner import Args, Fits

Params = dict[str, Any]

# Written out, since "auto" follows the direction: a changed direction would change them, too.
PAPER: Params = {
    "direction": "mean_difference",
    "offset": "purity",
    "beta": "schedule",
    "max_features": None,
    "max_samples": 0.8,
    "min_samples_split": 10,
    "confidence": "last",
}
MIXED: Params = {
    "direction": "mixed",
    "offset": "gini",
    "beta": 0.0,
    "max_features": "auto",
    "max_samples": 1.0,
    "min_samples_split": 2,
    "confidence": None,
}
BASES = {"paper": PAPER, "mixed": MIXED}


class Setting(NamedTuple):
    """A base model and changes of its parameters; without changes, the base itself."""

    base: str
    changes: tuple[tuple[str, Any], ...] = ()

    @property
    def params(self) -> Params:
        """Arguments of the forest."""
        return BASES[self.base] | dict(self.changes)

    @property
    def key(self) -> str:
        """Name among the results."""
        return ",".join([self.base, *(f"{name}={value}" for name, value in self.changes)])

    @property
    def title(self) -> str:
        """The changes as they are written in Python."""
        return ", ".join(f"{name}={value!r}" for name, value in self.changes)


class Ablation(NamedTuple):
    """One parameter: the values of the bases, as Python code, and the settings that change it."""

    bases: dict[str, str]
    settings: dict[str, list[Setting]]

    def of(self, base: str) -> list[Setting]:
        """Return the base and the settings that change it."""
        return [Setting(base), *self.settings[base]]

    def say(self, setting: Setting) -> str:
        """Return a setting as code, the base with the value it has."""
        text = setting.title or self.bases[setting.base]
        return f"`{text}`" + ("" if setting.changes else " (base)")


def _vary(base: str, parameter: str, *values: Any, **others: Any) -> list[Setting]:
    return [Setting(base, ((parameter, value), *others.items())) for value in values]


def _both(parameter: str, base_values: tuple[Any, Any], paper: Sequence[Any]) -> Ablation:
    """Vary a parameter through the same values in both bases, each leaving out its own."""
    values = dict(zip(BASES, base_values, strict=True))
    settings = {
        base: _vary(base, parameter, *(value for value in paper if value != own))
        for base, own in values.items()
    }
    return Ablation({base: f"{parameter}={own!r}" for base, own in values.items()}, settings)


ABLATIONS = {
    "direction": Ablation(
        {"paper": "direction='mean_difference'", "mixed": "direction='mixed'"},
        {
            "paper": [
                *_vary("paper", "direction", "fisher"),
                *_vary("paper", "direction", "mixed", offset="gini"),
            ],
            "mixed": _vary("mixed", "direction", "fisher", "mean_difference"),
        },
    ),
    "offset": Ablation(
        {"paper": "offset='purity'", "mixed": "offset='gini'"},
        {
            "paper": _vary("paper", "offset", "gini"),
            "mixed": [
                *_vary("mixed", "direction", "fisher"),
                *_vary("mixed", "direction", "fisher", offset="purity"),
            ],
        },
    ),
    "membership": _both("membership", ("marginal", "marginal"), ("marginal", "least_squares", "constant")),
    "confidence": _both("confidence", ("last", None), ("last", "path", None)),
    "normalize": _both("normalize", ("robust", "robust"), ("robust", "standard", "minmax", None)),
    "gamma": Ablation(
        {"paper": "gamma=10", "mixed": "min_samples_split=2"},
        {
            "paper": [
                setting
                for value in (2, 5, 20, 50, 100)
                for setting in _vary("paper", "gamma", value, min_samples_split=value)
            ],
            # Gini cuts ignore gamma; min_samples_split has a similar effect on them.
            "mixed": _vary("mixed", "min_samples_split", 5, 10, 20, 50),
        },
    ),
    "beta": _both("beta", ("schedule", 0.0), ("schedule", 0.0, 0.25, 0.5, 0.75)),
    "n_estimators": _both("n_estimators", (100, 100), (1, 3, 10, 30, 100, 300)),
    "max_features": _both("max_features", (None, "auto"), (1, "sqrt", 0.5, None)),
}


def all_settings() -> list[Setting]:
    """Every setting once, the bases first."""
    settings = [Setting(base) for base in BASES]
    settings += [
        setting for ablation in ABLATIONS.values() for base in BASES for setting in ablation.settings[base]
    ]
    return list(dict.fromkeys(settings))


# Limits that keep the run at about twenty minutes on one core.
_N_SPLITS = {"rice": 5, "spambase": 5, "eeg": 3, "magic": 3, "skin": 5}
_N_SMALL_SPLITS = 20
_N_ROWS = 20_000  # more than eight of the sets have
_SETTINGS = {setting.key: setting for setting in all_settings()}


def draw_rows(data: datasets.Data, n_rows: int) -> datasets.Data:
    """Draw rows of a set by class, or take it whole where it has no more; rows of skin that recur count once."""
    from sklearn.model_selection import train_test_split

    if data.name == "skin":
        data = datasets.drop_copies(data)
    if len(data.y) <= n_rows:
        return data
    X, _, y, _ = train_test_split(data.X, data.y, train_size=n_rows, stratify=data.y, random_state=0)
    return datasets.Data(data.name, X, y)


@functools.lru_cache(maxsize=9)
def load(name: str, n_rows: int) -> datasets.Data:
    """Read one of the nine data sets, with a limited number of rows."""
    return draw_rows(datasets.load(name), n_rows)


def n_splits(name: str) -> int:
    """Return the number of splits of a set."""
    return _N_SPLITS.get(name, _N_SMALL_SPLITS)


def build(setting: Setting, seed: int) -> Any:
    """Return the forest of a setting."""
    from lhtree import LHForestClassifier

    return LHForestClassifier(n_jobs=1, random_state=seed, **setting.params)


@functools.cache
def _warm_up() -> None:
    """Fit something once: whatever a first fit imports is not part of its time."""
    for base in BASES:
        build(Setting(base), 0).fit(np.eye(4), [0, 1, 0, 1]).predict_proba(np.eye(4))


class Ablations(Fits):
    """The question. The data of a fit is the name of a set and the number of its rows, the model a setting's key."""

    name = "ablations"
    fills = "benchmarks/ablations.md"
    quick = "two splits of the sets below 3000 rows"

    def add_arguments(self, parser: argparse.ArgumentParser) -> None:
        super().add_arguments(parser)
        parser.add_argument("--data", nargs="+", choices=datasets.NAMES, default=datasets.NAMES)
        parser.add_argument("--rows", type=int, default=_N_ROWS, help="maximum per data set")

    def is_draft(self, args: Args) -> bool:
        return args.quick or len(args.data) < len(datasets.NAMES)

    def plan(self, args: Args) -> list[Task]:
        names = datasets.NAMES[:4] if args.quick else args.data
        sizes = {name: len(load(name, args.rows).y) for name in names}
        return [
            Task(self.name, f"{name} {sizes[name]}", key, seed)
            for seed in range(2 if args.quick else _N_SMALL_SPLITS)
            for name in names
            if seed < n_splits(name)
            for key in _SETTINGS
        ]

    def measure(self, task: Task) -> Result:
        _warm_up()
        name, n_rows = task.data.split()
        part = datasets.split(load(name, int(n_rows)), task.seed)
        return score(build(_SETTINGS[task.model], task.seed), part)

    def page(self, results: Results, docs: Docs) -> dict[str, str]:
        return render(results, docs)


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


QUESTION = Ablations()
