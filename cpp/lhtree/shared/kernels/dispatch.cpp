#include "lhtree/shared/kernels/dispatch.hpp"

namespace lhtree {

bool has_avx2() {
#ifdef LHTREE_AVX2
    return __builtin_cpu_supports("avx2");
#else
    return false;
#endif
}

const char* instruction_set() {
    return has_avx2() ? "avx2" : "portable";
}

}  // namespace lhtree
