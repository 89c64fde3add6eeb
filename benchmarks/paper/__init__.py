"""The paper's three tables, its figures for wine and its claims, on the same splits for every method."""

from ..common import data as datasets
from ..common.pages import Docs
from ..common.results import Result, Task, read_runs
from ..runner import Args, Fits
from . import runs


class Paper(Fits):
    """The question."""

    name = "paper"
    fills = "reproduction.md"
    quick = "two splits of the sets below 4000 rows, small studies"

    def plan(self, args: Args) -> list[Task]:
        if args.quick:
            return runs.plan([name for name in datasets.NAMES if runs.n_splits(name) == 20], 2)
        return runs.plan([*datasets.NAMES, runs.DISTINCT], args.splits)

    def measure(self, task: Task) -> Result:
        return runs.measure(task)

    def run(self, args: Args) -> runs.Found:
        from .studies import run_studies

        fits = super().run(args)
        studies = run_studies(is_quick=args.quick, is_shown=args.show)
        return runs.Found(fits, {} if args.quick else read_runs("accuracy"), studies)

    def page(self, results: runs.Found, docs: Docs) -> dict[str, str]:
        from .page import draw, render

        draw(results, docs)
        return render(results)


QUESTION = Paper()
