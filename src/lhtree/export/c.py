"""Export to one C99 file without dependencies or allocation, with the arithmetic of the core."""

from __future__ import annotations

import os
import re
from collections.abc import Callable
from dataclasses import dataclass
from string import Template
from typing import Any

import numpy as np
from numpy.typing import NDArray

from .. import __version__
from .._parameters import refuse
from .._write import write_whole
from ..model.model import CLIP, Model, read
from ..tables.labels import check_text
from ._c_links import LINKS, Wolf, array, doubles, strings, write_ensemble
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
    be, so the file does not compile with that flag. An ensemble, which needs ``pow``, is equal up to rounding.

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
    fitted = read(model, takes_numbers=True, takes_several=True)
    if not isinstance(name, str) or not re.fullmatch(r"[a-z][a-z0-9_]{0,30}", name):
        raise refuse(
            "name",
            name,
            "a C identifier: a lower-case letter, then lower-case letters, digits and _, at most 31 in total",
        )
    text = _write(fitted, name) if fitted.pool is None else write_ensemble(fitted, name, _write)
    write_whole(path, text.encode("ascii"))


def _write(fitted: Model, name: str, *, is_member: bool = False) -> str:
    """Return the text of the file; of a forest in an ensemble, with memberships instead of probabilities."""
    walks = find_walks(fitted)
    n_shares = 0 if walks.shares is None else len(walks.shares.value)
    if max(len(walks.weights.value), len(walks.slopes.value), n_shares) > _MOST_TERMS:
        raise ValueError(
            "the model has more than 2**32 - 1 weights, slopes or shares: fit fewer or smaller trees."
        )
    feature = "uint16_t" if len(walks.planes) * fitted.n_features <= 2**16 else "uint32_t"
    space, leaf, link = SPACES[walks.space], LEAVES[walks.leaf], LINKS[fitted.head.link]
    if is_member and isinstance(link, Wolf):
        link = Wolf(is_member=True)
    known = {"name": name, "macro": name.upper(), "real": space["real"]}
    known |= {"kind": leaf.texts["kind"], "found": leaf.found}
    known["add"] = leaf.add_pair if fitted.n_classes == 2 else leaf.add
    columns = _write_columns(fitted, known)
    planes = _fill_planes(fitted, walks, known["macro"])
    outputs = link.write(fitted, walks, known)
    cuts = walks.levels or walks
    leaves = leaf.write(walks) | {
        "range": "0 and 1" if walks.bounds is None else "low and high",
        "least": "0.0" if walks.bounds is None else "low[-1 - place]",
        "most": "1.0" if walks.bounds is None else "high[-1 - place]",
        "slope_feature": array(feature, "slope_feature", map(str, walks.slopes.feature.tolist())),
        "leaf_meaning": link.leaf_meaning,
        "share_meaning": "Values" if fitted.head.values_blocks else "Shares",
        "of_all": "outputs" if fitted.outputs else "classes",
        "estimate_of": space["estimate_of"],
    }
    return Template(TEMPLATE).substitute(
        known
        | {"add_slopes": space["add_slopes"]}
        | {part: Template(text).substitute(leaves) for part, text in leaf.texts.items()},
        version=__version__,
        n_features=fitted.n_features,
        sizes=_write_sizes(fitted),
        features=strings([check_text(text, "feature", "C") for text in fitted.feature_names]),
        centre=doubles("centre", fitted.normalisation.centre),
        scale=space["scale"] and doubles("scale", fitted.normalisation.scale) + "\n",
        row_meaning=space["row_meaning"],
        add_weights=space["add_weights"],
        fill_row=Template(space["fill_row"]).substitute(known | columns, planes=planes),
        trees=_write_trees(walks),
        descent=Template(LEVELS if walks.levels else BLOCKS).substitute(outputs),
        offset=doubles("offset", cuts.offset),
        weight_start=array("uint32_t", "weight_start", map(str, cuts.weights.ptr.tolist())),
        weight_feature=array(feature, "weight_feature", map(str, cuts.weights.feature.tolist())),
        weight=array(space["real"], "weight", (f"{value}{space['suffix']}" for value in cuts.weights.value)),
        **columns,
        **outputs,
    )


def _write_trees(walks: Walks) -> str:
    """Return the arrays of places, or of levels and their bits."""
    if walks.levels is None:
        arrays: dict[str, NDArray[Any]] = {"root": walks.root, "child": walks.child.ravel()}
        meaning = BLOCKS_MEANING
    else:
        starts = np.searchsorted(walks.levels.tree, np.arange(len(walks.root) + 1))
        arrays = {"level_start": starts, "bit": walks.levels.bit, "first_leaf": walks.levels.first_leaf}
        meaning = LEVELS_MEANING
    written = (array("int32_t", name, map(str, values.tolist())) for name, values in arrays.items())
    return "\n".join([meaning, *written])


