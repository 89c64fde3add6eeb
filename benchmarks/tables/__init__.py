"""Tables as people have them, with categories and gaps: every model on the same splits."""

import argparse
import warnings
from typing import Any, ClassVar

from ..common import tables
from ..common.encoders import wrap
from ..common.models import ALL_MODELS
from ..common.pages import Docs
from ..common.results import Result, Results, Task
from ..common.scores import score
from ..runner import Args, Fits


class Tables(Fits):
    """The question."""

    name = "tables"
    fills = "benchmarks/tables.md"
    quick = "one split of the tables below 1500 rows"
    models: ClassVar[tuple[str, ...]] = ("rf", "hist_gb", "lightgbm", "catboost", "mixed_forest", "boosted")
    sources: ClassVar[dict[str, tables.Table]] = tables.CLASSES

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
        part = tables.split(task.data, task.seed)
        model = ALL_MODELS[task.model]
        estimator = wrap(task.model, model.build(task.seed), part.X)
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")  # of peers, about levels that only test rows have
            result = self.score(estimator, part)
        fitted = estimator[-1] if hasattr(estimator, "steps") else estimator
        return result | ({"n_blocks": model.count(fitted)} if model.count else {})

    def score(self, model: Any, part: Any) -> Result:
        """Fit and score one model."""
        return score(model, part)

    def page(self, results: Results, docs: Docs) -> dict[str, str]:
        from .page import render

        return render(results, docs, self)


QUESTION = Tables()
