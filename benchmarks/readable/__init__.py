"""How accurate are models that people read, and how much is there to read: the nine data sets, the same splits."""

import argparse
from importlib.metadata import PackageNotFoundError, version

import numpy as np

from ..common import data as datasets
from ..common.models import ALL_MODELS
from ..common.pages import Docs
from ..common.results import Result, Results, Task
from ..common.scores import score
from ..runner import Args, Fits
from .numbers import count_numbers

OURS = "compact"
NAMES = (OURS, "readable_tree", "cart_16", "cart_chosen", "figs", "optimal", "logistic", "ebm")
# A fit takes minutes, or there are many in one: fewer splits, always the first ones.
_MOST = {"figs": 10, "optimal": 10, "ebm": 1}
_MOST_ROWS = 20_000  # of skin, for training; the test rows are all
LARGE = "large"  # a table that only the compact tree is fitted on, for its time


def make_large(seed: int) -> datasets.Split:
    """Return 20,000 training rows of 60 features, 40 of which matter, in eight clusters: the tree is fully grown."""
    from sklearn.datasets import make_classification

    X, y = make_classification(
        25_000, 60, n_informative=30, n_redundant=10, n_clusters_per_class=4, class_sep=0.7, random_state=seed
    )
    return datasets.split(datasets.Data(LARGE, X, y), seed)


class Readable(Fits):
    """The question."""

    name = "readable"
    fills = "benchmarks/readable.md"
    quick = "one split of the sets below 5000 rows, without EBM"

    def add_arguments(self, parser: argparse.ArgumentParser) -> None:
        super().add_arguments(parser)
        parser.add_argument("--models", nargs="+", choices=NAMES, default=list(NAMES), help="models to fit")

    def plan(self, args: Args) -> list[Task]:
        chosen = [name for name in NAMES if _is_installed(name) and not (args.quick and name == "ebm")]
        return [
            Task(self.name, name, model, seed)
            for name in datasets.NAMES
            for splits in [datasets.n_splits(datasets.load(name))]
            if not args.quick or splits == 20
            for model in chosen
            for seed in range(1 if args.quick else min(splits, _MOST.get(model, splits)))
        ] + [Task(self.name, LARGE, OURS, seed) for seed in range(1 if args.quick else 3) if OURS in chosen]

    def is_chosen(self, task: Task, args: Args) -> bool:
        return task.model in args.models

    def measure(self, task: Task) -> Result:
        if task.data == LARGE:
            return score(ALL_MODELS[task.model].build(task.seed), make_large(task.seed))
        part = datasets.split(datasets.load(task.data), task.seed)
        # The split shuffles: the first rows are drawn at random.
        part = part._replace(X=part.X[:_MOST_ROWS], y=part.y[:_MOST_ROWS])
        estimator = ALL_MODELS[task.model].build(task.seed)
        result = score(estimator, part)
        return result | count_numbers(task.model, estimator, len(np.unique(part.y)))._asdict()

    def page(self, results: Results, docs: Docs) -> dict[str, str]:
        from .page import Page

        return Page(results).render(docs)


def _is_installed(name: str) -> bool:
    """Whether the library of a model is there; says so if it is not."""
    package = ALL_MODELS[name].package
    try:
        version(package)
    except PackageNotFoundError:
        print(f"{ALL_MODELS[name].title} is skipped: {package} is not installed")
        return False
    return True


QUESTION = Readable()
