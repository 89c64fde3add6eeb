"""Tables of ``explain_batch``: contributions of many rows, which shap's plots can read, and terms."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, ClassVar

import numpy as np
from numpy.typing import NDArray

from .._extras import import_extra
from ..model.model import Model
from ..model.shares import shares_at
from ..tables.encoders import UNSEEN_LEVEL, Levels
from ..tables.encoding import Encoding
from ._contributions import find_base, find_contributions
from ._paths import Trace

if TYPE_CHECKING:
    import pandas as pd
    from pandas import DataFrame
else:
    pd = import_extra("pandas", "pandas")
    DataFrame = pd.DataFrame

_PARTS = ("offset", "weight", "intercept", "slope", "clipped")


class Contributions(DataFrame):  # type: ignore[misc]  # pandas is not typed
    """Contributions of many rows, see ``explain_batch``. Parts of it, and copies, are ordinary DataFrames."""

    _metadata: ClassVar[list[str]] = ["_encoding", "_labels", "_X"]

    def keep(self, model: Model, X: NDArray[Any]) -> Contributions:
        """Store the encoded rows and their encoding."""
        self._encoding, self._labels, self._X = model.encoding, model.labels, X
        return self

    def to_shap(self) -> Any:
        """Return the contributions as a ``shap.Explanation``, for the plots of shap (extra ``shap``).

        Its ``values`` have the shape (n, m, K): ``explanation[:, :, 1]`` belongs to the second class. For a regression
        the shape is (n, m). ``base_values`` and values add up to the membership, the raw score or the prediction; the
        changes by the ranges of linear leaves (``clipped``) are part of the base values.

        Returns
        -------
        shap.Explanation
        """
        shap = import_extra("shap", "shap")
        names = self._encoding.names
        n_rows, n_outputs = len(self._X), max(1, len(self._labels))
        values = self[[f"contribution.{name}" for name in names]].to_numpy()
        base = self["base"].to_numpy(copy=True)
        if "clipped" in self:
            base += self["clipped"].to_numpy()
        values, base = values.reshape(n_rows, n_outputs, -1).swapaxes(1, 2), base.reshape(n_rows, n_outputs)
        return shap.Explanation(
            np.ascontiguousarray(values) if self._labels else values[:, :, 0],
            base_values=base if self._labels else base[:, 0],
            data=_decode(self._encoding, self._X),
            feature_names=list(names),
            output_names=[str(label) for label in self._labels] or None,
        )


def _decode(encoding: Encoding, X: NDArray[Any]) -> NDArray[Any]:
    """Return the values of the columns as in the table, shape (n, m): numbers, or objects if some are categories."""
    if encoding.is_plain:
        return X
    columns: list[NDArray[Any]] = []
    for column, encoder in enumerate(encoding.encoders):
        own = X[:, encoding.features_of(column)]
        if isinstance(encoder, Levels):
            names = np.array([*encoder.categories, UNSEEN_LEVEL, None], dtype=object)  # -1 is a missing one
            columns.append(names[encoder.recall(own)])
        else:
            columns.append(own[:, 0] if own.shape[1] else np.full(len(X), None))
    is_number = all(each.dtype != object for each in columns)
    return (
        np.column_stack(columns) if is_number else np.column_stack([each.astype(object) for each in columns])
    )


def explain_rows(model: Model, X: NDArray[Any], index: Any = None) -> Contributions:
    """Return one line per row and class, or per row in a regression; see ``explain_batch``."""
    n_rows, n_outputs, head = len(X), model.n_outputs, model.head
    names = [*head.distinct_scores]
    if head.labels:
        names = ["proba", *(["uncalibrated"] if model.calibration is not None else []), *names]
    starts = ["base", *(["clipped"] if model.is_clipped else [])]
    n_known = len(names) + len(starts)
    table = np.zeros((n_rows, n_outputs, n_known + len(model.column_names)))
    for column, name in enumerate(names):
        values = model.score(name, X)
        table[:, :, column] = head.spread(values, np.negative) if name == "raw_score" else values
    own = of_features = table[:, :, n_known:]
    if not model.encoding.is_plain:
        of_features = np.zeros((n_rows, n_outputs, model.n_features))
    clipped = find_contributions(model, X, out=of_features)
    if not model.encoding.is_plain:
        own[:] = model.encoding.sum_columns(of_features)
    table[:, :, len(names)] = find_base(model)
    if model.is_clipped:
        table[:, :, len(names) + 1] = clipped
    numbers = _flatten(pd.RangeIndex(n_rows) if index is None else index)
    frame = Contributions(
        table.reshape(n_rows * n_outputs, -1),
        index=_index_classes(numbers, head.labels) if head.labels else numbers.rename("row"),
        columns=[*names, *starts, *(f"contribution.{name}" for name in model.column_names)],
        copy=False,
    )
    predicted: Any = model.score(head.predicts, X)
    if head.labels:
        predicted = pd.Categorical.from_codes(np.repeat(predicted, n_outputs), model.labels)
    frame.insert(0, "prediction", predicted)
    return frame.keep(model, X)


def _index_classes(rows: Any, labels: tuple[Any, ...]) -> Any:
    """Return an index of every row with every class."""
    codes, levels = rows.factorize()
    return pd.MultiIndex(
        levels=[_flatten(levels), list(labels)],
        codes=[np.repeat(codes, len(labels)), np.tile(np.arange(len(labels)), len(rows))],
        names=["row", "class"],
    )


def _flatten(index: Any) -> Any:
    """Return an index of one level, with the tuples of several levels."""
    return index.to_flat_index() if index.nlevels > 1 else index


def tabulate_terms(trace: Trace, X: NDArray[Any], index: Any = None) -> pd.DataFrame:
    """Return one line per row, tree, block and term; ``row`` is its label in ``index``, else its number in X.

    The lines of a branching block add up to y. ``part`` is the kind of a term: "weight" times z, or minus the
    "offset". The lines of a leaf add up to p̂: its "intercept" and "slope" times z. If leaves have values, the parts are
    the "value", "slope" times z minus its mean, and "clipped", the change by the range of the leaf. Offset,
    intercept, value and clipped have no feature. There is no ``target`` in a regression. In a boosted tree of all
    classes, a leaf has a line per class, and only these lines have a target.
    """
    model, trees, valued = trace.model, trace.model.trees, trace.model.head.values_blocks
    n_stops = len(trace.at)
    is_cut = (trace.clipped != 0.0) & valued
    cut = np.flatnonzero(trace.is_leaf)[is_cut]
    begin, target_of = np.arange(n_stops), trees.target[trace.tree]
    level = trace.outcome if valued else trees.intercept[trace.at]
    if model.head.shares_classes and valued:  # a leaf has a line per class
        size = np.where(trace.is_leaf, model.n_classes, 1)
        begin = np.repeat(begin, size)
        cls = np.arange(len(begin)) - np.repeat(np.cumsum(size) - size, size)
        level = shares_at(trees, trace.at, model.n_classes)[begin, cls]
        target_of = np.where(trace.is_leaf[begin], cls, -1)
    is_leaf = trace.is_leaf[begin]
    start = np.where(is_leaf, level, -trees.offset[trace.at[begin]])
    # Part, stop, feature, weights and value of every line: offset or start of a stop, its terms, its clipping.
    none, nan = np.full(len(begin), -1), np.full(len(begin), np.nan)
    lines = [(np.where(is_leaf, 2, 0), begin, none, nan, nan, start)]
    for number, terms in ((1, trace.terms), (3, trace.slope_terms)):
        part = np.full(len(terms.stop), number)
        lines.append((part, terms.stop, terms.feature, terms.weight, terms.unit_weight, terms.value))
    none, nan = none[: len(cut)], nan[: len(cut)]
    lines.append((np.full(len(cut), 4), cut, none, nan, nan, trace.clipped[is_cut]))
    part, stop, feature, weight, unit_weight, term = map(np.concatenate, zip(*lines, strict=True))
    order = np.argsort(stop, kind="stable")
    stop, feature = stop[order], feature[order]
    row, tree = trace.row[stop], trace.tree[stop]
    target = {}
    if model.labels:
        codes = np.append(target_of, trees.target[trace.tree[np.concatenate([one[1] for one in lines[1:]])]])
        target["target"] = pd.Categorical.from_codes(codes[order], model.labels)  # -1: all classes
    names = [*_PARTS[:2], "value", *_PARTS[3:]] if valued else _PARTS[:4]
    return pd.DataFrame(
        {
            "row": row if index is None else _flatten(index).take(row),
            **target,
            "tree": tree,
            "block": trace.block[stop],
            "depth": trace.depth[stop],
            "part": pd.Categorical.from_codes(part[order], names),
            "feature": pd.Categorical.from_codes(feature, pd.Index(model.feature_names)),
            "value": np.where(feature < 0, np.nan, X[row, feature]),
            "weight": weight[order],
            "unit_weight": unit_weight[order],
            "term": term[order],
        }
    )
