"""What trees and forests have in common: the walk from a table to a model."""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from .._core import Scorer
from .._parameters import Settled, check_flag, draw_seed
from ..grow.automatic import Pilot, scale_draws
from ..grow.calibrate import N_FOLDS, calibrate, check_calibrate
from ..grow.forest import ForestPlan, TreeLabels, count_kept, keep_rows, smooth_leaves
from ..grow.sources import MemoryTable, Sample
from ..grow.training import Progress, Training, check_continued, prepare, shift
from ..model.model import ForestRecord, Model
from ..model.response import scale_up
from ..model.trees import Trees, join_trees
from ..tables.frames import refuse_infinity
from ..tables.normalise import Normalisation, Span
from .predictor import Classifier, Predictor, count_threads


@dataclass(frozen=True)
class Growth:
    """What to grow: for every beta one tree per target, from some rows of each class (None: all rows)."""

    betas: NDArray[np.float64]
    first_tree: int = 0
    counts: NDArray[np.int64] | None = None
    bootstrap: bool = False
    balances: bool = False
    record: ForestRecord | None = None  # of all estimators, those of an earlier fit included
    is_joint: bool = False  # one tree of all classes instead of one per target

    def count_trees(self, n_targets: int) -> int:
        """Trees in all."""
        return len(self.betas) * (1 if self.is_joint else n_targets)


