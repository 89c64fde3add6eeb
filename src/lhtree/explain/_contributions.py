"""The result of ``explain_batch``: a DataFrame that shap's plots can read."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, ClassVar

import numpy as np
from numpy.typing import NDArray

from .._extras import import_extra
from ..model.model import Model
from ..tables.encoders import UNSEEN_LEVEL, OneHot, TargetStatistic
from ..tables.encoding import Encoding

if TYPE_CHECKING:
    from pandas import DataFrame
else:
    DataFrame = import_extra("pandas", "pandas").DataFrame


class Contributions(DataFrame):  # type: ignore[misc]  # pandas is not typed
    """Contributions of many rows, see ``explain_batch``. Parts of it, and copies, are ordinary DataFrames."""

    _metadata: ClassVar[list[str]] = ["_encoding", "_labels", "_X"]

    def keep(self, fitted: Model, X: NDArray[Any]) -> Contributions:
        """Remember the encoded rows and how to read them."""
        self._encoding, self._labels, self._X = fitted.encoding, fitted.labels, X
        return self

    def to_shap(self) -> Any:
        """The contributions as a ``shap.Explanation``, for the plots of shap (extra ``shap``).

        Its ``values`` have the shape (n, m, K), ``explanation[:, :, 1]`` are those of the second class; for a
        regression (n, m). ``base_values`` and values add up to the membership, the raw score or the prediction;
        what the ranges of linear leaves take away (``clipped``) is part of the base values.

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
    """Values of the columns as they were in the table, shape (n, m): numbers, or objects if some are categories."""
    if encoding.is_plain:
        return X
    columns: list[NDArray[Any]] = []
    for column, treatment in enumerate(encoding.treatments):
        own = X[:, encoding.features_of(column)]
        if isinstance(treatment, (OneHot, TargetStatistic)):
            names = np.array([*treatment.categories, UNSEEN_LEVEL, None], dtype=object)  # -1 is a missing one
            columns.append(names[treatment.recall(own)])
        else:
            columns.append(own[:, 0] if own.shape[1] else np.full(len(X), None))
    is_number = all(each.dtype != object for each in columns)
    return (
        np.column_stack(columns) if is_number else np.column_stack([each.astype(object) for each in columns])
    )
