"""How accurate and how well calibrated: every model on the same splits of the nine data sets."""

import argparse
import math
import sys
from collections.abc import Iterable, Sequence

import numpy as np

from .common import data as datasets
from .common.draw import draw_differences
from .common.models import ENSEMBLES, MODELS, OURS, PEERS, TITLES, name_in_a_sentence
from .common.pages import Docs, markdown_table
from .common.results import Result, Results, Task, values
from .common.scores import score
from .common.statistics import Mean, subtract
from .runner import Args, Fits

_MODELS = {name: model for name, model in MODELS.items() if name != "fisher_forest"} | {
    "ensemble": ENSEMBLES["ensemble"]
}


class Accuracy(Fits):
    """The question."""

    name = "accuracy"
    fills = "benchmarks/accuracy.md"
    quick = "two splits of the sets below 5000 rows"

    def add_arguments(self, parser: argparse.ArgumentParser) -> None:
        super().add_arguments(parser)
        own = list(_MODELS)
        parser.add_argument("--models", nargs="+", choices=own, default=own, help="models to fit")
        parser.add_argument("--data", nargs="+", choices=datasets.NAMES, default=datasets.NAMES)

    def is_draft(self, args: Args) -> bool:
        return args.quick or len(args.data) < len(datasets.NAMES) or len(args.models) < len(_MODELS)

    def plan(self, args: Args) -> list[Task]:
        most = 2 if args.quick else sys.maxsize
        names = sorted(args.data, key=datasets.NAMES.index)
        splits = {name: datasets.n_splits(datasets.load(name)) for name in names}
        return [
            Task(self.name, name, model, seed)
            for name in names
            if not args.quick or splits[name] == 20
            for model in args.models
            for seed in range(min(splits[name], most))
        ]

    def measure(self, task: Task) -> Result:
        model = _MODELS[task.model]
        estimator = model.build(task.seed)
        result = score(estimator, datasets.split(datasets.load(task.data), task.seed))
        return result | {"n_blocks": model.count(estimator) if model.count else None}

    def page(self, results: Results, docs: Docs) -> dict[str, str]:
        return Page(results).render(docs)


_CARTS = ("cart", "cart_10", "cart_50")
_BOOSTERS = ("hist_gb", "xgboost", "lightgbm")
_RIVALS = ("rf", "extra_trees", "hist_gb", "xgboost", "lightgbm")


def _holds(difference: Mean) -> bool:
    """Whether ours is not below by more than the interval."""
    return difference.mean >= -difference.half


def _say(difference: Mean) -> str:
    below = "" if _holds(difference) else " below"
    return f"{100 * difference.mean:+.2f} ± {100 * difference.half:.2f}{below}"


