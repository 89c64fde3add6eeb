"""Reasons of decisions: for every row, the columns that pushed most towards its decision, in words."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from .._extras import import_extra
from .._parameters import check_count, is_real, refuse
from ..model.model import Model, read
from ..model.numbers import write_value
from ..model.profile import ColumnProfile
from ..tables.encoders import UNSEEN_LEVEL, Levels
from ..tables.errors import find_nearest
from ._contributions import find_contributions

if TYPE_CHECKING:
    import pandas as pd

_ROWS_AT_ONCE = 20_000
_TYPICAL = 0.6  # share of rows below or above, from which a value counts as high or low
FIELDS = ("decision", "column", "value", "comparison", "contribution", "code", "text")
Floats = NDArray[np.float64]


class ReasonText(NamedTuple):
    """Code and sentence of a reason; None: the sentence is built from column, value and comparison."""

    code: str
    sentence: str | None = None


def reasons(
    model: Any,
    X: Any,
    n: int = 4,
    *,
    positive: Any = None,
    threshold: float | None = None,
    texts: Mapping[str, Any] | None = None,
    groups: Mapping[str, Sequence[str]] | None = None,
    reference: Any = None,
) -> pd.DataFrame:
    """Return the main reasons of the decision on every row: the columns that pushed most towards it.

    Contributions are those of ``explain_batch``. Only columns that the model used, and that pushed towards the decision
    of the row, are reasons, so that a row may have fewer than ``n``.

    Parameters
    ----------
    model : classifier or regressor of lhtree
        The fitted model, or a ``Scorer``.
    X : array-like of shape (n_rows, m)
        Samples.
    n : int, default=4
        Maximum number of reasons of a row.
    positive : class label, optional
        The class of interest, which a row gets or does not get. Default: that of the model, if it declares one; else
        the reasons are those for the predicted class.
    threshold : float between 0 and 1, optional
        Probability from which the decision is the positive class (without one, the second) of two classes.
        Default: the most probable class.
    texts : dict, optional
        By column or group, the code and the sentence of its reason: ``("R1", "Income is too low")``, or the sentence
        alone. ``{value}`` and ``{comparison}`` are replaced in sentences.
    groups : dict, optional
        Columns that mean the same, by a common name: their contributions are added, and the value is that of the column
        that contributes most.
    reference : array-like of shape (n_reference, m), optional
        Rows to compare values with, such as approved applications. Default: the summary of the training table that the
        model keeps.

    Returns
    -------
    DataFrame
        A line per row and reason, largest contribution first: ``decision``, ``column`` (or group), ``value``,
        ``comparison`` ("low: below 80 % of training rows", of a category "like 5 % of training rows"),
        ``contribution`` towards the decision, ``code`` and ``text``.

    Examples
    --------
    >>> from sklearn.datasets import load_breast_cancer
    >>> from lhtree import LHBoostClassifier, reasons
    >>> X, y = load_breast_cancer(return_X_y=True, as_frame=True)
    >>> model = LHBoostClassifier(50, positive=0, random_state=0).fit(X, y)
    >>> found = reasons(model, X[:2], n=2, texts={"worst radius": ("R7", "The largest cells are too large")})
    >>> found[["decision", "value", "comparison", "text"]].iloc[0].tolist()
    [np.int64(0), 25.38, 'high: above 90 % of training rows', 'The largest cells are too large']
    """
    learned = read(model, takes_numbers=True)
    task = ReasonTask.of(learned, n, positive, threshold, texts, groups)
    compare = Comparer(learned) if reference is None else Comparer(learned, learned.encode(reference, model))
    return list_reasons(model, X, task, compare)


def list_reasons(model: Any, X: Any, task: ReasonTask, compare: Comparer) -> pd.DataFrame:
    """Return a line per row and reason; see ``reasons``."""
    learned = read(model, takes_numbers=True)
    rows = learned.encode(X, model)
    index: Any = X.index if hasattr(X, "iloc") else np.arange(len(rows))
    pandas = import_extra("pandas", "pandas")
    parts = [
        find_reasons(learned, rows[begin : begin + _ROWS_AT_ONCE], task, compare)
        for begin in range(0, len(rows), _ROWS_AT_ONCE)
    ]
    row = np.concatenate([part["row"] + number * _ROWS_AT_ONCE for number, part in enumerate(parts)])
    labels = (
        index.to_flat_index().take(row) if hasattr(index, "nlevels") and index.nlevels > 1 else index[row]
    )
    numbers = np.concatenate([part["reason"] for part in parts])
    columns = {name: np.concatenate([part[name] for part in parts]) for name in FIELDS}
    lines = pandas.MultiIndex.from_arrays([labels, numbers], names=["row", "reason"])
    frame: pd.DataFrame = pandas.DataFrame(columns, index=lines)
    frame["decision"] = frame["decision"].infer_objects()
    return frame


class ReasonTask(NamedTuple):
    """Checked arguments: the class of interest, the reasons that columns belong to, and their texts."""

    n: int
    code: int | None  # of the class that decisions are about; None: the predicted class
    threshold: float | None
    names: list[str]  # of the reasons
    place: NDArray[np.int64]  # reason of every column
    texts: dict[int, ReasonText]

    @classmethod
    def of(cls, learned: Model, n: Any, positive: Any, threshold: Any, texts: Any, groups: Any) -> ReasonTask:
        """Check the arguments of ``reasons``."""
        check_count("n", n, 1)
        if learned.n_outputs > 1 and not learned.labels:
            raise TypeError(
                "the model predicts several numbers: pass a model of one number, or a classifier."
            )
        code = learned.find_positive(positive) if learned.labels else None
        if positive is not None and not learned.labels:
            raise refuse("positive", positive, "None: the model predicts a number, without classes")
        if threshold is not None:
            if not is_real(threshold) or not 0.0 <= threshold <= 1.0 or learned.n_classes != 2:
                raise refuse("threshold", threshold, "a number from 0 to 1, for a model of two classes")
            code = 1 if code is None else code
        columns = learned.column_names
        group_of = _check_groups(groups or {}, columns)
        names = list(dict.fromkeys(group_of.get(name, name) for name in columns))
        place = np.array([names.index(group_of.get(name, name)) for name in columns])
        return cls(n, code, threshold, names, place, _check_texts(texts or {}, names))


def _check_groups(groups: Any, columns: Sequence[str]) -> dict[str, str]:
    if not isinstance(groups, Mapping):
        raise refuse("groups", groups, "a dict from a name to a list of columns")
    found: dict[str, str] = {}
    for group, members in groups.items():
        for name in [members] if isinstance(members, str) else members:
            if name not in columns:
                raise refuse("groups", name, f"columns of the model ({find_nearest(str(name), columns)})")
            if name in found:
                raise refuse("groups", groups, f"every column once: {name!r} is in two groups")
            found[name] = str(group)
    for group in set(found.values()):
        if group in columns and found.get(group) != group:
            raise refuse("groups", groups, f"another name than {group!r}, which is a column")
    return found


def _check_texts(texts: Any, names: Sequence[str]) -> dict[int, ReasonText]:
    if not isinstance(texts, Mapping):
        raise refuse("texts", texts, "a dict from a column or group to (code, sentence)")
    found = {}
    for name, text in texts.items():
        if name not in names:
            raise refuse("texts", name, f"columns or groups ({find_nearest(str(name), names)})")
        if isinstance(text, str):
            own = ReasonText(str(name), text)
        elif isinstance(text, Sequence) and len(text) == 2 and all(isinstance(part, str) for part in text):
            own = ReasonText(*text)
        else:
            raise refuse("texts", text, "a sentence, or (code, sentence)")
        try:
            (own.sentence or "").format(value="", comparison="")
        except (KeyError, IndexError, ValueError):
            remedy = "a sentence in which only {value} and {comparison} are in braces"
            raise refuse("texts", text, remedy) from None
        found[names.index(name)] = own
    return found


class Comparer:
    """Comparison of values of a column with the training rows, or with reference rows."""

    def __init__(self, learned: Model, reference: NDArray[Any] | None = None) -> None:
        self._learned, self._reference = learned, reference
        self._noun = "training rows" if reference is None else "reference rows"

    def values(self, column: int, X: NDArray[Any]) -> NDArray[Any]:
        """Return the values of a column in encoded rows: numbers, or categories as objects."""
        encoding = self._learned.encoding
        return encoding.encoders[column].list_values(X[:, encoding.features_of(column)])

    def describe(self, column: int, values: NDArray[Any]) -> list[str]:
        """Return a comparison for each of some values, such as "high: above 90 % of training rows"."""
        encoder = self._learned.encoding.encoders[column]
        if isinstance(encoder, Levels):
            shares = self._find_category_shares(column)
            return [self._describe_category(one, shares) for one in values.tolist()]
        high_words, low_words = encoder.comparisons
        values = encoder.measure(values)
        found = self._find_shares(column, values)
        if found is None:
            return ["missing" if one != one else "" for one in values.tolist()]
        below, above = found
        is_switch = self._is_switch(column)
        texts = []
        for value, low, high in zip(values.tolist(), below.tolist(), above.tolist(), strict=True):
            if value != value:
                texts.append("missing")
            elif is_switch and value in (0.0, 1.0):
                texts.append(self._describe_share(1.0 - low - high))
            elif low >= _TYPICAL and low >= high:
                texts.append(f"{high_words} {_write(low)} {self._noun}")
            elif high >= _TYPICAL:
                texts.append(f"{low_words} {_write(high)} {self._noun}")
            else:
                texts.append("typical")
        return texts

    def _find_shares(self, column: int, values: NDArray[Any]) -> tuple[Floats, Floats] | None:
        """Return the shares of rows surely below and above each value; None if they are not known."""
        if self._reference is not None:
            known = self._reference[:, self._learned.encoding.features_of(column).start].astype(np.float64)
            known = np.sort(known[~np.isnan(known)])
            n = max(len(known), 1)
            below = np.searchsorted(known, values, side="left") / n
            return below, 1.0 - np.searchsorted(known, values, side="right") / n
        profile = self._profile(column)
        if profile is None:
            return None
        low, high = self._span(column)
        reached = np.append(0.0, np.cumsum(profile.shares))
        place = np.searchsorted(np.array(profile.edges), values)
        below, above = reached[place], 1.0 - reached[place + 1]
        return np.where(values > high, 1.0, below), np.where(values < low, 1.0, np.maximum(above, 0.0))

    def _find_category_shares(self, column: int) -> dict[Any, float]:
        if self._reference is not None:
            values = [one for one in self.values(column, self._reference).tolist() if one is not None]
            return {one: values.count(one) / len(values) for one in set(values)}
        profile, encoder = self._profile(column), self._learned.encoding.encoders[column]
        assert isinstance(encoder, Levels)
        if profile is None:
            return {}
        return {encoder.categories[code]: profile.shares[place] for place, code in enumerate(profile.codes)}

    def _describe_category(self, category: Any, shares: Mapping[Any, float]) -> str:
        if category is None:
            return "missing"
        if category == UNSEEN_LEVEL:
            return "not seen in training"
        if category in shares:
            return self._describe_share(shares[category])
        if self._reference is not None:
            return self._describe_share(0.0)
        return "" if self._learned.profile is None else f"like few {self._noun}"

    def _describe_share(self, share: float) -> str:
        return f"like {_write(share)} {self._noun}"

    def _is_switch(self, column: int) -> bool:
        """Whether a column of numbers has only the values 0 and 1 in training, like a column of booleans."""
        feature = self._learned.encoding.features_of(column).start
        return self._span(column) == (0.0, 1.0) and bool(self._learned.span.is_whole[feature])

    def _profile(self, column: int) -> ColumnProfile | None:
        profile = self._learned.profile
        return None if profile is None else profile.columns[column]

    def _span(self, column: int) -> tuple[float, float]:
        feature = self._learned.encoding.features_of(column).start
        return float(self._learned.span.low[feature]), float(self._learned.span.high[feature])


def _write(share: float) -> str:
    """Write a share of rows: "all", "no", or rounded down to a whole per cent."""
    if share >= 1.0 or share <= 0.0:
        return "all" if share > 0.0 else "no"
    percent = int(100.0 * share + 1e-9)
    return f"{percent} % of" if percent else "fewer than 1 % of"


def find_reasons(learned: Model, X: NDArray[Any], task: ReasonTask, compare: Comparer) -> dict[str, Any]:
    """Return the reasons of encoded rows by field, with the number of the row and of the reason."""
    decision, towards = _find_towards(learned, X, task)
    by_reason = np.zeros((len(X), len(task.names)))
    np.add.at(by_reason.T, task.place, towards.T)
    n = min(task.n, len(task.names))
    top = np.argpartition(-by_reason, n - 1, axis=1)[:, :n]
    amounts = np.take_along_axis(by_reason, top, axis=1)
    order = np.argsort(-amounts, axis=1, kind="stable")
    top, amounts = np.take_along_axis(top, order, axis=1), np.take_along_axis(amounts, order, axis=1)
    row, rank = np.nonzero(amounts > 0.0)
    reason, amount = top[row, rank], amounts[row, rank]
    value = np.empty(len(row), dtype=object)
    comparison, code, text = (np.empty(len(row), dtype=object) for _ in range(3))
    column = _find_members(task, towards, row, reason)
    for number in np.unique(column).tolist():
        own = np.flatnonzero(column == number)
        values, place = _find_distinct(compare.values(number, X[row[own]]))
        described = compare.describe(number, values)
        name = task.names[task.place[number]]
        known = task.texts.get(int(task.place[number]), ReasonText(name))
        shown = [_name_value(one) for one in values.tolist()]
        sentences = [
            _write_sentence(known, learned.column_names[number], one, told)
            for one, told in zip(shown, described, strict=True)
        ]
        value[own] = values.astype(object)[place]
        comparison[own] = np.array(described, dtype=object)[place]
        text[own] = np.array(sentences, dtype=object)[place]
        code[own] = known.code
    return {
        "row": row,
        "reason": rank + 1,
        "decision": decision[row],
        "column": np.array(task.names, dtype=object)[reason],
        "value": value,
        "comparison": comparison,
        "contribution": amount,
        "code": code,
        "text": text,
    }


def _find_towards(learned: Model, X: NDArray[Any], task: ReasonTask) -> tuple[NDArray[Any], Floats]:
    """Return the decision on every row, and the contributions of all columns towards it, shape (n, n_columns)."""
    out = np.zeros((len(X), learned.n_outputs, learned.n_features))
    find_contributions(learned, X, out)
    if not learned.labels:
        predicted = np.asarray(learned.score("value", X))
        moved = out[:, 0].sum(axis=1)
        sign = np.where(moved < 0.0, -1.0, 1.0)
        return predicted.astype(object), learned.encoding.sum_columns(out[:, 0]) * sign[:, None]
    labels = np.array(learned.labels, dtype=object)
    codes = np.asarray(learned.score("predict", X))
    if task.code is None:
        return labels[codes], learned.encoding.sum_columns(out[np.arange(len(X)), codes])
    if task.threshold is not None:
        is_it = learned.score("proba", X)[:, task.code] >= task.threshold
        codes = np.where(is_it, task.code, 1 - task.code)
    is_it = codes == task.code
    towards = learned.encoding.sum_columns(out[:, task.code])
    return labels[codes], np.where(is_it, 1.0, -1.0)[:, None] * towards


def _find_members(
    task: ReasonTask, towards: Floats, row: NDArray[np.int64], reason: NDArray[np.int64]
) -> NDArray[np.int64]:
    """Return, for every reason, the column that contributes most to it."""
    order = np.argsort(task.place, kind="stable")
    begin = np.searchsorted(task.place[order], np.arange(len(task.names) + 1))
    member = np.empty(len(row), dtype=np.int64)
    for number in np.unique(reason).tolist():
        columns, own = order[begin[number] : begin[number + 1]], np.flatnonzero(reason == number)
        member[own] = columns[towards[row[own]][:, columns].argmax(axis=1)]
    return member


def _find_distinct(values: NDArray[Any]) -> tuple[NDArray[Any], NDArray[np.int64]]:
    """Return the distinct values, and the place of every value among them; None is sorted first."""
    if values.dtype != object:
        return np.unique(values, return_inverse=True)
    places: dict[Any, int] = {}
    place = np.array([places.setdefault(one, len(places)) for one in values.tolist()], dtype=np.int64)
    distinct = np.empty(len(places), dtype=object)
    distinct[:] = list(places)
    return distinct, place


def _name_value(value: Any) -> str:
    if value is None or value != value:
        return "missing"
    return write_value(value) if isinstance(value, float) else str(value)


def _write_sentence(known: ReasonText, column: str, value: str, comparison: str) -> str:
    if known.sentence is not None:
        return known.sentence.format(value=value, comparison=comparison)
    if comparison in ("missing", "not seen in training"):
        return f"{column} is missing" if comparison == "missing" else f"{column} is a category {comparison}"
    if comparison and not comparison.startswith("like "):
        return f"{column} {value} is {comparison}"
    return f"{column} is {value}, {comparison}".removesuffix(", ")