class BaseLHT(Predictor):
    """Fitting trees and forests, for any number of trees per target."""

    def _fill(self, n_features: int) -> dict[str, Any]:
        """The parameters, and those that only others have."""
        params: dict[str, Any] = self.get_params(deep=False)
        return params

    @abstractmethod
    def _plan(self, settled: Settled, training: Training, earlier: Model | None) -> Growth:
        """What to grow; ``earlier`` has the trees to keep."""

    def _finish(self, model: Model, training: Training) -> Model:
        """What is left to learn from the training data once the trees are grown."""
        return model

    def fit(self, X: Any, y: Any, sample_weight: Any = None) -> Any:
        """Fit the model.

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
        continues = check_flag("warm_start", getattr(self, "warm_start", False))
        earlier = self._model if continues else None
        return self._fit(prepare(self, MemoryTable(self, X, y, sample_weight), earlier), earlier)

    def _fit(self, training: Training, earlier: Model | None = None, seed: int | None = None) -> Any:
        """Fit the model to rows that were checked; ``earlier`` has the trees to keep, ``seed`` if it is drawn."""
        continues = earlier is not None or getattr(self, "warm_start", False)
        n_features = training.X.shape[1]
        params = self._fill(n_features)
        settled = Settled(params, n_features, is_forest=self._is_forest)
        if earlier is not None:
            check_continued(earlier, training)
        growth = self._plan(settled, training, earlier)
        method = check_calibrate(params.get("calibrate"), training, continues=continues)
        n_threads = count_threads(self.n_jobs)
        n_kept = count_kept(self.keep_prototypes, training)
        if seed is None:
            seed = draw_seed(self.random_state) if earlier is None else earlier.seed
        key = seed if self._is_forest else 0  # a tree that draws nothing must not depend on its seed
        normalisation, span = normalise(
            training, settled.normalize, earlier, n_threads, training.X.sample(key)
        )

        def build(training: Training, settled: Settled, growth: Growth, progress: Progress) -> Model:
            trees = self._grow(training, settled, growth, normalisation, seed, n_threads, progress)
            return Model(
                trees=trees if earlier is None else earlier.trees + trees,
                encoding=training.encoding,
                normalisation=normalisation,
                span=span,
                classes=training.classes,
                prior=training.prior,
                confidence=settled.confidence,
                seed=seed,
                link=self._links[0],
                response=training.record(),
                min_samples_leaf=settled.min_samples_leaf,
            )

        pilot = None
        if settled.chooses_leaf_size and earlier is None:
            pilot = Pilot(training, growth, key, continues=continues)
        n_before = 0 if pilot is None else pilot.n_trees
        n_trees = growth.count_trees(training.n_targets)
        with self._progress(n_before + n_trees * (N_FOLDS + 1 if method else 1)) as progress:
            if pilot is not None:
                settled = settled.with_leaf_size(pilot.choose(settled, build, progress, n_threads))
            elif settled.chooses_leaf_size and earlier is not None and earlier.min_samples_leaf is not None:
                settled = settled.with_leaf_size(earlier.min_samples_leaf)
            model = build(training, settled, growth, shift(progress, n_before))
            if method is not None:

                def build_part(part: Training, number: int) -> Model:
                    own = scale_draws(growth, training, part, len(growth.betas))
                    return build(part, settled, own, shift(progress, n_before + (number + 1) * n_trees))

                model = calibrate(model, training, method, build_part, n_threads, key)
        forest = growth.record
        if forest is not None:
            names = self._tree._get_param_names()
            own = {name: value for name, value in settled.tree_params().items() if name in names}
            forest = replace(forest, tree_parameters=own)
        model = replace(model, prototypes=keep_rows(n_kept, training, seed), forest=forest)
        self._model = self._finish(model, training)
        return self

    def _grow(
        self,
        training: Training,
        settled: Settled,
        growth: Growth,
        normalisation: Normalisation,
        seed: int,
        n_threads: int,
        progress: Progress,
    ) -> Trees:
        responses, exponent = training.responses()
        response = None if training.response is None else responses[0]
        labels = TreeLabels(training.codes, training.weight, response, training.targets)
        plan = ForestPlan(
            settled, normalisation, seed, growth.counts, growth.bootstrap, growth.balances, growth.is_joint
        )
        grown = training.X.grow(labels, plan, growth.first_tree, growth.betas, n_threads, progress)
        return self._settle_trees(grown, training, settled, exponent)

    def _settle_trees(
        self, grown: Sequence[dict[str, Any]], training: Training, settled: Settled, exponent: int
    ) -> Trees:
        """Trees of the core, in one or more parts, in units of the response, with their leaves smoothed."""
        parts = [Trees(**(scale_up(arrays, exponent) if self._is_regressor else arrays)) for arrays in grown]
        trees = join_trees(parts)
        return trees if self._is_regressor else smooth_leaves(trees, training.prior, settled.smoothing)

    @property
    def min_samples_leaf_(self) -> float:
        """The leaf size in use: ``min_samples_leaf``, or what "auto" chose."""
        size = self._read().min_samples_leaf
        if size is None:
            raise AttributeError("the model is from a file without its leaf size: fit it again.")
        return size

    @property
    def feature_importances_(self) -> NDArray[np.float64]:
        """Share of every column in the gain of all blocks, shape (m,).

        The gain of a block is the decrease in Gini impurity (for a regressor, in squared error) from the block to its
        children. It is divided among the features of the block in proportion to ``|weight|`` × spread and corrected for
        chance: a feature strongly related to the target keeps its share, and one that is no better than the best of as
        many noise features gets nothing. So noise has an importance of about 0. The categories of a column are summed.
        Models from files of version 1 have no spreads: their gain is divided by ``|weight|``, without the correction.
        """
        return self.importances().values


class WolfClassifier(Classifier, BaseLHT):
    """Predicting classes by the mean of corrected memberships."""

    def predict_proba(self, X: Any) -> NDArray[np.float64]:
        """Class probabilities: WOLF values divided by their sum, shape (n, K).

        If all WOLF values of a row are 0, the mean memberships are used instead, and if these are 0, the class prior.
        """
        return self._ask(Scorer.proba, X, self._model)  # type: ignore[no-any-return]

    def predict_wolf(self, X: Any) -> NDArray[np.float64]:
        """Mean corrected membership d·μ of every row and class, shape (n, K) (WOLF, eq. 17)."""
        return self._ask(Scorer.wolf, X, self._model)  # type: ignore[no-any-return]

    def predict_membership(self, X: Any) -> NDArray[np.float64]:
        """Mean membership μ of every row and class, shape (n, K) (eq. 15)."""
        return self._ask(Scorer.membership, X, self._model)  # type: ignore[no-any-return]

    def predict_confidence(self, X: Any) -> NDArray[np.float64]:
        """Mean confidence d of every row and class, shape (n, K) (eq. 12)."""
        return self._ask(Scorer.confidence, X, self._model)  # type: ignore[no-any-return]


def normalise(
    training: Training, how: str | None, earlier: Model | None, n_threads: int, sample: Sample
) -> tuple[Normalisation, Span]:
    """Scales and ranges of the features: from the earlier model, with widened ranges, or newly learned."""
    X, row = training.X, training.row
    if earlier is None:
        return X.normalise(sample, training.weight, how, n_threads, row)
    span = earlier.span.widen(X.load())
    if span.is_infinite():
        refuse_infinity(X.load().expand(), row)
    return earlier.normalisation, span
