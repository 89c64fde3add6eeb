// The kernels themselves, included once for every instruction set by a file that sets LHTREE_KERNELS.
#include "lhtree/score/kernels/leaves.hpp"
#include "lhtree/score/kernels/walk.hpp"

namespace lhtree {

const ScoreKernels LHTREE_KERNELS = {walk, trace, memberships};

}  // namespace lhtree
