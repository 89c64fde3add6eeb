"""Classes, responses and weights of the rows of a table."""

from __future__ import annotations

from collections.abc import Hashable, Sequence
from typing import Any, TypeAlias

import numpy as np
from numpy.typing import NDArray

from .._parameters import refuse

MAX_WEIGHT = 1e100  # products of weights stay finite


def encode_known(
    y: Any, classes: NDArray[Any], n_rows: int, name: str = "y", *, is_strict: bool = False
) -> NDArray[np.int64]:
    """Return the index of each row's class in the model, shape (n,).

    A class that the model does not know is -1, and some must be known; with ``is_strict`` all must be.
    """
    labels = np.asarray(y)
    if labels.shape != (n_rows,):
        raise ValueError(
            f"{name} has shape {labels.shape}, but there are {n_rows} rows: pass one class per row."
        )
    if labels.dtype.kind == classes.dtype.kind == "M":  # the same day in another unit is another Python value
        labels = labels.astype(classes.dtype)
    code_of = {label: code for code, label in enumerate(classes.tolist())}
    codes = np.array([code_of.get(label, -1) for label in labels.tolist()], dtype=np.int64)
    is_unknown = codes < 0
    if is_unknown.any() if is_strict else is_unknown.all():
        strange = labels.tolist()[int(is_unknown.argmax())]
        raise ValueError(
            f"{name} contains the class {strange!r}, which the model does not know: pass only {classes.tolist()}, "
            "with the same types as in fit, or drop those rows."
        )
    return codes


def find_class(label: Any, classes: Sequence[Any], name: str) -> int:
    """Return the index of a class that was passed as the argument ``name``."""
    plain = label.item() if isinstance(label, np.generic) else label
    if not isinstance(plain, Hashable) or plain not in classes:
        raise refuse(name, label, f"one of the classes {', '.join(map(repr, classes))}")
    return classes.index(plain)


def take_numbers(y: Any, n_rows: int, name: str = "y", n_responses: int = 1) -> NDArray[np.float64]:
    """Return the responses of rows, finite numbers of shape (n,), or (n, k) of several responses."""
    try:
        response = np.asarray(y, dtype=np.float64)
    except (ValueError, TypeError) as error:
        raise ValueError(f"{name} is not numeric ({error}): pass one number per row.") from None
    shape = (n_rows,) if n_responses == 1 else (n_rows, n_responses)
    if response.shape != shape:
        wanted = "one number" if n_responses == 1 else f"{n_responses} numbers"
        raise ValueError(
            f"{name} has shape {response.shape}, but there are {n_rows} rows: pass {wanted} per row."
        )
    if not np.isfinite(response).all():
        raise ValueError(f"{name} contains NaN or infinity: pass finite numbers.")
    return response


def check_sample_weight(
    sample_weight: Any, n_rows: int, name: str = "sample_weight"
) -> NDArray[np.float64] | None:
    """Return one finite weight of at least 0 per row, not all 0."""
    if sample_weight is None:
        return None
    try:
        weight = np.asarray(sample_weight, dtype=np.float64)
    except (ValueError, TypeError) as error:
        raise ValueError(f"{name} is not numeric ({error}): pass one number per row.") from None
    if weight.ndim == 0:
        weight = np.full(n_rows, weight)
    if weight.ndim != 1:
        raise ValueError(
            f"Sample weights must be 1D array or scalar: {name} has shape {weight.shape}. "
            "Pass one number per row."
        )
    if len(weight) != n_rows:
        raise ValueError(
            f"{name} has {len(weight)} values, but there are {n_rows} rows: pass one weight per row."
        )
    if not np.isfinite(weight).all():
        raise ValueError(f"{name} contains NaN or infinity: pass finite, non-negative weights.")
    if (weight < 0.0).any():
        raise ValueError(f"{name} contains a negative value ({weight.min()}): pass non-negative weights.")
    if not (weight > 0.0).any():
        raise ValueError(f"{name} is zero for all rows: give some rows a positive weight.")
    if weight.max() > MAX_WEIGHT:  # ratios do not change by a power of two; against any count they stay huge
        weight = np.ldexp(weight, -int(np.frexp(weight.max() / MAX_WEIGHT)[1]))
    return weight


Label: TypeAlias = bool | int | float | str


def check_labels(labels: list[Label], language: str) -> list[Label]:
    """Refuse classes that are not all booleans, integers, floats or text."""
    for kind in (bool, int, float, str):
        if all(type(label) is kind for label in labels):
            break
    else:
        raise TypeError(
            f"the classes {labels[:3]} cannot be written in {language}: fit with strings or numbers only."
        )
    for label in labels:
        if kind is int and not -(2**63) <= label < 2**63:  # type: ignore[operator]
            raise ValueError(
                f"the class {label} does not fit into 64 bits: fit with smaller integers, or with strings."
            )
    return labels


def check_text(text: str, what: str, language: str) -> str:
    """Refuse text that is not valid UTF-8 or has a zero byte."""
    try:
        is_fine = b"\0" not in text.encode()
    except UnicodeEncodeError:
        is_fine = False
    if not is_fine:
        raise ValueError(f"the {what} {text!r} cannot be written in {language}: rename it.")
    return text
