"""One row in any form becomes an array of its values."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ..model.model import Model
from ..tables.frames import is_frame, refuse_infinity


def take_row(fitted: Model, row: Any, asked: Any = None) -> NDArray[np.float64]:
    """Values of one row by feature, shape (m,); of a table with categories the row has numbers and categories.

    ``asked`` is the estimator or Scorer, as for ``Model.encode``.
    """
    if _is_series(row):
        row = _settle_series(row)
    values: NDArray[Any]
    if is_frame(row):
        values = fitted.encode(row, asked)
    elif not fitted.encoding.is_plain:
        return fitted.encoding.encode_row(
            _list_values(fitted, row), unseen=getattr(asked, "unseen", "missing")
        )
    else:
        values = _take_array(_order_mapping(fitted, row) if isinstance(row, Mapping) else row)
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
    """A Series counts by name where it has names, else by position."""
    has_names = all(isinstance(name, str) for name in row.index)
    return dict(zip(row.index, row.to_numpy(), strict=True)) if has_names else row.to_numpy()


def _list_values(fitted: Model, row: Any) -> list[Any]:
    """Numbers and categories of a row by column; an array may have a first axis of one."""
    if isinstance(row, Mapping):
        return _order_mapping(fitted, row)
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


def _order_mapping(fitted: Model, row: Mapping[Any, Any]) -> list[Any]:
    names = fitted.column_names
    missing = [name for name in names if name not in row]
    extra = [name for name in row if name not in set(names)]
    if missing or extra:
        what = (
            f"has no value for {_name_some(missing)}"
            if missing
            else f"has {_name_some(extra)}, which the model does not know"
        )
        raise ValueError(f"row {what}: pass exactly the features of the model (NaN for a missing value).")
    return [row[name] for name in names]


def _take_array(row: Any) -> NDArray[np.float64]:
    try:
        values: NDArray[np.float64] = np.asarray(row, dtype=np.float64)
    except (ValueError, TypeError) as error:
        raise ValueError(f"row is not numeric ({error}): pass one number per feature.") from None
    return values


def _name_some(names: list[Any]) -> str:
    shown = ", ".join(map(repr, names[:3]))
    return f"{shown} and {len(names) - 3} more" if len(names) > 3 else shown
