"""Results by kind of data, from the stored results of accuracy, tables and regression; nothing is measured."""

import math
from collections.abc import Callable, Mapping
from typing import NamedTuple

import numpy as np

from .common import data, tables
from .common.models import TITLES, name_in_a_sentence
from .common.pages import Docs, markdown_table
from .common.results import Results, keep_complete, read_json, read_runs
from .runner import Args, Question
from .tables import Ranks

_OURS = ("boosted", "mixed_forest")
_PEERS = ("catboost", "lightgbm", "hist_gb", "rf")
_REGRESSORS = {name: f"{name.removeprefix('mixed_')}_regressor" for name in (*_OURS, *_PEERS)}


class Facts(NamedTuple):
    """Sizes of a data set; a number to predict has 0 classes."""

    n_rows: int
    n_categorical: int
    n_classes: int


KINDS: dict[str, Callable[[Facts], bool]] = {
    "numeric columns only": lambda facts: facts.n_classes > 0 and facts.n_categorical == 0,
    "with categories": lambda facts: facts.n_classes > 0 and facts.n_categorical > 0,
    "small: below 1,000 rows": lambda facts: facts.n_classes > 0 and facts.n_rows < 1000,
    "large: 5,000 rows or more": lambda facts: facts.n_classes > 0 and facts.n_rows >= 5000,
    "three classes or more": lambda facts: facts.n_classes > 2,
    "a number to predict": lambda facts: facts.n_classes == 0,
}


def describe(name: str) -> Facts:
    """Return the sizes of one of the data sets or tables."""
    if name in data.NAMES:
        found = data.load(name)
        return Facts(len(found.y), 0, len(np.unique(found.y)))
    table = tables.load(name)
    n_classes = len(np.unique(table.y)) if name in tables.CLASSES else 0
    return Facts(len(table.y), table.X.select_dtypes("category").shape[1], n_classes)


def read_losses() -> Results:
    """Return the stored results of the compared models under the names of the classifiers, with ``loss``.

    The loss is the log loss, or the root of 1 - R², which is proportional to the root of the mean squared error.
    """
    found = {}
    for question in ("accuracy", "tables", "regression"):
        names = _REGRESSORS if question == "regression" else {name: name for name in _REGRESSORS}
        runs = keep_complete(read_runs(question), list(names.values()))
        for model, stored in names.items():
            for (table, other), splits in runs.items():
                if other == stored:
                    found[table, model] = {
                        seed: {
                            "log_loss": result["log_loss"]
                            if "log_loss" in result
                            else math.sqrt(1 - result["r2"])
                        }
                        for seed, result in splits.items()
                    }
    return found


def render(losses: Results, facts: Mapping[str, Facts]) -> dict[str, str]:
    """Return mean ranks, and losses relative to the best peer, by kind of data."""
    models = (*_OURS, *_PEERS)
    ranks, ratios, leaders = [], [], {}
    for kind, belongs in KINDS.items():
        page = Ranks(losses, [name for name, found in facts.items() if belongs(found)], models)
        if not page.sources:
            continue
        means = np.array([[page.mean(name, model, "log_loss") for model in models] for name in page.sources])
        best = means[:, len(_OURS) :].min(axis=1, keepdims=True)
        found = page.ranks("log_loss")
        leaders[kind] = min(models, key=lambda model: found[model])
        ranks.append([kind, len(page.sources), *_mark_least([found[model] for model in models])])
        ratios.append(
            [kind, len(page.sources), *_mark_least(np.exp(np.log(means / best).mean(axis=0)).tolist())]
        )
    head = ["data", "tables", *(TITLES[model] for model in models)]
    return {
        "verdict": _conclude(leaders),
        "ranks": markdown_table(head, ranks),
        "ratios": markdown_table(head, ratios),
    }


def _conclude(leaders: Mapping[str, str]) -> str:
    """Return the number of kinds on which boosted trees rank first, and the winners of the others."""
    others = [
        f"{name_in_a_sentence(model)} ({kind})" for kind, model in leaders.items() if model != "boosted"
    ]
    elsewhere = f"; elsewhere it is that of {', '.join(others)}" if others else ""
    n_led = len(leaders) - len(others)
    where = f"on {n_led} of {len(leaders)} kinds of data{elsewhere}"
    return f"**lhtree's boosted trees have the lowest mean rank {where}.**"


def _mark_least(values: list[float]) -> list[str]:
    return [f"**{value:.2f}**" if value == min(values) else f"{value:.2f}" for value in values]


class Kinds(Question):
    """The question."""

    name = "kinds"
    fills = "benchmarks/kinds.md"
    quick = "the same"

    def run(self, args: Args) -> Results:
        return read_losses()

    def builds(self, args: Args) -> dict[str, list[str]]:
        keys = [read_json(question)["keys"] for question in ("accuracy", "tables", "regression")]
        ours = (*_OURS, *(_REGRESSORS[name] for name in _OURS))
        found = {stored[name] for stored in keys for name in ours if name in stored}
        return {build: [] for build in sorted(found)}

    def page(self, results: Results, docs: Docs) -> dict[str, str]:
        return render(results, {name: describe(name) for name, _ in results})


QUESTION = Kinds()
