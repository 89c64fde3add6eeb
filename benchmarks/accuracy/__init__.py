"""How accurate and how well calibrated: every model on the same splits of the nine data sets."""

import argparse
import sys

from ..common import data as datasets
from ..common.models import MODELS
from ..common.pages import Docs
from ..common.results import Result, Results, Task
from ..common.scores import score
from ..runner import Args, Fits


class Accuracy(Fits):
    """The question."""

    name = "accuracy"
    fills = "benchmarks/accuracy.md"
    quick = "two splits of the sets below 5000 rows"

    def add_arguments(self, parser: argparse.ArgumentParser) -> None:
        super().add_arguments(parser)
        own = [name for name in MODELS if name != "fisher_forest"]
        parser.add_argument("--models", nargs="+", choices=list(MODELS), default=own, help="models to fit")
        parser.add_argument("--data", nargs="+", choices=datasets.NAMES, default=datasets.NAMES)

    def is_draft(self, args: Args) -> bool:
        return args.quick or len(args.data) < len(datasets.NAMES) or len(args.models) < len(MODELS) - 1

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
        model = MODELS[task.model]
        estimator = model.build(task.seed)
        result = score(estimator, datasets.split(datasets.load(task.data), task.seed))
        return result | {"n_blocks": model.count(estimator) if model.count else None}

    def page(self, results: Results, docs: Docs) -> dict[str, str]:
        from .page import Page

        return Page(results).render(docs)


QUESTION = Accuracy()
