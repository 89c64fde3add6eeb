"""The header of a model file: its fields and their checks."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from .._parameters import UNSEEN
from ..model.heads import NUMBER_LINKS, SEVERAL_LINKS
from ..model.model import CLIP, LINKS
from ..model.records import CALIBRATORS, DECLARED
from ..tables.encoding import MOST_FEATURE_LETTERS, MOST_LETTERS
from .container import ModelFileError, check

# Booleans, integers, floats and text; "object" is an array of str.
_DTYPE = re.compile(r"\|b1|[<>|][iu][1248]|[<>]f[248]|[<>]U[0-9]{1,7}|object")
_MAX_BYTES = 1 << 26  # of all classes
_PLAIN = {"b": bool, "i": int, "u": int, "f": float, "U": str, "O": str}
_MOST_ROWS = 2**31  # the core numbers rows with 32 bits
_CONFIDENCES = (None, "last", "path")
_NUMBERS = ({"kind": "numbers"}, {"kind": "numbers", "has_indicator": True})
_KINDS = {"one_hot": ("categories",), "target_statistic": ("categories", "targets"), "dropped": ()}
Check = Callable[[Any], bool]


class Field(NamedTuple):
    """One field of the header."""

    holds: Check
    about: str  # a description of valid values
    default: Any = ...  # ...: the field is required
    since: str = "0.2.0"  # the first version of lhtree that reads it


def _is_text(value: Any) -> bool:
    return isinstance(value, str)


def _is_float(value: Any) -> bool:
    return isinstance(value, float)


def _is_count(value: Any) -> bool:
    return type(value) is int and 0 <= value < _MOST_ROWS


def _is_plain(value: Any) -> bool:
    return value is None or isinstance(value, (bool, int, float, str))


def _is_list_of(is_one: Check) -> Check:
    return lambda value: isinstance(value, list) and all(map(is_one, value))


def _is_dict_of(is_one: Check) -> Check:
    return lambda value: isinstance(value, dict) and all(map(is_one, value.values()))


def _is_record(checks: dict[str, Check]) -> Check:
    """Return a check of a dict with exactly these keys."""
    return lambda value: (
        isinstance(value, dict)
        and set(value) == set(checks)
        and all(holds(value[name]) for name, holds in checks.items())
    )


def _is_parameter(value: Any) -> bool:
    """Whether a value is plain, a list of plain values or of lists of them, or weights by label."""
    if isinstance(value, dict):
        is_weights = _is_record(dict.fromkeys(("labels", "weights"), _is_list_of(_is_plain)))
        return is_weights(value) and len(value["labels"]) == len(value["weights"])
    is_pair = _is_list_of(_is_plain)
    return _is_plain(value) or _is_list_of(lambda part: _is_plain(part) or (is_pair(part) and part != []))(
        value
    )


def _is_column(column: Any) -> bool:
    """Whether a value describes the encoding of a column."""
    if column in _NUMBERS:
        return True
    if not isinstance(column, dict) or not _is_text(column.get("kind")):
        return False
    if column["kind"] == "dates":
        return (
            set(column) == {"kind", "newest"}
            and type(column["newest"]) is int
            and abs(column["newest"]) < 2**31
        )
    if column["kind"] not in _KINDS or set(column) != {"kind", *_KINDS[column["kind"]]}:
        return False
    some, targets = column.get("categories", []), column.get("targets", [])
    return (
        _is_list_of(lambda value: value is not None and _is_plain(value))(some)
        and len(set(some)) == len(some)
        and _is_list_of(_is_text)(targets)
        and len(targets) != 1  # a single target has no name
    )


_ENCODING: dict[str, Check] = {
    "names": _is_list_of(_is_text),
    "has_names": lambda v: isinstance(v, bool),
    "columns": _is_list_of(_is_column),
}
_DRAW: dict[str, Check] = {
    "n_estimators": _is_count,
    "counts": lambda v: v is None or _is_list_of(_is_count)(v),
    "bootstrap": lambda v: isinstance(v, bool),
}
# Fields of records; records are written with these names and in this order.
FOREST: dict[str, Check] = {
    "betas": _is_list_of(lambda v: _is_float(v) and 0.0 <= v < 1.0),
    "tree_parameters": _is_dict_of(_is_plain),
    "sizes": _is_list_of(_is_count),
    "draws": _is_list_of(_is_record(_DRAW)),
    "oob_score": lambda v: v is None or (_is_float(v) and v <= 1.0),
}
BOOST: dict[str, Check] = {
    "learning_rate": lambda v: _is_float(v) and 0.0 < v <= 1.0,
    "train_score": _is_list_of(_is_float),
    "validation_score": _is_list_of(_is_float),
}
_RACED: dict[str, Check] = {"settings": _is_dict_of(_is_plain), "loss": _is_float, "n_rounds": _is_count}
RACE: dict[str, Check] = {"settings": _is_dict_of(_is_plain), "race": _is_list_of(_is_record(_RACED))}
COMPACT: dict[str, Check] = {
    "penalty": _is_float,
    "rounding_loss": _is_float,
    "objective": _is_list_of(_is_float),
}
POOL: dict[str, Check] = {
    "weight": lambda v: _is_float(v) and v >= 0.0,
    "boost_weight": lambda v: _is_float(v) and v >= 0.0,
    "cv_score": _is_float,
}
_EDIT: dict[str, Check] = {
    "operation": _is_text,
    "column": _is_text,
    "about": _is_text,
    "reason": _is_text,
    "loss_before": lambda v: v is None or _is_float(v),
    "loss_after": lambda v: v is None or _is_float(v),
}
ADDITIVE: dict[str, Check] = {
    "learning_rate": lambda v: _is_float(v) and 0.0 < v <= 1.0,
    "n_iter": _is_list_of(_is_count),
    "edits": _is_list_of(_is_record(_EDIT)),
}
RESPONSE: dict[str, Check] = {"low": _is_float, "high": _is_float, "mean": _is_float}


OUTPUT: dict[str, Check] = {"name": _is_text, **RESPONSE}


def _is_encoding(encoding: Any) -> bool:
    return _is_record(_ENCODING)(encoding) and len(encoding["names"]) == len(encoding["columns"])


def _is_forest(forest: Any) -> bool:
    return _is_record(FOREST)(forest) and all(_fits(draw, forest["sizes"]) for draw in forest["draws"])


def _fits(draw: dict[str, Any], sizes: list[int]) -> bool:
    """Whether a draw has one count per class and, without replacement, no class gives more rows than it has."""
    counts = draw["counts"]
    return counts is None or (
        len(counts) == len(sizes) and (draw["bootstrap"] or all(map(int.__le__, counts, sizes)))
    )


def _is_response(response: Any) -> bool:
    return _is_record(RESPONSE)(response) and response["low"] <= response["mean"] <= response["high"]


def _is_output(output: Any) -> bool:
    return _is_record(OUTPUT)(output) and output["low"] <= output["mean"] <= output["high"]


def _or_null(holds: Check) -> Check:
    return lambda value: value is None or holds(value)


PROFILE: dict[str, Check] = {"n_rows": _is_count}
JOINT: dict[str, Check] = {
    "n_rows": lambda v: _is_count(v) and v > 0,
    "limit": lambda v: _is_float(v) and v >= 0.0,
}
# Fields of the provenance, in the order in which they are written.
PROVENANCE: dict[str, Check] = {
    "target": _or_null(_is_text),
    "fingerprint": _or_null(_is_text),
    "settings": _is_dict_of(_is_plain),
    "versions": _is_dict_of(_is_text),
    "date": _or_null(_is_text),
    "source": _or_null(lambda v: isinstance(v, dict)),
    "holdout": _or_null(lambda v: isinstance(v, dict)),
}


def _is_one_of(names: Iterable[str | None]) -> Check:
    return lambda value: _is_plain(value) and value in names


HEADER = {
    "estimator": Field(_is_text, "the name of an estimator"),
    "written_by": Field(_is_dict_of(_is_text), "versions of lhtree, numpy and python"),
    "parameters": Field(_is_dict_of(_is_parameter), "plain values by name"),
    "classes": Field(lambda v: isinstance(v, dict) and set(v) == {"dtype", "values"}, "dtype and values"),
    "encoding": Field(_is_encoding, "names, has_names and columns"),
    "confidence": Field(_is_one_of(_CONFIDENCES), "one of last, path and null"),
    "seed": Field(_is_count, "an integer from 0 to 2**31 - 1"),
    "forest": Field(_or_null(_is_forest), f"{', '.join(FOREST)}, or null for one tree or a boosted model"),
    "boost": Field(
        _or_null(_is_record(BOOST)), f"{', '.join(BOOST)}, or null unless the model is boosted", None
    ),
    "race": Field(
        _or_null(_is_record(RACE)),
        "settings of a boosted model that a race can choose, and its runs (settings, loss, n_rounds), or null",
        None,
    ),
    "compact": Field(
        _or_null(_is_record(COMPACT)),
        f"{', '.join(COMPACT)}, or null unless the model is a compact tree",
        None,
    ),
    "additive": Field(
        _or_null(_is_record(ADDITIVE)),
        f"{', '.join(ADDITIVE)}, or null unless the model is additive",
        None,
    ),
    "metadata": Field(_or_null(lambda v: isinstance(v, dict)), "an object, or null"),
    "link": Field(_is_one_of(LINKS), f"one of {', '.join(LINKS)}", "wolf"),
    "clip": Field(lambda v: _is_float(v) and v > 0.0, "a positive number", CLIP),
    "calibration": Field(
        _or_null(_is_one_of(CALIBRATORS)), f"one of {', '.join(CALIBRATORS)}, or null", None
    ),
    "min_samples_leaf": Field(
        _or_null(lambda v: type(v) in (int, float) and v > 0), "the leaf size in use, or null", None
    ),
    "response": Field(
        _or_null(_is_response),
        f"{', '.join(RESPONSE)} of the training responses, or null unless the model is a regression",
        None,
    ),
    "pool": Field(
        _or_null(_is_record(POOL)), f"{', '.join(POOL)}, or null unless the model is an ensemble", None
    ),
    "outputs": Field(
        _is_list_of(_is_output), f"a list of {', '.join(OUTPUT)}, of models with several outputs", []
    ),
    "n_rows": Field(_or_null(_is_count), "the number of training rows, or null if it is unknown", None),
    "positive": Field(_or_null(_is_count), "the index of the class of interest, or null", None),
    "profile": Field(
        _or_null(_is_record(PROFILE)), "n_rows of the sample of the training table, or null", None
    ),
    "provenance": Field(
        _or_null(_is_record(PROVENANCE)), f"{', '.join(PROVENANCE)}, or null if they are unknown", None
    ),
    "joint": Field(
        _or_null(_is_record(JOINT)),
        "joint spread of training rows: n_rows of the sample and the limit of distances, or null",
        None,
    ),
    "declared": Field(
        _or_null(lambda v: _is_dict_of(_is_list_of(_is_text))(v) and set(v) <= set(DECLARED)),
        f"lists of columns by {', '.join(DECLARED)}, or null",
        None,
    ),
    "requires": Field(_is_dict_of(_is_text), "versions by name", {}),
}


def check_header(
    header: dict[str, Any], *, n_features: int, n_classes: int, n_statistics: int, n_scores: int
) -> dict[str, Any]:
    """Check the header and return it with the defaults of missing fields; ``decode_classes`` checks the classes."""
    for name, field in HEADER.items():
        if name not in header:
            check(field.default is not ..., f"its header has no {name}")
        elif not field.holds(header[name]):
            raise ModelFileError(f"{name} is not {field.about}")
    header = {name: header.get(name, field.default) for name, field in HEADER.items()}
    n_jobs = header["parameters"].get("n_jobs")
    check(n_jobs is None or (type(n_jobs) is int and n_jobs != 0), "n_jobs is not a number of threads")
    check(
        header["parameters"].get("unseen", "missing") in UNSEEN, f"unseen is not one of {', '.join(UNSEEN)}"
    )
    names, columns = header["encoding"]["names"], header["encoding"]["columns"]
    longest = max(map(len, names), default=0)
    check(longest <= MOST_LETTERS, f"it has the name of a column with more than {MOST_LETTERS} letters")
    n_letters = sum(len(name) * _count_features(column) for name, column in zip(names, columns, strict=True))
    check(
        n_letters <= MOST_FEATURE_LETTERS,
        f"its features have names of more than {MOST_FEATURE_LETTERS} letters",
    )
    check(
        sum(map(_count_features, columns)) == n_features,
        "encoding and model differ in the number of features",
    )
    declared = header["declared"] or {}
    check(
        {name for some in declared.values() for name in some} <= set(names),
        "it declares columns that it does not have",
    )
    n_values = [
        (len(column["categories"]) + 1) * _count_features(column)
        for column in columns
        if column["kind"] == "target_statistic"
    ]
    check(sum(n_values) == n_statistics, "encoding and model differ in the number of statistics")
    has_response = header["response"] is not None
    is_number = header["link"] in (*NUMBER_LINKS, *SEVERAL_LINKS)
    check(has_response == is_number, "link and response do not match")
    check(has_response == (n_classes == 0), "a regression has no classes, and any other model has some")
    check(
        header["positive"] is None or header["positive"] < n_classes, "positive is not the index of a class"
    )
    outputs = [output["name"] for output in header["outputs"]]
    has_several = has_response and n_scores > 1
    check(
        len(outputs) == (n_scores if has_several else 0) and len(set(outputs)) == len(outputs),
        "outputs and base differ in their number, or two outputs have the same name",
    )
    check(
        max(map(len, outputs), default=0) <= MOST_LETTERS, f"an output has more than {MOST_LETTERS} letters"
    )
    check(
        header["link"] in SEVERAL_LINKS
        if has_several
        else not has_response or header["link"] in NUMBER_LINKS,
        "link and outputs do not match",
    )
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


def _count_features(column: dict[str, Any]) -> int:
    kind = column["kind"]
    if kind == "numbers":
        return 2 if "has_indicator" in column else 1
    if kind == "dates":
        return 4
    return (len(column["targets"]) or 1) if kind == "target_statistic" else len(column.get("categories", []))


def encode_classes(classes: NDArray[Any]) -> dict[str, Any]:
    """Return dtype and values of the classes for JSON; reject classes that would change."""
    if classes.dtype.kind == "U":
        classes = classes.astype(_narrow(classes.dtype, classes.tolist()))
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


def can_store(classes: NDArray[Any]) -> bool:
    """Whether model files can store the classes; for example, they cannot store dates."""
    try:
        encode_classes(classes)
    except TypeError:
        return False
    return True


def _narrow(dtype: np.dtype[Any], values: list[str]) -> np.dtype[Any]:
    """Return a dtype of text that is no wider than the values: every prediction takes its width."""
    width = min(dtype.itemsize // 4, max(map(len, values), default=1))
    return np.dtype(f"{dtype.byteorder}U{width}")


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
    check(all(type(value) is _PLAIN[dtype.kind] for value in values), "its classes are not of their type")
    if dtype.kind == "U":
        dtype = _narrow(dtype, values)
    check(
        dtype.itemsize <= 4 * MOST_LETTERS and dtype.itemsize * len(values) <= _MAX_BYTES,
        "its classes are too wide",
    )
    try:
        with np.errstate(over="ignore"):
            classes = np.array(values, dtype=dtype)
    except OverflowError:
        classes = np.empty(0, dtype=dtype)
    check(classes.tolist() == values, "its classes do not fit their type")
    check(len(set(values)) == len(values), "it has a duplicate class")
    return classes
