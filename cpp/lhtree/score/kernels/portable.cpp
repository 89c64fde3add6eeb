#define LHTREE_KERNELS portable_score_kernels
#include "lhtree/score/kernels/body.hpp"
