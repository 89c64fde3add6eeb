"""The boosted model beside its peers: fits, one row, batches of equal log loss, memory, threads."""

from collections.abc import Iterator
from contextlib import nullcontext
from functools import partial
from typing import Any

import numpy as np

from ..common import data as datasets
from ..common.memory import ask
from ..common.models import fit as fit_default
from ..common.pages import Figure, markdown_table
from ..common.results import Result
from ..common.timing import keep, take_turns
from ..runner import Args, Tell
from .models import DATA, fit, make_onnx
from .row import N_ROWS, repeat
from .threads import busy_cores

_PEERS = ("lightgbm", "xgboost")
_N_BATCH = 200_000


def _measure_rounds(tell: Tell, args: Args) -> Result:
    """100 rounds each: LightGBM, ours with single features only, and with hyperplanes."""
    sets: dict[str, tuple[Any, Any]] = {name: datasets.load(name)[1:] for name in DATA}
    n_rows = 50_000 if args.quick else 1_000_000
    sets[f"{n_rows:,} × 50"] = datasets.make_rows(n_rows, 50)
    result = {}
    for name, (X, y) in sets.items():
        tell(f"{name}: 100 rounds")
        calls = {
            "lightgbm": partial(fit, "lightgbm", X, y),
            "single": partial(fit, "boosted", X, y, direction="single"),
            "mixed": partial(fit, "boosted", X, y),
        }
        is_large = len(X) == 1_000_000
        limits = {"n_rounds": 1, "seconds": 0} if is_large else {"n_rounds": 7, "seconds": 10}
        result[name] = keep(take_turns(calls, **limits))
    return result


def _measure_defaults(tell: Tell, args: Args) -> Result:
    """Every set with the defaults of ours and of CatBoost."""
    result = {}
    for name in datasets.NAMES[: 2 if args.quick else None]:
        tell(f"{name}: defaults")
        _, X, y = datasets.load(name)
        calls = {key: partial(fit_default, key, X, y) for key in ("boosted", "catboost")}
        result[name] = keep(take_turns(calls, n_rounds=1 if name == "skin" else 3, seconds=5))
    return result


def _measure_rows(tell: Tell) -> Result:
    """One row of the default model beside LightGBM's 100 trees in onnxruntime."""
    result = {}
    for name in DATA:
        tell(f"{name}: one row")
        _, X, y = datasets.load(name)
        model, session = fit_default("boosted", X, y), make_onnx(fit("lightgbm", X, y), X)
        rows = [X[i : i + 1].copy() for i in np.linspace(0, len(y) - 1, N_ROWS).astype(int)]
        single = [row.astype(np.float32) for row in rows]
        calls = {
            "boosted": repeat(model.predict_proba, rows),
            "onnx": repeat(lambda row, session=session: session.run(None, {"rows": row}), single),
        }
        timings = take_turns(calls, n_rounds=15, seconds=6)
        result[name] = keep({key: timing.divide(N_ROWS) for key, timing in timings.items()})
    return result


def _find_prefix(name: str, peer: str) -> tuple[int | None, float, float]:
    """Fewest rounds of ours whose log loss on held-out rows is at most the peer's; both losses."""
    from sklearn.metrics import log_loss

    part = datasets.split(datasets.load(name), 0)
    ours = fit_default("boosted", part.X, part.y)
    theirs = log_loss(part.y_test, fit(peer, part.X, part.y).predict_proba(part.X_test))
    losses = [log_loss(part.y_test, proba) for proba in ours.staged_predict_proba(part.X_test)]
    reached = np.flatnonzero(np.array(losses) <= theirs)
    return (int(reached[0]) + 1 if len(reached) else None), theirs, losses[-1]


def _measure_batches(tell: Tell, args: Args) -> Result:
    """Batches with as many of our rounds as give the log loss of a peer."""
    result: Result = {}
    for name in DATA:
        _, X, y = datasets.load(name)
        rows = datasets.resample(X, 20_000 if args.quick else _N_BATCH)
        rate = fit_default("boosted", X, y).learning_rate_
        result[name] = {}
        for peer in _PEERS:
            tell(f"{name}: batch beside {peer}")
            n_rounds, theirs, ours = _find_prefix(name, peer)
            few = fit_default("boosted", X, y, max_iter=n_rounds or 400, learning_rate=rate)
            calls = {
                "boosted": partial(few.predict_proba, rows),
                peer: partial(fit(peer, X, y).predict_proba, rows),
            }
            timings = keep(take_turns(calls, n_rounds=7, seconds=6, least=0.002))
            result[name][peer] = {"rounds": n_rounds, "loss": theirs, "ours": ours, "times": timings}
    return result


