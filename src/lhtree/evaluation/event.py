"""Scores of the event: the class of interest against the rest, over the whole range of its probability."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from .._extras import import_extra
from ..model.numbers import make_plain, write_share, write_shares
from .measures import Weight, count_rows, find_interval, rank, write_percent, write_table

if TYPE_CHECKING:
    import pandas as pd

_N_BANDS = 10
_TINY = 1e-9  # rounding of weights must not move rows to another band


class Band(NamedTuple):
    """About a tenth of the rows by the probability of the event: its mean, and the share of events among them."""

    n_rows: int
    low: float  # least and largest probability
    high: float
    probability: float
    rate: float  # share of events, with its 95 % interval (Wilson)
    rate_low: float
    rate_high: float
    lift: float | None  # rate, relative to that of all rows
    gain: float | None  # share of all events in this band and in bands of larger probability


@dataclass(frozen=True, eq=False, repr=False)
class EventScores:
    """Scores of the event, ``Evaluation.event``: the positive class against the rest.

    Attributes
    ----------
    positive
        The class of interest.
    is_declared : bool
        Whether it was passed, or declared in the model; otherwise it is the second of two classes.
    n_events : int
        Number of rows of the class.
    rate, probability : float
        Share of the class, and mean of its predicted probability.
    roc_auc, gini : float or None
        Area under the ROC curve, and 2 · area - 1; None if all rows or no row are of the class.
    ks, ks_threshold : float or None
        Kolmogorov-Smirnov statistic: the largest distance between the distributions of the probability in the class
        and in the rest; and the probability where it is reached.
    bands : tuple of Band
        Tenths of the rows by the probability of the class, largest first. Rows of equal probability are in one band.

    Examples
    --------
    >>> from sklearn.datasets import load_breast_cancer
    >>> from lhtree import LHTClassifier, evaluate
    >>> X, y = load_breast_cancer(return_X_y=True, as_frame=True)
    >>> model = LHTClassifier(positive=0).fit(X[:400], y[:400])
    >>> event = evaluate(model, X[400:], y[400:]).event
    >>> event.n_events, round(event.gini, 3), round(event.ks, 3)
    (39, 0.897, 0.897)
    >>> event.to_frame().loc[:2, ["n_rows", "probability", "rate", "lift", "gain"]].round(2)
       n_rows  probability  rate  lift  gain
    0      48          1.0  0.79  3.43  0.97
    1     121          0.0  0.01  0.04  1.00
    """

    positive: Any
    is_declared: bool
    n_events: int
    rate: float
    probability: float
    roc_auc: float | None
    gini: float | None
    ks: float | None
    ks_threshold: float | None
    bands: tuple[Band, ...]

    @classmethod
    def of(
        cls,
        label: Any,
        probability: NDArray[np.float64],
        is_event: NDArray[np.bool_],
        weight: Weight,
        *,
        is_declared: bool,
    ) -> EventScores:
        """Measure the probabilities of a class; arrays of shape (n,)."""
        area = rank(probability, is_event, weight)[0]
        separation = (None, None) if area is None else separate(probability, is_event, weight)
        return cls(
            positive=label,
            is_declared=is_declared,
            n_events=int(is_event.sum()),
            rate=float(np.average(is_event, weights=weight)),
            probability=float(np.average(probability, weights=weight)),
            roc_auc=area,
            gini=None if area is None else 2.0 * area - 1.0,
            ks=separation[0],
            ks_threshold=separation[1],
            bands=find_bands(probability, is_event, weight),
        )

    def to_dict(self) -> dict[str, Any]:
        """Return all scores as plain values that can be written as JSON."""
        fields = {name: getattr(self, name) for name in self.__dataclass_fields__}
        return fields | {
            "positive": make_plain(self.positive),
            "bands": [one._asdict() for one in self.bands],
        }

    def to_frame(self) -> pd.DataFrame:
        """Return a row per band: calibration, lift and gain."""
        frame: pd.DataFrame = import_extra("pandas", "pandas").DataFrame(self.bands, columns=Band._fields)
        return frame

    def figures(self) -> list[tuple[str, str]]:
        """Return names and texts of the main scores."""
        figures = [
            ("event", f"{self.positive}: {self.n_events:,} rows, {write_percent(self.rate)}"),
            ("mean probability", write_percent(self.probability)),
        ]
        if self.gini is not None and self.ks is not None:
            figures += [("Gini", f"{self.gini:.4f}"), ("KS", f"{self.ks:.4f}")]
        return figures

    def rows(self) -> list[tuple[str, ...]]:
        """Return the texts of a table of the bands; ``COLUMNS`` has its titles."""
        return [
            (
                f"{one.n_rows:,}",
                write_shares(one.low, one.high, 1),
                write_share(one.probability, 1),
                f"{write_share(one.rate, 1)} ({write_shares(one.rate_low, one.rate_high, 1)})",
                "–" if one.lift is None else f"{one.lift:.2f}",
                "–" if one.gain is None else write_share(one.gain, 1),
            )
            for one in self.bands
        ]

    def __str__(self) -> str:
        lines = [f"{name:<16}  {text}" for name, text in self.figures()]
        return "\n".join([*lines, "", *write_table(COLUMNS, self.rows())])

    __repr__ = __str__


COLUMNS = ("rows", "range", "probability", "events (95 % interval)", "lift", "gain")


def separate(score: NDArray[np.float64], is_event: NDArray[np.bool_], weight: Weight) -> tuple[float, float]:
    """Return the largest distance of the distributions of a score in events and in other rows, and its score."""
    order = np.argsort(-score, kind="stable")
    mass = np.ones(len(order)) if weight is None else (weight / weight.max())[order]
    last = np.append(np.flatnonzero(np.diff(score[order])), len(order) - 1)
    found = np.cumsum(mass * is_event[order])[last]
    false = np.cumsum(mass * ~is_event[order])[last]
    distance = np.abs(found / found[-1] - false / false[-1])
    best = int(distance.argmax())
    return float(distance[best]), float(score[order][last[best]])


def find_bands(
    probability: NDArray[np.float64], is_event: NDArray[np.bool_], weight: Weight
) -> tuple[Band, ...]:
    """Return tenths of the rows, largest probabilities first; equal probabilities are not divided."""
    mass = np.ones(len(probability)) if weight is None else weight / weight.max()
    _, place = np.unique(-probability, return_inverse=True)
    of_value = np.bincount(place, mass)
    middle = (np.cumsum(of_value) - of_value / 2.0) / of_value.sum()
    band_of = np.minimum((_N_BANDS * middle + _TINY).astype(np.int64), _N_BANDS - 1)[place]
    rate, n_events = float(np.average(is_event, weights=weight)), float(mass @ is_event)
    n_found, bands = 0.0, []
    for band in np.unique(band_of):
        rows = band_of == band
        own, is_own = mass[rows], is_event[rows]
        share = float(np.average(is_own, weights=own))
        n_found += float(own @ is_own)
        bands.append(
            Band(
                int(rows.sum()),
                float(probability[rows].min()),
                float(probability[rows].max()),
                float(np.average(probability[rows], weights=own)),
                share,
                *find_interval(share, count_rows(len(own), None if weight is None else own)),
                share / rate if rate else None,
                min(n_found / n_events, 1.0) if n_events else None,
            )
        )
    return tuple(bands)
