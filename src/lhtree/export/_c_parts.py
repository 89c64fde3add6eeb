"""Parts of a C file: literals, the outline of the file, and its texts per space and leaf type."""

from __future__ import annotations

import re
import textwrap
from collections.abc import Callable, Iterable
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from ._walks import Walks

_MOST_TEXT = 4095  # bytes of a string that every C99 compiler takes


def doubles(name: str, values: NDArray[np.float64]) -> str:
    return array("double", name, map(repr, values.tolist()))


def array(kind: str, name: str, values: Iterable[str]) -> str:
    """An array; C does not allow empty ones, so these get an unused 0."""
    lines = textwrap.wrap(", ".join(values) or "0", 100, break_long_words=False, break_on_hyphens=False)
    return "\n".join([f"static const {kind} {name}[] = {{", *(f"    {line}" for line in lines), "};"])


def strings(texts: list[str]) -> str:
    return "\n".join(f"    {quote(text)}," for text in texts)


def quote(text: str) -> str:
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
enum { n_targets = $n_targets, n_estimators = $n_estimators };

$row_meaning$first_meaning. */
$centre
$scale$first

/* A place is the number of a branching block, or -1 - that of a leaf: of every root, and of the left and the right
   child of every branching block. */
$root
$child

/* Hyperplanes of the branching blocks: feature sum - offset; a row goes left where that is below 0. */
$offset
$weight_start
$weight_feature
$weight

$leaves

$add_weights${add_slopes}$fill_row/* The $sought that a row comes to$confidence_meaning. */
static $kind walk(int32_t place, const $real *z$confidence_argument) {
${estimate}    while (place >= 0) {
        const double y = add_weights(place, z) - offset[place];
        $distance
        place = child[2 * place + (y < 0.0 ? 0 : 1)];
    }
$end
}

$look_up$predict"""

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
        z[f] = $x == $x ? $x : centre[f];
        if (z[f] > 1e100) z[f] = 1e100;
        if (z[f] < -1e100) z[f] = -1e100;
        if (z[f] < 1e-100 && z[f] > -1e-100) z[f] = 0.0;
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
    """A leaf type: its texts, the name of the result of a walk, and the arrays of all leaves."""

    texts: dict[str, str]
    found: str
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
/* Shares of the classes in the leaves. */
$share_start
$share_class
$share""",
    "add_slopes": "",
    "estimate": "",
    "end": "    return -1 - place;",
}

LEAVES = {"estimate": Leaf(ESTIMATES, "mu", _write_estimates), "shares": Leaf(SHARES, "leaf", _write_shares)}
