"""What compact trees of classes and of a number have in common: the walk from a table to a model."""

from __future__ import annotations

from typing import Any, ClassVar

import numpy as np
from numpy.typing import NDArray

from .._extras import show_progress
from .._parameters import (
    COMPACT_MEMBERSHIPS,
    UNSEEN,
    check_count,
    check_number,
    check_verbose,
    choose,
    draw_seed,
    refuse,
)
from ..grow.compact import CompactPlan, choose_penalty, count_fits, count_tasks, grow, measure_fit, settle
from ..grow.compact_trees import build_trees
from ..grow.forest import count_kept, keep_rows
from ..grow.rounding import round_to_scale
from ..grow.sources import MemoryTable
from ..grow.training import Progress, Training, prepare, shift
from ..model.model import CompactRecord, Model
from ..tables.normalise import Normalisation
from .base import normalise
from .predictor import Predictor, count_threads

MOST_LEAVES = 256
_CENTRE_DIGITS = 2  # of their scale: more would change nothing that matters


class BaseCompact(Predictor):
    """Fitting one compact tree."""

    direction: ClassVar[str] = "mixed"  # gaps are treated as for these trees

    def fit(self, X: Any, y: Any, sample_weight: Any = None) -> Any:
        """Fit the tree.

        Parameters
        ----------
        X : array-like of shape (n, m)
            Training samples: an array, a pandas or polars DataFrame or an Arrow table. Text and categories are allowed
            in frames and tables (see ``categorical_features``). NaN, None and null are missing values.
        y : array-like of shape (n,)
            Class labels, of at least two classes; for a regressor, finite numbers.
        sample_weight : array-like of shape (n,), optional
            Sample weights. Integer weights are equivalent to repeated rows; rows of weight 0 are ignored.

        Returns
        -------
        self
        """
        training = prepare(self, MemoryTable(self, X, y, sample_weight))
        plan, chooses = self._settle(training)
        n_kept = count_kept(self.keep_prototypes, training)
        n_threads, seed = count_threads(self.n_jobs), draw_seed(self.random_state)
        normalisation, span = normalise(
            training, "robust", None, n_threads, training.X.sample(0)
        )  # nothing is random
        if plan.digits is not None:
            centre = round_to_scale(normalisation.centre, normalisation.scale, _CENTRE_DIGITS)
            normalisation = Normalisation(centre, normalisation.scale)

        def build(training: Training, plan: CompactPlan, progress: Progress) -> Model:
            grown = grow(training, plan, normalisation, n_threads, progress)
            tree, leaf = settle(grown, plan, normalisation)
            loss = measure_fit(training, grown.leaf) - measure_fit(training, leaf, plan.digits)
            return Model(
                trees=build_trees(tree, leaf, grown.rows, training, normalisation, plan),
                encoding=training.encoding,
                normalisation=normalisation,
                span=span,
                classes=training.classes,
                prior=training.prior,
                confidence=None,
                seed=seed,
                link=self._links[0],
                response=training.record(),
                min_samples_leaf=self.min_samples_leaf,
                prototypes=keep_rows(n_kept, training, seed),
                compact=CompactRecord(plan.penalty, loss, tuple(grown.arrays["objective"].tolist())),
            )

        n_before = count_tasks(plan) * count_fits() if chooses else 0
        with self._progress(n_before + count_tasks(plan)) as progress:
            if chooses:
                plan = choose_penalty(training, plan, build, seed, n_threads, progress)
            self._model = build(training, plan, shift(progress, n_before))
        return self

    def _settle(self, training: Training) -> tuple[CompactPlan, bool]:
        """The parameters, checked, and whether the penalty is still to be chosen."""
        choose("unseen", self.unseen, UNSEEN)
        check_verbose(self.verbose)
        membership = choose("membership", self.membership, COMPACT_MEMBERSHIPS)
        if membership == "linear" and len(training.classes) > 2:
            raise refuse(
                "membership",
                membership,
                f"'constant' for {len(training.classes)} classes: linear leaves need two",
            )
        chooses = isinstance(self.penalty, str)
        if chooses and self.penalty != "cv":
            raise refuse("penalty", self.penalty, "'cv' or a number of at least 0")
        max_leaf_nodes = check_count("max_leaf_nodes", self.max_leaf_nodes, 2)
        if max_leaf_nodes > MOST_LEAVES:
            raise refuse(
                "max_leaf_nodes",
                max_leaf_nodes,
                f"at most {MOST_LEAVES}, or use LHTClassifier for large trees",
            )
        digits = self.digits
        if digits is not None and (check_count("digits", digits, 1) > 15):
            raise refuse("digits", digits, "None (no rounding) or an integer from 1 to 15")
        plan = CompactPlan(
            penalty=1.0 if chooses else check_number("penalty", self.penalty),
            max_leaf_nodes=max_leaf_nodes,
            max_terms=min(check_count("max_terms", self.max_terms, 1), 2**62),
            min_samples_leaf=float(check_count("min_samples_leaf", self.min_samples_leaf, 1)),
            max_passes=min(check_count("max_passes", self.max_passes, 0), 2**62),
            digits=digits,
            is_linear=membership == "linear",
        )
        return plan, chooses

    def _progress(self, n_tasks: int) -> Any:
        return show_progress(n_tasks, "growing the tree") if self.verbose else super()._progress(n_tasks)

    @property
    def penalty_(self) -> float:
        """The penalty in use: ``penalty``, or what cross-validation chose."""
        return self._record.penalty

    @property
    def rounding_loss_(self) -> float:
        """What rounding to ``digits`` costs: training accuracy (for a regressor, R²) before it minus that after it."""
        return self._record.rounding_loss

    @property
    def objective_(self) -> NDArray[np.float64]:
        """Objective of every tree that was kept while growing, before rounding; it never rises."""
        return np.array(self._record.objective)

    @property
    def n_terms_(self) -> int:
        """Terms of all hyperplanes: weights that a person has to read."""
        return len(self._read().trees.hyperplane_weight)

    @property
    def feature_importances_(self) -> NDArray[np.float64]:
        """Share of every column in the gain of all blocks, shape (m,).

        The gain of a block is the decrease in Gini impurity (for a regressor, in squared error) from the block to its
        children. It is divided among the terms of the block in proportion to ``|weight|`` × spread. The categories of a
        column are summed.
        """
        return self.importances().values

    @property
    def _record(self) -> CompactRecord:
        record = self._read().compact
        if record is None:
            raise AttributeError("the model has no record of how it was fitted: fit it again.")
        return record
