// Kernels of normalising, compiled once per instruction set into the namespace LHTREE_KERNELS.
#include "lhtree/shared/normalise.hpp"
#include "lhtree/shared/vectors.hpp"

namespace lhtree {
namespace {

inline Double4 normalise(Double4 x, Double4 centre, Double4 scale, Double4 missing, Long4& is_infinite) {
    const Long4 is_missing = x != x;
    is_infinite |= (x - x != 0.0) & ~is_missing;  // inf - inf is NaN
    Double4 quotient = (x - centre) / scale;
    quotient = select(quotient > 1e30, Double4{} + 1e30, quotient);
    quotient = select(quotient < -1e30, Double4{} - 1e30, quotient);
    return select(is_missing, missing, quotient);
}

template <class Value>
bool normalise(const Value* x, const double* centre, const double* scale, std::size_t n, double missing,
               float* z) {
    const Double4 missing4 = Double4{} + missing;
    Long4 is_infinite{};
    std::size_t f = 0;
    for (; f + 4 <= n; f += 4)
        store(z + f,
              narrow(normalise(load4(x + f), load4(centre + f), load4(scale + f), missing4, is_infinite)));
    for (; f < n; ++f)
        z[f] = static_cast<float>(normalise(Double4{} + static_cast<double>(x[f]), Double4{} + centre[f],
                                            Double4{} + scale[f], missing4, is_infinite)[0]);
    return !(is_infinite[0] | is_infinite[1] | is_infinite[2] | is_infinite[3]);
}

}  // namespace

namespace LHTREE_KERNELS {
const NormaliseKernels normalise_kernels = {normalise<double>, normalise<float>};
}

}  // namespace lhtree
