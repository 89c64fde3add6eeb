"""Scale: a boosted fit larger than memory, and its time and memory by number of rows."""

import argparse
from typing import Any, ClassVar

from ..common.pages import Docs
from ..runner import Parts
from .on_dask import SIZES, measure_dask
from .out_of_core import measure_growth, measure_large
from .page import write_dask, write_growth, write_large


class Scale(Parts):
    """The question."""

    name = "scale"
    fills = "benchmarks/scale.md"
    quick = "a few thousand rows, too few to measure anything"
    parts: ClassVar = {
        "growth": measure_growth,
        "large": measure_large,
        "dask": lambda tell, args: measure_dask(tell, args, QUESTION.folder(args)),
    }

    def is_draft(self, args: argparse.Namespace) -> bool:
        return super().is_draft(args) or not set(args.dask_rows or ()).issubset(SIZES)

    def add_arguments(self, parser: argparse.ArgumentParser) -> None:
        super().add_arguments(parser)
        parser.add_argument("--rows", type=int, default=100_000_000, help="of the large table")
        parser.add_argument("--rounds", type=int, default=20, help="of the fits to the large table")
        parser.add_argument(
            "--sample", type=int, default=17_000_000, help="rows of it for LightGBM, which holds them"
        )
        parser.add_argument(
            "--dask-rows",
            type=int,
            nargs="+",
            help="of the fits on Dask, measured anew; default: those of 1, 5 and 20 million that are not kept yet",
        )

    def page(self, results: dict[str, Any], docs: Docs) -> dict[str, str]:
        parts = {}
        if "growth" in results:
            parts |= write_growth(results["growth"])
        if "large" in results:
            parts |= write_large(results["large"])
        if "dask" in results:
            parts |= write_dask(results["dask"])
        return parts


QUESTION = Scale()
