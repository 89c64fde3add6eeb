#include "lhtree/grow/statistics/extents.hpp"

#include <cmath>
#include <limits>

namespace lhtree {

Extents measure_extents(const Samples& samples, const double* feature_sums) {
    const std::size_t begin[2] = {0, samples.n_rest},
                      size[2] = {samples.n_rest, samples.size() - samples.n_rest};
    Extents extents;
    for (int cls = 0; cls < 2; ++cls)
        grow_kernels().extremes(feature_sums + begin[cls], size[cls], extents.low[cls], extents.high[cls]);
    for (int cls = 0; cls < 2; ++cls) {
        const double* const sums = feature_sums + begin[cls];
        const double* const weight = samples.weight ? samples.weight + begin[cls] : nullptr;
        extents.under[cls] = grow_kernels().below(sums, weight, size[cls], extents.low[1 - cls]);
        extents.over[cls] = grow_kernels().above(sums, weight, size[cls], extents.high[1 - cls]);
    }
    return extents;
}

Halves measure_halves(const Samples& samples, const double* feature_sums, double bound) {
    // Nothing lies between the bound and the next number below it.
    const double before = std::nextafter(bound, -std::numeric_limits<double>::infinity());
    return {grow_kernels().below(feature_sums, samples.weight, samples.size(), bound),
            grow_kernels().above(feature_sums, samples.weight, samples.size(), before)};
}

}  // namespace lhtree
