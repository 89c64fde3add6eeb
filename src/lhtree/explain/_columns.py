"""Importance of every column of a model, and its effects: contributions over the values of the column."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, overload

import numpy as np
from numpy.typing import NDArray

from .._extras import import_extra
from .._parameters import check_count, is_integer, refuse
from ..model.heads import Head
from ..model.model import Model
from ..model.numbers import ALL_DIGITS, NumberFormat, write_value
from ..tables.encoders import UNSEEN_LEVEL, Dates, Levels, write_date
from ._contributions import find_base, find_contributions

if TYPE_CHECKING:
    import pandas as pd

Floats = NDArray[np.float64]

KINDS = ("gain", "contribution", "permutation")
N_BARS = 24  # of the density of a column of numbers
_SHOWN = 10
_ROWS_PER_RANGE = 5
_VALUES_AT_ONCE = 1 << 22  # contributions held at a time


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
    unit : str
        What the values measure, such as "drop in accuracy when permuted".
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
    unit: str
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
        values = fitted.encoding.sum_columns(_share_gain(fitted))
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
    return Importances(
        names, values, kind, _find_unit(fitted.head, kind, has_truth=truth is not None), spread
    )


def _share_gain(fitted: Model) -> Floats:
    """Return the share of every feature in the gain of all blocks; of an ensemble, the weighted mean of its members."""
    own, pool = fitted.trees.importances(fitted.n_features), fitted.pool
    if pool is None or pool.weight + pool.boost_weight == 0.0:
        return own
    of_forest = pool.forest.trees.importances(fitted.n_features)
    mean: Floats = np.average([own, of_forest], axis=0, weights=[pool.boost_weight, pool.weight])
    return mean


def _find_unit(head: Head, kind: str, *, has_truth: bool) -> str:
    if kind == "gain":
        return head.gain_noun
    if kind == "permutation":
        return f"drop in {head.quality_noun} when permuted"
    if not has_truth:
        return f"mean |contribution| to the {head.contribution_noun}"
    return f"mean contribution {'to the true class' if head.labels else 'towards the true number'}"


def _mean_contributions(fitted: Model, rows: NDArray[Any], truth: NDArray[Any] | None) -> Floats:
    """Return the mean contribution of every column to the true class, shape (m,).

    Without truth, it is the mean |contribution| to the predicted class. To a response, contributions count in its
    direction from the base.
    """
    total = np.zeros(fitted.encoding.n_columns)
    base = float(find_base(fitted)[0])
    base = float(np.exp(base)) if fitted.head.is_log else base
    for some, contributions in _contribute(fitted, rows):
        true = None if truth is None else truth[some]
        if fitted.labels:
            of_class = fitted.score("predict", rows[some]) if true is None else true
            own = contributions[np.arange(len(contributions)), of_class]
        else:
            own = contributions[:, 0] * (1.0 if true is None else np.sign(true - base)[:, None])
        total += (np.abs(own) if true is None else own).sum(axis=0)
    return total / max(1, len(rows))


def _contribute(fitted: Model, rows: NDArray[Any]) -> Iterator[tuple[slice, Floats]]:
    """Yield ranges of rows, and their contributions by class and column, shape (n, K, n_columns)."""
    n_at_once = max(1, _VALUES_AT_ONCE // (fitted.n_outputs * fitted.n_features))
    for begin in range(0, len(rows), n_at_once):
        some = slice(begin, begin + n_at_once)
        of_features = np.zeros((len(rows[some]), fitted.n_outputs, fitted.n_features))
        find_contributions(fitted, rows[some], out=of_features)
        yield some, fitted.encoding.sum_columns(of_features)


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
        return float(np.mean(fitted.score("predict", rows) == truth))
    unit = float(np.abs(truth - truth.mean()).max()) or 1.0  # squares of 1e300 would overflow
    error, spread = (fitted.score("value", rows) - truth) / unit, (truth - truth.mean()) / unit
    return float(1.0 - (error**2).sum() / ((spread**2).sum() or 1.0))


@dataclass(frozen=True, eq=False)
class Effect:
    """Contributions of one column over its values.

    Values are put into B groups: a column of numbers into ranges that have about as many rows each (or into its
    values, if they are few), a column of categories into the most frequent ones and the others. Rows without
    a value are the last group.

    Attributes
    ----------
    column : str
    labels : list of str
        The groups in words, B of them.
    value : array of shape (B,) or None
        Median of each range; NaN where the value is missing. None for categories.
    n_rows : array of shape (B,)
    mean, low, high : array of shape (B, K)
        Mean contribution to every class, and the range of the middle rows of the group. K is 1 for a regression.
    density : array of shape (24,) or None
        Rows in equally wide ranges between the least and the largest ``value``; the outermost include the rows beyond.
        None for categories.
    """

    column: str
    labels: list[str]
    value: Floats | None
    n_rows: NDArray[np.int64]
    mean: Floats
    low: Floats
    high: Floats
    density: NDArray[np.int64] | None


@dataclass(frozen=True, eq=False)
class Effects(Sequence[Effect]):
    """Effects of the columns of a model: ``effects["age"]`` or ``effects[0]``.

    They are in the order in which columns were requested; by default, the most important column is first.

    Attributes
    ----------
    classes : list
        The K classes; empty for a regression.
    n_rows : int
        Rows on which the contributions were computed.
    coverage : float
        Share of the rows of a group between ``low`` and ``high``.
    importance : dict of str to float
        Mean |contribution| to the predicted class, of every column of the model.
    """

    effects: tuple[Effect, ...]
    classes: list[Any]
    n_rows: int
    coverage: float
    importance: dict[str, float]

    @overload
    def __getitem__(self, key: int | str) -> Effect: ...
    @overload
    def __getitem__(self, key: slice) -> Sequence[Effect]: ...
    def __getitem__(self, key: int | str | slice) -> Effect | Sequence[Effect]:
        if not isinstance(key, str):
            return self.effects[key]
        found = [effect for effect in self.effects if effect.column == key]
        if not found:
            raise KeyError(
                f"{key!r} is not among the columns: {', '.join(each.column for each in self.effects)}"
            )
        return found[0]

    def __len__(self) -> int:
        return len(self.effects)

    def __iter__(self) -> Iterator[Effect]:
        return iter(self.effects)

    def __repr__(self) -> str:
        return f"Effects({len(self)} columns, {self.n_rows} rows)"

    def to_frame(self) -> pd.DataFrame:
        """Return one row per column, group and class: ``value`` as text, ``n_rows``, ``mean``, ``low``, ``high``."""
        pandas = import_extra("pandas", "pandas")
        n_outputs = max(1, len(self.classes))
        parts = []
        for effect in self.effects:
            facts: dict[str, Any] = {
                "column": effect.column,
                "value": np.repeat(np.array(effect.labels, dtype=object), n_outputs),
                "n_rows": np.repeat(effect.n_rows, n_outputs),
                "mean": effect.mean.ravel(),
                "low": effect.low.ravel(),
                "high": effect.high.ravel(),
            }
            if self.classes:
                facts["class"] = self.classes * len(effect.labels)
            parts.append(pandas.DataFrame(facts))
        frame: pd.DataFrame = pandas.concat(parts, ignore_index=True)
        names = ["column", "value", *(["class"] if self.classes else []), "n_rows", "mean", "low", "high"]
        return frame[names]


def find_effects(
    fitted: Model,
    rows: NDArray[Any],
    columns: Any = None,
    n_groups: int = 20,
    coverage: float = 0.8,
    n_most: int | None = None,
) -> Effects:
    """Compute the effects of given columns, or of the ``n_most`` most important, from encoded rows, shape (n, m)."""
    chosen = np.array(_choose_columns(fitted, columns), dtype=np.int64)
    own = np.zeros((len(rows), fitted.n_outputs, fitted.encoding.n_columns))
    for some, contributions in _contribute(fitted, rows):
        own[some] = contributions
    predicted = fitted.score("predict", rows) if fitted.labels else np.zeros(len(rows), dtype=np.int64)
    size = np.abs(own[np.arange(len(rows)), predicted]).mean(axis=0)
    if columns is None:
        chosen = chosen[np.argsort(-size[chosen], kind="stable")][:n_most]
    return Effects(
        tuple(_describe(fitted, int(one), rows, own[:, :, one], n_groups, coverage) for one in chosen),
        fitted.labels,
        len(rows),
        coverage,
        dict(zip(fitted.column_names, size.tolist(), strict=True)),
    )


def _choose_columns(fitted: Model, columns: Any) -> list[int]:
    names, encoding = fitted.column_names, fitted.encoding
    known = [i for i in range(len(names)) if encoding.ptr[i] < encoding.ptr[i + 1]]
    if columns is None:
        return known
    chosen = []
    for column in [columns] if isinstance(columns, str) or is_integer(columns) else columns:
        number = names.index(column) if isinstance(column, str) and column in names else column
        if not is_integer(number) or number not in known:
            raise refuse(
                "columns", column, f"names or indices (0 to {len(names) - 1}) of columns that the model uses"
            )
        chosen.append(int(number))
    if not chosen:
        raise refuse("columns", columns, "at least one column, or None for all")
    return chosen


def _describe(
    fitted: Model,
    column: int,
    rows: NDArray[Any],
    own: Floats,
    n_groups: int,
    coverage: float,
) -> Effect:
    encoder = fitted.encoding.encoders[column]
    features = rows[:, fitted.encoding.features_of(column)]
    value = density = None
    if isinstance(encoder, Levels):
        names = [*map(str, encoder.categories), UNSEEN_LEVEL]
        group, labels = _group_categories(encoder.recall(features), names, n_groups)
    elif isinstance(encoder, Dates):
        days = encoder.read_days(features)
        group, labels = _group_numbers(days, n_groups, lambda days: list(map(write_date, days.tolist())))
        years = 1970.0 + days / 365.2425
        value = np.array([_find_median(years[group == i]) for i in range(len(labels))])
        density = _count_bars(years, value)
    else:
        numbers = features[:, 0].astype(np.float64)
        group, labels = _group_numbers(numbers, n_groups)
        value = np.array([_find_median(numbers[group == i]) for i in range(len(labels))])
        density = _count_bars(numbers, value)
    low, mean, high = (np.empty((len(labels), own.shape[1])) for _ in range(3))
    for i in range(len(labels)):
        some = own[group == i]
        mean[i] = some.mean(axis=0)
        low[i], high[i] = np.quantile(some, [0.5 - coverage / 2.0, 0.5 + coverage / 2.0], axis=0)
    n_rows = np.bincount(group, minlength=len(labels))
    return Effect(fitted.column_names[column], labels, value, n_rows, mean, low, high, density)


def _find_median(numbers: Floats) -> float:
    """Return the median; the sum of the two in the middle may overflow, and halves of denormal numbers lose digits."""
    unit = 2.0 if np.abs(numbers).max() > 1.0 else 1.0
    return float(unit * np.median(numbers / unit))


def _group_numbers(
    numbers: Floats, n_groups: int, write: Callable[[Floats], list[str]] | None = None
) -> tuple[NDArray[np.int64], list[str]]:
    """Return the group of every row, and the names of the groups: values, or ranges with about as many rows each."""
    write = write or _write_all
    is_missing = np.isnan(numbers)
    known = numbers[~is_missing]
    distinct = np.unique(known)
    if len(distinct) <= n_groups:
        group = np.searchsorted(distinct, known)
        labels = write(distinct)
    else:
        n_groups = max(2, min(n_groups, len(known) // _ROWS_PER_RANGE))
        edges = np.unique(np.quantile(known, np.arange(1, n_groups) / n_groups, method="inverted_cdf"))
        _, group = np.unique(np.searchsorted(edges, known), return_inverse=True)
        groups = range(int(group.max()) + 1)
        ends = np.array([(known[group == i].min(), known[group == i].max()) for i in groups])
        written = write(ends.ravel())
        pairs = zip(ends.tolist(), written[::2], written[1::2], strict=True)
        labels = [first if low == high else f"{first} to {last}" for (low, high), first, last in pairs]
    of_rows = np.full(len(numbers), len(labels))
    of_rows[~is_missing] = group
    return of_rows, labels + ["missing"] * bool(is_missing.any())


def _write_all(values: Floats) -> list[str]:
    """Write numbers with few digits, unless different ones would look alike."""
    numbers = values.tolist()
    written = [write_value(value) for value in numbers]
    is_clear = len(set(written)) == len(set(numbers))
    return written if is_clear else [write_value(value, longest=ALL_DIGITS) for value in numbers]


def _group_categories(
    codes: NDArray[np.int64], names: list[str], n_groups: int
) -> tuple[NDArray[np.int64], list[str]]:
    """Return the group of every row, and the names of the groups: frequent categories first, then the others."""
    counts = np.bincount(codes[codes >= 0], minlength=len(names))
    order = np.argsort(-counts, kind="stable")[: np.count_nonzero(counts)]
    n_shown = len(order) if len(order) <= n_groups else n_groups - 1
    n_more = len(order) - n_shown
    place = np.full(len(names) + 1, n_shown)  # the last is that of -1, a missing one
    place[order[:n_shown]] = np.arange(n_shown)
    labels = [names[code] for code in order[:n_shown]] + [f"{n_more} more categories"] * (n_more > 0)
    if (codes < 0).any():
        place[-1] = len(labels)
        labels.append("missing")
    return place[codes], labels


def _count_bars(numbers: Floats, value: Floats) -> NDArray[np.int64]:
    known = numbers[~np.isnan(numbers)]
    middle = value[~np.isnan(value)]
    if not len(known) or middle[0] == middle[-1]:
        return np.array([*([0] * (N_BARS // 2)), len(known), *([0] * (N_BARS - N_BARS // 2 - 1))])
    low, high = float(middle[0]), float(middle[-1])
    if np.isinf(high - low):
        known, low, high = known / 2.0, low / 2.0, high / 2.0
    # numpy.histogram refuses ranges of a few ulps.
    bar = ((np.clip(known, low, high) - low) / (high - low) * N_BARS).astype(np.int64)
    return np.bincount(np.minimum(bar, N_BARS - 1), minlength=N_BARS)
