#define LHTREE_KERNELS portable_normalise_kernels
#include "lhtree/shared/kernels/normalise_body.hpp"