def _write_sizes(fitted: Model) -> str:
    """Return the number of estimators and, where they are averaged, of the trees of each."""
    n_trees = "" if fitted.head.adds_rounds else f"n_targets = {fitted.n_targets}, "
    return f"enum {{ {n_trees}n_estimators = {fitted.n_estimators} }};"


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
    head = Template(LOOK_UP_HEAD).substitute(known) if look_up else ""
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
    return Template(LOOK_UP).substitute(known, levels="\n".join(levels), cases="\n".join(cases))


TEMPLATE = """\
/* A model exported by lhtree $version as C99: no library, no allocation, no state. Written by lhtree.export_c.

   $declaration

   x: ${macro}_N_FEATURES numbers, in the order of ${name}_features; NaN means missing.$computed_meaning
$result_meaning */

#include <math.h> /* INFINITY, no function */
#include <stddef.h>
#include <stdint.h>

#ifdef __FAST_MATH__
#error "compile without -ffast-math: missing values and the order of sums need IEEE arithmetic"
#endif
#if defined(__clang__)
#pragma STDC FP_CONTRACT OFF
#elif defined(__GNUC__) && !defined(__STRICT_ANSI__)
#pragma GCC optimize("fp-contract=off")
#endif

#define ${macro}_N_FEATURES $n_features

extern const char *const ${name}_features[${macro}_N_FEATURES];
$classes_head$declaration
$look_up_head
const char *const ${name}_features[${macro}_N_FEATURES] = {
$features
};
$classes_body
$sizes

$row_meaning$first_meaning. */
$centre
$scale$first

$trees

/* Hyperplanes: feature sum - offset; a row goes left where that is below 0. */
$offset
$weight_start
$weight_feature
$weight

$leaves

$add_weights${add_slopes}$fill_row/* The $sought that a row comes to$confidence_meaning. */
static $kind walk(int32_t tree, const $real *z$confidence_argument) {
${estimate}$descent
$end
}

$look_up$predict"""

# Trees of blocks with hyperplanes of their own.
BLOCKS = """\
    int32_t place = root[tree];
    while (place >= 0) {
        const double y = add_weights(place, z) - offset[place];
        $distance
        place = child[2 * place + (y < 0.0 ? 0 : 1)];
    }"""
BLOCKS_MEANING = """\
/* A place is the number of a branching block, or -1 - that of a leaf: of every root, and of the left and the right
   child of every branching block. */"""
# Symmetric trees, which have no confidence.
LEVELS = """\
    int32_t place = -1 - first_leaf[tree], level;
    for (level = level_start[tree]; level < level_start[tree + 1]; ++level)
        place -= add_weights(level, z) - offset[level] < 0.0 ? 0 : bit[level];
    $distance"""
LEVELS_MEANING = """\
/* Levels of symmetric trees: the blocks of a level share one hyperplane. The number of the leaf of a row is the first
   of the tree plus the bits of the levels where the row goes right. A place is -1 - that number. */"""

# Spaces: how values of a row are read and summed up. Normalised float32 values, in lanes.
NORMALISED = {
    "real": "float",
    "suffix": "f",
    "scale": "scale",
    "row_meaning": "/* z = (x - centre) / scale, and ",
    "add_weights": """\
/* The term at place p goes to lane p mod 8, and lanes are added in one order. */
static double add_lanes(const double *lane) {
    return ((lane[0] + lane[4]) + (lane[2] + lane[6])) + ((lane[1] + lane[5]) + (lane[3] + lane[7]));
}

static double add_weights(int32_t block, const float *z) {
    double lane[8] = {0.0, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0};
    const uint32_t first = weight_start[block], n = weight_start[block + 1] - first;
    uint32_t p;
    for (p = 0; p < n; ++p) {
        const double term = (double)weight[first + p] * (double)z[weight_feature[first + p]];
        lane[p % 8] += term;
    }
    return add_lanes(lane);
}

""",
    "fill_row": """\
static int normalise(const double *x, float *z) {
    uint32_t f;
    for (f = 0; f < ${macro}_N_FEATURES; ++f) {
        double quotient = 0.0;
        float value;
$given
        if ($x == $x) {
            if ($x - $x != 0.0) return 0; /* infinite */
            quotient = ($x - centre[f]) / scale[f];
            if (quotient > 1e30) quotient = 1e30;
            if (quotient < -1e30) quotient = -1e30;
        }
        value = (float)quotient;
$planes
    }
    return 1;
}

""",
    "add_slopes": """\
static double add_slopes(int32_t leaf, const float *z) {
    double lane[8] = {0.0, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0};
    const uint32_t first = slope_start[leaf], n = slope_start[leaf + 1] - first;
    uint32_t p;
    for (p = 0; p < n; ++p) {
        const double term = slope[first + p] * (double)z[slope_feature[first + p]];
        lane[p % 8] += term;
    }
    return add_lanes(lane);
}

""",
    "estimate_of": "intercept[-1 - place] + add_slopes(-1 - place, z)",
}
# Values in the user's units, from left to right.
IN_UNITS = {
    "real": "double",
    "suffix": "",
    "scale": "",
    "row_meaning": "/* What a missing value is replaced by, and ",
    "add_weights": """\
/* Terms are added from left to right. */
static double add_weights(int32_t block, const double *z) {
    double sum = 0.0;
    uint32_t p;
    for (p = weight_start[block]; p < weight_start[block + 1]; ++p) {
        const double term = weight[p] * z[weight_feature[p]];
        sum += term;
    }
    return sum;
}

""",
    "fill_row": """\
static int normalise(const double *x, double *z) {
    uint32_t f;
    for (f = 0; f < ${macro}_N_FEATURES; ++f) {
$given
        if ($x - $x != 0.0 && $x == $x) return 0; /* infinite */
        z[f] = $x;
        if (z[f] > 1e100) z[f] = 1e100;
        if (z[f] < -1e100) z[f] = -1e100;
        if (z[f] < 1e-100 && z[f] > -1e-100) z[f] = 0.0;
        if (z[f] != z[f]) z[f] = centre[f];
    }
    return 1;
}

""",
    "add_slopes": """\
static double add_slopes(int32_t leaf, const double *z) {
    double sum = intercept[leaf];
    uint32_t p;
    for (p = slope_start[leaf]; p < slope_start[leaf + 1]; ++p) {
        const double term = slope[p] * z[slope_feature[p]];
        sum += term;
    }
    return sum;
}

""",
    "estimate_of": "add_slopes(-1 - place, z)",
}
SPACES = {"normalised": NORMALISED, "units": IN_UNITS}

