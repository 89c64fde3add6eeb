// One affine map for all rows of a model: z = (x - centre) / scale.
#pragma once
#include <cstddef>

#include "lhtree/parallel.hpp"

namespace lhtree {

// A matrix of float32 or float64 in any memory order; strides count values.
template <class Value>
struct Strided {
    const Value* data;
    std::size_t n_rows, n_features;
    std::ptrdiff_t row_stride, feature_stride;
};

// Writes n_rows rows of z. False if an infinity was met; z is then incomplete.
template <class Value>
bool normalise(const Strided<Value>& x, const double* centre, const double* scale, std::size_t n_threads,
               Watch& watch, float* z);

}  // namespace lhtree
