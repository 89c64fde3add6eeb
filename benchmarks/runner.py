"""Base classes of the benchmarks: options, resuming, progress, results, drafts and pages."""

import argparse
import multiprocessing
import sys
import time
from abc import ABC, abstractmethod
from collections.abc import Callable, Iterator, Mapping, Sequence
from concurrent.futures import ProcessPoolExecutor, as_completed
from contextlib import contextmanager
from typing import Any, ClassVar

from .common import pages
from .common.models import TITLES, choose_build, version_key
from .common.results import (
    RESULTS,
    Result,
    Results,
    Task,
    collect,
    read_json,
    read_runs,
    restore_runs,
    write_json,
    write_runs,
)

Args = argparse.Namespace
Tell = Callable[[str], None]  # called by a part when it begins a step
Part = Callable[[Tell, Args], Any]


@contextmanager
def show_progress(what: str, n_steps: int) -> Iterator[tuple[Tell, Callable[[], None]]]:
    """Show a bar in terminals, a line per message elsewhere; yields functions that show a message and advance."""
    from rich.progress import Progress, TimeElapsedColumn

    begin = time.perf_counter()
    is_terminal = sys.stdout.isatty()
    with Progress(*Progress.get_default_columns(), TimeElapsedColumn(), disable=not is_terminal) as bar:
        line = bar.add_task(what, total=n_steps)

        def tell(step: str) -> None:
            bar.update(line, description=step)
            if not is_terminal:
                print(f"{time.perf_counter() - begin:6.1f} s  {step}", flush=True)

        yield tell, lambda: bar.advance(line)


class Question(ABC):
    """A question measures (``run``) and writes (``page``); everything else is done here.

    A draft (``--quick``, or a run of a part of the data) keeps its results and writes its page below
    ``benchmarks/results/<name>-draft``, the full form below ``benchmarks/results/<name>`` and ``docs``.
    """

    name: str
    fills: str  # the page below docs whose marked places are filled
    quick: str  # what --quick does

    def add_arguments(self, parser: argparse.ArgumentParser) -> None:
        """Add the options of the question."""
        parser.add_argument("--quick", action="store_true", help=f"{self.quick}; writes a draft only")
        parser.add_argument(
            "--show", action="store_true", help="do not measure: write the page from stored results"
        )

    def is_draft(self, args: Args) -> bool:
        """Whether these options measure less than the page needs."""
        return bool(args.quick)

    def folder(self, args: Args) -> str:
        """Return the folder of the results."""
        return f"{self.name}-draft" if self.is_draft(args) else self.name

    @abstractmethod
    def run(self, args: Args) -> Any:
        """Measure missing results and return all."""

    @abstractmethod
    def page(self, results: Any, docs: pages.Docs) -> dict[str, str]:
        """Draw the pictures and return the generated parts of the page by their marks."""

    def builds(self, args: Args) -> dict[str, list[str]]:
        """Return the builds of ours that the results are of, with their parts where these differ."""
        return {version_key("mixed_forest"): []}

    def answer(self, args: Args) -> None:
        """Measure, print and write the page."""
        results = self.run(args)
        docs = pages.Docs(RESULTS / self.folder(args)) if self.is_draft(args) else pages.Docs()
        parts = {"run": pages.describe_run(self.builds(args))} | self.page(results, docs)
        print("\n\n".join(f"{name}\n\n{part}" for name, part in parts.items()))
        docs.fill(self.fills, parts)


class Parts(Question):
    """A question of a few parts; every run measures each again and stores it at once."""

    parts: ClassVar[Mapping[str, Part]]

    def add_arguments(self, parser: argparse.ArgumentParser) -> None:
        super().add_arguments(parser)
        if len(self.parts) > 1:
            parser.add_argument(
                "--only", nargs="+", choices=list(self.parts), help="measure these parts; keep the rest"
            )

    def run(self, args: Args) -> dict[str, Any]:
        chosen = [] if args.show else getattr(args, "only", None) or list(self.parts)
        with show_progress(self.name, len(chosen)) as (tell, advance):
            for part in chosen:
                tell(part)
                found = self.parts[part](lambda step, part=part: tell(f"{part} · {step}"), args)
                write_json(
                    f"{self.folder(args)}/{part}", {"build": version_key("paper_tree"), "found": found}
                )
                advance()
        return {part: one["found"] for part, one in self._kept(args).items()}

    def builds(self, args: Args) -> dict[str, list[str]]:
        found: dict[str, list[str]] = {}
        for part, one in self._kept(args).items():
            found.setdefault(one["build"], []).append(part)
        return dict(sorted(found.items())) if len(found) > 1 else {build: [] for build in found}

    def _kept(self, args: Args) -> dict[str, Any]:
        kept = {part: read_json(f"{self.folder(args)}/{part}") for part in self.parts}
        return {part: one for part, one in kept.items() if one}


