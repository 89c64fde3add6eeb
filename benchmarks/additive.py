"""Additive models beside EBM at its defaults, linear models and compact trees: the nine data sets and public tables."""

import argparse
import math
import warnings
from typing import Any

import numpy as np

from .common import data as datasets
from .common import tables
from .common.encoders import wrap
from .common.models import ALL_MODELS, TITLES
from .common.pages import Docs, Figure, figure_table, markdown_table
from .common.results import Result, Results, Task
from .common.scores import score, score_numbers
from .runner import Args, Fits

_CLASSES = ("additive", "ebm", "logistic", "compact_auto")
_NUMBERS = ("additive_regressor", "ebm_regressor", "linear_regressor", "compact_regressor")
_MOST_ROWS = 20_000  # of skin, for training; the test rows are all
_FEW_ROWS = 1000  # below: two splits of a table, because test rows are few; a fit of EBM takes minutes
_SYNTHETIC = {f"synthetic{n}": n for n in (2000, 20_000, 100_000, 500_000)}  # rows to learn from
_MOST_FOR_EBM = 2000
_N_COLUMNS, _N_TEST = 50, 10_000  # of synthetic tables


class Additive(Fits):
    """The question."""

    name = "additive"
    fills = "benchmarks/additive.md"
    quick = "tables below 1500 rows, without EBM"
    metric = "fit_seconds"

    def add_arguments(self, parser: argparse.ArgumentParser) -> None:
        super().add_arguments(parser)
        every = (*_CLASSES, *_NUMBERS)
        parser.add_argument("--models", nargs="+", choices=every, default=every, help="models to fit")

    def plan(self, args: Args) -> list[Task]:
        names = [*datasets.NAMES, *tables.CLASSES, *tables.NUMBERS]
        if args.quick:
            names = [name for name in (*tables.CLASSES, *tables.NUMBERS) if len(tables.load(name).y) < 1500]
        return [
            Task(self.name, name, model, seed)
            for seed in (0, 1)
            for name in names
            if seed == 0 or _count_rows(name) < _FEW_ROWS
            for model in (_NUMBERS if name in tables.NUMBERS else _CLASSES)
            if not args.quick or not model.startswith("ebm")
        ] + [
            Task(self.name, name, model, 0)
            for name, n_rows in _SYNTHETIC.items()
            for model in ("additive", "ebm")
            if not args.quick and (model == "additive" or n_rows <= _MOST_FOR_EBM)
        ]

    def is_chosen(self, task: Task, args: Args) -> bool:
        return task.model in args.models

    def measure(self, task: Task) -> Result:
        estimator = ALL_MODELS[task.model].build(task.seed)
        if task.data in _SYNTHETIC:
            return score(estimator, draw_synthetic(_SYNTHETIC[task.data]))
        if task.data in datasets.NAMES:
            part = datasets.split(datasets.load(task.data), task.seed)
            # The split shuffles: the first rows are drawn at random.
            return score(estimator, part._replace(X=part.X[:_MOST_ROWS], y=part.y[:_MOST_ROWS]))
        table = tables.split(task.data, task.seed)
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")  # of peers, about levels that only test rows have
            wrapped = wrap(task.model, estimator, table.X)
            return (score_numbers if task.data in tables.NUMBERS else score)(wrapped, table)

    def page(self, results: Results, docs: Docs) -> dict[str, str]:
        return Page(results).render()


def draw_synthetic(n_rows: int) -> datasets.Split:
    """Draw numbers with two classes: curves of 11 columns, two interactions of 4 others, and 35 columns of noise."""
    random = np.random.default_rng(0)
    X = random.normal(size=(_N_TEST + n_rows, _N_COLUMNS)).round(3)
    odds = X[:, 0] + np.sin(2.0 * X[:, 1]) + np.abs(X[:, 2]) + 0.3 * X[:, 7:15].sum(axis=1) - 1.0
    odds += 0.5 * X[:, 3] * X[:, 4] + 0.5 * np.where(X[:, 5] > 0.0, X[:, 6], 0.0)
    y = (random.random(len(X)) < 1.0 / (1.0 + np.exp(-odds))).astype(np.int64)
    return datasets.Split(X[_N_TEST:], y[_N_TEST:], X[:_N_TEST], y[:_N_TEST])


