"""All that is known of a fitted model, for those who read it: explanations, plots, reports."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from . import _core
from ._forest_data import ForestData
from ._parameters import is_integer, refuse
from ._prototypes import Prototypes
from .tables.encoding import Encoding
from .tables.frames import refuse_infinity
from .tables.normalise import Normalisation


@dataclass(frozen=True)
class Fitted:
    """What an estimator learned; ``read`` gives it."""

    forest: ForestData
    normalisation: Normalisation
    classes: NDArray[Any]
    encoding: Encoding  # how the columns of a table become features
    prior: NDArray[np.float64]  # share of every class
    confidence: str | None  # "last", "path" or None, never "auto"
    low: NDArray[
        np.float64
    ]  # least training value of every feature, in the user's units; NaN if all are missing
    high: NDArray[np.float64]
    prototypes: Prototypes | None
    scorer: _core.Scorer

    def __getstate__(self) -> dict[str, Any]:
        return {name: value for name, value in vars(self).items() if name != "scorer"}

    def __setstate__(self, state: dict[str, Any]) -> None:
        vars(self).update(state)
        scorer = self.forest.scorer(self.normalisation, self.prior, self.confidence)
        vars(self)["scorer"] = scorer  # the class is frozen

    @property
    def feature_names(self) -> list[str]:
        """Names of the features."""
        return self.encoding.feature_names

    @property
    def n_features(self) -> int:
        """Number of features."""
        return self.encoding.n_features

    @property
    def column_names(self) -> list[str]:
        """Names of the columns given to fit: the features, where none of them stands for a category."""
        return list(self.encoding.names)

    def name_values(self, x: NDArray[Any]) -> dict[str, Any]:
        """Values of a row by column, in the user's units and categories."""
        return self.encoding.decode(x)

    @property
    def n_classes(self) -> int:
        """Number of classes."""
        return len(self.classes)

    @property
    def labels(self) -> list[Any]:
        """The classes as plain Python values."""
        return [label.item() if isinstance(label, np.generic) else label for label in self.classes.tolist()]

    @property
    def n_targets(self) -> int:
        """Trees per estimator: one tree serves two classes."""
        return 1 if self.n_classes == 2 else self.n_classes

    @property
    def n_estimators(self) -> int:
        """Trees per class."""
        return self.forest.n_trees // self.n_targets

    @property
    def is_counted(self) -> bool:
        """Whether every row weighed 1, so that shares of the weight are shares of the rows.

        Balanced classes weigh as much in all as there are rows, so the roots alone do not tell.
        """
        return bool((self.forest.weight == self.forest.n_samples).all())

    def normalise(self, X: NDArray[Any]) -> NDArray[np.float32]:
        """The model's own z of rows in the user's units, shape (n, m); NaN becomes 0."""
        Z = _core.normalise(X, *self.normalisation)
        if Z is None:
            refuse_infinity(X)
        return Z

    def per_unit(self, weight: NDArray[np.float64], feature: NDArray[Any]) -> NDArray[np.float64]:
        """Weights or slopes of features per unit of the user; infinite where a scale is next to nothing."""
        with np.errstate(over="ignore"):
            per_unit: NDArray[np.float64] = weight / self.normalisation.scale[feature]
        return per_unit

    def estimator(self, index: int) -> Fitted:
        """The model of estimator ``index`` alone: its tree of every class."""
        if not is_integer(index):
            raise refuse("index", index, f"a number from 0 to {self.n_estimators - 1}")
        if not -self.n_estimators <= index < self.n_estimators:
            raise IndexError(f"estimator {index} is not there: the model has 0 to {self.n_estimators - 1}.")
        first = range(self.n_estimators)[index] * self.n_targets
        forest = self.forest.part(first, first + self.n_targets)
        scorer = forest.scorer(self.normalisation, self.prior, self.confidence)
        return Fitted(**vars(self) | {"forest": forest, "scorer": scorer})


def choose_trees(tree: Any, n_trees: int) -> range:
    """Numbers of the trees that ``tree`` stands for: None for all, or the number of one."""
    if tree is None:
        return range(n_trees)
    if not is_integer(tree) or not -n_trees <= tree < n_trees:
        raise refuse("tree", tree, f"None (all trees) or a number from 0 to {n_trees - 1}")
    first = range(n_trees)[tree]
    return range(first, first + 1)


def read(model: Any) -> Fitted:
    """What a fitted estimator of lhtree learned."""
    if not isinstance(getattr(type(model), "_fitted", None), property):
        kind = f"the class {model.__name__}" if isinstance(model, type) else f"a {type(model).__name__}"
        raise TypeError(
            f"model is {kind}: pass a fitted LHTClassifier or LHForestClassifier "
            "(of a Pipeline, its last step)."
        )
    fitted: Fitted = model._fitted
    return fitted
