#define LHTREE_KERNELS avx2_normalise_kernels
#include "lhtree/shared/kernels/normalise_body.hpp"
