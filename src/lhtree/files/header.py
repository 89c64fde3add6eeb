"""The header of a model file: its fields and their checks."""

from __future__ import annotations

import re
from collections.abc import Callable
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from .._parameters import UNSEEN
from ..model.calibration import CALIBRATORS
from ..model.heads import NUMBER_LINKS
from ..model.model import CLIP, LINKS
from .container import check

_FOREST_KEYS = ("betas", "tree_parameters", "sizes", "draws", "oob_score")
_BOOST_KEYS = ("learning_rate", "train_score", "validation_score")
_COMPACT_KEYS = ("penalty", "rounding_loss", "objective")
_DRAW_KEYS = ("n_estimators", "counts", "bootstrap")
_RESPONSE_KEYS = ("low", "high", "mean")
_CONFIDENCES = (None, "last", "path")
# Booleans, integers, floats and text; "object" is an array of str.
_DTYPE = re.compile(r"\|b1|[<>|][iu][1248]|[<>]f[248]|[<>]U[0-9]{1,7}|object")
_MAX_BYTES = 1 << 26  # of all classes
_PLAIN = {"b": bool, "i": int, "u": int, "f": float, "U": str, "O": str}
_MOST_JOBS = 4096
_MOST_ROWS = 2**31  # the core numbers rows with 32 bits


class Field(NamedTuple):
    """One field of the header."""

    holds: Callable[[Any], bool]
    about: str  # a description of valid values
    default: Any = ...  # ...: the field is required
    since: str = "0.2.0"  # the first version of lhtree that reads it


HEADER = {
    "estimator": Field(lambda v: _is_text(v), "the name of an estimator"),
    "written_by": Field(lambda v: _is_dict_of(v, _is_text), "versions of lhtree, numpy and python"),
    "parameters": Field(lambda v: _is_dict_of(v, _is_parameter), "plain values by name"),
    "classes": Field(lambda v: _has_keys(v, ("dtype", "values")), "dtype and values"),
    "encoding": Field(lambda v: _is_encoding(v), "names, has_names and columns"),
    "confidence": Field(lambda v: _is_plain(v) and v in _CONFIDENCES, "one of last, path and null"),
    "seed": Field(lambda v: _is_count(v), "an integer from 0 to 2**31 - 1"),
    "forest": Field(
        lambda v: v is None or _is_forest(v),
        f"{', '.join(_FOREST_KEYS)}, or null for one tree or a boosted model",
    ),
    "boost": Field(
        lambda v: v is None or _is_boost(v),
        f"{', '.join(_BOOST_KEYS)}, or null unless the model is boosted",
        None,
    ),
    "compact": Field(
        lambda v: v is None or _is_compact(v),
        f"{', '.join(_COMPACT_KEYS)}, or null unless the model is a compact tree",
        None,
    ),
    "metadata": Field(lambda v: v is None or isinstance(v, dict), "an object, or null"),
    "link": Field(lambda v: _is_text(v) and v in LINKS, f"one of {', '.join(LINKS)}", "wolf"),
    "clip": Field(lambda v: isinstance(v, float) and v > 0.0, "a positive number", CLIP),
    "calibration": Field(
        lambda v: v is None or (_is_text(v) and v in CALIBRATORS),
        f"one of {', '.join(CALIBRATORS)}, or null",
        None,
    ),
    "min_samples_leaf": Field(
        lambda v: v is None or (type(v) in (int, float) and v > 0),
        "the leaf size in use, or null",
        None,
    ),
    "response": Field(
        lambda v: v is None or _is_response(v),
        f"{', '.join(_RESPONSE_KEYS)} of the training responses, or null unless the model is a regression",
        None,
    ),
    "requires": Field(lambda v: _is_dict_of(v, _is_text), "versions by name", {}),
}


