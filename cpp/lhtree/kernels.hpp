// The inner loops, compiled once for every instruction set and chosen at run time.
//
// Every kernel fixes its order of summation, and the core is compiled without contraction, so all versions
// give the same bits: a row takes the same way in growing and in scoring, on every machine.
#pragma once
#include <cstddef>
#include <cstdint>

#include "lhtree/matrix.hpp"
#include "lhtree/options.hpp"
#include "lhtree/pack.hpp"

namespace lhtree {

// Where a walk begins, and the number it has among all walks.
struct Start {
    Ref ref;
    std::uint32_t slot;
    const float* z;
};
// Rows that have come to one block together: n of WalkSpace::row.
struct Group {
    Ref ref;
    std::uint32_t begin, n;
};
// Room to work in. Kernels allocate nothing: what they instantiated of the standard library could be linked
// into code for machines without their instruction set.
struct WalkSpace {
    Start* starts;       // a walk each and one more
    std::uint32_t* row;  // twice the rows, and twenty-four more
    Group* groups;       // a row each and one more
};

// Some trees of a forest and some rows, each of which goes down each tree.
struct Walks {
    const PackedForest& forest;
    std::size_t first_tree, n_trees;  // all of one layout
    Rows rows;                        // normalised
    Confidence confidence;
    WalkSpace space;
};

// Values on one side of a bound: what they weigh (weight = nullptr: 1 each), and the one nearest to the bound
// (infinitely far if there is none).
struct Side {
    double weight;
    double nearest;
};

struct Kernels {
    const char* name;

    // Feature sums (eq. 7) of rows: the term at position p goes to lane p mod 8, and the lanes are added as
    // ((l0+l4)+(l2+l6))+((l1+l5)+(l3+l7)). `n` is a multiple of 4: weights are padded with zeros, features
    // with anything in range. `features` is nullptr where position and feature agree.
    void (*feature_sums)(const float* weights, const std::int32_t* features, std::size_t n, Rows rows,
                         double* out);
    // For tree after tree, row after row: the leaf (among all leaves) that is reached, and the confidence
    // d(x) (1 if there was no way to go). Both have room for one more.
    void (*walk)(const Walks& walks, std::uint32_t* leaf, double* confidence);
    // Writes the way of one row down the tree at `place`, from the root to the leaf: the number of every
    // block within its tree and its feature sum; for the leaf the estimate, intercept + the same sum of
    // slopes.
    void (*trace)(const PackedForest& forest, std::size_t place, const float* z, std::int32_t* block,
                  double* value);
    // Membership of every row in its leaf: the estimate, clipped to the range of the leaf.
    void (*memberships)(const PackedForest& forest, const std::uint32_t* leaf, Rows rows, double* out);

    // By feature, in row order: adds the weighted sums and widens low and high …
    void (*sum_rows)(const WeightedRows& rows, double* sum, float* low, float* high);
    // … adds the weighted squared distances from the mean …
    void (*square_rows)(const WeightedRows& rows, const double* mean, double* squares);
    // … adds the weighted products of those distances to the lower triangle of n_features rows of n_features;
    // `room` is for as many values.
    void (*scatter_rows)(const WeightedRows& rows, const double* mean, double* scatter, double* room);

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

    // z = float32(clip((x - centre) / scale, ±1e30)), 0 for NaN. False if an infinity was met.
    bool (*normalise_float64)(const double* x, const double* centre, const double* scale, std::size_t n,
                              float* z);
    bool (*normalise_float32)(const float* x, const double* centre, const double* scale, std::size_t n,
                              float* z);
};

extern const Kernels portable_kernels;
#ifdef LHTREE_AVX2
extern const Kernels avx2_kernels;
#endif

// The fastest kernels this machine can run.
const Kernels& kernels();

}  // namespace lhtree
