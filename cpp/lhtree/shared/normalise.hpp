// One affine map for all rows of a model: z = (x - centre) / scale.
#pragma once
#include <cstddef>

#include "lhtree/shared/matrix.hpp"
#include "lhtree/shared/threads.hpp"

namespace lhtree {

// Writes n_rows rows of z, `missing` for NaN. False if an infinity was met; z is then incomplete.
template <class Value>
bool normalise(const Strided<Value>& x, const double* centre, const double* scale, std::size_t n_threads,
               Watch& watch, float* z, double missing = 0.0);

}  // namespace lhtree