def check_header(
    header: dict[str, Any], *, n_features: int, n_classes: int, n_statistics: int
) -> dict[str, Any]:
    """Check the header and return it with the defaults of missing fields; ``decode_classes`` checks the classes."""
    for name, field in HEADER.items():
        check(name in header or field.default is not ..., f"its header has no {name}")
        check(name not in header or field.holds(header[name]), f"{name} is not {field.about}")
    header = {name: header.get(name, field.default) for name, field in HEADER.items()}
    n_jobs = header["parameters"].get("n_jobs")
    check(
        n_jobs is None or (type(n_jobs) is int and abs(n_jobs) <= _MOST_JOBS),
        f"n_jobs is not a number of threads up to {_MOST_JOBS}",
    )
    check(
        header["parameters"].get("unseen", "missing") in UNSEEN, f"unseen is not one of {', '.join(UNSEEN)}"
    )
    columns = header["encoding"]["columns"]
    check(
        sum(map(_count_features, columns)) == n_features,
        "encoding and model differ in the number of features",
    )
    n_values = [
        (len(column["categories"]) + 1) * _count_features(column)
        for column in columns
        if column["kind"] == "target_statistic"
    ]
    check(sum(n_values) == n_statistics, "encoding and model differ in the number of statistics")
    has_response = header["response"] is not None
    check(has_response == (header["link"] in NUMBER_LINKS), "link and response do not match")
    check(has_response == (n_classes == 0), "a regression has no classes, and any other model has some")
    forest = header["forest"]
    if forest is not None:
        check(len(forest["sizes"]) == max(n_classes, 1), "sizes must have one value per class")
        score = forest["oob_score"]
        check(score is None or has_response or score >= 0.0, "oob_score is not between 0 and 1")
    return header


def check_estimators(forest: dict[str, Any] | None, n_estimators: int) -> None:
    """Check that the header describes all estimators."""
    if forest is None:
        check(n_estimators == 1, "a single tree has more than one estimator")
        return
    check(len(forest["betas"]) == n_estimators, "betas must have one value per estimator")
    n_drawn = sum(draw["n_estimators"] for draw in forest["draws"])
    check(n_drawn == n_estimators, "draws do not match the estimators")


def _is_encoding(encoding: Any) -> bool:
    return (
        _has_keys(encoding, ("names", "has_names", "columns"))
        and isinstance(encoding["has_names"], bool)
        and _is_list_of(encoding["names"], _is_text)
        and _is_list_of(encoding["columns"], _is_column)
        and len(encoding["names"]) == len(encoding["columns"])
    )


_KINDS = {
    "one_hot": ("categories",),
    "target_statistic": ("categories", "targets"),
    "dropped": (),
}


def _is_column(column: Any) -> bool:
    """Whether a value describes the encoding of a column."""
    if not isinstance(column, dict) or not _is_text(column.get("kind")):
        return False
    if column["kind"] == "numbers":
        return bool(column in ({"kind": "numbers"}, {"kind": "numbers", "has_indicator": True}))
    if column["kind"] not in _KINDS or set(column) != {"kind", *_KINDS[column["kind"]]}:
        return False
    some, targets = column.get("categories", []), column.get("targets", [])
    return (
        _is_list_of(some, _is_category)
        and len(set(some)) == len(some)
        and _is_list_of(targets, _is_text)
        and len(targets) != 1  # a single target has no name
    )


def _count_features(column: dict[str, Any]) -> int:
    kind = column["kind"]
    if kind == "numbers":
        return 2 if "has_indicator" in column else 1
    return (len(column["targets"]) or 1) if kind == "target_statistic" else len(column.get("categories", []))


def _is_forest(forest: Any) -> bool:
    if not _has_keys(forest, _FOREST_KEYS):
        return False
    sizes, oob_score = forest["sizes"], forest["oob_score"]
    return (
        _is_list_of(forest["betas"], lambda beta: isinstance(beta, float) and 0.0 <= beta < 1.0)
        and _is_dict_of(forest["tree_parameters"], _is_plain)
        and (oob_score is None or (isinstance(oob_score, float) and oob_score <= 1.0))
        and _is_list_of(sizes, _is_count)
        and _is_list_of(forest["draws"], lambda draw: _is_draw(draw, sizes))
    )


def _is_response(response: Any) -> bool:
    return (
        _has_keys(response, _RESPONSE_KEYS)
        and _is_dict_of(response, lambda value: isinstance(value, float))
        and response["low"] <= response["mean"] <= response["high"]
    )


