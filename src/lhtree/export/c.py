"""A model as one C99 file: no dependencies, no allocation, bitwise the same arithmetic as the core."""

from __future__ import annotations

import os
import re
from string import Template
from typing import Any

import numpy as np

from .. import __version__
from .._parameters import refuse
from .._write import write_whole
from ..model.labels import check_text, find_labels
from ..model.model import CLIP, Model, read
from . import _c_template as texts
from . import _exp
from ._c_columns import write_columns
from ._c_template import BOOSTED, ESTIMATES, LOGISTIC, SHARES, SOFTMAX, TEMPLATE, WOLF
from ._c_text import array, doubles, strings
from ._walks import MISSING, Walks, find_walks, take_base

_MOST_TERMS = 2**32 - 1


def export_c(model: Any, path: str | os.PathLike[str], *, name: str = "lhtree") -> None:
    """Write a model as one C99 file without dependencies or memory allocation.

    The file defines ``int <name>_predict(const double *x, double *probabilities)``, which returns the index of the
    class, or -1 if x contains an infinite value, and writes the K probabilities unless the pointer is NULL. For a
    regression it is ``double <name>_predict(const double *x)``, which returns the predicted number, or NaN if x
    contains an infinite value. In x, NaN means missing. A categorical column takes one input per category: 1 or 0, or
    NaN for all of them if the value is missing or unknown. Where a column has target statistics (see ``max_one_hot``),
    ``double <name>_look_up(int feature, const char *category)`` gives the input of a feature; NULL is a missing
    category. Indicators of missing values are computed, so their inputs are ignored. The arrays ``<name>_classes`` and
    ``<name>_features`` give the order. Results are bitwise equal to the model's; with ``-ffast-math`` they would not
    be, so the file does not compile with that flag.

    Parameters
    ----------
    model : classifier, regressor or Scorer
        Fitted model.
    path : str or path
        File to write.
    name : str, default="lhtree"
        Prefix of the public names in the file, so that a program can include several models.

    Examples
    --------
    >>> from pathlib import Path
    >>> from sklearn.datasets import load_wine
    >>> from lhtree import LHTClassifier, export_c
    >>> X, y = load_wine(return_X_y=True, as_frame=True)
    >>> model = LHTClassifier().fit(X, y)
    >>> export_c(model, "wine.c", name="wine")
    >>> "int wine_predict(const double *x, double *probabilities);" in Path("wine.c").read_text()
    True
    """
    fitted = read(model, takes_numbers=True)
    if not isinstance(name, str) or not re.fullmatch(r"[a-z][a-z0-9_]{0,30}", name):
        raise refuse(
            "name",
            name,
            "a C identifier: a lower-case letter, then lower-case letters, digits and _, at most 31 in total",
        )
    write_whole(path, _write(fitted, name).encode("ascii"))


def _write(fitted: Model, name: str) -> str:
    walks = find_walks(fitted, "C")
    n_shares = 0 if walks.shares is None else len(walks.shares.value)
    if max(len(walks.weights.value), len(walks.slopes.value), n_shares) > _MOST_TERMS:
        raise ValueError(
            "the model has more than 2**32 - 1 weights, slopes or shares: fit fewer or smaller trees."
        )
    feature = "uint16_t" if len(walks.planes) * fitted.n_features <= 2**16 else "uint32_t"
    known = {"name": name, "macro": name.upper()}
    columns = write_columns(fitted, known)
    reading = texts.IN_UNITS if walks.has_units else texts.NORMALISED
    known["real"] = reading["real"]
    planes = _fill_planes(fitted, walks, known["macro"])
    return Template(TEMPLATE).substitute(
        known,
        version=__version__,
        n_features=fitted.n_features,
        n_targets=fitted.n_targets,
        n_estimators=fitted.n_estimators,
        features=strings([check_text(text, "feature", "C") for text in fitted.feature_names]),
        centre=doubles("centre", fitted.normalisation.centre),
        scale="" if walks.has_units else doubles("scale", fitted.normalisation.scale) + "\n",
        row_meaning=reading["row_meaning"],
        add_weights=reading["add_weights"],
        fill_row=Template(reading["fill_row"]).substitute(known | columns, planes=planes),
        root=array("int32_t", "root", map(str, walks.root.tolist())),
        child=array("int32_t", "child", map(str, walks.child.ravel().tolist())),
        offset=doubles("offset", walks.offset),
        weight_start=array("uint32_t", "weight_start", map(str, walks.weights.ptr.tolist())),
        weight_feature=array(feature, "weight_feature", map(str, walks.weights.feature.tolist())),
        weight=doubles("weight", walks.weights.value)
        if walks.has_units
        else array("float", "weight", (f"{value}f" for value in walks.weights.value)),
        **_write_leaves(fitted, walks, feature),
        **columns,
        **_write_result(fitted, known),
        **(_write_wolf if fitted.link == "wolf" else _write_sums)(fitted, walks, known),
    )


