"""What every parameter is worth: each changed alone, from the paper's forest and from our mixed one."""

from __future__ import annotations

import argparse

from . import data as datasets
from .ablation_runs import N_ROWS, measure, plan
from .ablation_settings import all_settings
from .accuracy_runs import collect, run


def add_arguments(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("--data", nargs="+", choices=datasets.NAMES, default=datasets.NAMES)
    parser.add_argument("--splits", type=int, default=None, help="at most so many splits of each set")
    parser.add_argument("--rows", type=int, default=N_ROWS, help="at most so many rows of each set")
    parser.add_argument("--jobs", type=int, default=1, help="processes; each forest still has one thread")
    parser.add_argument(
        "--quick", action="store_true", help="two splits of the sets below 3000 rows, no page"
    )
    parser.add_argument("--show", action="store_true", help="fit nothing: render what is kept")


def main(args: argparse.Namespace) -> None:
    names = datasets.NAMES[:4] if args.quick else args.data
    tasks = plan(names, all_settings(), 2 if args.quick else args.splits, args.rows)
    if not args.show:
        run(tasks, args.jobs, measure, "ablations")
    from .ablation_page import render

    render(collect(tasks), is_draft=args.quick or len(names) < len(datasets.NAMES))
