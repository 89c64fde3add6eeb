#include "lhtree/score/kernels/kernels.hpp"

#include "lhtree/shared/kernels/dispatch.hpp"

namespace lhtree {

const ScoreKernels& score_kernels() {
#ifdef LHTREE_AVX2
    static const ScoreKernels& chosen = has_avx2() ? avx2_score_kernels : portable_score_kernels;
    return chosen;
#else
    return portable_score_kernels;
#endif
}

}  // namespace lhtree
