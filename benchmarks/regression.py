"""Tables with a number to predict: every regressor on the same splits."""

from collections.abc import Mapping
from typing import Any, ClassVar

from .common import tables
from .common.models import ALL_MODELS, REGRESSORS, TITLES, TUNED
from .common.pages import Docs, markdown_table
from .common.results import Result, Results
from .common.scores import score_numbers
from .tables import Ranks, Tables, describe


class Regression(Tables):
    """The question."""

    name = "regression"
    fills = "benchmarks/regression.md"
    metric = "r2"
    models: ClassVar[tuple[str, ...]] = (
        *("boosted_regressor", "ensemble_regressor", "forest_regressor", "tree_regressor"),
        *(name for name in reversed(REGRESSORS) if ALL_MODELS[name].package != "lhtree"),
        *(name for name in TUNED if name.endswith("regressor")),
    )
    sources: ClassVar[Mapping[str, Any]] = tables.NUMBERS

    def score(self, model: Any, part: Any) -> Result:
        return score_numbers(model, part)

    def page(self, results: Results, docs: Docs) -> dict[str, str]:
        return render(results, docs, self)


_READABLE = ("linear_regressor", "cart_regressor", "tree_regressor")
# The best-known peers: the tables of all models do not fit a page.
_KNOWN = ("catboost", "lightgbm", "xgboost", "hist_gb", "rf", "linear")


def compare_trees(page: Ranks) -> str:
    """Return the readable tree beside pruned CART and linear regression, with the blocks of each tree."""
    rows, n_ahead, n_smaller = [], 0, 0
    for name in page.sources:
        found = [page.mean(name, model, "r2") for model in _READABLE]
        blocks = [page.mean(name, model, "n_blocks") for model in _READABLE[1:]]
        n_ahead += found[2] >= found[1]
        n_smaller += blocks[1] <= blocks[0]
        rows.append([name, *(f"{value:.4f}" for value in found), *(f"{n:.0f}" for n in blocks)])
    n = len(rows)
    rows.append(["**ahead of CART**", "", "", f"{n_ahead} of {n}", "", f"{n_smaller} of {n}"])
    return markdown_table(
        ["table", *(TITLES[model] for model in _READABLE), "nodes of CART", "blocks of ours"], rows
    )


def render(results: Results, docs: Docs, question: Any) -> dict[str, str]:
    """Draw the picture and return the parts of the page by their marks."""
    every = Ranks(results, list(question.sources), question.models)
    strong = Ranks(results, list(question.sources), [m for m in question.models if not ALL_MODELS[m].count])
    metrics = {"r2": "R²", "mae": "mean absolute error", "fit_seconds": "fit time"}
    strong.draw(docs, "regression-ranks", {"r2": "R²", "mae": "MAE"})
    known = {m for m in every.models if ALL_MODELS[m].package == "lhtree"} | {
        f"{m}_regressor" for m in _KNOWN
    }
    others = set(every.models) - known
    return {
        "verdict": strong.conclude("r2", "R²"),
        "sources": describe(question.sources, every.sources),
        "ranks": "![Mean ranks](regression-ranks.png)\n\n" + strong.summary(metrics),
        "r2": every.means("r2", shown=known),
        "r2_others": every.means("r2", shown=others),
        "fit": every.means("fit_seconds", 2, known),
        "fit_others": every.means("fit_seconds", 2, others),
        "forest": strong.compare("forest_regressor", "rf_regressor", "r2"),
        "trees": compare_trees(every),
    }


QUESTION = Regression()