class Page:
    """Tables of the results; a model without results on a table leaves a gap."""

    def __init__(self, results: Results) -> None:
        self.results = results
        names = [*datasets.NAMES, *tables.CLASSES]
        self.classes = [name for name in names if (name, "additive") in results]
        self.numbers = [name for name in tables.NUMBERS if (name, "additive_regressor") in results]

    def read(self, name: str, model: str, metric: str) -> float:
        """Return the mean figure of a model over the splits of a table; NaN without a result.

        "error" is 1 - R², and "miss" is 1 - AUC. Splits that one of the models of the table lacks do not count.
        """
        models = _NUMBERS if name in tables.NUMBERS else _CLASSES
        stored = [self.results[name, each] for each in models if (name, each) in self.results]
        found = self.results.get((name, model))
        if found is None:
            return math.nan
        key = {"error": "r2", "miss": "auc"}.get(metric, metric)
        mean = float(np.mean([found[seed][key] for seed in set.intersection(*map(set, stored))]))
        return 1.0 - mean if key != metric else mean

    def compare(self, names: list[str], ours: str, peer: str, metric: str) -> float:
        """Return the geometric mean of ours / peer over the tables that both have."""
        pairs = [(self.read(name, ours, metric), self.read(name, peer, metric)) for name in names]
        ratios = [a / b for a, b in pairs if a > 0.0 and b > 0.0]
        return float(np.exp(np.mean(np.log(ratios)))) if ratios else math.nan

    def list_tables(self, names: list[str], models: tuple[str, ...], metric: str, digits: int) -> str:
        """Return a figure of all models on every table, and ours relative to EBM."""
        ours, peer, *_ = models
        rows = []
        for name in names:
            found = [self.read(name, model, metric) for model in models]
            rows.append(
                [
                    name,
                    *(_write(value, digits) for value in found),
                    _write(found[0] / found[1] if found[1] else math.nan, 3),
                ]
            )
        rows.append(
            [
                "**geometric mean of ratios**",
                *[""] * len(models),
                _write(self.compare(names, ours, peer, metric), 3),
            ]
        )
        return markdown_table(["table", *(TITLES[model] for model in models), "additive / EBM"], rows)

    def count_ahead(self, names: list[str], models: tuple[str, ...], metric: str) -> tuple[int, int]:
        """Return on how many tables ours is ahead of the linear model and the compact tree where EBM is."""
        ours, peer, *simple = models
        n_ahead = n_all = 0
        for name in names:
            for other in simple:
                values = [self.read(name, model, metric) for model in (ours, peer, other)]
                if values[1] < values[2]:
                    n_all += 1
                    n_ahead += values[0] < values[2]
        return n_ahead, n_all

    def list_rows(self) -> str:
        """Return the CPU time of fits of synthetic tables, and per row."""
        rows = []
        for name, n_rows in _SYNTHETIC.items():
            for model in ("additive", "ebm"):
                if (name, model) in self.results:
                    found = self.results[name, model][0]
                    seconds, loss = found["fit_seconds"], found["log_loss"]
                    per_row = f"{1e3 * seconds / n_rows:.2f}"
                    rows.append([f"{n_rows:,}", TITLES[model], f"{seconds:.1f}", per_row, _write(loss, 4)])
        return markdown_table(["rows", "model", "seconds", "ms per row", "log loss"], rows)

    def goals(self) -> str:
        """Goals beside results."""
        both = [name for name in self.classes if (name, "ebm") in self.results]
        numbers = [name for name in self.numbers if (name, "ebm_regressor") in self.results]
        times = [self.compare(both, "additive", "ebm", "fit_seconds")] * len(both)
        times += [self.compare(numbers, "additive_regressor", "ebm_regressor", "fit_seconds")] * len(numbers)
        rows = [
            Figure(
                f"log loss relative to EBM, {len(both)} tables",
                self.compare(both, "additive", "ebm", "log_loss"),
                1.0,
                "",
                is_floor=False,
            ),
            Figure(
                f"1 − AUC relative to EBM, {len(both)} tables",
                self.compare(both, "additive", "ebm", "miss"),
                1.0,
                "",
                is_floor=False,
            ),
            Figure(
                f"1 − R² relative to EBM, {len(numbers)} tables",
                self.compare(numbers, "additive_regressor", "ebm_regressor", "error"),
                1.0,
                "",
                is_floor=False,
            ),
        ]
        if times:
            speed = 1.0 / float(np.exp(np.mean(np.log(times))))
            rows.append(Figure("CPU time of EBM relative to ours", speed, 50.0, "×"))
        for names, models, metric in ((both, _CLASSES, "log_loss"), (numbers, _NUMBERS, "error")):
            n_ahead, n_all = self.count_ahead(names, models, metric)
            title = "logistic regression" if metric == "log_loss" else "linear regression"
            rows.append(Figure(f"ahead of {title} and compact tree where EBM is", n_ahead, n_all, ""))
        return figure_table(rows)

    def render(self) -> dict[str, str]:
        """Return the tables by their marks."""
        return {
            "goals": self.goals(),
            "log_loss": self.list_tables(self.classes, _CLASSES, "log_loss", 4),
            "auc": self.list_tables(self.classes, _CLASSES, "miss", 4),
            "r2": self.list_tables(self.numbers, _NUMBERS, "error", 4),
            "fit": self.list_tables(self.classes, _CLASSES, "fit_seconds", 2),
            "rows": self.list_rows(),
            "fit_numbers": self.list_tables(self.numbers, _NUMBERS, "fit_seconds", 2),
        }


def _count_rows(name: str) -> int:
    return len((datasets.load(name) if name in datasets.NAMES else tables.load(name)).y)


def _write(value: Any, digits: int) -> str:
    return "–" if math.isnan(value) else f"{value:,.{digits}f}"


QUESTION = Additive()
