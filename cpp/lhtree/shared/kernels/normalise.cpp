#include "lhtree/shared/kernels/normalise.hpp"

#include "lhtree/shared/kernels/dispatch.hpp"

namespace lhtree {

const NormaliseKernels& normalise_kernels() {
#ifdef LHTREE_AVX2
    static const NormaliseKernels& chosen = has_avx2() ? avx2_normalise_kernels : portable_normalise_kernels;
    return chosen;
#else
    return portable_normalise_kernels;
#endif
}

}  // namespace lhtree
