// Normalisation: z = (x - centre) / scale.
#pragma once
#include <cstddef>

#include "lhtree/shared/dispatch.hpp"
#include "lhtree/shared/matrix.hpp"
#include "lhtree/shared/threads.hpp"

namespace lhtree {

// Writes n_rows rows of z, `missing` for NaN. Returns false if x has an infinity; z is then incomplete.
template <class Value>
bool normalise(const Strided<Value>& x, const double* centre, const double* scale, std::size_t n_threads,
               Watch& watch, float* z, double missing = 0.0);

// Normalises rows with categories and writes one value per column. `x` has the columns of numbers, `codes`
// the levels of the other columns, row by row, below 0 where missing.
template <class Value>
bool normalise(const Strided<Value>& x, const std::int32_t* codes, const Levels& levels, const double* centre,
               const double* scale, std::size_t n_threads, Watch& watch, float* z, double missing = 0.0);

struct NormaliseKernels {
    // z = float32(clip((x - centre) / scale, ±1e30)), `missing` for NaN. Returns false if x has an infinity.
    bool (*float64)(const double* x, const double* centre, const double* scale, std::size_t n, double missing,
                    float* z);
    bool (*float32)(const float* x, const double* centre, const double* scale, std::size_t n, double missing,
                    float* z);
};
LHTREE_DECLARE_KERNELS(NormaliseKernels, normalise_kernels)

}  // namespace lhtree
