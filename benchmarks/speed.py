"""How fast ours and its peers are: one row, batches, fits, memory, imports, scaling, and the machine's limits."""

from __future__ import annotations

import argparse
import json
import sys
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any

from . import speed_batch, speed_bound, speed_fit, speed_row, speed_scaling, speed_size, speed_threads
from .models import version_key
from .report import PAGES, RESULTS, write_json
from .speed_models import Result, Tell


def _measure_scaling(tell: Tell, *, is_quick: bool) -> Result:
    axes = {
        name: speed_scaling.measure_axis(tell, name, axis, is_quick=is_quick)
        for name, axis in speed_scaling.make_axes(is_quick=is_quick).items()
    }
    return {"axes": axes, "threads": speed_threads.measure(tell, is_quick=is_quick)}


PARTS: dict[str, Callable[..., Result]] = {
    "bound": speed_bound.measure,
    "one_row": speed_row.measure,
    "batch": speed_batch.measure,
    "frontier": speed_batch.measure_frontier,
    "fit": speed_fit.measure,
    "memory": speed_size.measure_memory,
    "import": speed_size.measure_import,
    "scaling": _measure_scaling,
}


def add_arguments(parser: argparse.ArgumentParser) -> None:
    parser.add_argument(
        "--quick", action="store_true", help="smaller and fewer; the page stays among the results"
    )
    parser.add_argument(
        "--only", nargs="+", choices=list(PARTS), help="parts to measure anew; the page keeps the rest"
    )
    parser.add_argument("--show", action="store_true", help="measure nothing: render what is kept")


@contextmanager
def _progress(n_parts: int) -> Iterator[tuple[Callable[[str], Tell], Callable[[], None]]]:
    """Show a bar over the parts in terminals, a line per step elsewhere."""
    from rich.progress import Progress, TimeElapsedColumn

    begin = time.perf_counter()
    is_terminal = sys.stdout.isatty()
    with Progress(*Progress.get_default_columns(), TimeElapsedColumn(), disable=not is_terminal) as bar:
        line = bar.add_task("speed", total=n_parts)

        def tell(part: str, step: str) -> None:
            bar.update(line, description=f"{part} · {step}")
            if not is_terminal:
                print(f"{time.perf_counter() - begin:6.1f} s  {part} · {step}", flush=True)

        yield (lambda part: lambda step: tell(part, step)), (lambda: bar.advance(line))


def main(args: argparse.Namespace) -> None:
    # The full form's page is committed; the short one's stays with its figures.
    folder = "speed-quick" if args.quick else "speed"
    names = [] if args.show else args.only or list(PARTS)
    with _progress(len(names)) as (tell_of, advance):
        for name in names:
            found = PARTS[name](tell_of(name), is_quick=args.quick)
            write_json(f"{folder}/{name}", {"build": version_key("paper_tree"), "found": found})
            advance()
    results: dict[str, Any] = {}
    builds = []
    for name in PARTS:
        path = RESULTS / folder / f"{name}.json"
        if path.exists():
            kept = json.loads(path.read_text())["results"]
            results[name] = kept["found"]
            builds.append(kept["build"])

    from .speed_page import render
    from .speed_targets import target_table

    page = render(results, sorted(set(builds)), RESULTS / folder if args.quick else PAGES)
    print(f"\n{target_table(results)}\n\nThe page is {page.name} in {page.parent.name}.")