def _write_result(fitted: Model, known: dict[str, str]) -> dict[str, str]:
    """What a prediction is, and the names of the classes."""
    if fitted.is_regression:
        return {
            "declaration": Template("double ${name}_predict(const double *x);").substitute(known),
            "result_meaning": "   Returns the predicted number, or NaN if x contains an infinite value.",
            "classes_head": "",
            "classes_body": "",
        }
    labels = strings([check_text(str(label), "class", "C") for label in find_labels(fitted, "C")])
    texts_of = {
        "declaration": "int ${name}_predict(const double *x, double *probabilities);",
        "result_meaning": texts.RESULT,
        "classes_head": texts.CLASSES_HEAD,
        "classes_body": texts.CLASSES_BODY,
    }
    facts = known | {"n_classes": str(fitted.n_classes), "classes": labels}
    return {name: Template(text).substitute(facts) for name, text in texts_of.items()}


def _write_leaves(fitted: Model, walks: Walks, feature: str) -> dict[str, str]:
    """What leaves hold, and how it is found."""
    if walks.shares is not None:
        parts, arrays = (
            SHARES,
            {
                "share_start": array("uint32_t", "share_start", map(str, walks.shares.ptr.tolist())),
                "share_class": array("uint32_t", "share_class", map(str, walks.shares.feature.tolist())),
                "share": doubles("share", walks.shares.value),
            },
        )
    else:
        is_bound = walks.bounds is not None
        parts, arrays = (
            ESTIMATES | ({"add_slopes": texts.IN_UNITS["add_slopes"]} if walks.has_units else {}),
            {
                "estimate_of": texts.IN_UNITS["estimate_of"] if walks.has_units else texts.ESTIMATE_OF,
                "leaf_meaning": "Memberships" if fitted.link == "wolf" else "Values",
                "intercept": doubles("intercept", walks.intercept),
                "slope_start": array("uint32_t", "slope_start", map(str, walks.slopes.ptr.tolist())),
                "slope_feature": array(feature, "slope_feature", map(str, walks.slopes.feature.tolist())),
                "slope": doubles("slope", walks.slopes.value),
                "bounds": ""
                if walks.bounds is None
                else "\n".join(map(doubles, ("low", "high"), walks.bounds)),
                "range": "low and high" if is_bound else "0 and 1",
                "least": "low[-1 - place]" if is_bound else "0.0",
                "most": "high[-1 - place]" if is_bound else "1.0",
            },
        )
    return {name: Template(text).substitute(arrays) for name, text in parts.items()}


def _write_wolf(fitted: Model, walks: Walks, known: dict[str, str]) -> dict[str, str]:
    """What only models of memberships and confidences have."""
    distance = {
        "last": "*d = y < 0.0 ? -y : y;",
        "path": "if ((y < 0.0 ? -y : y) < *d) *d = y < 0.0 ? -y : y;",
        None: "(void)d; /* always 1 */",
    }[fitted.confidence]
    return {
        "first_meaning": "the share of every class",
        "first": doubles("prior", fitted.prior),
        "confidence_meaning": ", and its confidence d",
        "confidence_argument": ", double *d",
        "distance": distance,
        "predict": _write_calibration(fitted, known)
        + Template(WOLF).substitute(
            known,
            kind="double" if walks.shares is None else "int32_t",
            found="mu" if walks.shares is None else "leaf",
            add=_ADD_SHARES if walks.shares is not None else _ADD_TWO if fitted.n_classes == 2 else _ADD,
            finish=Template(
                texts.DIVIDED if fitted.calibration is None else texts.CALIBRATED_SHARES
            ).substitute(known),
        ),
    }


