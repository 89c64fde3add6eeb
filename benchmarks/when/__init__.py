"""When to use lhtree: problems with a known Bayes error, and pictures that show why."""

import argparse

from ..common.pages import Docs
from ..common.results import Result, Results, Task, keep_complete
from ..runner import Args, Fits
from . import runs


class When(Fits):
    """The question."""

    name = "when"
    fills = "when.md"
    quick = "one random sample, up to 300 rows"

    def add_arguments(self, parser: argparse.ArgumentParser) -> None:
        super().add_arguments(parser)
        parser.add_argument("--rows", type=int, default=runs.SIZES[-1], help="maximum of training rows")

    def sizes(self, args: Args) -> list[int]:
        """Return the numbers of training rows."""
        return [n_rows for n_rows in runs.SIZES if n_rows <= (300 if args.quick else args.rows)]

    def plan(self, args: Args) -> list[Task]:
        return runs.plan(self.sizes(args), 1 if args.quick else runs.N_SEEDS)

    def measure(self, task: Task) -> Result:
        return runs.measure(task)

    def run(self, args: Args) -> Results:
        return keep_complete(super().run(args), runs.COMPARED)

    def page(self, results: Results, docs: Docs) -> dict[str, str]:
        from . import page
        from .draw import draw_curves
        from .pictures import draw_pictures

        sizes = sorted({int(name.split()[1]) for name, _ in results if name.split()[0] in runs.SCALING})
        draw_curves(docs, "when-scaling", page.curves(results, sizes))
        return {
            "sweeps": page.table_sweeps(results),
            "scaling": page.table_scaling(results, sizes),
            "pictures": draw_pictures(docs),
        }


QUESTION = When()
