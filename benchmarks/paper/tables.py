"""The paper's three tables: our figures beside the printed ones."""

import math
from collections.abc import Iterable, Sequence
from typing import Any

import numpy as np

from ..common.models import MODELS
from ..common.pages import markdown_table
from ..common.results import Results, values
from ..common.statistics import Mean, percent, say_share, summarise
from .printed import BETAS, FORESTS, SIZES, TABLES, Printed
from .runs import COLUMNS, OURS

TITLES = {model: MODELS[model].title for model in COLUMNS} | {
    "paper_tree": "LHT, one tree",
    "paper_forest": "LH forest",
    "mixed_forest": "mixed forest (ours)",
}


def printed(name: str, model: str) -> Printed | None:
    """Return the paper's line for a model; its row LHT is a forest on some sets and one tree on the others."""
    if model in OURS:
        return TABLES[name]["lht"] if model == lht(name) else None
    return TABLES[name][model]


def lht(name: str) -> str:
    """Return which of our models the paper's row LHT is."""
    return "paper_forest" if name in FORESTS else "paper_tree"


def say_mean(found: Mean) -> str:
    """Return mean ± standard deviation, and the best split, in %; of one split only its value."""
    if math.isinf(found.half):
        return percent(found.mean)
    return f"{percent(found.mean)} ± {percent(found.spread)}, best {percent(found.most)}"


def _say_ms(seconds: Sequence[float]) -> str:
    if not seconds:
        return ""
    ms = 1e3 * float(np.median(seconds))
    return f"{ms:.4f}" if ms < 0.1 else f"{ms:.3f}" if ms < 1 else f"{ms:.1f}" if ms < 100 else f"{ms:.0f}"


def there(results: Results, names: Iterable[str], metric: str = "accuracy") -> list[str]:
    """Return the sets on which the metric of every model was measured."""
    return [name for name in names if all(values(results, name, model, metric) for model in COLUMNS)]


def accuracy_table(results: Results, names: Iterable[str]) -> str:
    """Return training and test accuracy, mean ± standard deviation and best split, beside the paper's."""
    rows = []
    for name in there(results, names):
        found = {model: summarise(values(results, name, model)) for model in COLUMNS}
        best = max(mean.mean for mean in found.values())
        for model in COLUMNS:
            trains = values(results, name, model, "train")
            train, test = say_mean(summarise(trains)) if trains else "not run", say_mean(found[model])
            line = printed(name, model)
            cells = [f"{line.train:g}", f"{line.test:.2f}"] if line else ["–", "–"]
            rows.append(
                [name, TITLES[model], train, f"**{test}**" if found[model].mean == best else test, *cells]
            )
    return markdown_table("data | method | training % | test % | printed training | printed test", rows)


def time_table(results: Results, names: Iterable[str]) -> str:
    """Return times of fits and single rows, whole models and slowest single trees, beside the paper's."""
    rows = []
    for name in there(results, names, "row_seconds"):
        for model in COLUMNS:
            line = printed(name, model)
            cells = [name, TITLES[model]]
            for kind, told in (("fit", line and line.fit_ms), ("row", line and line.row_ms)):
                whole, single = (
                    values(results, name, model, f"{what}_seconds") for what in (kind, f"tree_{kind}")
                )
                cells += [_say_ms(whole), _say_ms(single), "–" if told is None else f"{told:g}"]
            rows.append([*cells, f"{1e6 * np.median(values(results, name, model, 'batch_seconds')):.2f}"])
    head = "data | method | fit, whole model, ms | slowest single tree, ms | printed ms | one row, whole model, ms"
    more = "one row, slowest single tree, ms | printed ms | all test rows at once, µs per row"
    return markdown_table(f"{head} | {more}", rows)


def beta_table(wine: dict[str, Any]) -> str:
    """Return the paper's first table: one tree on wine by beta."""
    rows = []
    for number, (beta, (train, test)) in enumerate(BETAS.items()):
        for title, splits in wine.items():
            trains = summarise([split["train"][number] for split in splits])
            tests = [split["test"][number] for split in splits]
            cells = [say_mean(trains), *_say_tests(tests), f"{train:g}", f"{test:.2f}"]
            rows.append([f"{beta:g}", title, *cells])
    for title, splits in wine.items():
        lucky = [max(split["test"]) for split in splits]
        rows.append(["best of the five on the test rows", title, "", *_say_tests(lucky), "", ""])
    head = "beta | setting | training % | test % | splits with 100 % | printed training | printed test"
    return markdown_table(head, rows)


def _say_tests(tests: Sequence[float]) -> tuple[str, str]:
    n_hits = sum(value == 1.0 for value in tests)
    return say_mean(summarise(tests)), say_share(n_hits, len(tests))


def settings_table(results: Results, names: Iterable[str]) -> str:
    """Return the hyperparameters of every row of ours, as they were settled."""
    own = "alpha=0, membership=marginal, normalize=robust, min_samples_leaf=1, max_depth=None"
    paper = (
        f"direction=mean_difference, offset=purity, gamma=10, min_samples_split=10, confidence=last, {own}"
    )
    counts = ", ".join(f"{name} {_count_features(SIZES[name][1])}" for name in there(results, names))
    settings = {
        "paper_tree": f"one tree per class (one for two classes), beta=0, {paper}",
        "paper_forest": f"100 trees per class, beta=i/100, max_samples=0.8, {paper}",
        "mixed_forest": "100 trees per class, direction=mixed, offset=gini, beta=0, max_samples=1.0, "
        f"min_samples_split=2, confidence=None, shrinkage=0.001, {own}; max_features: {counts}",
    }
    rows = [[TITLES[model], "all", text] for model, text in settings.items()]
    return markdown_table("row | data | hyperparameters", rows)


def _count_features(n_features: int) -> int:
    """Return ``max_features`` as a mixed forest settles it."""
    random = np.random.default_rng(0)
    X, y = random.normal(size=(20, n_features)), np.arange(20) % 2
    forest = MODELS["mixed_forest"].build(0, n_estimators=1).fit(X, y)
    return int(forest.estimators_[0].max_features)
