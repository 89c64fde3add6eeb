#define LHTREE_KERNELS avx2_kernels
#define LHTREE_KERNELS_NAME "avx2"
#include "lhtree/kernels_body.hpp"
