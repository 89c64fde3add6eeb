"""The explanation of one row: its scores, contributions and paths."""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping
from dataclasses import asdict
from functools import cached_property
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from .._extras import import_extra
from ..model.model import Model
from ..model.numbers import make_plain
from ..tables.frames import is_frame, is_record_list, refuse_infinity
from ._contributions import find_base, find_contributions
from ._paths import TERM_FACTS, Path, find_paths, trace_row
from ._text import draw_html, write_text

if TYPE_CHECKING:
    import pandas as pd

    from ._counterfactual import Counterfactuals


class Account(NamedTuple):
    """The parts of a total, and the total."""

    base: float
    contributions: dict[str, float]  # by column
    clipped: float  # change by the ranges of linear leaves
    total: float


class Explanation:
    """Explanation of the prediction for one row; created by ``model.explain(row)``.

    Attributes
    ----------
    prediction
        The predicted class, or number.
    target
        The class that text, HTML and plots explain: the class passed to ``explain``, else the positive class of the
        model, else the prediction.
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
        features of the hyperplane by ``|weight|`` × standard deviation in the block. In a linear leaf, every slope adds
        slope · (z - mean).
    clipped : dict
        By class, the change by clipping the estimates of linear leaves of a boosted model to the range of their
        training rows: ``raw_score`` is the base, the contributions and this. Only boosted models and regressions have
        it; it is 0 if all leaves are constant.

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

    def __init__(
        self, fitted: Model, x: NDArray[np.float64], draw: Callable[..., Any], target: int | None = None
    ) -> None:
        self._fitted, self._x, self._draw = fitted, x, draw
        self.classes = fitted.labels
        self.row = fitted.name_values(x)
        self.prediction = fitted.predict(x[None])[0]
        self.target = self.prediction if target is None else self.classes[target]

    def _score(self, name: str) -> Any:
        """Return a score by class; refuse one that the model does not have."""
        self._require(name, name in self._fitted.head.scores)
        values = self._fitted.score(name, self._x[None])[0]
        return self._by_class(
            self._fitted.head.spread(values, np.negative) if name == "raw_score" else values
        )

    def _require(self, name: str, exists: bool) -> None:
        if not exists:
            head = self._fitted.head
            raise AttributeError(f"an explanation of {head.model_noun} has no {name}: use {head.remedy}.")

    def _by_class(self, values: NDArray[np.float64]) -> Any:
        """Return values by class from an array of shape (K,); the only value in a regression."""
        return self._fitted.head.by_output(values.tolist())

    def account(self, target: Any = None) -> Account:
        """Return the parts of the total of a class, or of the predicted number."""
        parts: list[Any] = [self.base, self.contributions, self.total]
        parts.append(self.clipped if self._fitted.is_clipped else dict.fromkeys(self.classes, 0.0) or 0.0)
        if self.classes:
            parts = [part[target] for part in parts]
        base, contributions, total, clipped = parts
        return Account(base, contributions, clipped, total)

    @cached_property
    def wolf(self) -> dict[Any, float]:
        """Mean d·μ of every class."""
        return self._score("wolf")  # type: ignore[no-any-return]

    @cached_property
    def membership(self) -> dict[Any, float]:
        """Mean μ of every class."""
        return self._score("membership")  # type: ignore[no-any-return]

    @cached_property
    def confidence(self) -> dict[Any, float]:
        """Mean d of every class."""
        return self._score("confidence")  # type: ignore[no-any-return]

    @cached_property
    def raw_score(self) -> Any:
        """Raw score of every class, or of a regression, of a boosted model."""
        return self._score("raw_score")

    @cached_property
    def proba(self) -> dict[Any, float]:
        """Probability of every class."""
        return self._probabilities("proba")

    @cached_property
    def uncalibrated(self) -> dict[Any, float]:
        """Probability of every class before calibration."""
        return self._probabilities("uncalibrated")

    def _probabilities(self, name: str) -> dict[Any, float]:
        self._require(name, bool(self.classes))
        by_class: dict[Any, float] = self._by_class(self._fitted.score(name, self._x[None])[0])
        return by_class

    @property
    def total(self) -> Any:
        """Sum of base, contributions and clipped, by class: the membership, raw score or prediction."""
        return getattr(self, self._fitted.head.total)

    @cached_property
    def paths(self) -> tuple[Path, ...]:
        """The path through every tree."""
        code = self.classes.index(self.target) if self.classes else 0
        return tuple(find_paths(trace_row(self._fitted, self._x), self._x, code))

    @cached_property
    def base(self) -> Any:
        """Start of the contributions to every class; see the attributes above."""
        return self._by_class(find_base(self._fitted))

    @cached_property
    def _divided(self) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
        """Contributions by class and feature, and the changes by the ranges of linear leaves by class."""
        out = np.zeros((1, self._fitted.n_outputs, self._fitted.n_features))
        clipped = find_contributions(self._fitted, self._x[None], out)
        return out[0], clipped[0]

    @cached_property
    def contributions(self) -> dict[Any, Any]:
        """Contribution of every column to the ``total`` (of every class); categories of a column are summed."""
        by_column = self._fitted.encoding.sum_columns(self._divided[0]).tolist()
        names = self._fitted.column_names
        by_output: dict[Any, Any] = self._fitted.head.by_output(
            [dict(zip(names, values, strict=True)) for values in by_column]
        )
        return by_output

    @cached_property
    def clipped(self) -> Any:
        """Change of the ``total`` (of every class) by the ranges of linear leaves."""
        self._require("clipped", self._fitted.head.values_blocks)
        return self._by_class(self._divided[1])

    @cached_property
    def votes(self) -> dict[Any, int]:
        """Number of estimators that predict each class on their own."""
        self._require("votes", "membership" in self._fitted.head.scores)
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
        target = None if self.target == self.prediction else self.classes.index(self.target)
        return Explanation(self._fitted.estimator(index), self._x, self._draw, target)

    def counterfactuals(
        self,
        features: Any = None,
        n: int = 3,
        *,
        to: Any = None,
        immutable: Any = None,
        rising: Any = None,
        falling: Any = None,
        whole: Any = None,
        plausible: bool = True,
    ) -> Counterfactuals:
        """Find small changes of the row that change its prediction, smallest first.

        The search crosses the nearest hyperplanes on the path, each by the shortest move and by each feature alone, and
        continues from there (in a leaf, to where its membership is one half; in linear leaves of a boosted model, to
        where two classes have equal scores; for a regression, to the range). Every change that alters the prediction
        is shortened, rounded slightly outwards and verified by predicting again. A column whose training values are
        whole numbers gets whole numbers only: the nearest that suffice, or none. Where the value and the ends of the
        training range of another column have at most 6 decimals, changes have no more either (prices in cents) if that
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
        immutable : list of names or numbers, optional
            Columns that nobody can change, such as an age. Default of this and of the next three: what the model
            declares (see ``declare``).
        rising, falling : list of names or numbers, optional
            Columns of numbers that may only rise, such as the years in a job, or only fall.
        whole : list of names or numbers, optional
            Columns of whole numbers, besides those whose training values are whole.
        plausible : bool, default=True
            Whether changed rows must be plausible as a whole: no further from the mean of the training rows
            (Mahalanobis distance of normalised features) than 99 % of 500 of them, or than the row itself. A model of
            more than 100 features, or of fewer than 20 rows, does not keep what this takes.

        Returns
        -------
        Counterfactuals
            A list of ``Counterfactual``. If it is empty, ``reason`` says why.
        """
        from ._counterfactual import find_counterfactuals

        limits = {"immutable": immutable, "rising": rising, "falling": falling, "whole": whole}
        return find_counterfactuals(self._fitted, self._x, features, n, to, plausible=plausible, **limits)

    def to_dict(self) -> dict[str, Any]:
        """Return the explanation as plain Python values that can be written as JSON; missing values are None."""
        names = list(self._fitted.head.scores)
        if self.classes:
            calibrated = ["uncalibrated"] if self._fitted.calibration is not None else []
            names = ["classes", "proba", *calibrated, *names]
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
        """Return one row per column, largest contribution to the ``target`` first: its ``value`` and ``contribution``.

        A classifier has a column ``contribution.CLASS`` for every class.
        """
        outputs = self.contributions
        by_output = {f"contribution.{label}": outputs[label] for label in self.classes} or {
            "contribution": outputs
        }
        own = outputs[self.target] if self.classes else outputs
        order = sorted(own, key=lambda name: -abs(own[name]))
        columns = {"value": self.row, **by_output}
        pandas = import_extra("pandas", "pandas")
        frame: pd.DataFrame = pandas.DataFrame(
            {name: [values[column] for column in order] for name, values in columns.items()},
            index=pandas.Index(order, name="column"),
        )
        return frame

    def terms_frame(self) -> pd.DataFrame:
        """Return one row per tree, block and term of the ``paths``.

        The terms of a branching block add up to y: ``part`` is "offset" (its sign reversed) or "weight" (times z). The
        terms of a leaf add up to its estimate: "intercept" or "value", "slope" (times z, or z minus its mean), and
        "clipped", the change by the range of the leaf. Only weights and slopes have a feature. A regression has no
        ``target``.
        """
        lines = [line for path in self.paths for line in path.list_terms()]
        places = ["target"] * bool(self.classes) + ["tree", "block", "depth", "part"]
        frame: pd.DataFrame = import_extra("pandas", "pandas").DataFrame(
            lines, columns=[*places, *TERM_FACTS]
        )
        return frame

    def plot(self, **options: Any) -> Any:
        """Plot the path through a tree, or the contributions of many trees, with the options of ``plot_path``."""
        return self._draw(self, **options)

    def __str__(self) -> str:
        return write_text(self)

    def __repr__(self) -> str:
        if self.classes:
            return f"Explanation(prediction={self.prediction!r}, proba={_write_share(self.proba[self.prediction])})"
        return f"Explanation(prediction={self.prediction:.6g})"

    def _repr_html_(self) -> str:
        return draw_html(self)


def _write_share(share: float) -> str:
    """Format a share with three digits, or with as many as make it differ from 1."""
    texts = (f"{share:.{n_digits}g}" for n_digits in range(3, 18))
    return next(text for text in texts if text != "1" or share == 1.0)


def _make_finite(facts: Any) -> Any:
    """Return facts with None for infinities and NaN, and lists for tuples; nesting is shallow."""
    if isinstance(facts, dict):
        return {make_plain(key): _make_finite(value) for key, value in facts.items()}
    if isinstance(facts, (list, tuple)):
        return [_make_finite(value) for value in facts]
    return None if isinstance(facts, float) and not math.isfinite(facts) else make_plain(facts)


def take_row(fitted: Model, row: Any, asked: Any = None) -> NDArray[np.float64]:
    """Return the values of one row in any form by feature, shape (m,).

    ``asked`` is the estimator or Scorer, as for ``Model.encode``.
    """
    if _is_series(row):
        row = _settle_series(row)
    values: NDArray[Any]
    if is_frame(row) or isinstance(row, Mapping) or is_record_list(row):
        values = fitted.encode(row, asked)
    elif not fitted.encoding.is_plain:
        return fitted.encoding.encode_row(
            _list_values(fitted, row), unseen=getattr(asked, "unseen", "missing")
        )
    else:
        values = _take_array(row)
    if values.ndim == 1:
        values = values[None]
    if values.ndim != 2 or len(values) != 1:
        shape = row.shape if is_frame(row) else values.shape
        raise ValueError(
            f"row has shape {shape}: pass one row, for example X[0], or use explain_batch(X) for many."
        )
    if values.shape[1] != fitted.n_features:
        raise ValueError(
            f"row has {values.shape[1]} values, but the model has {fitted.n_features} features: pass one per feature."
        )
    if np.isinf(values).any():
        refuse_infinity(values)
    taken: NDArray[np.float64] = values[0].astype(np.float64)
    return taken


def _is_series(row: Any) -> bool:
    return hasattr(row, "index") and hasattr(row, "to_dict") and not hasattr(row, "columns")


def _settle_series(row: Any) -> Any:
    """Return a Series as a dict if it has names, else as an array."""
    has_names = all(isinstance(name, str) for name in row.index)
    return dict(zip(row.index, row.to_numpy(), strict=True)) if has_names else row.to_numpy()


def _list_values(fitted: Model, row: Any) -> list[Any]:
    """Return the numbers and categories of a row by column; an array may have a first axis of one."""
    values = np.asarray(row, dtype=object)
    if values.ndim == 2 and len(values) == 1:
        values = values[0]
    if values.shape != (len(fitted.column_names),):
        raise ValueError(
            f"row has shape {values.shape}: pass one value for each of the {len(fitted.column_names)} columns, or use "
            "explain_batch(X) for many rows."
        )
    listed: list[Any] = values.tolist()
    return listed


def _take_array(row: Any) -> NDArray[np.float64]:
    try:
        values: NDArray[np.float64] = np.asarray(row, dtype=np.float64)
    except (ValueError, TypeError) as error:
        raise ValueError(f"row is not numeric ({error}): pass one number per feature.") from None
    return values
