// Kernels of growing: its inner loops.
#pragma once
#include <cstddef>
#include <cstdint>

#include "lhtree/grow/rows/samples.hpp"
#include "lhtree/shared/dispatch.hpp"

namespace lhtree {

// Values on one side of a bound: what they weigh (weight = nullptr: 1 each), and the one nearest to the bound
// (infinitely far if there is none).
struct Side {
    double weight;
    double nearest;
};

// First and second derivative of a loss along one feature.
struct Curve {
    double slope, bend;
};

// Terms of a sum: columns of as many values as there are rows, and a slope each.
struct Terms {
    const double* const* columns;
    const double* slopes;
    std::size_t n_terms;
    double bias;
};

struct GrowKernels {
    // Feature sums (eq. 7) of rows: the term at position p goes to lane p mod 8, and the lanes are added as
    // ((l0+l4)+(l2+l6))+((l1+l5)+(l3+l7)). `n` is a multiple of 4: weights are padded with zeros, features
    // with anything in range. `features` is nullptr where position and feature agree.
    void (*feature_sums)(const float* weights, const std::int32_t* features, std::size_t n, Rows rows,
                         double* out);
    // By feature, in row order: adds the weighted sums and widens low and high …
    void (*sum_rows)(const WeightedRows& rows, double* sum, float* low, float* high);
    // … adds the weighted squared distances from the mean …
    void (*square_rows)(const WeightedRows& rows, const double* mean, double* squares);
    // … adds the products of the distances from the mean and a factor of every row …
    void (*product_rows)(Rows rows, const double* mean, const double* factor, double* products);
    // … adds the weighted products of those distances to the lower triangle of n_features rows of n_features;
    // `room` is for as many values.
    void (*scatter_rows)(const WeightedRows& rows, const double* mean, double* scatter, double* room);

    // Σ of the products of n values, a multiple of 8.
    double (*dot)(const double* first, const double* second, std::size_t n);
    // Σ first · z and Σ second · z² of n values, a multiple of 8.
    Curve (*curve)(const float* z, const double* first, const double* second, std::size_t n);
    // Σ weight · first · second of n values, a multiple of 8, for every pair of columns: the lower triangle
    // of `products`, each as dot of weight · first, and second. `room` is for eight times as many values.
    void (*weighted_products)(const double* const* columns, std::size_t n_columns, const double* weight,
                              std::size_t n, double* products, double* room);
    // Logistic loss Σ w ln(1 + e^∓f) of n rows, a multiple of 8, where side is 1 for f > 0 and 0 for f < 0;
    // f is the sum of the terms. Its derivatives by every f: w (p - side) and w p (1 - p).
    double (*logistic)(const Terms& terms, const double* weight, const double* side, std::size_t n,
                       double* slope, double* bend);
    // Least and largest of n values.
    void (*extremes)(const double* values, std::size_t n, double& low, double& high);
    // The values below, or above, a bound.
    Side (*below)(const double* values, const double* weight, std::size_t n, double bound);
    Side (*above)(const double* values, const double* weight, std::size_t n, double bound);
    // Cost of cutting sorted values behind each place, given the weights of the classes up to it; infinity
    // where the neighbours are equal or a side weighs less than min_samples_leaf. Returns the least.
    double (*gini_costs)(const double* values, const double* rest, const double* target, std::size_t n,
                         const double (&total)[2], double min_samples_leaf, double* cost);
    // Of n bins, with the weights of the classes before each (all of it behind the last, with slack): what a
    // cut inside or behind each costs at least (`is_exact`: behind it only). Returns the least cost of a cut
    // between bins.
    float (*gini_bounds)(const float* rest, const float* target, std::size_t n, float min_samples_leaf,
                         bool is_exact, float* bound);
};

LHTREE_DECLARE_KERNELS(GrowKernels, grow_kernels)

}  // namespace lhtree
