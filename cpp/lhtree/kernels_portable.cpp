#define LHTREE_KERNELS portable_kernels
#define LHTREE_KERNELS_NAME "portable"
#include "lhtree/kernels_body.hpp"
