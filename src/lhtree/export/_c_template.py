"""The text of an exported C file."""

TEMPLATE = """\
/* A model exported by lhtree $version as C99: no library, no allocation, no state. Written by lhtree.export_c.

   int ${name}_predict(const double *x, double *probabilities);

   x: ${macro}_N_FEATURES numbers, in the order of ${name}_features; NaN means missing.
   probabilities: receives ${macro}_N_CLASSES numbers, in the order of ${name}_classes; may be NULL.
   Returns the index of the class, or -1 if x contains an infinite value (then nothing is written). */

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
#define ${macro}_N_CLASSES $n_classes

extern const char *const ${name}_features[${macro}_N_FEATURES];
extern const char *const ${name}_classes[${macro}_N_CLASSES];
int ${name}_predict(const double *x, double *probabilities);

const char *const ${name}_features[${macro}_N_FEATURES] = {
$features
};
const char *const ${name}_classes[${macro}_N_CLASSES] = {
$classes
};

enum { n_targets = $n_targets, n_estimators = $n_estimators };

/* z = (x - centre) / scale, and $first_meaning. */
$centre
$scale
$first

/* A place is the number of a branching block, or -1 - that of a leaf: of every root, and of the left and the right
   child of every branching block. */
$root
$child

/* Hyperplanes of the branching blocks: feature sum - offset; a row goes left where that is below 0. */
$offset
$weight_start
$weight_feature
$weight

/* $leaf_meaning of the leaves: intercept + slopes times z, between $range. */
$intercept
$slope_start
$slope_feature
$slope
$bounds

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

static int normalise(const double *x, float *z) {
    uint32_t f;
    for (f = 0; f < ${macro}_N_FEATURES; ++f) {
        double quotient = 0.0;
        float value;
        if (x[f] == x[f]) {
            if (x[f] - x[f] != 0.0) return 0; /* infinite */
            quotient = (x[f] - centre[f]) / scale[f];
            if (quotient > 1e30) quotient = 1e30;
            if (quotient < -1e30) quotient = -1e30;
        }
        value = (float)quotient;
$planes
    }
    return 1;
}

/* The estimate of the leaf that a row comes to$confidence_meaning. */
static double walk(int32_t place, const float *z$confidence_argument) {
    double estimate;
    while (place >= 0) {
        const double y = add_weights(place, z) - offset[place];
        $distance
        place = child[2 * place + (y < 0.0 ? 0 : 1)];
    }
    estimate = intercept[-1 - place] + add_slopes(-1 - place, z);
    return estimate < $least ? $least : estimate > $most ? $most : estimate;
}

$predict"""

WOLF = """\
static int is_zero(const double *scores) {
    int c;
    for (c = 0; c < ${macro}_N_CLASSES; ++c)
        if (scores[c] != 0.0) return 0;
    return 1;
}

int ${name}_predict(const double *x, double *probabilities) {
    float z[${macro}_N_FEATURES];
    double wolf[${macro}_N_CLASSES], membership[${macro}_N_CLASSES], total = 0.0;
    const double *scores = wolf;
    int i, c, target, best = 0;
    if (!normalise(x, z)) return -1;
    for (c = 0; c < ${macro}_N_CLASSES; ++c) wolf[c] = membership[c] = 0.0;
    for (i = 0; i < n_estimators; ++i)
        for (target = 0; target < n_targets; ++target) {
            double d = 1.0;
            const double mu = walk(root[i * n_targets + target], z, &d);
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
    if (probabilities != NULL)
        for (c = 0; c < ${macro}_N_CLASSES; ++c) probabilities[c] = scores[c] / total;
    return best;
}
"""

BOOSTED = """\
/* e^x from additions, multiplications and bits in a fixed order, the same on every machine; x is at most 0. */
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

int ${name}_predict(const double *x, double *probabilities) {
    float z[$n_planes * ${macro}_N_FEATURES];
    double raw[n_targets];
    int i, target;
    if (!normalise(x, z)) return -1;
    for (target = 0; target < n_targets; ++target) raw[target] = base[target];
    for (i = 0; i < n_estimators; ++i)
        for (target = 0; target < n_targets; ++target) raw[target] += walk(root[i * n_targets + target], z);
$link
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
