"""Importance of every column of a model: by gain, by contribution, or by permutation."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from .._extras import import_extra
from .._parameters import check_count, refuse
from ..model import Model
from ._batch import find_contributions

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
        """One row per column, most important first: ``importance`` and, for permutations, ``spread``."""
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
        lines = [f"Importances by {self.kind}"]
        for column in shown:
            spread = "" if self.spread is None else f" ± {self.spread[column]:.4f}"
            lines.append(f"  {self.names[column]:<{width}}  {self.values[column]:7.4f}{spread}")
        more = len(self) - len(shown)
        return "\n".join([*lines, f"  and {more} more"] if more else lines)


def find_importances(
    fitted: Model,
    kind: str,
    rows: NDArray[Any] | None = None,
    codes: NDArray[np.int64] | None = None,
    n_repeats: int = 5,
    random_state: Any = 0,
) -> Importances:
    """Importances from encoded rows, shape (n, n_features), and the indices of their classes, shape (n,)."""
    if kind not in KINDS:
        raise refuse("kind", kind, f"one of {', '.join(map(repr, KINDS))}")
    names, spread = fitted.column_names, None
    if kind == "gain":
        values = fitted.encoding.sum_columns(fitted.trees.importances(fitted.n_features))
    elif rows is None or (kind == "permutation" and codes is None):
        raise ValueError(
            f"kind={kind!r} needs {'X' if kind == 'contribution' else 'X and y'}: pass held-out rows."
        )
    elif kind == "contribution":
        values = _mean_contributions(fitted, rows, codes)
    else:
        assert codes is not None
        losses = _permute(fitted, rows, codes, check_count("n_repeats", n_repeats, 1), random_state)
        values, spread = losses.mean(axis=0), losses.std(axis=0)
    return Importances(names, values, kind, spread)


def _mean_contributions(fitted: Model, rows: NDArray[Any], codes: NDArray[np.int64] | None) -> Floats:
    """Mean contribution of every column to the true class, or mean |contribution| to the predicted one, shape (m,)."""
    total = np.zeros(fitted.encoding.n_columns)
    n_at_once = max(1, _VALUES_AT_ONCE // (fitted.n_classes * fitted.n_features))
    for begin in range(0, len(rows), n_at_once):
        some = rows[begin : begin + n_at_once]
        contributions = np.zeros((len(some), fitted.n_classes, fitted.n_features))
        of_class = fitted.ask("predict", some) if codes is None else codes[begin : begin + n_at_once]
        find_contributions(fitted, some, out=contributions)
        own = fitted.encoding.sum_columns(contributions[np.arange(len(some)), of_class])
        total += (np.abs(own) if codes is None else own).sum(axis=0)
    return total / max(1, len(rows))


def _permute(
    fitted: Model, rows: NDArray[Any], codes: NDArray[np.int64], n_repeats: int, random_state: Any
) -> Floats:
    """Drop in accuracy when a column is permuted, all of its features together, shape (n_repeats, m)."""
    generator = np.random.default_rng(random_state)
    accuracy = np.mean(fitted.ask("predict", rows) == codes)
    permuted = np.array(rows)  # its own copy, mended after every column
    losses = np.zeros((n_repeats, fitted.encoding.n_columns))
    for column in range(fitted.encoding.n_columns):
        features = fitted.encoding.features_of(column)
        for repeat in range(n_repeats):
            permuted[:, features] = rows[generator.permutation(len(rows)), features]
            losses[repeat, column] = accuracy - np.mean(fitted.ask("predict", permuted) == codes)
        permuted[:, features] = rows[:, features]
    return losses
