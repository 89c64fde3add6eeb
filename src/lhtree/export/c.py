"""Export to one C99 file without dependencies or allocation, with the arithmetic of the core."""

from __future__ import annotations

import os
import re
from string import Template
from typing import Any

import numpy as np

from .. import __version__
from .._parameters import refuse
from .._write import write_whole
from ..model.labels import check_text
from ..model.model import CLIP, Model, read
from . import _c_parts as parts
from ._c_links import LINKS
from ._c_parts import array, doubles, strings
from ._walks import MISSING, Walks, find_walks

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
    """Return the text of the file."""
    walks = find_walks(fitted)
    n_shares = 0 if walks.shares is None else len(walks.shares.value)
    if max(len(walks.weights.value), len(walks.slopes.value), n_shares) > _MOST_TERMS:
        raise ValueError(
            "the model has more than 2**32 - 1 weights, slopes or shares: fit fewer or smaller trees."
        )
    feature = "uint16_t" if len(walks.planes) * fitted.n_features <= 2**16 else "uint32_t"
    space, leaf, link = parts.SPACES[walks.space], parts.LEAVES[walks.leaf], LINKS[fitted.head.link]
    known = {"name": name, "macro": name.upper(), "real": space["real"]}
    known |= {"kind": leaf.texts["kind"], "found": leaf.found}
    columns = _write_columns(fitted, known)
    planes = _fill_planes(fitted, walks, known["macro"])
    leaves = leaf.write(walks) | {
        "range": "0 and 1" if walks.bounds is None else "low and high",
        "least": "0.0" if walks.bounds is None else "low[-1 - place]",
        "most": "1.0" if walks.bounds is None else "high[-1 - place]",
        "slope_feature": array(feature, "slope_feature", map(str, walks.slopes.feature.tolist())),
        "leaf_meaning": link.leaf_meaning,
        "estimate_of": space["estimate_of"],
    }
    return Template(parts.TEMPLATE).substitute(
        known
        | {"add_slopes": space["add_slopes"]}
        | {part: Template(text).substitute(leaves) for part, text in leaf.texts.items()},
        version=__version__,
        n_features=fitted.n_features,
        n_targets=fitted.n_targets,
        n_estimators=fitted.n_estimators,
        features=strings([check_text(text, "feature", "C") for text in fitted.feature_names]),
        centre=doubles("centre", fitted.normalisation.centre),
        scale=space["scale"] and doubles("scale", fitted.normalisation.scale) + "\n",
        row_meaning=space["row_meaning"],
        add_weights=space["add_weights"],
        fill_row=Template(space["fill_row"]).substitute(known | columns, planes=planes),
        root=array("int32_t", "root", map(str, walks.root.tolist())),
        child=array("int32_t", "child", map(str, walks.child.ravel().tolist())),
        offset=doubles("offset", walks.offset),
        weight_start=array("uint32_t", "weight_start", map(str, walks.weights.ptr.tolist())),
        weight_feature=array(feature, "weight_feature", map(str, walks.weights.feature.tolist())),
        weight=array(space["real"], "weight", (f"{value}{space['suffix']}" for value in walks.weights.value)),
        **columns,
        **link.write(fitted, walks, known),
    )


def _fill_planes(fitted: Model, walks: Walks, macro: str) -> str:
    """Return the lines that put a value into every plane."""
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


_INDICATED = "const double given = is_indicator[f] ? (x[f - 1] == x[f - 1] ? 0.0 : 1.0) : x[f];"


def _write_columns(fitted: Model, known: dict[str, str]) -> dict[str, str]:
    """Return the parts of the file that depend on how columns become features."""
    is_indicator, columns = fitted.encoding.is_indicator, {"x": "x[f]", "given": ""}
    meaning = flags = ""
    if is_indicator.any():
        flags = array("uint8_t", "is_indicator", map(str, is_indicator.astype(int).tolist())) + "\n"
        columns |= {"x": "given", "given": f"        {_INDICATED}"}
        meaning += "\n      Indicators of missing values are computed: what is passed for them is ignored."
    if fitted.encoding.counted:
        meaning += f"\n      {known['name']}_look_up gives the numbers of columns with target statistics."
    look_up = _write_look_up(fitted, known)
    head = Template(parts.LOOK_UP_HEAD).substitute(known) if look_up else ""
    return columns | {"computed_meaning": meaning, "look_up_head": head + flags, "look_up": look_up}


def _write_look_up(fitted: Model, known: dict[str, str]) -> str:
    """Return the function that gives statistics of categories; empty if no column has any."""
    levels, cases = [], []
    for column in fitted.encoding.counted:
        statistic = fitted.encoding.statistic_of(column)
        assert statistic is not None
        texts = [check_text(str(category), "category", "C") for category in statistic.categories]
        order = np.array(sorted(range(len(texts)), key=lambda i: texts[i].encode()), dtype=np.int64)
        listed = strings([texts[i] for i in order])
        levels.append(f"static const char *const level_{column}[] = {{\n{listed}\n}};")
        for feature, values in enumerate(statistic.values, int(fitted.encoding.ptr[column])):
            levels.append(doubles(f"statistic_{feature}", np.append(values[-1], values[order])))
            cases.append(
                f"    case {feature}: return find(level_{column}, {len(texts)}, statistic_{feature}, category);"
            )
    if not cases:
        return ""
    return Template(parts.LOOK_UP).substitute(known, levels="\n".join(levels), cases="\n".join(cases))
