"""A model as one C99 file: no dependencies, no allocation, bitwise the same arithmetic as the core."""

from __future__ import annotations

import os
import re
import textwrap
from string import Template
from typing import Any

import numpy as np
from numpy.typing import NDArray

from .. import __version__
from .._parameters import refuse
from .._write import write_whole
from ..model import CLIP, Model, read
from . import _exp
from ._c_template import BOOSTED, LOGISTIC, SOFTMAX, TEMPLATE, WOLF
from ._labels import check_text, find_labels
from ._walks import MISSING, Walks, find_walks

_MOST_TEXT = 4095  # bytes of a string that every C99 compiler takes
_MOST_TERMS = 2**32 - 1


def export_c(model: Any, path: str | os.PathLike[str], *, name: str = "lhtree") -> None:
    """Write a model as one C99 file without dependencies or memory allocation.

    The file defines ``int <name>_predict(const double *x, double *probabilities)``, which returns the index of the
    class, or -1 if x contains an infinite value, and writes the K probabilities unless the pointer is NULL. NaN means
    missing. A categorical column takes one input per category: 1 or 0, or NaN for all of them if the value is missing
    or unknown. The arrays ``<name>_classes`` and ``<name>_features`` give the order. Results are bitwise equal to the
    model's; with ``-ffast-math`` they would not be, so the file does not compile with that flag.

    Parameters
    ----------
    model : LHTClassifier, LHForestClassifier or LHBoostClassifier
        Fitted model.
    path : str or path
        File to write.
    name : str, default="lhtree"
        Prefix of the public names in the file, so that a program can include several models.
    """
    fitted = read(model)
    if not isinstance(name, str) or not re.fullmatch(r"[a-z][a-z0-9_]{0,30}", name):
        raise refuse(
            "name",
            name,
            "a C identifier: a lower-case letter, then lower-case letters, digits and _, at most 31 in total",
        )
    write_whole(path, _write(fitted, name).encode("ascii"))


def _write(fitted: Model, name: str) -> str:
    walks = find_walks(fitted, "C")
    if max(len(walks.weights.value), len(walks.slopes.value)) > _MOST_TERMS:
        raise ValueError("the model has more than 2**32 - 1 weights or slopes: fit fewer or smaller trees.")
    labels = [str(label) for label in find_labels(fitted, "C")]
    feature = "uint16_t" if len(walks.planes) * fitted.n_features <= 2**16 else "uint32_t"
    known = {"name": name, "macro": name.upper()}
    return Template(TEMPLATE).substitute(
        known,
        version=__version__,
        n_features=fitted.n_features,
        n_classes=fitted.n_classes,
        n_targets=fitted.n_targets,
        n_estimators=fitted.n_estimators,
        features=_strings([check_text(text, "feature", "C") for text in fitted.feature_names]),
        classes=_strings([check_text(text, "class", "C") for text in labels]),
        centre=_doubles("centre", fitted.normalisation.centre),
        scale=_doubles("scale", fitted.normalisation.scale),
        root=_array("int32_t", "root", map(str, walks.root.tolist())),
        child=_array("int32_t", "child", map(str, walks.child.ravel().tolist())),
        offset=_doubles("offset", walks.offset),
        weight_start=_array("uint32_t", "weight_start", map(str, walks.weights.ptr.tolist())),
        weight_feature=_array(feature, "weight_feature", map(str, walks.weights.feature.tolist())),
        weight=_array("float", "weight", (f"{value}f" for value in walks.weights.value)),
        intercept=_doubles("intercept", walks.intercept),
        slope_start=_array("uint32_t", "slope_start", map(str, walks.slopes.ptr.tolist())),
        slope_feature=_array(feature, "slope_feature", map(str, walks.slopes.feature.tolist())),
        slope=_doubles("slope", walks.slopes.value),
        bounds="" if walks.bounds is None else "\n".join(map(_doubles, ("low", "high"), walks.bounds)),
        range="0 and 1" if walks.bounds is None else "low and high",
        least="0.0" if walks.bounds is None else "low[-1 - place]",
        most="1.0" if walks.bounds is None else "high[-1 - place]",
        planes=_fill_planes(fitted, walks, known["macro"]),
        **(_write_wolf(fitted, known) if fitted.base is None else _write_boosted(fitted, walks, known)),
    )


def _write_wolf(fitted: Model, known: dict[str, str]) -> dict[str, str]:
    """What only models of memberships and confidences have."""
    distance = {
        "last": "*d = y < 0.0 ? -y : y;",
        "path": "if ((y < 0.0 ? -y : y) < *d) *d = y < 0.0 ? -y : y;",
        None: "(void)d; /* always 1 */",
    }[fitted.confidence]
    return {
        "first_meaning": "the share of every class",
        "first": _doubles("prior", fitted.prior),
        "leaf_meaning": "Memberships",
        "confidence_meaning": ", and its confidence d",
        "confidence_argument": ", double *d",
        "distance": distance,
        "predict": Template(WOLF).substitute(known, add=_ADD_TWO if fitted.n_classes == 2 else _ADD),
    }


def _write_boosted(fitted: Model, walks: Walks, known: dict[str, str]) -> dict[str, str]:
    """What only boosted models have."""
    assert fitted.base is not None
    return {
        "first_meaning": "the raw scores before the first tree",
        "first": _doubles("base", fitted.base),
        "leaf_meaning": "Values",
        "confidence_meaning": "",
        "confidence_argument": "",
        "distance": "",
        "predict": Template(BOOSTED).substitute(
            known,
            tail=", ".join(map(repr, _exp.TAIL)),
            n_tail=len(_exp.TAIL),
            least_exponent=_exp.LEAST,
            n_planes=len(walks.planes),
            link=LOGISTIC if fitted.link == "logistic" else SOFTMAX,
        ),
    }


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
_ADD_TWO = """\
            wolf[1] += d * mu;  /* one tree serves two classes */
            wolf[0] += d * (1.0 - mu);
            membership[1] += mu;
            membership[0] += 1.0 - mu;"""


def _doubles(name: str, values: NDArray[np.float64]) -> str:
    return _array("double", name, map(repr, values.tolist()))


def _array(kind: str, name: str, values: Any) -> str:
    """An array; C does not allow empty ones, so these get an unused 0."""
    lines = textwrap.wrap(", ".join(values) or "0", 100, break_long_words=False, break_on_hyphens=False)
    return "\n".join([f"static const {kind} {name}[] = {{", *(f"    {line}" for line in lines), "};"])


def _strings(texts: list[str]) -> str:
    return "\n".join(f"    {_quote(text)}," for text in texts)


def _quote(text: str) -> str:
    """Text as a C string in UTF-8; bytes other than plain characters as octal escapes."""
    data = text.encode()
    if len(data) > _MOST_TEXT:
        raise ValueError(
            f"the name {text[:20]!r}... has {len(data)} bytes, but C99 allows {_MOST_TEXT}: shorten it."
        )
    plain = re.compile(
        rb"[A-Za-z0-9 _.,:;=+*/()<>\[\]{}'!#$%&@^`|~-]"
    )  # no quotes, backslashes and trigraphs
    return '"' + "".join(chr(b) if plain.match(bytes([b])) else f"\\{b:03o}" for b in data) + '"'
