"""Columns of a model as a service describes them: kinds, ranges, categories and an example of each."""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from ..model.model import Model
from ..tables.encoders import Dates, Dropped, Levels


def describe_columns(model: Model) -> list[dict[str, Any]]:
    """Return name, kind and example of every column, with its range in training, or the categories."""
    return [_describe(model, number) for number in range(model.encoding.n_columns)]


def make_example(columns: list[dict[str, Any]]) -> dict[str, Any]:
    """Return a row of typical values."""
    return {column["name"]: column["example"] for column in columns if column["kind"] != "ignored"}


def _describe(model: Model, number: int) -> dict[str, Any]:
    encoding = model.encoding
    name, encoder = encoding.names[number], encoding.encoders[number]
    if isinstance(encoder, Dropped):
        return {"name": name, "kind": "ignored"}
    profile = None if model.profile is None else model.profile.columns[number]
    missing = {} if profile is None else {"missing": profile.missing}
    if isinstance(encoder, Levels):
        categories = list(encoder.categories)
        code = profile.codes[0] if profile is not None and profile.codes else 0
        example = categories[code] if categories else None
        return {"name": name, "kind": "category", "categories": categories, "example": example, **missing}
    edges = () if profile is None else profile.edges
    feature = int(encoding.ptr[number])
    if isinstance(encoder, Dates):
        newest, oldest = (encoder.decode(ends[feature:]) for ends in (model.span.low, model.span.high))
        example = encoder.decode(np.array(edges[len(edges) // 2 :])) if edges else newest
        return {"name": name, "kind": "date", "low": oldest, "high": newest, "example": example, **missing}
    low, high = (_finite(ends[feature]) for ends in (model.span.low, model.span.high))
    is_whole = bool(model.span.is_whole[feature])
    middle = edges[len(edges) // 2] if edges else None if low is None or high is None else low / 2 + high / 2
    return {
        "name": name,
        "kind": "number",
        "low": low,
        "high": high,
        "is_whole": is_whole,
        "example": _shorten(middle, low, high, is_whole=is_whole),
        **missing,
    }


def _finite(value: float) -> float | None:
    return float(value) if math.isfinite(value) else None


def _shorten(middle: float | None, low: float | None, high: float | None, *, is_whole: bool) -> float | None:
    """Return a typical value with few digits, within the range."""
    if middle is None or low is None or high is None:
        return None
    short = float(round(middle)) if is_whole else float(f"{middle:.4g}")
    value = min(max(short, low), high)
    return int(value) if is_whole and abs(value) < 2**53 else value
