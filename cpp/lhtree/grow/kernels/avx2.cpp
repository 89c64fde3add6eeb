#define LHTREE_KERNELS avx2_grow_kernels
#include "lhtree/grow/kernels/body.hpp"
