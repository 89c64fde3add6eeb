// The kernels in standard C++, as compilers without extensions build them, beside those of this compiler.
#define LHTREE_STANDARD
#include "standard.hpp"

#define LHTREE_KERNELS standard_normalise_kernels
#include "lhtree/shared/kernels/normalise_body.hpp"
#undef LHTREE_KERNELS
#define LHTREE_KERNELS standard_grow_kernels
#include "lhtree/grow/kernels/body.hpp"
#undef LHTREE_KERNELS
#define LHTREE_KERNELS standard_score_kernels
#include "lhtree/score/kernels/body.hpp"
