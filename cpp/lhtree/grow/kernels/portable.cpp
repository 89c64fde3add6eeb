#define LHTREE_KERNELS portable_grow_kernels
#include "lhtree/grow/kernels/body.hpp"
