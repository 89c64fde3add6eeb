"""Tables with a number to predict: every regressor on the same splits."""

from typing import Any, ClassVar

from ..common import tables
from ..common.models import REGRESSORS
from ..common.pages import Docs
from ..common.results import Result, Results
from ..common.scores import score_numbers
from ..tables import Tables


class Regression(Tables):
    """The question."""

    name = "regression"
    fills = "benchmarks/regression.md"
    metric = "r2"
    models: ClassVar[tuple[str, ...]] = tuple(REGRESSORS)
    sources: ClassVar[dict[str, tables.Table]] = tables.NUMBERS

    def score(self, model: Any, part: Any) -> Result:
        return score_numbers(model, part)

    def page(self, results: Results, docs: Docs) -> dict[str, str]:
        from .page import render

        return render(results, docs, self)


QUESTION = Regression()
