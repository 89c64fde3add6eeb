"""The table of ``explain_batch``: contributions of many rows, which shap's plots can read."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, ClassVar

import numpy as np
from numpy.typing import NDArray

from .._extras import import_extra
from ..model.model import Model
from ..tables.encoders import UNSEEN_LEVEL, Levels
from ..tables.encoding import Encoding
from ._contributions import find_base, find_contributions

if TYPE_CHECKING:
    import pandas as pd
    from pandas import DataFrame
else:
    pd = import_extra("pandas", "pandas")
    DataFrame = pd.DataFrame


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
