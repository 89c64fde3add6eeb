// Kernels of growing: its inner loops.
#pragma once
#include <cstddef>
#include <cstdint>

#include "lhtree/grow/rows/samples.hpp"
#include "lhtree/shared/dispatch.hpp"

namespace lhtree {

// Values on one side of a bound: their weight, and the one nearest to the bound (none: ±infinity).
struct Side {
    double weight;
    double nearest;
};

// First and second derivative of a loss along one feature.
struct Curve {
    double slope, bend;
};

// Terms of a sum: columns with a value per row, and a slope each.
struct Terms {
    const double* const* columns;
    const double* slopes;
    std::size_t n_terms;
    double bias;
};

// Rows whose distances scatter_rows keeps in its room: few enough to stay in the first-level cache.
constexpr std::size_t scatter_strip(std::size_t n_features) {
    return std::max<std::size_t>(8, 1024 / padded(n_features));
}
constexpr std::size_t scatter_room(std::size_t n_features) {
    return 2 * scatter_strip(n_features) * padded(n_features);
}

struct GrowKernels {
    // Writes feature sums (eq. 7) of rows: the term at position p goes to lane p mod 8, and the lanes are
    // added as ((l0+l4)+(l2+l6))+((l1+l5)+(l3+l7)). `n` is a multiple of 4: weights are padded with zeros,
    // features with any valid feature. `features` is nullptr if position and feature agree.
    void (*feature_sums)(const float* weights, const std::int32_t* features, std::size_t n, Rows rows,
                         double* out);
    // Adds, per feature and in row order, the weighted sums, and updates low and high.
    void (*sum_rows)(const WeightedRows& rows, double* sum, float* low, float* high);
    // Adds the weighted squared distances from the mean.
    void (*square_rows)(const WeightedRows& rows, const double* mean, double* squares);
    // Adds the products of the distances from the mean and a factor per row.
    void (*product_rows)(Rows rows, const double* mean, const double* factor, double* products);
    // Adds the weighted products of distances to a lower triangle. `mean` is padded; `room` has scatter_room
    // values.
    void (*scatter_rows)(const WeightedRows& rows, const double* mean, double* scatter, double* room);
    // Subtracts from row j of a square of n rows, from column j on, the earlier rows, in order, times their
    // value in column j.
    void (*subtract_products)(double* square, std::size_t n, std::size_t j);

    // Returns Σ first · second of n values, a multiple of 8.
    double (*dot)(const double* first, const double* second, std::size_t n);
    // Returns Σ first · z and Σ second · z² of n values, a multiple of 8.
    Curve (*curve)(const float* z, const double* first, const double* second, std::size_t n);
    // Writes Σ weight · first · second of n values, a multiple of 8, for every pair of columns: the lower
    // triangle of `products`, with the bits of dot(weight · first, second). `room` is eight times as large.
    void (*weighted_products)(const double* const* columns, std::size_t n_columns, const double* weight,
                              std::size_t n, double* products, double* room);
    // Returns the logistic loss Σ w ln(1 + e^∓f) of n rows, a multiple of 8; side is 1 for rows that should
    // have f > 0, else 0; f is the sum of the terms. Writes its derivatives by f: w (p - side), w p (1 - p).
    double (*logistic)(const Terms& terms, const double* weight, const double* side, std::size_t n,
                       double* slope, double* bend);
    // Writes the least and the largest of n values.
    void (*extremes)(const double* values, std::size_t n, double& low, double& high);
    // Measure the values below or above a bound (weight = nullptr: 1 each).
    Side (*below)(const double* values, const double* weight, std::size_t n, double bound);
    Side (*above)(const double* values, const double* weight, std::size_t n, double bound);
    // Writes the cost of a cut behind each sorted value, given the weights of the classes up to it: infinity
    // if the neighbours are equal or a side weighs less than min_samples_leaf. Returns the least cost.
    double (*gini_costs)(const double* values, const double* rest, const double* target, std::size_t n,
                         const double (&total)[2], double min_samples_leaf, double* cost);
    // Writes a lower bound of the cost of cuts inside and behind each of n bins (`is_exact`: behind it only),
    // given the weights of the classes before each bin and in total, with slack. Returns the least cost
    // between bins.
    float (*gini_bounds)(const float* rest, const float* target, std::size_t n, float min_samples_leaf,
                         bool is_exact, float* bound);
};

LHTREE_DECLARE_KERNELS(GrowKernels, grow_kernels)

}  // namespace lhtree
