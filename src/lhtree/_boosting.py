"""The parameters of boosting, checked and settled, and the rows that it is judged by."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from . import _core
from ._parameters import UNSEEN, check_count, choose, is_integer, is_real, refuse
from ._validate import Training
from .tables.labels import check_sample_weight, encode_known

_DIRECTIONS, _LEAVES = ("mixed", "single"), ("auto", "constant")
_MANY_ROWS = 10_000  # above it, early_stopping="auto" stops
_HELD_BACK = 2**64 - 1  # rounds are keyed by seed and number; no round has this one


class Validation(NamedTuple):
    """Rows to be judged by: of their own (X is given), or some of the training rows (``held`` says which)."""

    X: NDArray[Any] | None
    codes: NDArray[np.int32]
    weight: NDArray[np.float64] | None
    held: NDArray[np.uint8]  # of the training rows


@dataclass(frozen=True)
class BoostSettings:
    """Parameters of one fit, checked."""

    max_iter: int
    learning_rate: float | None  # None: by the number of rows
    max_bins: int
    stops: bool
    n_iter_no_change: int
    tol: float
    of_trees: dict[str, Any]

    @classmethod
    def of(cls, params: dict[str, Any], training: Training) -> BoostSettings:
        """The settings for these parameters and rows."""
        direction = choose("direction", params["direction"], _DIRECTIONS)
        choose("leaf", params["leaf"], _LEAVES)
        choose("unseen", params["unseen"], UNSEEN)
        rate = params["learning_rate"]
        if not (isinstance(rate, str) and rate == "auto") and not (is_real(rate) and 0.0 < rate <= 1.0):
            raise refuse("learning_rate", rate, "'auto' or a number in (0, 1]")
        max_bins = check_count("max_bins", params["max_bins"], 2)
        if max_bins > 255:
            raise refuse("max_bins", max_bins, "at most 255")
        stops = params["early_stopping"]
        if not isinstance(stops, (bool, np.bool_)) and not (isinstance(stops, str) and stops == "auto"):
            raise refuse("early_stopping", stops, "True, False or 'auto'")
        n_directed = check_count("n_directed", params["n_directed"], 0)
        return cls(
            max_iter=check_count("max_iter", params["max_iter"], 1),
            learning_rate=None if isinstance(rate, str) else float(rate),
            max_bins=max_bins,
            stops=len(training.X) > _MANY_ROWS if isinstance(stops, str) else bool(stops),
            n_iter_no_change=check_count("n_iter_no_change", params["n_iter_no_change"], 1),
            tol=_number("tol", params["tol"], "a number of at least 0", least=0.0),
            of_trees={
                "l2_regularization": _number(
                    "l2_regularization", params["l2_regularization"], "a number of at least 0", least=0.0
                ),
                "min_samples_leaf": float(check_count("min_samples_leaf", params["min_samples_leaf"], 1)),
                "shrinkage": _number("shrinkage", params["shrinkage"], "a number of at least 0", least=0.0),
                "monotonic": _monotonic(params["monotonic_cst"], training),
                "max_depth": min(check_count("max_depth", params["max_depth"], 1), 62),
                "max_features": _share("max_features", params["max_features"]),
                "n_directed": n_directed if direction == "mixed" else 0,
                "subsample": _share("subsample", params["subsample"]),
            },
        )

    def options(self, rate: float) -> Any:
        """What the core grows a tree with."""
        return _core.BoostOptions(learning_rate=rate, **self.of_trees)

    def rate_for(self, training: Training, validation: Validation | None) -> float:
        """The learning rate: the one given, or by the number of rows to learn from and the rounds."""
        if self.learning_rate is not None:
            return self.learning_rate
        is_learned = slice(None) if validation is None else validation.held == 0
        n_rows = len(training.codes[is_learned])
        weight = float(n_rows) if training.weight is None else float(training.weight[is_learned].sum())
        rate = 0.05 * min(1.0, weight / 8000) ** 0.35 * (400 / self.max_iter) ** 0.8
        return min(1.0, float(f"{rate:.4g}"))  # the powers of C libraries differ in the last bit


def _number(name: str, value: Any, remedy: str, *, least: float) -> float:
    if not is_real(value) or value < least:
        raise refuse(name, value, remedy)
    return float(value)


def _share(name: str, value: Any) -> float:
    if not is_real(value) or not 0.0 < value <= 1.0:
        raise refuse(name, value, "a number in (0, 1]")
    return float(value)


def _monotonic(constraints: Any, training: Training) -> NDArray[np.int8] | None:
    """The constraint of every feature; None without any."""
    if constraints is None:
        return None
    names, n_columns = list(training.encoding.names), training.encoding.n_columns
    if isinstance(constraints, dict):
        unknown = [name for name in constraints if name not in names]
        if unknown:
            raise refuse(
                "monotonic_cst", constraints, f"columns of X only: {unknown[0]!r} is not one of them"
            )
        values = [constraints.get(name, 0) for name in names]
    else:
        values = list(np.asarray(constraints).ravel().tolist())
        if len(values) != n_columns:
            raise refuse("monotonic_cst", constraints, f"one value per column of X ({n_columns}), or a dict")
    if any(not is_real(value) or value not in (-1, 0, 1) for value in values):
        raise refuse("monotonic_cst", constraints, "-1, 0 or 1 for each column")
    if not any(values):
        return None
    if training.n_targets > 1:
        raise refuse("monotonic_cst", constraints, "None with more than two classes")
    of_features = np.zeros(training.encoding.n_features, dtype=np.int8)
    for column, value in enumerate(values):
        if value and training.encoding.categories[column] is not None:
            raise refuse("monotonic_cst", constraints, f"0 for {names[column]!r}, which is categorical")
        if value:
            of_features[training.encoding.features_of(column)] = value
    return of_features


def take_validation(
    estimator: Any, training: Training, X: Any, y: Any, sample_weight: Any
) -> Validation | None:
    """The validation set that was passed to fit, if any."""
    if X is None and y is None:
        if sample_weight is not None:
            raise ValueError(
                "sample_weight_val was passed without X_val and y_val: pass all of them, or none."
            )
        return None
    if X is None or y is None:
        raise ValueError("X_val and y_val belong together: pass both, or none.")
    rows = training.encoding.encode(X, owner=type(estimator).__name__)
    codes = encode_known(y, training.classes, len(rows), "y_val", is_strict=True)
    weight = check_sample_weight(sample_weight, len(rows))
    if training.X.dtype != rows.dtype:
        rows = rows.astype(training.X.dtype)
    return Validation(rows, codes.astype(np.int32), weight, np.zeros(len(training.X), dtype=np.uint8))


def hold_back(training: Training, share: Any, seed: int) -> Validation | None:
    """Training rows to be judged by: of every class those with the smallest keyed draws; None: all train."""
    if share is None:
        return None
    n_rows = len(training.X)
    if is_integer(share) and 1 <= share < n_rows:
        share = share / n_rows
    elif not is_real(share) or is_integer(share) or not 0.0 < share < 1.0:
        raise refuse(
            "validation_fraction",
            share,
            f"a float between 0 and 1, an integer from 1 to {n_rows - 1}, or None",
        )
    draw = _core.draw_keys(seed, _HELD_BACK, n_rows)
    held = np.zeros(n_rows, dtype=np.uint8)
    for cls in range(len(training.classes)):
        rows = np.flatnonzero(training.codes == cls)
        n_held = min(round(share * len(rows)), len(rows) - 1)
        held[rows[np.argsort(draw[rows], kind="stable")[:n_held]]] = 1
    if not held.any():  # too few rows of every class
        return None
    return Validation(None, np.empty(0, dtype=np.int32), None, held)


def join(training: Training, validation: Validation | None) -> dict[str, Any]:
    """Classes, weights and marks of held rows, those of a validation set behind those of the training rows."""
    if validation is None:
        return {"classes": training.codes, "weight": training.weight, "held": None}
    weight = training.weight
    n_more = len(validation.codes)
    if weight is not None or validation.weight is not None:
        own = np.ones(len(training.X)) if weight is None else weight
        weight = np.concatenate([own, np.ones(n_more) if validation.weight is None else validation.weight])
    return {
        "classes": np.concatenate([training.codes, validation.codes]),
        "weight": weight,
        "held": np.concatenate([validation.held, np.ones(n_more, dtype=np.uint8)]),
    }
