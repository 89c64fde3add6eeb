"""Explanation: the prediction of one row, with everything that led to it."""

from __future__ import annotations

import math
from dataclasses import asdict
from functools import cached_property
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from .._fitted import Fitted
from ._facts import Path, find_paths, make_plain
from ._frame import tabulate_terms
from ._html import draw_html
from ._walk import Walk, walk
from ._words import describe

if TYPE_CHECKING:
    import pandas as pd

    from ._counterfactual import Counterfactual


class Explanation:
    """Why a model predicts what it does for one row; ``model.explain(row)`` makes it.

    Attributes
    ----------
    prediction
        The class.
    classes : list
        All classes, in the order of the model.
    row : dict
        Values of the row by column, in the user's units; NaN is missing, and None where it is a category.
    wolf, proba, membership, confidence : dict
        What the model's ``predict_…`` methods give, by class.
    paths : tuple of Path
        The way of the row through every tree.
    votes : dict
        By class, how many trees of a forest would predict it by themselves.
    base, contributions : dict
        By class, where its membership starts (the share of the class at the root) and what every feature adds to it on
        the way; together they are ``membership``. Of a forest they are means over its trees. Every block changes the
        share of the class, and the change is dealt to the features that pull to the side taken: each feature's term,
        less a part of the offset in proportion to its weight, in proportion to what it adds to y. Likewise what the
        leaf's membership adds to the share of the leaf is dealt to its slopes. It is a convention for dealing out exact
        changes, not a claim about causes.
    """

    def __init__(self, fitted: Fitted, x: NDArray[np.float64]) -> None:
        self._fitted, self._x = fitted, x
        self.classes = fitted.labels
        self.row = fitted.name_values(x)
        self.prediction = self.classes[int(self._ask("predict"))]

    def _ask(self, method: str) -> Any:
        return getattr(self._fitted.scorer, method)(self._x[None])[0]

    def _by_class(self, values: NDArray[np.float64]) -> dict[Any, float]:
        return dict(zip(self.classes, values.tolist(), strict=True))

    @cached_property
    def wolf(self) -> dict[Any, float]:
        """Mean d·μ of every class."""
        return self._by_class(self._ask("wolf"))

    @cached_property
    def proba(self) -> dict[Any, float]:
        """Probability of every class."""
        return self._by_class(self._ask("proba"))

    @cached_property
    def membership(self) -> dict[Any, float]:
        """Mean μ of every class."""
        return self._by_class(self._ask("membership"))

    @cached_property
    def confidence(self) -> dict[Any, float]:
        """Mean d of every class."""
        return self._by_class(self._ask("confidence"))

    @cached_property
    def _walk(self) -> Walk:
        return walk(self._fitted, self._x[None])

    @cached_property
    def paths(self) -> tuple[Path, ...]:
        """The way through every tree."""
        return tuple(find_paths(self._walk, self._x))

    @cached_property
    def base(self) -> dict[Any, float]:
        """Share of every class at the root, the mean over its trees."""
        way = self._walk
        starts = np.append(True, way.is_leaf[:-1])
        base = self._mean_by_class(way.tree[starts], way.share[starts])
        if len(base) == 2:
            base[0] = 1.0 - base[1]
        return self._by_class(base)

    @cached_property
    def contributions(self) -> dict[Any, dict[str, float]]:
        """What every feature adds to the membership of every class; the categories of a column together."""
        names, encoding = self._fitted.column_names, self._fitted.encoding
        dealt = np.zeros((len(self.classes), self._fitted.n_features))
        for terms, amount in self._walk.deal():
            target = self._fitted.forest.target[self._walk.tree[terms.stop]]
            np.add.at(dealt, (target, terms.feature), amount)
        dealt = encoding.sum_columns(dealt) / self.n_estimators
        if len(dealt) == 2:  # one tree serves both
            dealt[0] = -dealt[1]
        return {
            label: dict(zip(names, of_class.tolist(), strict=True))
            for label, of_class in zip(self.classes, dealt, strict=True)
        }

    @cached_property
    def votes(self) -> dict[Any, int]:
        """How many estimators would predict each class by themselves."""
        way, target = self._walk, self._fitted.forest.target
        shape = (self.n_estimators, self._fitted.n_targets)
        membership, confidence = way.membership.reshape(shape), way.confidence.reshape(shape)
        if len(self.classes) == 2:
            membership = np.hstack([1.0 - membership, membership])
        else:
            membership, confidence = (
                values[:, target[: shape[1]].argsort()] for values in (membership, confidence)
            )
        wolf = membership * confidence
        for instead in (membership, self._fitted.prior):  # where every class has 0
            wolf = np.where(wolf.any(axis=1, keepdims=True), wolf, instead)
        counts = np.bincount(wolf.argmax(axis=1), minlength=len(self.classes))
        return dict(zip(self.classes, counts.tolist(), strict=True))

    def _mean_by_class(self, tree: NDArray[np.int64], values: NDArray[np.float64]) -> NDArray[np.float64]:
        target = self._fitted.forest.target[tree]
        return np.bincount(target, weights=values, minlength=len(self.classes)) / self.n_estimators

    @property
    def n_estimators(self) -> int:
        """Trees per class."""
        return self._fitted.n_estimators

    def tree(self, index: int) -> Explanation:
        """The explanation by one estimator of a forest: its tree of every class."""
        return Explanation(self._fitted.estimator(index), self._x)

    def counterfactuals(self, features: Any = None, n: int = 3, *, to: Any = None) -> list[Counterfactual]:
        """Small changes of the row that change its prediction, the smallest first.

        The nearest hyperplanes on the way are crossed, each by the shortest move overall and by each feature alone, and
        from there the next ones (in a leaf, the one where its membership is one half). What the model then predicts
        otherwise is shortened, rounded a little outwards (to whole numbers where the value and the ends of the training
        range are whole) and predicted again. Values stay within the range of the
        training data (one outside it may only move towards it), and missing values stay missing. A column of
        categories is tried with every other category, the rest of the row as it is, or, where nothing else is found,
        with other numbers, too. A change that says little new after a smaller one is left out: one in nearly the same
        direction, or of the same features and more. One place is kept for the smallest change of a single feature, if
        one was found and n is above 1.

        Parameters
        ----------
        features : list of names or numbers, optional
            Features that may change; all by default.
        n : int, default=3
            Most changes to return; there may be fewer, or none.
        to : class, optional
            The class to reach; any other by default.

        Returns
        -------
        list of Counterfactual
        """
        from ._counterfactual import find_counterfactuals

        return find_counterfactuals(self._fitted, self._x, features, n, to)

    def to_dict(self) -> dict[str, Any]:
        """All facts in plain Python values, fit for JSON; missing values are None."""
        facts = {
            "prediction": self.prediction,
            "classes": self.classes,
            "row": self.row,
            "proba": self.proba,
            "wolf": self.wolf,
            "membership": self.membership,
            "confidence": self.confidence,
            "base": self.base,
            "contributions": self.contributions,
            "paths": [asdict(path) for path in self.paths],
        }
        return _make_finite(facts)  # type: ignore[no-any-return]

    def to_frame(self) -> pd.DataFrame:
        """One line per tree, block and term; the lines of a block add up to y, those of a leaf to p̂."""
        return tabulate_terms(self._walk, self._x[None]).drop(columns="row")

    def plot(self, **options: Any) -> Any:
        """Draw the way of the row through a tree; ``options`` are those of ``lhtree.plot.plot_path``."""
        from ..plot import plot_path

        return plot_path(self, **options)

    def __str__(self) -> str:
        return describe(self)

    def __repr__(self) -> str:
        return f"Explanation(prediction={self.prediction!r}, proba={self.proba[self.prediction]:.3g})"

    def _repr_html_(self) -> str:
        return draw_html(self)


def _make_finite(facts: Any) -> Any:
    """The same facts with None for what JSON cannot say and lists for tuples; they are nested a few levels only."""
    if isinstance(facts, dict):
        return {make_plain(key): _make_finite(value) for key, value in facts.items()}
    if isinstance(facts, (list, tuple)):
        return [_make_finite(value) for value in facts]
    return None if isinstance(facts, float) and not math.isfinite(facts) else make_plain(facts)
