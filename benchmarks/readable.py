"""How accurate are models that people read, and how much is there to read: the nine data sets, the same splits."""

import argparse
import math
from collections.abc import Iterator
from importlib.metadata import PackageNotFoundError, version
from typing import Any, NamedTuple

import numpy as np

from lhtree.model.model import read

from .common import data as datasets
from .common.draw import make_axes, save
from .common.models import ALL_MODELS, TITLES, version_key
from .common.pages import Docs, Figure, figure_table, markdown_table
from .common.results import Result, Results, Task, keep_complete, values
from .common.scores import score
from .common.statistics import Mean, subtract
from .runner import Args, Fits


class Size(NamedTuple):
    """Leaves of a model's trees, None if it has no trees, and its numbers.

    A number is a weight, an offset, a slope, an intercept or a share that the model writes down. The block of a single
    feature is one number, its bound; shares of K classes are K - 1 numbers.
    """

    leaves: int | None
    numbers: int


def count_numbers(name: str, model: Any, n_classes: int) -> Size:
    """Return the size of a fitted model of the benchmark."""
    if name == "logistic":
        line = model[-1]
        return Size(None, line.coef_.size + line.intercept_.size)
    if name == "ebm":
        return Size(None, _count_curves(model))
    if name in ("compact", "readable_tree"):
        return _count_blocks(model)
    if name == "figs":
        leaves, trees = _count_figs(model.trees_)
    else:
        leaves, trees = _count_leaves(name, model), 1
    return Size(leaves, leaves - trees + leaves * (n_classes - 1))


def _count_leaves(name: str, model: Any) -> int:
    """Return the leaves of one tree of single features."""
    chosen = getattr(model, "best_estimator_", model)
    return int(chosen.tree_.n_leaves if name.startswith("cart") else chosen.get_n_leaves())


def _count_figs(roots: Any) -> tuple[int, int]:
    """Return leaves and trees of a sum of trees."""

    def walk(node: Any) -> Iterator[Any]:
        yield node
        for below in (node.left, node.right):
            if below is not None:
                yield from walk(below)

    return sum(node.left is None for root in roots for node in walk(root)), len(roots)


def _count_curves(model: Any) -> int:
    """Return the steps of all curves and surfaces of an EBM, with their bounds, and the intercepts."""
    numbers = np.size(model.intercept_)
    for features, scores in zip(model.term_features_, model.term_scores_, strict=True):
        # The first and the last place of every axis are for missing and unknown values.
        steps = scores[tuple(slice(1, -1) for _ in features)]
        if len(features) == 1:  # neighbours of one height are one step
            is_new = (np.diff(steps, axis=0) != 0).reshape(len(steps) - 1, steps[0].size).any(axis=1)
            n_steps = 1 + int(is_new.sum())
            numbers += n_steps - 1 + n_steps * (steps[0].size)
        else:
            numbers += steps.size + sum(n - 1 for n in steps.shape[: len(features)])
    return int(numbers)


def _count_blocks(model: Any) -> Size:
    """Return the size of one of our models."""
    learned = read(model)
    trees = learned.trees
    n_weights, n_slopes = np.diff(trees.hyperplane_ptr), np.diff(trees.membership_ptr)
    is_leaf = trees.left < 0
    in_branching = np.where(n_weights == 1, 1, n_weights + 1)[~is_leaf].sum()
    in_leaves = is_leaf.sum() * (learned.n_classes - 1 if trees.is_joint else 1) + n_slopes[is_leaf].sum()
    return Size(int(is_leaf.sum()), int(in_branching + in_leaves))


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


_TREES = ("readable_tree", "cart_16", "cart_chosen", "figs", "optimal")
_COLOURS = {"compact": "#cb181d", "readable_tree": "#2171b5"}
_PEER = "#666666"
_ABOVE = (OURS, "ebm")  # models with their names above, not at the end of the line


