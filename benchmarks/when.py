"""When to use lhtree: verdicts on the nine data sets, problems of known Bayes error, pictures that show why."""

from __future__ import annotations

import argparse

from .accuracy_runs import collect, keep_complete, run
from .report import PAGES, fill_page
from .when_runs import COMPARED, SIZES, measure, plan


def add_arguments(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("--rows", type=int, default=SIZES[-1], help="at most so many training rows")
    parser.add_argument("--jobs", type=int, default=1, help="processes; each model still has one thread")
    parser.add_argument("--quick", action="store_true", help="one drawing, up to 300 rows; no page")
    parser.add_argument("--show", action="store_true", help="fit nothing: render what is kept")


def main(args: argparse.Namespace) -> None:
    from . import when_page

    nine, timed = when_page.read_runs("accuracy"), when_page.read_runs("paper")
    if not (nine and timed) and not args.quick:
        raise SystemExit(
            "There are no results of the nine data sets: run `python -m benchmarks accuracy` and `paper` first."
        )
    sizes = [n_rows for n_rows in SIZES if n_rows <= (300 if args.quick else args.rows)]
    tasks = plan(sizes, 1 if args.quick else None)
    if not args.show:
        run(tasks, args.jobs, measure, "when")
    from .draw_grid import draw_curves
    from .when_pictures import draw_pictures

    results = keep_complete(collect(tasks), COMPARED)
    parts = {
        "run": when_page.say_run(results),
        "sweeps": when_page.table_sweeps(results),
        "scaling": when_page.table_scaling(results, sizes),
    }
    if args.quick:
        print("\n\n".join(parts.values()))
        return
    parts |= when_page.table_nine(nine, timed) | {"time": when_page.table_time(nine, results)}
    print("\n\n".join(parts.values()))
    draw_curves("when-scaling", when_page.curves(results, sizes))
    parts["pictures"] = draw_pictures()
    fill_page(PAGES.parent / "when.md", parts)