def _measure_threads(tell: Tell, args: Args) -> Result:
    """A fit on one and on two threads, quiet and busy."""
    X, y = datasets.make_rows(20_000 if args.quick else 200_000, 50)
    result = {"n_rows": len(X)}
    for state in ("quiet", "busy"):
        tell(f"threads, {state}")
        calls = {str(k): partial(fit, "boosted", X, y, max_iter=30, n_jobs=k) for k in (1, 2)}
        with busy_cores() if state == "busy" else nullcontext():
            result[state] = keep(take_turns(calls, n_rounds=5, seconds=10))
    return result


def measure(tell: Tell, args: Args) -> Result:
    """Return everything about the boosted model."""
    n_rows = 50_000 if args.quick else 1_000_000
    tell("memory")
    memory = {model: ask(n_rows, "float32", 2, model) for model in ("boosted", "lightgbm")}
    return {
        "rounds": _measure_rounds(tell, args),
        "defaults": _measure_defaults(tell, args),
        "row": _measure_rows(tell),
        "batch": _measure_batches(tell, args),
        "memory": {"n_rows": n_rows, **memory},
        "threads": _measure_threads(tell, args),
    }


def find_figures(part: Result) -> Iterator[tuple[str, Figure]]:
    """Return the targets of the boosted model, with keys for what limits them."""
    for name, times in part["rounds"].items():
        light = times["lightgbm"]["cpu"]
        for key, title, target in (("single", "single features", 1.5), ("mixed", "hyperplanes", 2.5)):
            what = (
                f"boosted, {title}, fit of 100 rounds, {name} ({times[key]['cpu']:.2f} s), over LightGBM's "
                f"({light:.2f} s)"
            )
            yield f"boost_{key}_{name}", Figure(what, times[key]["cpu"] / light, target, is_floor=False)
    for name, times in part["defaults"].items():
        ours, theirs = times["boosted"]["cpu"], times["catboost"]["cpu"]
        what = f"boosted, fit with defaults, {name} ({ours:.2f} s), faster than CatBoost ({theirs:.1f} s)"
        yield f"boost_catboost_{name}", Figure(what, theirs / ours, 5.0)
    for name, times in part["row"].items():
        ours, theirs = times["boosted"]["cpu"], times["onnx"]["cpu"]
        what = (
            f"boosted, 400 rounds, one row, {name} ({ours * 1e6:.1f} µs), faster than onnxruntime with LightGBM's "
            f"100 trees ({theirs * 1e6:.1f} µs)"
        )
        yield f"boost_row_{name}", Figure(what, theirs / ours, 1.0)
    for name, peers in part["batch"].items():
        for peer, found in peers.items():
            said = f"{found['rounds']} rounds" if found["rounds"] else "400 rounds, whose loss is larger"
            what = f"boosted, batch, {name}: rate over {peer}'s at its log loss ({said})"
            ratio = found["times"][peer]["cpu"] / found["times"]["boosted"]["cpu"]
            yield f"boost_batch_{peer}_{name}", Figure(what, ratio, 1.0)
    memory = part["memory"]
    allowed = memory["n_rows"] * (2 * 50 + 32) / 1e6
    what = f"boosted, peak memory of fit, {memory['n_rows']:,} × 50, beyond X (2 bytes a cell, 32 a row)"
    yield "boost_memory", Figure(what, memory["boosted"] / 1e6, allowed, "MB", is_floor=False)
    what = f"the same, share of LightGBM's ({memory['lightgbm'] / 1e6:.0f} MB)"
    yield "boost_memory_lightgbm", Figure(what, memory["boosted"] / memory["lightgbm"], 1.0, is_floor=False)
    for state, target in (("quiet", 1.7), ("busy", 1.0)):
        ratio = part["threads"][state]["1"]["wall"] / part["threads"][state]["2"]["wall"]
        said = "" if state == "quiet" else ", every core busy with other work"
        what = f"two threads over one, fit, boosted, {part['threads']['n_rows']:,} × 50{said}"
        yield f"boost_threads_{state}", Figure(what, ratio, target)


def render(part: Result) -> str:
    """Return the tables of the page."""
    rounds = [
        [name, *(f"{times[key]['cpu']:.3f}" for key in ("lightgbm", "single", "mixed"))]
        for name, times in part["rounds"].items()
    ]
    defaults = [
        [name, *(f"{times[key]['cpu']:.2f}" for key in ("boosted", "catboost"))]
        for name, times in part["defaults"].items()
    ]
    return "\n\n".join(
        [
            "Fits of 100 rounds, CPU seconds:",
            markdown_table("data | LightGBM | boosted, single features | boosted, hyperplanes", rounds),
            "Fits with defaults (400 rounds; CatBoost 1000), CPU seconds:",
            markdown_table("data | boosted | CatBoost", defaults),
        ]
    )
