"""How accurate and how well calibrated: every model on the same splits of the nine data sets."""

from __future__ import annotations

import argparse

from . import data as datasets
from .accuracy_runs import collect, plan, run
from .models import MODELS, choose_build, has_forest

_ALL = [name for name in MODELS if name != "fisher_forest"]


def add_arguments(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("--models", nargs="+", choices=list(MODELS), default=None, help="default: all")
    parser.add_argument("--data", nargs="+", choices=datasets.NAMES, default=datasets.NAMES)
    parser.add_argument("--jobs", type=int, default=1, help="processes; each model still has one thread")
    parser.add_argument("--quick", action="store_true", help="two splits of the sets below 5000 rows")
    parser.add_argument("--show", action="store_true", help="fit nothing: render what is cached")
    parser.add_argument("--build", help="with --show: render another build of ours, by its digest")


def main(args: argparse.Namespace) -> None:
    if args.build:
        if not args.show:
            raise SystemExit("--build only shows what another build has reached: add --show.")
        choose_build(args.build)
    models = args.models or [name for name in _ALL if has_forest() or "forest" not in name]
    names = [name for name in args.data if not args.quick or datasets.n_splits(datasets.load(name)) == 20]
    tasks = plan(names, models, most_splits=2 if args.quick else None)
    if not args.show:
        run(tasks, args.jobs)
    if args.models:
        return
    from .accuracy_page import render

    render(collect(tasks), is_draft=args.quick or len(names) < len(datasets.NAMES))
