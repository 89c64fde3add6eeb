"""Shared code of the speed parts: names, models of 100 trees, and calls that bypass a peer's Python layer."""

import ctypes
from collections.abc import Callable
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ..common import models

DATA = ("spambase", "magic")
TITLES = models.TITLES | {
    "tree_10": "paper tree, depth ≤ 10",
    "catboost": "CatBoost (100)",
    "mixed_equal": "mixed forest, as accurate as XGBoost",
}
# Models compared in batches and in memory.
PEERS = ("cart", "rf", "hist_gb", "lightgbm", "xgboost", "catboost")
COMPARED = ("paper_tree", "paper_forest", "mixed_forest", *PEERS)


def fit(name: str, X: NDArray[Any], y: NDArray[Any], **params: Any) -> Any:
    """Build and fit a model of 100 trees; ``tree_10`` is the paper's tree no deeper than 10."""
    if name == "tree_10":
        return models.fit("paper_tree", X, y, max_depth=10)
    return models.fit_100(name, X, y, **params)


def light_rows(booster: Any, rows: list[NDArray[np.float64]]) -> Callable[[], None]:
    """LightGBM's C call for one row after the other, every argument made beforehand.

    ctypes costs a part of each call; a C program would not pay it.
    """
    from lightgbm.basic import _LIB

    config, n_out = ctypes.c_void_p(), ctypes.c_int64()
    # Normal predictions of all iterations, from float64.
    kind, first, count, float64 = (ctypes.c_int(value) for value in (0, 0, -1, 1))
    width, text = ctypes.c_int32(rows[0].shape[1]), ctypes.c_char_p(b"num_threads=1")
    begin = _LIB.LGBM_BoosterPredictForMatSingleRowFastInit
    failed = begin(booster._handle, kind, first, count, float64, width, text, ctypes.byref(config))
    out = np.empty(1)
    call = _LIB.LGBM_BoosterPredictForMatSingleRowFast
    # The pointers live as long as the closure, and so do the arrays behind them.
    arrays = (out, rows)
    ends = ctypes.byref(n_out), ctypes.c_void_p(out.ctypes.data)
    arguments = [(config, ctypes.c_void_p(row.ctypes.data), *ends) for row in rows]
    if failed or call(*arguments[0]) or abs(out[0] - booster.predict(rows[0])[0]) > 1e-12:
        raise RuntimeError("LightGBM's C call and Booster.predict differ.")

    def each(_arrays: Any = arrays) -> None:
        for some in arguments:
            call(*some)

    return each


def make_onnx(model: Any, X: NDArray[np.float64]) -> Any:
    """Return an onnxruntime session with a LightGBM model on one thread, checked against the model."""
    import onnxruntime
    from onnxmltools import convert_lightgbm
    from onnxmltools.convert.common.data_types import FloatTensorType

    types = [("rows", FloatTensorType([None, X.shape[1]]))]
    converted = convert_lightgbm(model, initial_types=types, zipmap=False).SerializeToString()
    options = onnxruntime.SessionOptions()
    options.intra_op_num_threads = options.inter_op_num_threads = 1
    options.log_severity_level = 3  # the converter announces one label for any number of rows
    session = onnxruntime.InferenceSession(converted, options, providers=["CPUExecutionProvider"])
    rows = X[:100]
    gap = np.abs(session.run(None, {"rows": rows.astype(np.float32)})[1] - model.predict_proba(rows)).max()
    if gap > 1e-3:
        raise RuntimeError(f"the converted model is {gap:.2g} away from LightGBM")
    return session
