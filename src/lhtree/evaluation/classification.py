"""Evaluation of classifiers, and the curve of accuracy against coverage."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from .._extras import import_extra
from .._parameters import is_real, refuse
from ..model.model import has_wolf
from ..model.numbers import make_plain, write_shares
from .event import EventScores
from .measures import (
    Bin,
    calibrate,
    count_confusion,
    count_rows,
    divide,
    find_brier,
    find_interval,
    find_log_loss,
    mean,
    rank,
    write_percent,
)

if TYPE_CHECKING:
    import pandas as pd

    from .groups import Groups

_NAMES = ("threshold", "n_decided", "coverage", "accuracy")
_N_EVEN = 200  # points of a thinned curve


class Sureness(NamedTuple):
    """Sureness of predictions, shape (n,), and its kind: "wolf" or "proba"."""

    kind: str
    values: NDArray[np.float64]


@dataclass(frozen=True, eq=False, repr=False)
class CoverageCurve:
    """Accuracy against coverage: one point per possible threshold, largest first.

    All arrays have shape (n_points,): at ``threshold``, ``n_decided`` rows (the share ``coverage``) are decided with
    this ``accuracy``. The last point decides every row.

    Examples
    --------
    >>> from sklearn.datasets import load_breast_cancer
    >>> from lhtree import LHTClassifier, coverage_curve
    >>> X, y = load_breast_cancer(return_X_y=True, as_frame=True)
    >>> model = LHTClassifier().fit(X[:400], y[:400])
    >>> curve = coverage_curve(model, X[400:], y[400:])
    >>> point = curve.reach(accuracy=0.95)
    >>> round(point["coverage"], 2), round(point["threshold"], 2)
    (0.75, 0.75)
    """

    threshold: NDArray[np.float64]
    n_decided: NDArray[np.int64]
    coverage: NDArray[np.float64]
    accuracy: NDArray[np.float64]

    def __repr__(self) -> str:
        half = self.at(0.5)
        return (
            f"CoverageCurve({len(self.coverage)} points; accuracy {self.accuracy[-1]:.3f} on all rows, "
            f"{half['accuracy']:.3f} at coverage {half['coverage']:.2f})"
        )

    def reach(self, accuracy: float) -> dict[str, float]:
        """The point of largest coverage with at least this accuracy."""
        if not is_real(accuracy) or not 0.0 <= accuracy <= 1.0:
            raise refuse("accuracy", accuracy, "a number from 0 to 1")
        good = np.flatnonzero(self.accuracy >= accuracy)
        if not len(good):
            raise refuse("accuracy", accuracy, f"at most {self.accuracy.max():.4f}, the best on these rows")
        return self._point(good[-1])

    def at(self, coverage: float) -> dict[str, float]:
        """The point of smallest coverage that is not below this one."""
        if not is_real(coverage) or not 0.0 <= coverage <= 1.0:
            raise refuse("coverage", coverage, "a number from 0 to 1")
        return self._point(np.searchsorted(self.coverage, coverage))

    def thin(self) -> CoverageCurve:
        """At most 200 points, whose coverages are evenly spaced."""
        points = np.unique(np.searchsorted(self.coverage, np.arange(1, _N_EVEN + 1) / _N_EVEN))
        return CoverageCurve(*(getattr(self, name)[points] for name in _NAMES))

    def to_dict(self) -> dict[str, list[float]]:
        """The four columns, each a list with one value per point."""
        return {name: getattr(self, name).tolist() for name in _NAMES}

    def to_frame(self) -> pd.DataFrame:
        """One row per point."""
        columns = {name: getattr(self, name) for name in _NAMES}
        frame: pd.DataFrame = import_extra("pandas", "pandas").DataFrame(columns)
        return frame

    def _point(self, point: Any) -> dict[str, float]:
        return {name: getattr(self, name)[point].item() for name in _NAMES}


def find_sureness(model: Any, X: Any, proba: NDArray[np.float64] | None = None) -> Sureness:
    """Return the largest WOLF value of every row; for a model without WOLF, its largest probability."""
    if has_wolf(model):
        return Sureness("wolf", model.predict_wolf(X).max(axis=1))
    return Sureness("proba", (model.predict_proba(X) if proba is None else proba).max(axis=1))


def measure_coverage(
    sureness: NDArray[np.float64], is_right: NDArray[np.bool_], weight: NDArray[np.float64] | None = None
) -> CoverageCurve:
    """Return the curve of rows that are decided in the order of ``sureness``, largest first; arrays of shape (n,)."""
    order = np.argsort(-sureness, kind="stable")
    ordered = sureness[order]
    # Rows of equal sureness are decided together.
    last = np.append(np.flatnonzero(np.diff(ordered) < 0.0), len(order) - 1)
    mass = (np.ones(len(order)) if weight is None else weight)[order]
    decided = np.cumsum(mass)[last]
    right = np.cumsum(mass * is_right[order])[last]
    return CoverageCurve(ordered[last], last + 1, decided / decided[-1], right / decided)


_MOST_SHOWN = 20  # classes
_RARE = 0.1  # a class with a smaller share is rare, and accuracy is not informative


class ClassPart(NamedTuple):
    """Rows with their true classes and predictions; a table may consist of many parts."""

    codes: NDArray[np.int32]  # number of the true class, shape (n,)
    predicted: NDArray[np.int32]  # number of the predicted class
    proba: NDArray[np.float64]  # probabilities, shape (n, K)
    sureness: NDArray[np.float64]  # largest WOLF value or probability; orders the coverage curve
    weight: NDArray[np.float64] | None = None


class ClassScores(NamedTuple):
    """Metrics of one class against the rest; None if there are no rows for a metric."""

    label: Any
    n_rows: int
    n_predicted: int
    recall: float | None
    precision: float | None
    roc_auc: float | None
    average_precision: float | None


@dataclass(frozen=True, eq=False)
class Evaluation:
    """Result of ``lhtree.evaluate``: metrics of a classifier.

    Attributes
    ----------
    n_rows : int
    accuracy : float
    accuracy_low, accuracy_high : float
        Wilson's 95 % confidence interval of the accuracy; with weights, for the effective number of rows.
    most_frequent : float
        Share of the most frequent class: the accuracy of always predicting it.
    balanced_accuracy : float
        Mean recall of the classes that have rows.
    log_loss, brier : float
        As scikit-learn's ``log_loss`` and ``brier_score_loss``.
    roc_auc : float or None
        Area under the ROC curve; for three or more classes the one-vs-rest mean. None if a class has no rows.
    average_precision : float or None
        Of the positive class, else of the rarer of two classes; of three or more the mean. None if a class has no rows.
    classes : tuple of ClassScores
        Each with ``label``, ``n_rows``, ``n_predicted``, ``recall``, ``precision``, ``roc_auc``, ``average_precision``.
    confusion : array of shape (K, K)
        Confusion matrix: counts (or weights) by true class (rows) and predicted class (columns).
    calibration : tuple of Bin
        ``n_rows``, mean ``probability`` of the predicted class and ``accuracy``, in up to ten bins of that probability.
    event : EventScores or None
        Gini, KS, and calibration, lift and gain by tenths of the probability of the positive class; without one, of the
        second of two classes. None with more classes.
    groups : Groups or None
        Results by group, if ``by`` was passed.
    coverage : CoverageCurve
        Accuracy at each coverage, for up to 200 evenly spaced values; rows with the largest WOLF value (for a model
        without WOLF, the largest probability) are decided first.

    Examples
    --------
    >>> from sklearn.datasets import load_breast_cancer
    >>> from lhtree import LHTClassifier, evaluate
    >>> X, y = load_breast_cancer(return_X_y=True, as_frame=True)
    >>> model = LHTClassifier().fit(X[:400], y[:400])
    >>> measured = evaluate(model, X[400:], y[400:])
    >>> round(measured.accuracy, 3), round(measured.log_loss, 2)
    (0.935, 2.35)
    >>> measured.confusion
    array([[ 38,   1],
           [ 10, 120]])
    >>> measured.to_frame().round(3)
           n_rows  n_predicted  recall  precision  roc_auc  average_precision
    label
    0          39           48   0.974      0.792    0.949              0.777
    1         130          121   0.923      0.992    0.949              0.975
    """

    n_rows: int
    accuracy: float
    accuracy_low: float
    accuracy_high: float
    most_frequent: float
    balanced_accuracy: float
    log_loss: float
    brier: float
    roc_auc: float | None
    average_precision: float | None
    classes: tuple[ClassScores, ...]
    confusion: NDArray[Any]
    calibration: tuple[Bin, ...]
    coverage: CoverageCurve
    event: EventScores | None = None
    groups: Groups | None = None

    @classmethod
    def from_parts(
        cls, parts: Sequence[ClassPart], labels: Sequence[Any], positive: int | None = None
    ) -> Evaluation:
        """Measure the rows of all parts; ``labels`` are the K classes, ``positive`` is the index of one of them.

        Probabilities are joined one class at a time, so that this takes little more memory than the parts.
        """
        codes, predicted, sureness = (
            np.concatenate([getattr(part, name) for part in parts])
            for name in ("codes", "predicted", "sureness")
        )
        weights = [part.weight for part in parts if part.weight is not None]
        weight = np.concatenate(weights) if weights else None
        of_truth, of_predicted = (
            np.concatenate([part.proba[np.arange(len(part.codes)), getattr(part, name)] for part in parts])
            for name in ("codes", "predicted")
        )
        brier = find_brier(np.concatenate([(part.proba**2).sum(axis=1) for part in parts]), of_truth, weight)
        confusion = count_confusion(codes, predicted, len(labels), weight)
        mass, right = confusion.sum(axis=1), confusion.diagonal()
        recall, precision = divide(right, mass), divide(right, confusion.sum(axis=0))
        scores = [
            rank(np.concatenate([part.proba[:, number] for part in parts]), codes == number, weight)
            for number in range(len(labels))
        ]
        areas, precisions = [score[0] for score in scores], [score[1] for score in scores]
        is_pair = len(labels) == 2
        event = 1 if is_pair and positive is None else positive
        accuracy = float(right.sum() / mass.sum())
        low, high = find_interval(accuracy, count_rows(len(codes), weight))
        return cls(
            n_rows=len(codes),
            accuracy=accuracy,
            accuracy_low=low,
            accuracy_high=high,
            most_frequent=float(mass.max() / mass.sum()),
            balanced_accuracy=float(np.mean([share for share in recall if share is not None])),
            log_loss=find_log_loss(of_truth, weight),
            brier=brier / 2.0 if is_pair else brier,
            roc_auc=areas[1] if is_pair else mean(areas),
            average_precision=(
                precisions[find_rarer(confusion) if positive is None else positive]
                if is_pair
                else mean(precisions)
            ),
            classes=tuple(
                ClassScores(
                    label,
                    int((codes == number).sum()),
                    int((predicted == number).sum()),
                    recall[number],
                    precision[number],
                    *scores[number],
                )
                for number, label in enumerate(labels)
            ),
            confusion=confusion,
            calibration=calibrate(of_predicted, codes == predicted, weight),
            coverage=measure_coverage(sureness, codes == predicted, weight).thin(),
            event=None
            if event is None
            else EventScores.of(
                labels[event],
                np.concatenate([part.proba[:, event] for part in parts]),
                codes == event,
                weight,
                is_declared=positive is not None,
            ),
        )

    def to_dict(self) -> dict[str, Any]:
        """Return all metrics as plain values that can be written as JSON."""
        fields = {name: getattr(self, name) for name in self.__dataclass_fields__}
        return fields | {
            "classes": [
                {"class": make_plain(one.label)}
                | {name: value for name, value in one._asdict().items() if name != "label"}
                for one in self.classes
            ],
            "confusion": self.confusion.tolist(),
            "calibration": [one._asdict() for one in self.calibration],
            "coverage": self.coverage.to_dict(),
            "event": None if self.event is None else self.event.to_dict(),
            "groups": None if self.groups is None else self.groups.to_dict(),
        }

    def to_frame(self) -> pd.DataFrame:
        """Return a row per class with its measures."""
        pandas = import_extra("pandas", "pandas")
        frame: pd.DataFrame = pandas.DataFrame(self.classes, columns=ClassScores._fields).set_index("label")
        return frame

    @property
    def has_rare_class(self) -> bool:
        """Whether a class has less than a tenth of the rows: then balanced accuracy and average precision lead."""
        share = self.confusion.sum(axis=1) / self.confusion.sum()
        return bool((share[share > 0.0] < _RARE).any())

    def figures(self) -> list[tuple[str, str]]:
        """Return names and texts of the main measures; with a rare class, measures for rare classes come first."""
        event = self.event if self.event is not None and self.event.is_declared else None
        rarer = ""
        if len(self.classes) == 2:
            rarer = f" (class {self.classes[find_rarer(self.confusion)].label if event is None else event.positive})"
        interval = f"95 % interval {write_shares(self.accuracy_low, self.accuracy_high, 2)}"
        figures = {
            "rows": f"{self.n_rows:,}",
            "accuracy": f"{write_percent(self.accuracy)} ({interval})",
            "most frequent class": write_percent(self.most_frequent),
            "balanced accuracy": write_percent(self.balanced_accuracy),
        }
        for name, value, of in (
            ("ROC AUC", self.roc_auc, ""),
            ("average precision", self.average_precision, rarer),
        ):
            if value is not None:
                figures[name] = f"{value:.4f}{of}"
        figures |= {"log loss": f"{self.log_loss:.4f}", "Brier score": f"{self.brier:.4f}"}
        leading = ("rows", "balanced accuracy", "average precision") if self.has_rare_class else ()
        if event is not None:
            figures |= event.figures()
        return [(name, figures[name]) for name in dict.fromkeys((*leading, *figures)) if name in figures]

    def __str__(self) -> str:
        lines = [f"{name:<19}  {text}" for name, text in self.figures()]
        shown = self.classes[:_MOST_SHOWN]
        width = max(5, *(len(str(one.label)) for one in shown))
        lines += ["", f"{'class':<{width}}     rows  predicted     recall  precision"]
        lines += [
            f"{one.label!s:<{width}} {one.n_rows:>8,} {one.n_predicted:>10,} {write_percent(one.recall):>10} "
            f"{write_percent(one.precision):>10}"
            for one in shown
        ]
        n_more = len(self.classes) - len(shown)
        text = "\n".join([*lines, f"… and {n_more} more classes" if n_more else ""]).rstrip()
        return text if self.groups is None else f"{text}\n\n{self.groups}"

    __repr__ = __str__


def find_rarer(confusion: NDArray[Any]) -> int:
    """Return the index of the rarer class; the second if both classes are equally frequent."""
    first, second = confusion.sum(axis=1)
    return 0 if first < second else 1


def judge(
    model: Any,
    X: Any,
    codes: NDArray[np.integer[Any]],
    weight: NDArray[np.float64] | None = None,
) -> ClassPart:
    """Predict rows of the classes ``codes``."""
    proba = model.predict_proba(X)
    if len(proba) != len(codes):
        raise ValueError(f"y has {len(codes)} values, but X has {len(proba)} rows: pass one class per row.")
    place = {label: number for number, label in enumerate(model.classes_.tolist())}
    predicted = np.array([place[label] for label in model.predict(X).tolist()], dtype=np.int32)
    sureness = find_sureness(model, X, proba).values
    rows = slice(None) if weight is None else weight > 0.0
    return ClassPart(
        codes[rows].astype(np.int32),
        predicted[rows],
        proba[rows],
        sureness[rows],
        None if weight is None else weight[rows],
    )
