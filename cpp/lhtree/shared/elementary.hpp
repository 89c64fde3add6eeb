// exp and log from IEEE additions, multiplications, divisions and bit operations in a fixed order: the same
// result on every machine, unlike the C library. The error is below one unit in the last place. exp_in_range
// and log_in_range have no branches, so that GCC vectorises loops over them. The functions are in an unnamed
// namespace, so that no file uses code of another instruction set.
#pragma once
#include <cstdint>
#include <cstring>
#include <limits>

namespace lhtree::elementary {
namespace {

// ln 2 in two parts; whole multiples up to 2^20 of the first are exact.
constexpr double ln2_high = 0x1.62e42feep-1, ln2_low = 0x1.a39ef35793c76p-33;

inline std::uint64_t bits_of(double value) {
    std::uint64_t bits;
    std::memcpy(&bits, &value, sizeof bits);
    return bits;
}

inline double from_bits(std::uint64_t bits) {
    double value;
    std::memcpy(&value, &bits, sizeof value);
    return value;
}

// e^x for x from -746 to 710, or NaN.
inline double exp_in_range(double x) {
    // x = k ln 2 + r with |r| ≤ ln 2 / 2. Adding 1.5 · 2^52 rounds to a whole number, in the lowest bits.
    constexpr double rounder = 0x1.8p52;
    const double rounded = x * 0x1.71547652b82fep0 + rounder;
    const double k = rounded - rounder;
    const double high = x - k * ln2_high, low = k * ln2_low;
    const double r = high - low;
    // (e^r - 1 - r) / r², the Taylor series
    double tail = 1.0 / 6227020800.0;
    tail = tail * r + 1.0 / 479001600.0;
    tail = tail * r + 1.0 / 39916800.0;
    tail = tail * r + 1.0 / 3628800.0;
    tail = tail * r + 1.0 / 362880.0;
    tail = tail * r + 1.0 / 40320.0;
    tail = tail * r + 1.0 / 5040.0;
    tail = tail * r + 1.0 / 720.0;
    tail = tail * r + 1.0 / 120.0;
    tail = tail * r + 1.0 / 24.0;
    tail = tail * r + 1.0 / 6.0;
    tail = tail * r + 0.5;
    const double power = 1.0 + (high + (r * r * tail - low));
    // Times 2^k in two steps: neither factor leaves the range, and only the last product is rounded.
    const std::uint64_t whole = bits_of(rounded) - bits_of(rounder);
    const std::uint64_t half = ((whole + 2048) >> 1) - 1024;
    return power * from_bits((half + 1023) << 52) * from_bits((whole - half + 1023) << 52);
}

// e^x: 0 far below (x < -745.14), infinity far above (x > 709.79); NaN stays NaN.
inline double exp(double x) {
    x = x < -746.0 ? -746.0 : x;
    x = x > 710.0 ? 710.0 : x;
    return exp_in_range(x);
}

// ln x + more · ln 2 for a positive number in the normal range, and a small whole number.
inline double log_in_range(double x, double more = 0.0) {
    // x = 2^k (1 + f) with 1 + f between √½ and √2
    constexpr std::uint64_t one = 0x3ff0000000000000u, root_half = 0x3fe6a09e00000000u;
    const std::uint64_t shifted = bits_of(x) + (one - root_half);
    // The exponent, a whole number, in the lowest bits of 1.5 · 2^52.
    constexpr double whole = 0x1.8p52;
    const double k = from_bits(bits_of(whole) + (shifted >> 52) - 1023) - whole + more;
    const double f = from_bits((shifted & 0x000fffffffffffffu) + root_half) - 1.0;
    // ln(1 + f) = 2 artanh(s) = 2s + s · series, and 2s = f - s · f
    const double s = f / (2.0 + f), z = s * s;
    double series = 2.0 / 23.0;
    series = series * z + 2.0 / 21.0;
    series = series * z + 2.0 / 19.0;
    series = series * z + 2.0 / 17.0;
    series = series * z + 2.0 / 15.0;
    series = series * z + 2.0 / 13.0;
    series = series * z + 2.0 / 11.0;
    series = series * z + 2.0 / 9.0;
    series = series * z + 2.0 / 7.0;
    series = series * z + 2.0 / 5.0;
    series = series * z + 2.0 / 3.0;
    series = series * z;
    const double half_square = 0.5 * f * f;
    return k * ln2_high - ((half_square - (s * (half_square + series) + k * ln2_low)) - f);
}

// ln x: -infinity at 0, NaN below 0; infinity and NaN are returned unchanged.
inline double log(double x) {
    if (!(x > 0.0))
        return x == 0.0 ? -std::numeric_limits<double>::infinity() : std::numeric_limits<double>::quiet_NaN();
    if (x == std::numeric_limits<double>::infinity()) return x;
    return x < std::numeric_limits<double>::min() ? log_in_range(x * 0x1p54, -54.0) : log_in_range(x);
}

}  // namespace
}  // namespace lhtree::elementary
