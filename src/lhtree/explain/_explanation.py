"""Explanation: the prediction for one row and how the model arrives at it."""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import asdict
from functools import cached_property
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from ..model.model import Model
from ._batch import find_base
from ._facts import Path, find_paths, make_plain
from ._frame import tabulate_terms
from ._html import draw_html
from ._joint import add_classes
from ._walk import Walk, sum_targets, walk
from ._words import describe

if TYPE_CHECKING:
    import pandas as pd

    from ._counterfactual import Counterfactual


class Account(NamedTuple):
    """What adds up to a total, which it ends with."""

    base: float
    contributions: dict[str, float]  # by column
    clipped: float  # what the ranges of linear leaves take away
    total: float


class Explanation:
    """Explanation of the prediction for one row; created by ``model.explain(row)``.

    Attributes
    ----------
    prediction
        The predicted class, or number.
    classes : list
        All classes, in the order of the model; none of a regression.
    row : dict
        Values of the row by column, in original units; a missing value is NaN, a missing category None.
    proba : dict
        Probability of every class.
    uncalibrated : dict
        Probability of every class before calibration; the same as ``proba`` if the model is not calibrated.
    wolf, membership, confidence : dict
        Results of the model's ``predict_…`` methods, by class. The confidence d is the distance of the row from the
        last hyperplane on its path (with ``confidence="path"``, the nearest), at most 1; it is not a probability.
        Not of boosted models.
    raw_score : dict
        Raw score of every class; of boosted models only. That of the first of two classes is minus that of the second.
    paths : tuple of Path
        The path of the row through every tree.
    votes : dict
        By class, the number of trees of a forest that predict it on their own.
    base, contributions : dict
        By class, the share of the class at the root and the contribution of every feature; together they add up to
        ``membership``. For a forest they are means over the trees. At every block of the path the share of the class
        changes, and this change is divided among the features that pull to the side taken, in proportion to their
        terms of y (with the offset split in proportion to the weights). The difference between the leaf's membership
        and its share is divided among the slopes in the same way. This is a convention that divides exact changes, not
        a statement about causes. For a boosted model they add up to ``raw_score``: the base is the raw score before the
        first tree plus the values of all roots; at every block the value changes, and the change is divided among the
        features of the hyperplane by ``|weight|`` × spread. In a linear leaf, every slope adds slope · (z - mean).
    clipped : dict
        By class, what linear leaves of a boosted model take away by clipping their estimates to the range of their
        training rows: ``raw_score`` is the base, the contributions and this. Of boosted models and regressions only; 0
        if all leaves are constant.

    Notes
    -----
    A regression has no classes: ``base``, ``clipped`` and ``raw_score`` are numbers, and ``contributions`` has one by
    feature. They add up to the prediction, in its unit, as those of a boosted model do; for a forest they are means
    over the trees, and the base is the mean response. With a log link ("poisson" and "gamma") they add up to
    ``raw_score``, the logarithm of the prediction.

    Examples
    --------
    >>> from sklearn.datasets import load_wine
    >>> from lhtree import LHTClassifier
    >>> X, y = load_wine(return_X_y=True, as_frame=True)
    >>> model = LHTClassifier().fit(X, y)
    >>> explanation = model.explain(X.iloc[0])
    >>> int(explanation.prediction), round(explanation.proba[0], 2)
    (0, 1.0)
    >>> added = explanation.contributions[0]
    >>> max(added, key=added.get)
    'proline'
    >>> abs(explanation.base[0] + sum(added.values()) - explanation.membership[0]) < 1e-9
    True
    """

    def __init__(self, fitted: Model, x: NDArray[np.float64], draw: Callable[..., Any]) -> None:
        self._fitted, self._x, self._draw = fitted, x, draw
        self.classes = fitted.labels
        self.row = fitted.name_values(x)
        self.prediction = (
            float(self._ask("value")) if fitted.is_regression else self.classes[int(self._ask("predict"))]
        )

    def _ask(self, method: str) -> Any:
        return self._fitted.ask(method, self._x[None])[0]

    def _check_kind(self, name: str, *, has_it: bool) -> None:
        """Refuse what the model does not have."""
        if has_it:
            return
        fitted = self._fitted
        if fitted.is_regression:
            kind, remedy = "regression", "prediction, or base and contributions, which add up to it"
        elif fitted.is_boosted:
            kind, remedy = "boosted model", "raw_score, or proba for probabilities"
        else:
            kind, remedy = "tree or forest", "membership, or proba for probabilities"
        raise AttributeError(f"an explanation of a {kind} has no {name}: use {remedy}.")

    def _by_class(self, values: NDArray[np.float64]) -> Any:
        """Values by class, shape (K,); of a regression, the only one."""
        if self._fitted.is_regression:
            return float(values[0])
        return dict(zip(self.classes, values.tolist(), strict=True))

    def account(self, target: Any = None) -> Account:
        """What adds up to the total of a class, or of the number predicted."""
        parts: list[Any] = [self.base, self.contributions, self.total]
        parts.append(self.clipped if self._fitted.is_clipped else dict.fromkeys(self.classes, 0.0) or 0.0)
        if not self._fitted.is_regression:
            parts = [part[target] for part in parts]
        base, contributions, total, clipped = parts
        return Account(base, contributions, clipped, total)

    @cached_property
    def wolf(self) -> dict[Any, float]:
        """Mean d·μ of every class."""
        self._check_kind("wolf", has_it=not self._fitted.has_values)
        of_classes: dict[Any, float] = self._by_class(self._ask("wolf"))
        return of_classes

    @cached_property
    def proba(self) -> dict[Any, float]:
        """Probability of every class."""
        self._check_kind("proba", has_it=not self._fitted.is_regression)
        of_classes: dict[Any, float] = self._by_class(self._ask("proba"))
        return of_classes

    @cached_property
    def uncalibrated(self) -> dict[Any, float]:
        """Probability of every class before calibration."""
        of_classes: dict[Any, float] = self._by_class(self._ask("uncalibrated"))
        return of_classes

    @cached_property
    def membership(self) -> dict[Any, float]:
        """Mean μ of every class."""
        self._check_kind("membership", has_it=not self._fitted.has_values)
        of_classes: dict[Any, float] = self._by_class(self._ask("membership"))
        return of_classes

    @cached_property
    def confidence(self) -> dict[Any, float]:
        """Mean d of every class."""
        self._check_kind("confidence", has_it=not self._fitted.has_values)
        of_classes: dict[Any, float] = self._by_class(self._ask("confidence"))
        return of_classes

    @cached_property
    def raw_score(self) -> Any:
        """Raw score of every class, or of a regression, of a boosted model."""
        self._check_kind("raw_score", has_it=self._fitted.is_boosted)
        return self._by_class(self._fitted.head.spread(self._ask("raw_score"), np.negative))

    @property
    def total(self) -> Any:
        """What base and contributions add up to, by class: the membership, or the raw score of a boosted model.

        Of trees of a regression, it is the prediction.
        """
        if self._fitted.is_boosted:
            return self.raw_score
        return self.prediction if self._fitted.is_regression else self.membership

    @cached_property
    def _walk(self) -> Walk:
        return walk(self._fitted, self._x[None])

    @cached_property
    def paths(self) -> tuple[Path, ...]:
        """The path through every tree."""
        return tuple(find_paths(self._walk, self._x))

    @cached_property
    def base(self) -> Any:
        """Where the contributions to every class start; see the attributes above."""
        return self._by_class(find_base(self._fitted))

    @cached_property
    def contributions(self) -> dict[Any, Any]:
        """Contribution of every column to the ``total`` (of every class); categories of a column are summed."""
        fitted = self._fitted
        dealt = np.zeros((fitted.n_targets, fitted.n_features))
        if fitted.is_joint:
            dealt = add_classes(self._walk)[0]
        for terms, amount in () if fitted.is_joint else self._walk.deal():
            np.add.at(dealt, (fitted.target_of[self._walk.tree[terms.stop]], terms.feature), amount)
        dealt = fitted.encoding.sum_columns(dealt) / (1 if fitted.is_boosted else self.n_estimators)
        named = [
            dict(zip(fitted.column_names, of_class.tolist(), strict=True))
            for of_class in fitted.head.spread(dealt, np.negative, axis=0)
        ]
        return named[0] if fitted.is_regression else dict(zip(self.classes, named, strict=True))

    @cached_property
    def clipped(self) -> Any:
        """What the ranges of linear leaves take away from the ``total`` (of every class)."""
        self._check_kind("clipped", has_it=self._fitted.has_values)
        total = sum_targets(self._fitted, self._walk.clipped)
        total = total if self._fitted.is_boosted else total / self.n_estimators
        return self._by_class(self._fitted.head.spread(total, np.negative))

    @cached_property
    def votes(self) -> dict[Any, int]:
        """Number of estimators that predict each class on their own."""
        self._check_kind("votes", has_it=not self._fitted.has_values)
        membership, confidence = (values[0] for values in self._fitted.per_tree(self._x[None]))
        proba = self._fitted.without_calibration.scorer.settle(confidence * membership, membership)
        counts = np.bincount(proba.argmax(axis=1), minlength=len(self.classes))
        return dict(zip(self.classes, counts.tolist(), strict=True))

    @property
    def n_estimators(self) -> int:
        """Number of trees per class, or of trees of all classes."""
        return self._fitted.n_estimators

    def tree(self, index: int) -> Explanation:
        """Explain the prediction of one estimator of a forest (its tree of every class), or of one round of boosting.

        A round is explained as if it came first: the base is that of the whole model.
        """
        return Explanation(self._fitted.estimator(index), self._x, self._draw)

    def counterfactuals(self, features: Any = None, n: int = 3, *, to: Any = None) -> list[Counterfactual]:
        """Find small changes of the row that change its prediction, smallest first.

        The search crosses the nearest hyperplanes on the path, each by the shortest move and by each feature alone, and
        continues from there (in a leaf, to where its membership is one half; in linear leaves of a boosted model, to
        where two classes have equal scores; for a regression, to the range). Every change that alters the prediction
        is shortened, rounded slightly outwards and verified by predicting again. Where the value and the ends of the
        training range have at most 6 decimals, changes have no more either (counts stay whole, prices in cents) if that
        suffices, and smaller changes are skipped if there are others. Values stay within the training range (a value
        outside it may only move towards it), and missing values stay missing. For a categorical column every other
        category is tried, with the rest of the row unchanged or, if nothing else is found, together with numeric
        changes. For a boosted model, changes of single features are taken back as far as the prediction stays changed.
        A change that is nearly parallel to a smaller one, or changes the same features and more, is dropped.
        If n is above 1, one place is reserved for the smallest change of a single feature.

        Parameters
        ----------
        features : list of names or numbers, optional
            Features that may change. Default: all.
        n : int, default=3
            Maximum number of changes to return; there may be fewer or none.
        to : class, or (low, high) of a regression
            The class to reach; by default any other class. For a regression, the range that the prediction has to
            reach, which is required; None means no limit: (200, None) is 200 or more.

        Returns
        -------
        list of Counterfactual
        """
        from ._counterfactual import find_counterfactuals

        return find_counterfactuals(self._fitted, self._x, features, n, to)

    def to_dict(self) -> dict[str, Any]:
        """The explanation as plain Python values that can be written as JSON; missing values are None."""
        names = ["raw_score"] if self._fitted.is_boosted else ["wolf", "membership", "confidence"]
        names = ["uncalibrated"] * (self._fitted.calibration is not None) + names
        if not self._fitted.is_regression:
            names = ["classes", "proba", *names]
        elif not self._fitted.is_boosted:
            names = []
        facts = {
            "prediction": self.prediction,
            "row": self.row,
            **{name: getattr(self, name) for name in names},
            "base": self.base,
            **({"clipped": self.clipped} if self._fitted.is_clipped else {}),
            "contributions": self.contributions,
            "paths": [asdict(path) for path in self.paths],
        }
        return _make_finite(facts)  # type: ignore[no-any-return]

    def to_frame(self) -> pd.DataFrame:
        """One row per tree, block and term; the terms of a block add up to y, those of a leaf to p̂ or its value."""
        return tabulate_terms(self._walk, self._x[None]).drop(columns="row")

    def plot(self, **options: Any) -> Any:
        """Plot the path through a tree, or the contributions of many trees; ``options`` are those of ``plot_path``."""
        return self._draw(self, **options)

    def __str__(self) -> str:
        return describe(self)

    def __repr__(self) -> str:
        if self._fitted.is_regression:
            return f"Explanation(prediction={self.prediction:.6g})"
        return f"Explanation(prediction={self.prediction!r}, proba={self.proba[self.prediction]:.3g})"

    def _repr_html_(self) -> str:
        return draw_html(self)


def _make_finite(facts: Any) -> Any:
    """The same facts with None for what JSON cannot express and lists for tuples; nesting is shallow."""
    if isinstance(facts, dict):
        return {make_plain(key): _make_finite(value) for key, value in facts.items()}
    if isinstance(facts, (list, tuple)):
        return [_make_finite(value) for value in facts]
    return None if isinstance(facts, float) and not math.isfinite(facts) else make_plain(facts)
