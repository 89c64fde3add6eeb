// Kernels (inner loops) are compiled once per instruction set; the fastest are chosen at run time.
//
// Every kernel has a fixed order of summation, and the core is compiled without contraction of
// multiplications and additions. All versions therefore give the same bits: a row takes the same path in
// growing and in scoring, on every machine.
#pragma once

namespace lhtree {

bool has_avx2();
const char* instruction_set();
// Name and version of the compiler of the core.
const char* compiler();

}  // namespace lhtree

// Declares the kernels of every instruction set (`standard` exists in native tests only) and the function
// that returns the best ones. CMake compiles the file that defines them once for each.
#ifdef LHTREE_AVX2
#define LHTREE_BEST_KERNELS(name) (has_avx2() ? avx2::name : portable::name)
#else
#define LHTREE_BEST_KERNELS(name) portable::name
#endif
#define LHTREE_DECLARE_KERNELS(Kernels, name)                   \
    namespace portable {                                        \
    extern const Kernels name;                                  \
    }                                                           \
    namespace avx2 {                                            \
    extern const Kernels name;                                  \
    }                                                           \
    namespace standard {                                        \
    extern const Kernels name;                                  \
    }                                                           \
    inline const Kernels& name() {                              \
        static const Kernels& best = LHTREE_BEST_KERNELS(name); \
        return best;                                            \
    }
