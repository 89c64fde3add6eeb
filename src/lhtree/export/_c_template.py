"""The text of an exported C file."""

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

# How a row is read, and sums of its values: normalised float32 values, in lanes …
NORMALISED = {
    "real": "float",
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
}
# … or values in the user's units, from left to right.
IN_UNITS = {
    "real": "double",
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

RESULT = """\
   probabilities: receives ${macro}_N_CLASSES numbers, in the order of ${name}_classes; may be NULL.
   Returns the index of the class, or -1 if x contains an infinite value (then nothing is written)."""

CLASSES_HEAD = """\
#define ${macro}_N_CLASSES $n_classes
extern const char *const ${name}_classes[${macro}_N_CLASSES];
"""

CLASSES_BODY = """\
const char *const ${name}_classes[${macro}_N_CLASSES] = {
$classes
};
"""

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

ESTIMATE_OF = "intercept[-1 - place] + add_slopes(-1 - place, z)"

# Leaves with an estimate, of one target each …
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
    "estimate": "    double estimate;\n",
    "end": """\
    estimate = $estimate_of;
    return estimate < $least ? $least : estimate > $most ? $most : estimate;""",
}
# … or with shares of all classes.
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

WOLF = """\
static int is_zero(const double *scores) {
    int c;
    for (c = 0; c < ${macro}_N_CLASSES; ++c)
        if (scores[c] != 0.0) return 0;
    return 1;
}

int ${name}_predict(const double *x, double *probabilities) {
    $real z[${macro}_N_FEATURES];
    double wolf[${macro}_N_CLASSES], membership[${macro}_N_CLASSES], total = 0.0;
    const double *scores = wolf;
    int i, c, target, best = 0;
    if (!normalise(x, z)) return -1;
    for (c = 0; c < ${macro}_N_CLASSES; ++c) wolf[c] = membership[c] = 0.0;
    for (i = 0; i < n_estimators; ++i)
        for (target = 0; target < n_targets; ++target) {
            double d = 1.0;
            const $kind $found = walk(root[i * n_targets + target], z, &d);
            if (d > 1.0) d = 1.0;
$add
        }
    for (c = 0; c < ${macro}_N_CLASSES; ++c) {
        wolf[c] /= (double)n_estimators;
        membership[c] /= (double)n_estimators;
    }
    if (is_zero(scores)) scores = membership;
    if (is_zero(scores)) scores = prior;
    for (c = 0; c < ${macro}_N_CLASSES; ++c) {
        if (scores[c] > scores[best]) best = c;
        total += scores[c];
    }
$finish
}
"""

DIVIDED = """\
    if (probabilities != NULL)
        for (c = 0; c < ${macro}_N_CLASSES; ++c) probabilities[c] = scores[c] / total;
    return best;"""

CALIBRATED_SHARES = """\
    (void)best;
    for (c = 0; c < ${macro}_N_CLASSES; ++c) wolf[c] = scores[c] / total;
    return calibrate(wolf + (${macro}_N_CLASSES - n_maps), probabilities);"""

EXPONENTIAL = """\
/* e^x from additions, multiplications and bits in a fixed order, the same on every machine. */
static double from_bits(uint64_t bits) {
    union {
        uint64_t bits;
        double value;
    } both;
    both.bits = bits;
    return both.value;
}

static double exponential(double x) {
    static const double coefficient[] = {$tail};
    const double rounder = 0x1.8p52;
    double rounded, k, high, low, r, tail, power;
    int64_t whole, half;
    int i;
    if (x < $least_exponent) x = $least_exponent;
    if (x > $largest_exponent) x = $largest_exponent;
    rounded = x * 0x1.71547652b82fep0 + rounder;
    k = rounded - rounder; /* x = k ln 2 + r */
    high = x - k * 0x1.62e42feep-1;
    low = k * 0x1.a39ef35793c76p-33;
    r = high - low;
    tail = coefficient[0];
    for (i = 1; i < $n_tail; ++i) tail = tail * r + coefficient[i];
    power = 1.0 + (high + (r * r * tail - low));
    whole = (int64_t)k;
    half = whole / 2;
    return power * from_bits((uint64_t)(half + 1023) << 52) * from_bits((uint64_t)(whole - half + 1023) << 52);
}

"""

