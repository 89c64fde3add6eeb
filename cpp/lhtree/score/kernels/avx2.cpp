#define LHTREE_KERNELS avx2_score_kernels
#include "lhtree/score/kernels/body.hpp"