LOOK_UP_HEAD = """\
double ${name}_look_up(int feature, const char *category);
"""

LOOK_UP = """\
/* Categories in the order of their bytes, and their statistics: first those of unknown ones, then as the categories. */
$levels
static int compare(const char *a, const char *b) {
    while (*a && *a == *b) ++a, ++b;
    return (int)(unsigned char)*a - (int)(unsigned char)*b;
}

static double find(const char *const *known, int n, const double *value, const char *category) {
    int low = 0, high = n;
    if (category == NULL) return NAN;
    while (low < high) {
        const int middle = low + (high - low) / 2, side = compare(category, known[middle]);
        if (side == 0) return value[middle + 1];
        if (side < 0) high = middle;
        else low = middle + 1;
    }
    return value[0];
}

double ${name}_look_up(int feature, const char *category) {
    switch (feature) {
$cases
    }
    return NAN;
}

"""


@dataclass(frozen=True)
class Leaf:
    """A leaf type: its texts, and the function that writes the arrays of all leaves."""

    texts: dict[str, str]
    found: str  # name of the result of a walk
    add: str  # adds that to memberships
    add_pair: str  # the same for two classes
    write: Callable[[Walks], dict[str, str]]


def _write_estimates(walks: Walks) -> dict[str, str]:
    return {
        "intercept": doubles("intercept", walks.intercept),
        "slope_start": array("uint32_t", "slope_start", map(str, walks.slopes.ptr.tolist())),
        "slope": doubles("slope", walks.slopes.value),
        "bounds": "" if walks.bounds is None else "\n".join(map(doubles, ("low", "high"), walks.bounds)),
    }


def _write_shares(walks: Walks) -> dict[str, str]:
    assert walks.shares is not None
    return {
        "share_start": array("uint32_t", "share_start", map(str, walks.shares.ptr.tolist())),
        "share_class": array("uint32_t", "share_class", map(str, walks.shares.feature.tolist())),
        "share": doubles("share", walks.shares.value),
    }


# Leaves with an estimate for one target.
ESTIMATES = {
    "kind": "double",
    "sought": "estimate of the leaf",
    "leaves": """\
/* $leaf_meaning of the leaves: intercept + slopes times z, between $range. */
$intercept
$slope_start
$slope_feature
$slope
$bounds""",
    "estimate": "    double estimate;\n",
    "end": """\
    estimate = $estimate_of;
    return estimate < $least ? $least : estimate > $most ? $most : estimate;""",
}
# Leaves with shares of all classes.
SHARES = {
    "kind": "int32_t",
    "sought": "number of the leaf",
    "leaves": """\
/* $share_meaning of the $of_all in the leaves. */
$share_start
$share_class
$share""",
    "add_slopes": "",
    "estimate": "",
    "end": "    return -1 - place;",
}

ADD = """\
            wolf[target] += d * mu;
            membership[target] += mu;"""

ADD_SHARES = """\
            uint32_t s;
            for (s = share_start[leaf]; s < share_start[leaf + 1]; ++s) {
                wolf[share_class[s]] += d * share[s];
                membership[share_class[s]] += share[s];
            }"""

ADD_TWO = """\
            wolf[1] += d * mu;  /* one tree serves two classes */
            wolf[0] += d * (1.0 - mu);
            membership[1] += mu;
            membership[0] += 1.0 - mu;"""

LEAVES = {
    "estimate": Leaf(ESTIMATES, "mu", ADD, ADD_TWO, _write_estimates),
    "shares": Leaf(SHARES, "leaf", ADD_SHARES, ADD_SHARES, _write_shares),
}