class Page:
    """Tables of the results; a set or model without any leaves a gap, a comparison without them is left out."""

    def __init__(self, results: Results) -> None:
        self.results = results
        self.names = [name for name in datasets.NAMES if any(key[0] == name for key in results)]
        order = ("ensemble", *reversed(OURS), *reversed(PEERS))
        self.models = [model for model in order if any(key[1] == model for key in results)]

    def mean(self, name: str, model: str, metric: str) -> float:
        """Mean over the splits; NaN without any."""
        found = values(self.results, name, model, metric)
        return float(np.mean(found)) if found else math.nan

    def best(self, name: str, models: Iterable[str]) -> str:
        """Return the model with the largest mean accuracy."""
        there = [model for model in models if (name, model) in self.results]
        return max(there, key=lambda model: self.mean(name, model, "accuracy"))

    def has(self, name: str, *models: str) -> bool:
        """Whether all models have results on a set."""
        return all((name, model) in self.results for model in models)

    def difference(self, name: str, ours: str, peer: str, metric: str = "accuracy") -> Mean:
        """Paired difference over the splits both have, with its t interval; positive: ours is better."""
        return subtract(self.results, name, ours, peer, metric, test_share=0.0)

    def means(self, metric: str, digits: int = 4) -> str:
        """Return a table of means: models down, ours first, sets across; the best of a column is bold."""
        found = np.array([[self.mean(name, model, metric) for name in self.names] for model in self.models])
        found = np.column_stack([found, found.mean(axis=1)])
        best = np.nanmax(found, axis=0) if metric == "accuracy" else np.nanmin(found, axis=0)
        rows = []
        for model, numbers in zip(self.models, found, strict=True):
            texts = ["–" if math.isnan(value) else f"{value:.{digits}f}" for value in numbers]
            marked = [
                f"**{text}**" if value == top else text
                for text, value, top in zip(texts, numbers, best, strict=True)
            ]
            rows.append([TITLES[model], *marked])
        return markdown_table(["model", *self.names, "mean"], rows)

    def rivals(self, docs: Docs, peers: Sequence[str] = (*_RIVALS, "catboost")) -> str:
        """Return the mixed forest - each peer in points on every set, with verdicts, and draw it."""
        names = [name for name in self.names if self.has(name, "mixed_forest", *peers)]
        found = {
            TITLES[peer]: [self.difference(name, "mixed_forest", peer) for name in names] for peer in peers
        }
        draw_differences(docs.pages, "accuracy-differences", "Mixed forest against each peer", names, found)
        found["best of the first five"] = [
            self.difference(name, "mixed_forest", self.best(name, _RIVALS)) for name in names
        ]
        rows = [[name, *(_say(column[i]) for column in found.values())] for i, name in enumerate(names)]
        held = [f"{sum(map(_holds, column))} of {len(column)}" for column in found.values()]
        return markdown_table(["data", *found], [*rows, ["**at or above**", *held]])

    def readable(self) -> str:
        """One readable tree beside the best CART, with the number of blocks of each."""
        rows, n_held = [], 0
        for name in self.names:
            if not self.has(name, "readable_tree", *_CARTS):
                continue
            best = self.best(name, _CARTS)
            difference = self.difference(name, "readable_tree", best)
            n_held += _holds(difference)
            cells = []
            for model in ("readable_tree", best):
                n_blocks = self.mean(name, model, "n_blocks")
                cells += [f"{self.mean(name, model, 'accuracy'):.4f}", f"{n_blocks:.0f}"]
            rows.append([name, *cells[:2], TITLES[best], *cells[2:], _say(difference)])
        rows.append(["**at or above**", *[""] * 5, f"{n_held} of {len(rows)}"])
        head = "data | readable tree | blocks | best CART | accuracy | nodes | difference in points"
        return markdown_table(head, rows)

    def log_losses(self) -> str:
        """Mixed forest beside RandomForest in log loss; positive: ours is better."""
        rows = []
        for name in self.names:
            if not self.has(name, "mixed_forest", "rf"):
                continue
            found = self.difference(name, "mixed_forest", "rf", "log_loss")
            cells = [f"{self.mean(name, model, 'log_loss'):.4f}" for model in ("mixed_forest", "rf")]
            verdict = "better" if found.mean >= 0 else "ties" if _holds(found) else "worse"
            rows.append([name, *cells, f"{found.mean:+.4f} ± {found.half:.4f}", verdict])
        return markdown_table("data | mixed forest | RandomForest | RandomForest − ours | verdict", rows)

    def boosted(self) -> str:
        """Boosted trees beside the other boosters in accuracy, and beside CatBoost in log loss."""
        rows = []
        for name in self.names:
            if not self.has(name, "boosted", "catboost", *_BOOSTERS):
                continue
            best = self.best(name, _BOOSTERS)
            difference = self.difference(name, "boosted", best)
            losses = [self.mean(name, model, "log_loss") for model in ("boosted", "catboost")]
            ratio = losses[0] / losses[1]
            rows.append(
                [
                    name,
                    f"{self.mean(name, 'boosted', 'accuracy'):.4f}",
                    f"{TITLES[best]} {self.mean(name, best, 'accuracy'):.4f}",
                    _say(difference),
                    *(f"{loss:.4f}" for loss in losses),
                    f"{ratio:.2f}×" + ("" if ratio <= 1.05 else " above 1.05"),
                ]
            )
        head = "data | boosted | best of HistGradientBoosting, XGBoost, LightGBM | difference in points"
        return markdown_table(f"{head} | log loss | CatBoost's | ratio", rows)

    def over_sets(self, metric: str) -> dict[str, float]:
        """Return the mean of a metric over the sets that all models have, the best model first."""
        names = [name for name in self.names if self.has(name, *self.models)]
        found = {
            model: float(np.mean([self.mean(name, model, metric) for name in names])) for model in self.models
        }
        return dict(sorted(found.items(), key=lambda item: item[1], reverse=metric == "accuracy"))

    def mean_losses(self) -> str:
        """Mean log loss over the sets, the least first."""
        found = self.over_sets("log_loss")
        return markdown_table(
            "model | mean log loss", [[TITLES[model], f"{value:.4f}"] for model, value in found.items()]
        )

    def conclude(self) -> str:
        """Return the best models and the best peer, by mean accuracy and by mean log loss, as a sentence."""
        said = []
        for metric, title in (("accuracy", "highest mean accuracy"), ("log_loss", "lowest mean log loss")):
            found = self.over_sets(metric)
            first, peer = next(iter(found)), next(model for model in found if model in PEERS)
            beside = (
                "" if first == peer else f" (best of the other libraries: {TITLES[peer]} {found[peer]:.4f})"
            )
            said.append(f"the {title} is that of {name_in_a_sentence(first)}, {found[first]:.4f}{beside}")
        return f"**On the nine data sets {'; '.join(said)}.**"

    def render(self, docs: Docs) -> dict[str, str]:
        """Draw the picture and return the tables by their marks."""
        return {
            "verdict": self.conclude(),
            "accuracy": self.means("accuracy"),
            "rivals": self.rivals(docs),
            "readable": self.readable(),
            "log_loss": self.means("log_loss"),
            "log_losses": self.log_losses(),
            "boosted": self.boosted(),
            "mean_losses": self.mean_losses(),
            "calibration": self.means("calibration_error"),
            "fit": self.means("fit_seconds", 3),
        }


QUESTION = Accuracy()
