"""Tables as people have them, with categories and gaps: every model on the same splits."""

import argparse
import math
import warnings
from collections.abc import Collection, Mapping, Sequence
from typing import Any, ClassVar

import numpy as np

from .common import tables
from .common.data import Split
from .common.draw import make_axes, save
from .common.encoders import wrap
from .common.models import ALL_MODELS, TITLES, name_in_a_sentence
from .common.pages import Docs, markdown_table
from .common.results import Result, Results, Task, values
from .common.scores import score
from .runner import Args, Fits


class Tables(Fits):
    """The question."""

    name = "tables"
    fills = "benchmarks/tables.md"
    quick = "one split of the tables below 1500 rows"
    models: ClassVar[tuple[str, ...]] = (
        *("boosted", "ensemble", "mixed_forest", "catboost", "lightgbm", "hist_gb", "rf"),
        *("catboost_tuned", "lightgbm_tuned", "xgboost_tuned"),
    )
    sources: ClassVar[Mapping[str, Any]] = tables.CLASSES

    def add_arguments(self, parser: argparse.ArgumentParser) -> None:
        super().add_arguments(parser)
        parser.add_argument(
            "--models", nargs="+", choices=self.models, default=self.models, help="models to fit"
        )
        parser.add_argument("--data", nargs="+", choices=self.sources, default=list(self.sources))

    def is_draft(self, args: Args) -> bool:
        return args.quick or len(args.data) < len(self.sources) or len(args.models) < len(self.models)

    def plan(self, args: Args) -> list[Task]:
        splits = {name: tables.n_splits(name) for name in args.data}
        return [
            Task(self.name, name, model, seed)
            for name in args.data
            if not args.quick or len(tables.load(name).y) < 1500
            for model in args.models
            for seed in range(1 if args.quick else splits[name])
        ]

    def measure(self, task: Task) -> Result:
        part = self.load(task.data, task.seed)
        model = ALL_MODELS[task.model]
        estimator = wrap(task.model, model.build(task.seed), part.X)
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")  # of peers, about levels that only test rows have
            result = self.score(estimator, part)
        fitted = estimator[-1] if hasattr(estimator, "steps") else estimator
        return result | ({"n_blocks": model.count(fitted)} if model.count else {})

    def load(self, name: str, seed: int) -> Split:
        """Return a split of a table."""
        return tables.split(name, seed)

    def score(self, model: Any, part: Any) -> Result:
        """Fit and score one model."""
        return score(model, part)

    def page(self, results: Results, docs: Docs) -> dict[str, str]:
        return render(results, docs, self)


_SIGNS = {"log_loss": -1.0, "mae": -1.0, "fit_seconds": -1.0}  # less is better


