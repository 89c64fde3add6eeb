// Kernels of boosting: its inner loops.
#pragma once
#include <cstddef>
#include <cstdint>

#include "lhtree/shared/dispatch.hpp"

namespace lhtree::boost {

// A row that takes part in a tree: its number within its chunk and its derivatives, in quanta of the tree.
struct Entry {
    std::uint32_t row;
    std::int16_t gradient;
    std::uint16_t hessian;
};

// The rows of a block within a chunk.
struct BlockRows {
    const Entry* entries;
    std::size_t size;
    const std::uint8_t* codes;  // of the chunk, n_slots to a row
    std::size_t n_slots;
    const std::uint32_t* weight;  // of the chunk; null: 1 each
};

// Four features: their slots, and their representatives by code, below 2^16.
struct FourFeatures {
    std::size_t slot[4];
    const std::int32_t* value[4];
};

// Sums over rows: of hessians h, gradients g, h · r_i, g · r_i, and h · r_i · r_j with j = i + shift, mod 4.
struct FourMoments {
    std::int64_t hessian = 0, gradient = 0;
    std::int64_t hessian_value[4] = {}, gradient_value[4] = {};
    std::int64_t products[3][4] = {};  // by shift
};

// Integers of some rows: `stride` values each, a multiple of 4 up to 16, and two factors. No product of a
// value and a factor, and no value, leaves 32 bits.
struct IntegerRows {
    const std::int64_t* values;
    std::size_t n_rows, stride;
    const std::int64_t *first, *second;  // factors
};

// Sums of a block whose cuts are compared, the values of a quantum, and the least sums of a side, in quanta.
struct GainTerms {
    double gradient, hessian, weight;
    double gradient_quantum, hessian_quantum;
    double l2, least_weight, least_hessian;
    double unsplit;  // G² / (H + l2) of the block
};

struct BoostKernels {
    // Adds rows without weights, 2^16 at most.
    void (*add_four)(const BlockRows& rows, const FourFeatures& features, FourMoments& moments);
    // Adds Σ first · value_i, Σ second · value_i and Σ first · value_i · value_j: `products` has `stride`
    // rows of `stride` sums, of which those with j ≤ i are of use. `room` is as large as the values.
    void (*add_integers)(const IntegerRows& rows, std::int64_t* by_first, std::int64_t* by_second,
                         std::int64_t* products, std::int64_t* room);
    // Adds G² / (H + l2) of both sides of n cuts, a multiple of 4, less that of the block, to their gains,
    // given the sums on the left. Cuts with a side below the least sums add nothing.
    void (*add_gains)(const double* gradient, const double* hessian, const double* weight, std::size_t n,
                      const GainTerms& terms, double* gains);
    // Adds gains of sums below 2^51, with hessian · 2^24 + weight in one number.
    void (*add_lean_gains)(const std::int64_t* gradient, const std::int64_t* both, std::size_t n,
                           const GainTerms& terms, double* gains);
    // Writes the derivatives of the log loss of two classes by the raw scores.
    void (*differentiate_logistic)(const double* raw, const std::int32_t* classes, std::size_t n,
                                   float* gradient, float* hessian);
    // Writes the log losses of two classes, log(1 + exp(±raw score)).
    void (*measure_logistic)(const double* raw, const std::int32_t* classes, std::size_t n, double* losses);
    // Returns the largest absolute value.
    float (*find_largest)(const float* values, std::size_t n);
};

}  // namespace lhtree::boost

namespace lhtree {
using boost::BoostKernels;
LHTREE_DECLARE_KERNELS(BoostKernels, boost_kernels)
}  // namespace lhtree