class Page:
    """Tables of the results; a model without results on a set leaves a gap."""

    def __init__(self, results: Results) -> None:
        self.results = results
        self.names = [name for name in datasets.NAMES if any(key[0] == name for key in results)]
        self.models = [model for model in NAMES if any(key[1] == model for key in results)]

    def mean(self, name: str, model: str, metric: str) -> float:
        """Mean over the splits of a model; NaN without results."""
        found = [value for value in values(self.results, name, model, metric) if value is not None]
        return float(np.mean(found)) if found else math.nan

    def over_sets(self, model: str, metric: str) -> float:
        """Mean over all data sets; NaN unless it has all."""
        return float(np.mean([self.mean(name, model, metric) for name in self.names]))

    def means(self, metric: str, digits: int) -> str:
        """Return a table of means: sets down, models across, the mean of all sets last."""
        rows = [
            [name, *(_write(self.mean(name, model, metric), digits) for model in self.models)]
            for name in self.names
        ]
        rows.append(["**mean**", *(_write(self.over_sets(model, metric), digits) for model in self.models)])
        return markdown_table(["data", *(TITLES[model] for model in self.models)], rows)

    def sets_of(self, model: str) -> list[str]:
        """The data sets on which a model was fitted."""
        return [name for name in self.names if (name, model) in self.results]

    def difference(self, name: str, peer: str) -> Mean:
        """Paired difference in accuracy over the splits that both have; positive: the compact tree is better."""
        return subtract(self.results, name, OURS, peer)

    def against(self) -> str:
        """Compact tree - each peer in points, with the interval, and on how many sets it is at or above."""
        peers = [model for model in self.models if model != OURS]
        rows, held = [], dict.fromkeys(peers, 0)
        for name in self.names:
            found = {peer: self.difference(name, peer) for peer in peers if (name, peer) in self.results}
            for peer, one in found.items():
                held[peer] += _holds(one)
            rows.append([name, *(_say(found[peer]) if peer in found else "–" for peer in peers)])
        rows.append(["**at or above**", *(f"{n} of {len(self.sets_of(peer))}" for peer, n in held.items())])
        return markdown_table(["data", *(TITLES[peer] for peer in peers)], rows)

    def goals(self) -> str:
        """Goals of the compact tree beside its results."""
        trees = [peer for peer in _TREES if peer in self.models]
        n_ahead = sum(all(_holds(self.difference(name, peer)) for peer in trees) for name in self.names)
        figures = [
            Figure("data sets on which no tree is better", n_ahead, len(self.names), ""),
            Figure("leaves, the most of any fit", self._most_leaves(), 16, "", is_floor=False),
        ]
        seconds = values(self.results, LARGE, OURS, "fit_seconds")
        if seconds:
            what = "fit of 20,000 rows and 60 features, CPU time"
            figures.append(Figure(what, float(np.mean(seconds)), 5.0, "s", is_floor=False))
        names = self.sets_of("ebm")
        if names:
            both = keep_complete(self.results, [OURS, "ebm"])
            gaps = [np.mean(values(both, name, "ebm")) - np.mean(values(both, name, OURS)) for name in names]
            what = f"mean accuracy behind EBM on {len(names)} data sets and the splits of EBM"
            figures.append(Figure(what, 100 * float(np.mean(gaps)), 1.0, "points", False))
        return figure_table(figures)

    def _most_leaves(self) -> int:
        return int(max(max(values(self.results, name, OURS, "leaves")) for name in self.names))

    def splits(self) -> str:
        """Number of splits and version of every model."""
        rows = []
        for model in self.models:
            counts = {len(self.results[name, model]) for name in self.names if (name, model) in self.results}
            told = " or ".join(str(count) for count in sorted(counts))
            package = ALL_MODELS[model].package
            # Ours are named by their builds, below the tables.
            library = (
                package if package == "lhtree" else version_key(model).replace(f"{package}-", f"{package} ")
            )
            rows.append([TITLES[model], told, library])
        return markdown_table("model | splits of each set | library", rows)

    def draw(self, docs: Docs) -> None:
        """Draw the mean accuracy of every model against its numbers, and beside it every data set."""
        figure, grid = make_axes(1, 1, 8.5, 5)
        ax = grid[0, 0]
        for model in self.models:
            if self.sets_of(model) != self.names:  # its mean would be that of other sets
                continue
            numbers = [self.mean(name, model, "numbers") for name in self.names]
            accuracy = [self.mean(name, model, "accuracy") for name in self.names]
            # The geometric mean: EBM has ten numbers on one set and a hundred thousand on another.
            x, y = float(np.exp(np.mean(np.log(numbers)))), float(np.mean(accuracy))
            colour = _COLOURS.get(model, _PEER)
            ax.plot(x, y, "o" if model in _COLOURS else "s", color=colour, markersize=9)
            ax.plot([min(numbers), max(numbers)], [y, y], color=colour, linewidth=1, alpha=0.5)
            weight = "bold" if model == OURS else "normal"
            if model in _ABOVE:
                at, offset, anchor = x, (0, 8), "center"
            elif model == "figs":  # at the place of CART of 16 leaves
                at, offset, anchor = min(numbers), (-8, -4), "right"
            else:
                at, offset, anchor = max(numbers), (8, -4), "left"
            ax.annotate(
                TITLES[model],
                (at, y),
                offset,
                textcoords="offset points",
                ha=anchor,
                color=colour,
                weight=weight,
            )
        ax.set_xscale("log")
        ax.margins(x=0.08, y=0.12)
        ax.set_xlabel(
            "numbers a person has to read: geometric mean of the nine data sets, line from least to most"
        )
        ax.set_ylabel("test accuracy, mean of the nine data sets")
        ax.grid(alpha=0.3)
        ax.spines[["top", "right"]].set_visible(False)
        save(figure, docs.pages, "readable")

    def render(self, docs: Docs) -> dict[str, str]:
        """Draw the picture and return the tables by their marks."""
        self.draw(docs)
        return {
            "goals": self.goals(),
            "accuracy": self.means("accuracy", 4),
            "against": self.against(),
            "numbers": self.means("numbers", 0),
            "leaves": self.means("leaves", 1),
            "log_loss": self.means("log_loss", 4),
            "fit": self.means("fit_seconds", 2),
            "splits": self.splits(),
        }


def _write(value: float, digits: int) -> str:
    return "–" if math.isnan(value) else f"{value:,.{digits}f}"


def _holds(difference: Mean) -> bool:
    """Whether ours is not below by more than the interval; of one split there is no interval."""
    return difference.mean >= -difference.half if math.isfinite(difference.half) else difference.mean >= 0.0


def _say(difference: Mean) -> str:
    half = f" ± {100 * difference.half:.2f}" if math.isfinite(difference.half) else ""
    return f"{100 * difference.mean:+.2f}{half}{'' if _holds(difference) else ' below'}"


QUESTION = Readable()
