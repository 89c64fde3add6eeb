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

// The same for rows with columns of categories: writes a value per column. `x` has the columns of numbers,
// `codes` the levels of the other columns, row after row, below 0 where they are missing.
template <class Value>
bool normalise(const Strided<Value>& x, const std::int32_t* codes, const Levels& levels, const double* centre,
               const double* scale, std::size_t n_threads, Watch& watch, float* z);

}  // namespace lhtree
