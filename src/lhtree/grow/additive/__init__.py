"""Additive models: curves boosted in bags of rows, surfaces of pairs on top of them, and the merging of steps."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
from numpy.typing import NDArray

from ...model.records import AdditiveRecord
from ...model.terms import build_trees
from ...model.trees import Trees
from ...tables.normalise import Normalisation
from ..boosting import CodedFit
from ..sources import Sample
from ..training import Training
from .bags import Bags, make_axes
from .finish import Edges, average_bags, round_terms
from .merging import merge_steps
from .pairs import add_surfaces
from .settings import AdditiveSettings

__all__ = ["AdditiveSettings", "fit_additive"]


def fit_additive(
    training: Training,
    settings: AdditiveSettings,
    coded: CodedFit,
    sample: Sample,
    normalisation: Normalisation,
    seed: int,
    n_threads: int,
) -> tuple[Trees, NDArray[np.float64], AdditiveRecord]:
    """Fit the terms of an additive model: return its trees, its base and its record."""
    bags = Bags(training, settings, coded, seed, n_threads)
    terms = [bags.start((axis,)) for axis in make_axes(coded.bins, settings.signs)]
    n_iter = 0
    if terms:
        terms, n_iter = bags.boost_curves(terms)
        terms = add_surfaces(bags, terms)
        terms = merge_steps(bags, terms)
    final, base = average_bags(bags, terms, Edges(coded.bins, sample, normalisation))
    objective = settings.objective
    exponent = objective.exponent if objective.link == "identity" else 0
    final = [
        replace(term, values=np.ldexp(term.values, exponent), band=np.ldexp(term.band, exponent))
        for term in final
    ]
    final = round_terms(final)
    trees, band = build_trees(final, normalisation, training.targets.tolist(), training.n_rows)
    record = AdditiveRecord(settings.learning_rate, (n_iter,) * bags.n_bags, band)
    return trees, objective.grow_base(base), record
