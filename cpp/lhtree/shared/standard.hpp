// compiler.hpp in standard C++, lane by lane: for MSVC, and as a check of compiler.hpp, which includes it.
#pragma once
#include <cstddef>
#include <cstdint>
#include <type_traits>

#define LHTREE_UNROLL(n)

namespace lhtree {
namespace {

template <class T, std::size_t n>
struct Lanes {
    T lane[n];

    T& operator[](std::size_t i) { return lane[i]; }
    const T& operator[](std::size_t i) const { return lane[i]; }

    static Lanes all(T value) {
        Lanes result{};
        for (T& lane : result.lane) lane = value;
        return result;
    }
    // Result of a comparison: -1 in lanes where it is true, else 0, in integers as wide as the values.
    using Mask = Lanes<std::conditional_t<std::is_same_v<T, double>, long long,
                                          std::conditional_t<std::is_same_v<T, float>, std::int32_t, T>>,
                       n>;

// A scalar operand is broadcast.
#define LHTREE_OPERATOR(Result, op, expression)                            \
    friend Result operator op(const Lanes& a, const Lanes& b) {            \
        Result result{};                                                   \
        for (std::size_t i = 0; i < n; ++i) result.lane[i] = expression;   \
        return result;                                                     \
    }                                                                      \
    friend Result operator op(const Lanes& a, T b) { return a op all(b); } \
    friend Result operator op(T a, const Lanes& b) { return all(a) op b; }
#define LHTREE_ARITHMETIC(op)                                              \
    LHTREE_OPERATOR(Lanes, op, a.lane[i] op b.lane[i])                     \
    Lanes& operator op## = (const Lanes& b) { return *this = *this op b; } \
    Lanes& operator op## = (T b) { return *this = *this op b; }
#define LHTREE_COMPARISON(op) LHTREE_OPERATOR(Mask, op, a.lane[i] op b.lane[i] ? -1 : 0)
    LHTREE_ARITHMETIC(+)
    LHTREE_ARITHMETIC(-)
    LHTREE_ARITHMETIC(*)
    LHTREE_ARITHMETIC(/)
    LHTREE_COMPARISON(<)
    LHTREE_COMPARISON(>)
    LHTREE_COMPARISON(>=)
    LHTREE_COMPARISON(!=)
#undef LHTREE_COMPARISON
#undef LHTREE_ARITHMETIC
#undef LHTREE_OPERATOR

    Lanes operator-() const {
        Lanes result{};
        for (std::size_t i = 0; i < n; ++i) result.lane[i] = -lane[i];
        return result;
    }
    friend Lanes operator>>(const Lanes& a, int n_bits) {
        Lanes result{};
        for (std::size_t i = 0; i < n; ++i) result.lane[i] = a.lane[i] >> n_bits;
        return result;
    }
    // Operators of masks.
    Lanes operator~() const {
        Lanes result{};
        for (std::size_t i = 0; i < n; ++i) result.lane[i] = ~lane[i];
        return result;
    }
    friend Lanes operator&(const Lanes& a, const Lanes& b) {
        Lanes result{};
        for (std::size_t i = 0; i < n; ++i) result.lane[i] = a.lane[i] & b.lane[i];
        return result;
    }
    Lanes& operator|=(const Lanes& b) {
        for (std::size_t i = 0; i < n; ++i) lane[i] |= b.lane[i];
        return *this;
    }
};

using Float4 = Lanes<float, 4>;
using Float8 = Lanes<float, 8>;
using Int8 = Lanes<std::int32_t, 8>;
using Int4 = Lanes<std::int32_t, 4>;
using Long4 = Lanes<long long, 4>;
using Double4 = Lanes<double, 4>;

template <class T, std::size_t n>
inline Lanes<T, n> select(const typename Lanes<T, n>::Mask& mask, const Lanes<T, n>& a,
                          const Lanes<T, n>& b) {
    Lanes<T, n> result{};
    for (std::size_t i = 0; i < n; ++i) result.lane[i] = mask.lane[i] ? a.lane[i] : b.lane[i];
    return result;
}

inline Double4 widen(const Float4& x) {
    Double4 result{};
    for (std::size_t i = 0; i < 4; ++i) result.lane[i] = static_cast<double>(x.lane[i]);
    return result;
}

inline Long4 widen(const Int4& x) {
    Long4 result{};
    for (std::size_t i = 0; i < 4; ++i) result.lane[i] = x.lane[i];
    return result;
}

inline Float4 narrow(const Double4& x) {
    Float4 result{};
    for (std::size_t i = 0; i < 4; ++i) result.lane[i] = static_cast<float>(x.lane[i]);
    return result;
}

inline bool any(const Int8& mask) {
    for (const std::int32_t lane : mask.lane)
        if (lane != 0) return true;
    return false;
}

inline Long4 multiply_low(const Long4& a, const Long4& b) {
    Long4 product{};
    for (std::size_t i = 0; i < 4; ++i)
        product.lane[i] = static_cast<long long>(static_cast<std::int32_t>(a.lane[i])) *
                          static_cast<std::int32_t>(b.lane[i]);
    return product;
}

inline void prefetch(const void*) {}

inline std::uint32_t part_four(const Double4& y, const std::uint32_t* four, std::uint32_t* left,
                               std::uint32_t* right) {
    std::uint32_t n_left = 0;
    for (std::uint32_t i = 0; i < 4; ++i) {
        left[n_left] = right[i - n_left] = four[i];
        n_left += y[i] < 0.0;
    }
    return n_left;
}

}  // namespace
}  // namespace lhtree