class Ranks:
    """Means of a metric over the splits, and ranks among models; tables that a model lacks are left out."""

    def __init__(self, results: Results, sources: Sequence[str], models: Sequence[str]) -> None:
        self.results = results
        self.models = [model for model in models if any(key[1] == model for key in results)]
        self.sources = [name for name in sources if all((name, model) in results for model in self.models)]

    def mean(self, name: str, model: str, metric: str) -> float:
        """Mean over the splits; NaN without any."""
        found = values(self.results, name, model, metric)
        return float(np.mean(found)) if found else math.nan

    def means(self, metric: str, digits: int = 4, shown: Collection[str] | None = None) -> str:
        """Return a table of means: tables down, models across, all or those shown; the best of all is bold."""
        sign = _SIGNS.get(metric, 1.0)
        rows = []
        for name in self.sources:
            found = [self.mean(name, model, metric) for model in self.models]
            best = max(range(len(found)), key=lambda i: sign * found[i])
            cells = [f"{value:.{digits}f}" for value in found]
            cells[best] = f"**{cells[best]}**"
            rows.append([name, *(cells[i] for i in self._places(shown))])
        return markdown_table(["table", *(TITLES[self.models[i]] for i in self._places(shown))], rows)

    def _places(self, shown: Collection[str] | None) -> list[int]:
        return [i for i, model in enumerate(self.models) if shown is None or model in shown]

    def ranks(self, metric: str) -> dict[str, float]:
        """Mean rank of every model over the tables; equal values share their rank."""
        from scipy.stats import rankdata

        sign = _SIGNS.get(metric, 1.0)
        found = np.array(
            [[-sign * self.mean(name, model, metric) for model in self.models] for name in self.sources]
        )
        return dict(zip(self.models, rankdata(found, axis=1).mean(axis=0).tolist(), strict=True))

    def summary(self, metrics: dict[str, str]) -> str:
        """Return mean ranks of all metrics, sorted by the first metric."""
        ranks = {metric: self.ranks(metric) for metric in metrics}
        order = sorted(self.models, key=lambda model: ranks[next(iter(metrics))][model])
        rows = [[TITLES[model], *(f"{ranks[metric][model]:.2f}" for metric in metrics)] for model in order]
        return markdown_table(["model", *(f"mean rank: {title}" for title in metrics.values())], rows)

    def conclude(self, metric: str, title: str) -> str:
        """Return the three models of the lowest mean ranks as a sentence."""
        ranks = self.ranks(metric)
        first, *others = sorted(self.models, key=lambda model: ranks[model])[:3]
        leader, *said = (f"{name_in_a_sentence(model)} ({ranks[model]:.2f})" for model in (first, *others))
        where = f"by {title} on {len(self.sources)} tables"
        return f"**The lowest mean rank {where}: {leader}, before {' and '.join(said)}.**"

    def compare(self, ours: str, peer: str, metric: str, digits: int = 4) -> str:
        """Return ours beside a peer on every table, and on how many it is at or above."""
        sign = _SIGNS.get(metric, 1.0)
        rows, n_held = [], 0
        for name in self.sources:
            pair = [self.mean(name, model, metric) for model in (ours, peer)]
            gain = sign * (pair[0] - pair[1])
            n_held += gain >= 0.0
            rows.append([name, *(f"{value:.{digits}f}" for value in pair), f"{gain:+.{digits}f}"])
        rows.append(["**at or above**", "", "", f"{n_held} of {len(rows)}"])
        return markdown_table(["table", TITLES[ours], TITLES[peer], "gain"], rows)

    def draw(self, docs: Docs, file: str, metrics: dict[str, str]) -> None:
        """Draw the mean ranks as bars, one panel for each metric."""
        figure, grid = make_axes(1, len(metrics), 4.2 * len(metrics), 0.34 * len(self.models) + 1.2)
        for ax, (metric, title) in zip(grid[0], metrics.items(), strict=True):
            ranks = self.ranks(metric)
            order = sorted(self.models, key=lambda model: -ranks[model])
            colours = ["C0" if model in _OURS else "0.7" for model in order]
            bars = ax.barh(
                [TITLES[model] for model in order], [ranks[model] for model in order], color=colours
            )
            ax.bar_label(bars, fmt="%.2f", padding=3)
            ax.set_title(f"Mean rank: {title}")
            ax.set_xlim(0, 1.15 * max(ranks.values()))
            ax.spines[["top", "right"]].set_visible(False)
        save(figure, docs.pages, file)


_OURS = (
    *("mixed_forest", "boosted", "ensemble"),
    *("tree_regressor", "forest_regressor", "boosted_regressor", "ensemble_regressor"),
)


def describe(sources: Mapping[str, tables.Table], names: Sequence[str]) -> str:
    """Return where the tables come from, their rows, columns, categories and gaps."""
    rows: list[list[Any]] = []
    for name in names:
        source, loaded = sources[name], tables.load(name)
        categories = loaded.X.select_dtypes("category")
        levels = max((int(categories[each].nunique()) for each in categories), default=0)
        origin = f"{source.package} {source.item}".strip()
        gaps = int(loaded.X.isna().any().sum())
        n_classes = len(np.unique(loaded.y)) if name in tables.CLASSES else "number"
        rows.append(
            [name, origin, source.target, n_classes, *loaded.X.shape, categories.shape[1], levels, gaps]
        )
    head = "table | source | target | classes | rows | columns | categorical | most levels | with gaps"
    return markdown_table(head, rows)


def render(results: Results, docs: Docs, question: Any) -> dict[str, str]:
    """Draw the picture and return the parts of the page by their marks."""
    page = Ranks(results, list(question.sources), question.models)
    metrics = {"accuracy": "accuracy", "log_loss": "log loss", "auc": "AUC", "fit_seconds": "fit time"}
    page.draw(docs, "tables-ranks", {name: metrics[name] for name in ("accuracy", "log_loss", "auc")})
    return {
        "verdict": page.conclude("log_loss", "log loss"),
        "sources": describe(question.sources, page.sources),
        "ranks": "![Mean ranks](tables-ranks.png)\n\n" + page.summary(metrics),
        "accuracy": page.means("accuracy"),
        "log_loss": page.means("log_loss"),
        "auc": page.means("auc"),
        "fit": page.means("fit_seconds", 2),
        "forest": page.compare("mixed_forest", "rf", "accuracy"),
        "forest_loss": page.compare("mixed_forest", "rf", "log_loss"),
    }


QUESTION = Tables()
