// The inner loops of normalising.
#pragma once
#include <cstddef>

namespace lhtree {

struct NormaliseKernels {
    // z = float32(clip((x - centre) / scale, ±1e30)), `missing` for NaN. False if an infinity was met.
    bool (*float64)(const double* x, const double* centre, const double* scale, std::size_t n, double missing,
                    float* z);
    bool (*float32)(const float* x, const double* centre, const double* scale, std::size_t n, double missing,
                    float* z);
};

extern const NormaliseKernels portable_normalise_kernels;
#ifdef LHTREE_AVX2
extern const NormaliseKernels avx2_normalise_kernels;
#endif
const NormaliseKernels& normalise_kernels();

}  // namespace lhtree
