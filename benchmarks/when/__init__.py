"""When to use lhtree: verdicts on the nine data sets, problems with a known Bayes error, pictures that show why."""

import argparse
from typing import NamedTuple

from ..common.pages import Docs
from ..common.results import Result, Results, Task, keep_complete, read_runs
from ..runner import Args, Fits
from . import runs


class Found(NamedTuple):
    """Fits on the problems, and what two other questions found on the nine data sets."""

    fits: Results
    accuracy: Results
    paper: Results
    sizes: list[int]


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
        return runs.plan(self.sizes(args), 1 if args.quick else None)

    def measure(self, task: Task) -> Result:
        return runs.measure(task)

    def run(self, args: Args) -> Found:
        others = read_runs("accuracy"), read_runs("paper")
        if not all(others) and not args.quick:
            raise SystemExit(
                "The nine data sets are missing: run `python -m benchmarks accuracy` and `paper` first."
            )
        return Found(keep_complete(super().run(args), runs.COMPARED), *others, self.sizes(args))

    def page(self, results: Found, docs: Docs) -> dict[str, str]:
        from . import page
        from .draw import draw_curves
        from .pictures import draw_pictures

        parts = {
            "run": page.say_run(results.fits),
            "sweeps": page.table_sweeps(results.fits),
            "scaling": page.table_scaling(results.fits, results.sizes),
        }
        if results.accuracy and results.paper:
            parts |= page.table_nine(results.accuracy, results.paper)
            parts["time"] = page.table_time(results.accuracy, results.fits)
        draw_curves(docs, "when-scaling", page.curves(results.fits, results.sizes))
        return parts | {"pictures": draw_pictures(docs)}


QUESTION = When()
