"""The paper's three tables, its figures for wine and its claims, on the same splits for every method."""

from __future__ import annotations

import argparse
import sys
from typing import Any, NamedTuple

from ..common import data as datasets
from ..common.pages import Docs
from ..common.results import Result, Results, Task, read_runs
from ..runner import Fits
from . import runs


class Found(NamedTuple):
    """Fits of this question, those of the accuracy page, and the studies behind single claims."""

    fits: Results
    accuracy: Results
    studies: dict[str, Any]


class Paper(Fits):
    """The question."""

    name = "paper"
    fills = "reproduction.md"
    quick = "two splits of the sets below 4000 rows, small studies"

    def add_arguments(self, parser: argparse.ArgumentParser) -> None:
        """Add the options of the question."""
        super().add_arguments(parser)
        parser.add_argument(
            "--splits", type=int, default=sys.maxsize, help="at most so many; default 20, 10 or 5 by size"
        )

    def plan(self, args: argparse.Namespace) -> list[Task]:
        """Return all fits of the tables."""
        if args.quick:
            return runs.plan([name for name in datasets.NAMES if runs.n_splits(name) == 20], 2)
        return runs.plan([*datasets.NAMES, runs.DISTINCT], args.splits)

    def measure(self, task: Task) -> Result:
        """Fit, score and time one model on one split."""
        return runs.measure(task)

    def run(self, args: argparse.Namespace) -> Found:
        """Do the studies and the fits that are not kept yet, and return all."""
        from .studies import run_studies

        fits = super().run(args)
        studies = run_studies(is_quick=args.quick, is_shown=args.show)
        return Found(fits, {} if args.quick else read_runs("accuracy"), studies)

    def page(self, results: Found, docs: Docs) -> dict[str, str]:
        """Return tables and verdicts, and draw the pictures."""
        from .page import draw, render

        draw(results, docs)
        return render(results)


QUESTION = Paper()