def _is_boost(boost: Any) -> bool:
    if not _has_keys(boost, _BOOST_KEYS):
        return False
    rate = boost["learning_rate"]
    scores = (boost["train_score"], boost["validation_score"])
    return (
        isinstance(rate, float)
        and 0.0 < rate <= 1.0
        and all(_is_list_of(some, lambda score: isinstance(score, float)) for some in scores)
    )


def _is_compact(compact: Any) -> bool:
    return (
        _has_keys(compact, _COMPACT_KEYS)
        and all(isinstance(compact[name], float) for name in ("penalty", "rounding_loss"))
        and _is_list_of(compact["objective"], lambda value: isinstance(value, float))
    )


def _is_draw(draw: Any, sizes: list[int]) -> bool:
    """Whether a value describes a draw; without replacement, no class gives more rows than it has."""
    if not _has_keys(draw, _DRAW_KEYS) or not isinstance(draw["bootstrap"], bool):
        return False
    counts = draw["counts"]
    return _is_count(draw["n_estimators"]) and (
        counts is None
        or (
            _is_list_of(counts, _is_count)
            and len(counts) == len(sizes)
            and (draw["bootstrap"] or all(map(int.__le__, counts, sizes)))
        )
    )


def _has_keys(value: Any, keys: tuple[str, ...]) -> bool:
    return isinstance(value, dict) and set(value) == set(keys)


def _is_list_of(value: Any, is_one: Any) -> bool:
    return isinstance(value, list) and all(map(is_one, value))


def _is_dict_of(value: Any, is_one: Any) -> bool:
    return isinstance(value, dict) and all(map(is_one, value.values()))


def _is_text(value: Any) -> bool:
    return isinstance(value, str)


def _is_count(value: Any) -> bool:
    return type(value) is int and 0 <= value < _MOST_ROWS


def _is_plain(value: Any) -> bool:
    return value is None or isinstance(value, (bool, int, float, str))


def _is_category(value: Any) -> bool:
    return value is not None and _is_plain(value)


def _is_parameter(value: Any) -> bool:
    """A plain value, a list of those, or weights by label."""
    if isinstance(value, dict):
        return (
            _has_keys(value, ("labels", "weights"))
            and _is_dict_of(value, lambda part: _is_list_of(part, _is_plain))
            and len(value["labels"]) == len(value["weights"])
        )
    return _is_plain(value) or _is_list_of(value, _is_plain)


def encode_classes(classes: NDArray[Any]) -> dict[str, Any]:
    """Return dtype and values of the classes for JSON; reject classes that would change."""
    name = "object" if classes.dtype == object else classes.dtype.str
    values = classes.tolist()
    strange = next((value for value in values if type(value) is not _PLAIN.get(classes.dtype.kind)), None)
    if strange is not None or not _DTYPE.fullmatch(name) or classes.nbytes > _MAX_BYTES:
        what = (
            f"the class {strange!r} is of type {type(strange).__name__}"
            if strange is not None
            else f"dtype {name}"
        )
        raise TypeError(
            f"the classes of the model cannot be saved ({what}): fit with classes that are strings, integers, "
            "booleans or numbers of at most 64 bits."
        )
    return {"dtype": name, "values": values}


def decode_classes(described: dict[str, Any], n_classes: int) -> NDArray[Any]:
    """Return the ``n_classes`` classes of a header."""
    check(
        isinstance(described["values"], list)
        and len(described["values"]) == n_classes
        and isinstance(described["dtype"], str)
        and _DTYPE.fullmatch(described["dtype"]) is not None,
        "its classes are not described by a dtype and one value per share",
    )
    dtype, values = np.dtype(described["dtype"]), described["values"]
    check(dtype.itemsize * len(values) <= _MAX_BYTES, "its classes are too wide")
    check(all(type(value) is _PLAIN[dtype.kind] for value in values), "its classes are not of their type")
    try:
        with np.errstate(over="ignore"):
            classes = np.array(values, dtype=dtype)
    except OverflowError:
        classes = np.empty(0, dtype=dtype)
    check(classes.tolist() == values, "its classes do not fit their type")
    check(len(set(values)) == len(values), "it has a duplicate class")
    return classes
