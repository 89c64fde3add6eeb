"""The paper's three tables, its figures for wine and its claims, on the same splits for every method."""

from __future__ import annotations

import argparse

from . import data as datasets
from .accuracy_runs import collect, run
from .models import choose_build
from .paper_runs import DISTINCT, measure, n_splits, plan


def add_arguments(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("--jobs", type=int, default=1, help="processes; each model still has one thread")
    parser.add_argument(
        "--splits", type=int, default=None, help="at most so many; default 20, 10 or 5 by size"
    )
    parser.add_argument(
        "--quick", action="store_true", help="two splits of the sets below 4000 rows, no page"
    )
    parser.add_argument("--show", action="store_true", help="fit nothing: render what is cached")
    parser.add_argument("--build", help="fit nothing: render another build of ours, by its digest")


def main(args: argparse.Namespace) -> None:
    if args.build:
        choose_build(args.build)
    is_shown = args.show or bool(args.build)
    from .paper_claims import run_studies
    from .paper_page import render
    from .when_page import read_runs

    names = [name for name in datasets.NAMES if not args.quick or n_splits(name) == 20]
    tasks = plan(names if args.quick else [*names, DISTINCT], 2 if args.quick else args.splits)
    studies = run_studies(lambda what: print(what, flush=True), is_quick=args.quick, is_shown=is_shown)
    if not is_shown:
        run(tasks, args.jobs, measure, "paper")
    render(collect(tasks), {} if args.quick else read_runs("accuracy"), studies, is_draft=args.quick)
