"""lhtree as a model of AutoGluon, in the form that TabArena benchmarks; ``docs/benchmarks/tabarena.md`` shows a run."""

from .model import LHBoostModel, make_generator

__all__ = ["LHBoostModel", "make_generator"]
