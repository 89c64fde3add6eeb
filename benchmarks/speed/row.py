"""How long one row takes, hot, through every way in."""

from collections.abc import Callable
from functools import partial
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ..common import data as datasets
from ..common.results import Result
from ..common.timing import keep, take_turns
from ..runner import Args, Tell
from .models import DATA, PEERS, fit, light_rows, make_onnx

N_ROWS = 32  # different rows, one after the other: branches cannot be learned by heart
_OURS = ("tree_10", "paper_tree", "paper_forest", "mixed_forest")


def _each(call: Callable[[Any], Any], rows: list[NDArray[Any]]) -> None:
    for row in rows:
        call(row)


def repeat(call: Callable[[Any], Any], rows: list[NDArray[Any]]) -> Callable[[], None]:
    """Return a call for every row. It has rows of its own: CatBoost leaves those it has seen read-only."""
    return partial(_each, call, [row.copy() for row in rows])


def _methods(name: str, model: Any) -> dict[str, Callable[[Any], Any]]:
    """Ways to score one float64 row, by their names."""
    calls = {"predict": model.predict, "predict_proba": model.predict_proba}
    if name in _OURS:
        calls["Scorer.proba"] = model._model.scorer.proba
    elif name == "lightgbm":
        calls["Booster.predict"] = model.booster_.predict
    elif name == "xgboost":
        calls["Booster.inplace_predict"] = model.get_booster().inplace_predict
    elif name == "catboost":
        calls["raw"] = partial(model.predict, prediction_type="RawFormulaVal")
    return calls


def measure(tell: Tell, args: Args) -> Result:
    """Time of one row by data set, model and call."""
    result: Result = {"n_rows": N_ROWS, "data": {}}
    for name in DATA[: 1 if args.quick else None]:
        data = datasets.load(name)
        picked = np.linspace(0, len(data.y) - 1, N_ROWS).astype(int)
        rows = [data.X[i : i + 1].copy() for i in picked]
        single = [row.astype(np.float32) for row in rows]
        calls: dict[str, Callable[[], None]] = {"nothing|pass": repeat(lambda row: None, rows)}
        depths = {}
        for key in (*_OURS, *PEERS):
            tell(f"{name}: fit {key}")
            model = fit(key, data.X, data.y)
            for method, call in _methods(key, model).items():
                calls[f"{key}|{method}"] = repeat(call, rows)
            if key in _OURS:
                depths[key] = model.depth_
            if key == "cart":
                bare = partial(model.predict_proba, check_input=False)
                calls["cart|predict_proba, check_input=False, float32"] = repeat(bare, single)
            if key == "lightgbm":
                calls["lightgbm|C single-row call"] = light_rows(model.booster_, rows)
                try:
                    session = make_onnx(model, data.X)
                except (ImportError, RuntimeError, ValueError) as error:  # the page says why
                    result["onnx_error"] = f"{type(error).__name__}: {error}"
                else:
                    run = partial(lambda session, row: session.run(None, {"rows": row}), session)
                    calls["lightgbm|onnxruntime, float32"] = repeat(run, single)
        tell(f"{name}: {len(calls)} ways, {N_ROWS} rows")
        n_rounds, seconds = (7, 15) if args.quick else (15, 25)
        timings = take_turns(calls, n_rounds=n_rounds, seconds=seconds)
        per_row = {key: timing.divide(N_ROWS) for key, timing in timings.items()}
        result["data"][name] = {"times": keep(per_row), "n_features": data.X.shape[1], "depths": depths}
    return result
