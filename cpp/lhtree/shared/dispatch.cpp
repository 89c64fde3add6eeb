#include "lhtree/shared/dispatch.hpp"

#include "lhtree/shared/compiler.hpp"

namespace lhtree {

bool has_avx2() {
#ifdef LHTREE_AVX2
    return runs_avx2();
#else
    return false;
#endif
}

const char* instruction_set() {
    return has_avx2() ? "avx2" : "portable";
}

const char* compiler() {
#define LHTREE_TEXT_OF(value) #value
#define LHTREE_TEXT(value) LHTREE_TEXT_OF(value)
#if defined(__clang__)
    return "Clang " __clang_version__;
#elif defined(__GNUC__)
    return "GCC " __VERSION__;
#elif defined(_MSC_FULL_VER)
    return "MSVC " LHTREE_TEXT(_MSC_FULL_VER);
#else
    return "unknown";
#endif
#undef LHTREE_TEXT
#undef LHTREE_TEXT_OF
}

}  // namespace lhtree
