"""The text of an exported C file."""

TEMPLATE = """\
/* A model exported by lhtree $version as C99: no library, no allocation, no state. Written by lhtree.export_c.

   int ${name}_predict(const double *x, double *probabilities);

   x: ${macro}_N_FEATURES numbers, in the order of ${name}_features; NaN means missing.
   probabilities: receives ${macro}_N_CLASSES numbers, in the order of ${name}_classes; may be NULL.
   Returns the index of the class, or -1 if x contains an infinite value (then nothing is written). */

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

/* z = (x - centre) / scale, and the share of each class in the training data. */
$centre
$scale
$prior

/* A place is the number of a branching block, or -1 - that of a leaf: of every root, and of the left and the right
   child of every branching block. */
$root
$child

/* Hyperplanes of the branching blocks: feature sum - offset; a row goes left where that is below 0. */
$offset
$weight_start
$weight_feature
$weight

/* Memberships of the leaves: intercept + slopes times z, between 0 and 1 or low and high. */
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
        if (x[f] == x[f]) {
            if (x[f] - x[f] != 0.0) return 0; /* infinite */
            quotient = (x[f] - centre[f]) / scale[f];
            if (quotient > 1e30) quotient = 1e30;
            if (quotient < -1e30) quotient = -1e30;
        }
        z[f] = (float)quotient;
    }
    return 1;
}

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
            int32_t place = root[i * n_targets + target];
            double d = 1.0, mu;
            while (place >= 0) {
                const double y = add_weights(place, z) - offset[place];
                $distance
                place = child[2 * place + (y < 0.0 ? 0 : 1)];
            }
            if (d > 1.0) d = 1.0;
            mu = intercept[-1 - place] + add_slopes(-1 - place, z);
            mu = mu < $least ? $least : mu > $most ? $most : mu;
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
