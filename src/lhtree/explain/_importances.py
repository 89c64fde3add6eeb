"""Importance of every column of a model: by gain, by contribution, or by permutation."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from .._extras import import_extra
from .._parameters import check_count, refuse
from ..model.model import Model
from ..model.numbers import NumberFormat
from ._contributions import find_base, find_contributions

if TYPE_CHECKING:
    import pandas as pd

Floats = NDArray[np.float64]

KINDS = ("gain", "contribution", "permutation")
_VALUES_AT_ONCE = 1 << 22  # contributions held at a time
_SHOWN = 10


@dataclass(frozen=True, eq=False)
class Importances:
    """Importance of every column; ``numpy.asarray`` gives the values.

    Attributes
    ----------
    names : list of str
        The columns of X, m of them.
    values : array of shape (m,)
    kind : str
        "gain", "contribution" or "permutation".
    spread : array of shape (m,) or None
        Standard deviation over the repeats of a permutation.

    Examples
    --------
    >>> from sklearn.datasets import load_wine
    >>> from lhtree import LHTClassifier
    >>> X, y = load_wine(return_X_y=True, as_frame=True)
    >>> found = LHTClassifier().fit(X, y).importances()
    >>> found.kind, found.names[found.order[0]]
    ('gain', 'proline')
    >>> found.to_frame().head(2).round(2)
             importance
    column
    proline        0.14
    alcohol        0.13
    """

    names: list[str]
    values: Floats
    kind: str
    spread: Floats | None = None

    @property
    def order(self) -> NDArray[np.int64]:
        """Indices of the columns, most important first, shape (m,)."""
        return np.argsort(-self.values, kind="stable")

    def to_frame(self) -> pd.DataFrame:
        """Return one row per column, most important first: ``importance`` and, for permutations, ``spread``."""
        columns = {"importance": self.values} | ({} if self.spread is None else {"spread": self.spread})
        pandas = import_extra("pandas", "pandas")
        frame: pd.DataFrame = pandas.DataFrame(columns, index=pandas.Index(self.names, name="column"))
        return frame.iloc[self.order]

    def __len__(self) -> int:
        return len(self.values)

    def __array__(self, dtype: Any = None, copy: bool | None = None) -> NDArray[Any]:
        return np.array(self.values, dtype=dtype, copy=copy)

    def __repr__(self) -> str:
        shown = self.order[:_SHOWN]
        width = max(len(self.names[column]) for column in shown)
        most = float(np.abs(self.values).max(initial=0.0))
        # Contributions have the unit of y.
        write = (NumberFormat.over(0.0, most) if most > 1.0 else NumberFormat(4)).write
        lines = [f"Importances by {self.kind}"]
        for column in shown:
            spread = "" if self.spread is None else f" ± {write(self.spread[column])}"
            lines.append(f"  {self.names[column]:<{width}}  {write(self.values[column]):>7}{spread}")
        more = len(self) - len(shown)
        return "\n".join([*lines, f"  and {more} more"] if more else lines)


def find_importances(
    fitted: Model,
    kind: str,
    rows: NDArray[Any] | None = None,
    truth: NDArray[Any] | None = None,
    n_repeats: int = 5,
    random_state: Any = 0,
) -> Importances:
    """Compute importances from encoded rows, shape (n, m), and the codes of their classes or responses, (n,)."""
    if kind not in KINDS:
        raise refuse("kind", kind, f"one of {', '.join(map(repr, KINDS))}")
    names, spread = fitted.column_names, None
    if kind == "gain":
        values = fitted.encoding.sum_columns(fitted.trees.importances(fitted.n_features))
    elif rows is None or (kind == "permutation" and truth is None):
        raise ValueError(
            f"kind={kind!r} needs {'X' if kind == 'contribution' else 'X and y'}: pass held-out rows."
        )
    elif kind == "contribution":
        values = _mean_contributions(fitted, rows, truth)
    else:
        assert truth is not None
        losses = _permute(fitted, rows, truth, check_count("n_repeats", n_repeats, 1), random_state)
        values, spread = losses.mean(axis=0), losses.std(axis=0)
    return Importances(names, values, kind, spread)


def _mean_contributions(fitted: Model, rows: NDArray[Any], truth: NDArray[Any] | None) -> Floats:
    """Return the mean contribution of every column to the true class, shape (m,).

    Without truth, it is the mean |contribution| to the predicted class. To a response, contributions count in its
    direction from the base.
    """
    total = np.zeros(fitted.encoding.n_columns)
    n_at_once = max(1, _VALUES_AT_ONCE // (fitted.n_outputs * fitted.n_features))
    base = float(find_base(fitted)[0])
    base = float(np.exp(base)) if fitted.link == "log" else base
    for begin in range(0, len(rows), n_at_once):
        some = rows[begin : begin + n_at_once]
        true = None if truth is None else truth[begin : begin + n_at_once]
        contributions = np.zeros((len(some), fitted.n_outputs, fitted.n_features))
        find_contributions(fitted, some, out=contributions)
        if fitted.labels:
            of_class = fitted.ask("predict", some) if true is None else true
            own = contributions[np.arange(len(some)), of_class]
        else:
            own = contributions[:, 0] * (1.0 if true is None else np.sign(true - base)[:, None])
        own = fitted.encoding.sum_columns(own)
        total += (np.abs(own) if true is None else own).sum(axis=0)
    return total / max(1, len(rows))


def _permute(
    fitted: Model, rows: NDArray[Any], truth: NDArray[Any], n_repeats: int, random_state: Any
) -> Floats:
    """Return the drop in accuracy, or in R², when all features of a column are permuted, shape (n_repeats, m)."""
    generator = np.random.default_rng(random_state)
    score = _measure(fitted, rows, truth)
    permuted = np.array(rows)  # its own copy, mended after every column
    losses = np.zeros((n_repeats, fitted.encoding.n_columns))
    for column in range(fitted.encoding.n_columns):
        features = fitted.encoding.features_of(column)
        for repeat in range(n_repeats):
            permuted[:, features] = rows[generator.permutation(len(rows)), features]
            losses[repeat, column] = score - _measure(fitted, permuted, truth)
        permuted[:, features] = rows[:, features]
    return losses


def _measure(fitted: Model, rows: NDArray[Any], truth: NDArray[Any]) -> float:
    """Return the accuracy, or R² of a regression."""
    if fitted.labels:
        return float(np.mean(fitted.ask("predict", rows) == truth))
    unit = float(np.abs(truth - truth.mean()).max()) or 1.0  # squares of 1e300 would overflow
    error, spread = (fitted.ask("value", rows) - truth) / unit, (truth - truth.mean()) / unit
    return float(1.0 - (error**2).sum() / ((spread**2).sum() or 1.0))
