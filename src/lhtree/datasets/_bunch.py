"""Tables in the form of scikit-learn's loaders."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray
from sklearn.utils import Bunch

from .._extras import import_extra
from ._find import find_table
from ._sets import LICENCE, SOURCES, About

if TYPE_CHECKING:
    import pandas as pd


def load(about: About, *, return_X_y: bool, as_frame: bool, download_if_missing: bool) -> Any:
    """Find a data set of UCI and wrap it."""
    table = find_table(about, SOURCES[about.name], download_if_missing=download_if_missing)
    codes = {label: code for code, label in enumerate(about.classes)}
    labels, places = np.unique(table.labels, return_inverse=True)
    y = np.array([codes[label] for label in labels.tolist()], dtype=np.int64)[places]
    return wrap(about, table.X, y, return_X_y=return_X_y, as_frame=as_frame)


def wrap(
    about: About, X: NDArray[np.float64], y: NDArray[np.int64], *, return_X_y: bool, as_frame: bool
) -> Any:
    """A Bunch, or (X, y); as frame and series or as arrays."""
    frame = _to_frame(about, X, y) if as_frame else None
    data = X if frame is None else frame[list(about.features)]
    target = y if frame is None else frame["target"]
    if return_X_y:
        return data, target
    return Bunch(
        data=data,
        target=target,
        frame=frame,
        feature_names=list(about.features),
        target_names=np.array(list(about.classes.values())),
        DESCR=about.describe(np.bincount(y, minlength=len(about.classes)).tolist()),
        licence=LICENCE,
        citation=about.citation,
        url=about.page,
    )


def _to_frame(about: About, X: NDArray[np.float64], y: NDArray[np.int64]) -> pd.DataFrame:
    pandas = import_extra("pandas", "pandas")
    frame: pd.DataFrame = pandas.DataFrame(X, columns=list(about.features))
    frame["target"] = y
    return frame