class Fits(Question):
    """A question of many fits, each kept in a file of its own: a run can be stopped and resumed."""

    metric = "accuracy"  # shown while fits run

    def add_arguments(self, parser: argparse.ArgumentParser) -> None:
        super().add_arguments(parser)
        parser.add_argument("--jobs", type=int, default=1, help="processes; each model uses one thread")
        parser.add_argument(
            "--splits", type=int, default=sys.maxsize, help="at most this many splits of each data set"
        )
        parser.add_argument(
            "--unchanged",
            nargs="+",
            default=[],
            help="models of ours whose stored results still hold: the hashes of their models have not changed since",
        )
        parser.add_argument(
            "--build", help="with --show: results of another build of lhtree, named as on the page"
        )

    @abstractmethod
    def plan(self, args: Args) -> list[Task]:
        """Return the fits in their order: stopped early, a run should have fewer splits of every data set."""

    def is_chosen(self, task: Task, args: Args) -> bool:
        """Whether this run makes a missing fit; the page also shows fits of earlier runs."""
        return True

    @abstractmethod
    def measure(self, task: Task) -> Result:
        """Fit and score one model on one split."""

    def run(self, args: Args) -> Results:
        if args.build:
            if not args.show:
                raise SystemExit("--build selects the results of another build: add --show.")
            choose_build(args.build)
        restore_runs(self.name)
        tasks = [task for task in self.plan(args) if task.seed < args.splits]
        if not args.show:
            chosen = [task for task in tasks if self.is_chosen(task, args)]
            self._fit([task for task in chosen if task.model not in args.unchanged], args.jobs)
        results, runs = collect(tasks), read_runs(self.name)
        stored = {model for _, model in runs} & {task.model for task in tasks}
        others = sorted(stored - {model for _, model in results})
        kept = {
            (task.data, task.model): {
                seed: result for seed, result in runs[task.data, task.model].items() if seed < args.splits
            }
            for task in tasks
            if task.model in args.unchanged and (task.data, task.model) in runs
        }
        if set(others) - set(args.unchanged):
            keys = read_json(self.name)["keys"]
            told = ", ".join(f"{model} ({keys[model]})" for model in others if model not in args.unchanged)
            print(f"not on the page, because the stored results are of another build: {told}")
        if not args.show and not self.is_draft(args):
            write_runs(self.name, results, others)
        return results | kept

    def builds(self, args: Args) -> dict[str, list[str]]:
        keys = (read_json(self.name) or {"keys": {}})["keys"]
        older: dict[str, list[str]] = {}
        for model in args.unchanged:
            if model in keys:
                older.setdefault(keys[model], []).append(TITLES.get(model, model))
        ours = {model for model, key in keys.items() if key.startswith("lhtree-")}
        return older if ours and ours <= set(args.unchanged) else older | super().builds(args)

    def _fit(self, tasks: Sequence[Task], n_jobs: int) -> None:
        missing = [task for task in tasks if not task.path.exists()]
        print(f"{len(tasks)} fits, {len(tasks) - len(missing)} of them already done", flush=True)
        with show_progress(self.name, len(missing)) as (tell, advance):
            for task, result in self._work(missing, n_jobs):
                score, seconds = result[self.metric], result["fit_seconds"]
                tell(f"{task.data} {task.model} {task.seed}: {score:.4f} in {seconds:.2f} s")
                advance()

    def _measure_and_keep(self, task: Task) -> Result:
        result = self.measure(task)
        task.keep(result)
        return result

    def _work(self, tasks: Sequence[Task], n_jobs: int) -> Iterator[tuple[Task, Result]]:
        if n_jobs == 1:
            yield from ((task, self._measure_and_keep(task)) for task in tasks)
            return
        context = multiprocessing.get_context("spawn")
        with ProcessPoolExecutor(n_jobs, mp_context=context) as pool:
            running = {pool.submit(self._measure_and_keep, task): task for task in tasks}
            for future in as_completed(running):
                yield running[future], future.result()