def _write_sums(fitted: Model, walks: Walks, known: dict[str, str]) -> dict[str, str]:
    """What only models have whose trees add up values."""
    return {
        "first_meaning": "the raw scores before the first tree"
        if fitted.is_boosted
        else "0, to which trees add",
        "first": doubles("base", take_base(fitted)),
        "confidence_meaning": "",
        "confidence_argument": "",
        "distance": "",
        "predict": _write_number(fitted, walks, known)
        if fitted.is_regression
        else _write_boosted(fitted, walks, known),
    }


def _write_number(fitted: Model, walks: Walks, known: dict[str, str]) -> str:
    """The prediction of a regression."""
    values = {"mean": "sum / (double)n_estimators", "identity": "sum", "log": "exponential(sum)"}
    return (_write_exponential() if fitted.link == "log" else "") + Template(texts.NUMBER).substitute(
        known, n_planes=len(walks.planes), value=values[fitted.link]
    )


def _write_boosted(fitted: Model, walks: Walks, known: dict[str, str]) -> str:
    """The prediction of classes from raw scores."""
    link = LOGISTIC if fitted.link == "logistic" else SOFTMAX
    return (
        ("" if fitted.calibration else _write_exponential())
        + _write_calibration(fitted, known)
        + Template(BOOSTED).substitute(
            known, n_planes=len(walks.planes), link=texts.CALIBRATED if fitted.calibration else link
        )
    )


def _write_exponential() -> str:
    return Template(texts.EXPONENTIAL).substitute(
        tail=", ".join(map(repr, _exp.TAIL)),
        n_tail=len(_exp.TAIL),
        least_exponent=_exp.LEAST,
        largest_exponent=_exp.LARGEST,
    )


def _write_calibration(fitted: Model, known: dict[str, str]) -> str:
    """The function that calibrates probabilities; empty if the model does not."""
    calibration = fitted.calibration
    if calibration is None:
        return ""
    is_sigmoid = calibration.method == "sigmoid"
    start = "" if is_sigmoid else array("uint32_t", "knot_start", map(str, calibration.ptr.tolist()))
    knots = [start, doubles("knot_x", calibration.x), doubles("knot_y", calibration.y)]
    divide = "    own[0] = rest;" if fitted.n_classes == 2 else Template(texts.DIVIDE).substitute(known)
    return (_write_exponential() if is_sigmoid else "") + Template(texts.CALIBRATE).substitute(
        known,
        n_maps=calibration.n_maps,
        knots="\n".join(filter(None, knots)),
        one=texts.SIGMOID if is_sigmoid else texts.ISOTONIC,
        divide=divide,
    )


def _fill_planes(fitted: Model, walks: Walks, macro: str) -> str:
    """Lines that put a value into every plane."""
    clip = f"{np.float32(fitted.clip)}f"
    lines = [
        "z[f] = value;"
        if fitted.clip >= CLIP
        else f"z[f] = value > {clip} ? {clip} : value < -{clip} ? -{clip} : value;"
    ]
    for number, kind in enumerate(walks.planes[1:], 1):
        missing = MISSING[kind]
        value = "value" if missing == 0.0 else f"x[f] == x[f] ? value : {'-' * (missing < 0)}INFINITY"
        lines.append(f"z[{number} * {macro}_N_FEATURES + f] = {value};")
    return "\n".join(f"        {line}" for line in lines)


_ADD = """\
            wolf[target] += d * mu;
            membership[target] += mu;"""
_ADD_SHARES = """\
            uint32_t s;
            for (s = share_start[leaf]; s < share_start[leaf + 1]; ++s) {
                wolf[share_class[s]] += d * share[s];
                membership[share_class[s]] += share[s];
            }"""
_ADD_TWO = """\
            wolf[1] += d * mu;  /* one tree serves two classes */
            wolf[0] += d * (1.0 - mu);
            membership[1] += mu;
            membership[0] += 1.0 - mu;"""
