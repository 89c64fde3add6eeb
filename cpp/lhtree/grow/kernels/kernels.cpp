#include "lhtree/grow/kernels/kernels.hpp"

#include "lhtree/shared/kernels/dispatch.hpp"

namespace lhtree {

const GrowKernels& grow_kernels() {
#ifdef LHTREE_AVX2
    static const GrowKernels& chosen = has_avx2() ? avx2_grow_kernels : portable_grow_kernels;
    return chosen;
#else
    return portable_grow_kernels;
#endif
}

}  // namespace lhtree