BOOSTED = """\
int ${name}_predict(const double *x, double *probabilities) {
    $real z[$n_planes * ${macro}_N_FEATURES];
    double raw[n_targets];
    int i, target;
    if (!normalise(x, z)) return -1;
    for (target = 0; target < n_targets; ++target) raw[target] = base[target];
    for (i = 0; i < n_estimators; ++i)
        for (target = 0; target < n_targets; ++target) raw[target] += walk(root[i * n_targets + target], z);
$link
}
"""

NUMBER = """\
double ${name}_predict(const double *x) {
    $real z[$n_planes * ${macro}_N_FEATURES];
    double sum = base[0];
    int i;
    if (!normalise(x, z)) return NAN;
    for (i = 0; i < n_estimators; ++i) sum += walk(root[i], z);
    return $value;
}
"""

LOGISTIC = """\
    i = raw[0] > 0.0;
    if (probabilities != NULL) {
        const double e = exponential(i ? -raw[0] : raw[0]);
        probabilities[i] = 1.0 / (1.0 + e);
        probabilities[1 - i] = e / (1.0 + e);
    }
    return i;"""

SOFTMAX = """\
    for (i = 0, target = 1; target < n_targets; ++target)
        if (raw[target] > raw[i]) i = target;
    if (probabilities != NULL) {
        double total = 0.0;
        for (target = 0; target < n_targets; ++target) {
            probabilities[target] = exponential(raw[target] - raw[i]);
            total += probabilities[target];
        }
        for (target = 0; target < n_targets; ++target) probabilities[target] /= total;
    }
    return i;"""

CALIBRATED = "    return calibrate(raw, probabilities);"

SIGMOID = """\
static double calibrate_one(int target, double score, double *rest) {
    const double raw = knot_x[target] * score + knot_y[target];
    const double e = exponential(raw > 0.0 ? -raw : raw);
    *rest = raw > 0.0 ? e / (1.0 + e) : 1.0 / (1.0 + e);
    return raw > 0.0 ? 1.0 / (1.0 + e) : e / (1.0 + e);
}
"""

ISOTONIC = """\
static double calibrate_one(int target, double score, double *rest) {
    uint32_t k = knot_start[target];
    const uint32_t last = knot_start[target + 1] - 1;
    double value = knot_y[k];
    if (score > knot_x[k]) {
        while (k < last && !(score < knot_x[k + 1])) ++k;
        value = knot_y[k];
        if (k < last) value += (score - knot_x[k]) / (knot_x[k + 1] - knot_x[k]) * (knot_y[k + 1] - knot_y[k]);
    }
    *rest = 1.0 - value;
    return value;
}
"""

CALIBRATE = """\
/* Calibrated probabilities: a map of the score of the second of two classes, or of every class. */
enum { n_maps = $n_maps };
$knots

$one
static int calibrate(const double *scores, double *probabilities) {
    double own[${macro}_N_CLASSES], total = 0.0, rest = 0.0;
    int c, target, best = 0;
    for (target = 0; target < n_maps; ++target)
        own[${macro}_N_CLASSES - n_maps + target] = calibrate_one(target, scores[target], &rest);
$divide
    (void)total;
    for (c = 0; c < ${macro}_N_CLASSES; ++c) {
        if (own[c] > own[best]) best = c;
        if (probabilities != NULL) probabilities[c] = own[c];
    }
    return best;
}

"""

DIVIDE = """\
    for (c = 0; c < ${macro}_N_CLASSES; ++c) total += own[c];
    for (c = 0; c < ${macro}_N_CLASSES; ++c)
        own[c] = total == 0.0 ? 1.0 / (double)${macro}_N_CLASSES : own[c] / total;"""
