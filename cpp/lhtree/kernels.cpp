#include "lhtree/kernels.hpp"

namespace lhtree {

const Kernels& kernels() {
#ifdef LHTREE_AVX2
    static const Kernels& chosen = __builtin_cpu_supports("avx2") ? avx2_kernels : portable_kernels;
    return chosen;
#else
    return portable_kernels;
#endif
}

}  // namespace lhtree
