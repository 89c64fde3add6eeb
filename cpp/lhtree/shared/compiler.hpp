// Compiler extensions of GCC and Clang (also clang-cl): vectors, hints and the detection of AVX2. No other
// file uses extensions. Other compilers, and all compilers if LHTREE_STANDARD is defined, use standard.hpp,
// which gives the same bits. One AVX2 register corresponds to two SSE2 or NEON registers per element.
#pragma once
#include <cstdint>
#include <cstring>

#if (defined(__GNUC__) || defined(__clang__)) && !defined(LHTREE_STANDARD)
#ifdef __AVX2__
#include <immintrin.h>
#endif
#ifdef LHTREE_AVX2
#include <cpuid.h>
#endif

#define LHTREE_PRAGMA(text) _Pragma(#text)
#define LHTREE_UNROLL(n) LHTREE_PRAGMA(GCC unroll n)

namespace lhtree {
namespace {

using Float4 = float __attribute__((vector_size(16)));
using Float8 = float __attribute__((vector_size(32)));
using Int8 = std::int32_t __attribute__((vector_size(32)));
using Int4 = std::int32_t __attribute__((vector_size(16)));
using Long4 = long long __attribute__((vector_size(32)));
using Double4 = double __attribute__((vector_size(32)));

// Returns, lane by lane, a where the mask is set, else b.
template <class Mask, class Vector>
inline Vector select(Mask mask, Vector a, Vector b) {
    return mask ? a : b;
}

inline Double4 widen(Float4 x) {
#ifdef __AVX2__
    return (Double4)_mm256_cvtps_pd((__m128)x);  // GCC compiles the line below to four instructions
#else
    return __builtin_convertvector(x, Double4);
#endif
}

inline Long4 widen(Int4 x) {
#ifdef __AVX2__
    return (Long4)_mm256_cvtepi32_epi64((__m128i)x);
#else
    return __builtin_convertvector(x, Long4);
#endif
}

inline Float4 narrow(Double4 x) {
#ifdef __AVX2__
    return (Float4)_mm256_cvtpd_ps((__m256d)x);
#else
    return __builtin_convertvector(x, Float4);
#endif
}

// Whether a lane of the mask is set.
inline bool any(Int8 mask) {
#ifdef __AVX2__
    return _mm256_movemask_ps((__m256)mask) != 0;
#else
    Long4 halves;
    std::memcpy(&halves, &mask, sizeof halves);
    return (halves[0] | halves[1] | halves[2] | halves[3]) != 0;
#endif
}

// Returns the products of the low halves of the lanes, as signed numbers of 32 bits.
inline Long4 multiply_low(Long4 a, Long4 b) {
#ifdef __AVX2__
    return (Long4)_mm256_mul_epi32((__m256i)a, (__m256i)b);
#else
    Long4 product{};
    for (int i = 0; i < 4; ++i)
        product[i] =
            static_cast<long long>(static_cast<std::int32_t>(a[i])) * static_cast<std::int32_t>(b[i]);
    return product;
#endif
}

inline void prefetch(const void* address) {
    __builtin_prefetch(address);
}

// Writes the rows with y < 0 to `left` and the others to `right`, in order; returns the number of the former.
// Both have room for four values.
inline std::uint32_t part_four(Double4 y, const std::uint32_t* four, std::uint32_t* left,
                               std::uint32_t* right) {
#ifdef __AVX2__
    // Moves the rows whose bit is set to the front.
    alignas(16) static constexpr std::int8_t forward[16][16] = {
#define LHTREE_ROW(a) 4 * a, 4 * a + 1, 4 * a + 2, 4 * a + 3
#define LHTREE_ORDER(a, b, c, d) {LHTREE_ROW(a), LHTREE_ROW(b), LHTREE_ROW(c), LHTREE_ROW(d)}
        LHTREE_ORDER(0, 0, 0, 0), LHTREE_ORDER(0, 0, 0, 0), LHTREE_ORDER(1, 0, 0, 0),
        LHTREE_ORDER(0, 1, 0, 0), LHTREE_ORDER(2, 0, 0, 0), LHTREE_ORDER(0, 2, 0, 0),
        LHTREE_ORDER(1, 2, 0, 0), LHTREE_ORDER(0, 1, 2, 0), LHTREE_ORDER(3, 0, 0, 0),
        LHTREE_ORDER(0, 3, 0, 0), LHTREE_ORDER(1, 3, 0, 0), LHTREE_ORDER(0, 1, 3, 0),
        LHTREE_ORDER(2, 3, 0, 0), LHTREE_ORDER(0, 2, 3, 0), LHTREE_ORDER(1, 2, 3, 0),
        LHTREE_ORDER(0, 1, 2, 3)};
#undef LHTREE_ORDER
#undef LHTREE_ROW
    const auto is_left = static_cast<unsigned>(_mm256_movemask_pd((__m256d)(y < 0.0)));
    const auto take = [](const void* from) {
        __m128i taken;
        std::memcpy(&taken, from, sizeof taken);
        return taken;
    };
    const auto move = [&](unsigned bits, std::uint32_t* to) {
        const __m128i moved = _mm_shuffle_epi8(take(four), take(forward[bits]));
        std::memcpy(to, &moved, sizeof moved);
    };
    move(is_left, left);
    move(15 - is_left, right);
    return static_cast<std::uint32_t>(__builtin_popcount(is_left));
#else
    std::uint32_t n_left = 0;
    for (std::uint32_t i = 0; i < 4; ++i) {
        left[n_left] = right[i - n_left] = four[i];
        n_left += y[i] < 0.0;
    }
    return n_left;
#endif
}

#ifdef LHTREE_AVX2
// Whether the processor has AVX2 and the system saves its registers. __builtin_cpu_supports needs a part of
// the compiler's run-time library that clang-cl does not link.
inline bool runs_avx2() {
    unsigned a = 0, b = 0, c = 0, d = 0;
    constexpr unsigned has_xgetbv = 1u << 27, has_avx = 1u << 28, has_avx2 = 1u << 5, wide_registers = 6;
    if (!__get_cpuid(1, &a, &b, &c, &d) || !(c & has_xgetbv) || !(c & has_avx)) return false;
    unsigned saved = 0, high = 0;
    __asm__("xgetbv" : "=a"(saved), "=d"(high) : "c"(0));
    if ((saved & wide_registers) != wide_registers) return false;
    return __get_cpuid_count(7, 0, &a, &b, &c, &d) && (b & has_avx2);
}
#endif

}  // namespace
}  // namespace lhtree

#else
#include "lhtree/shared/standard.hpp"
#endif
