// Loads, stores and sums of the vectors of compiler.hpp.
#pragma once
#include <cstdint>
#include <cstring>
#include <limits>

#include "lhtree/shared/compiler.hpp"

namespace lhtree {
namespace {

constexpr double infinity = std::numeric_limits<double>::infinity();

template <class Vector, class Value>
inline Vector load(const Value* p) {
    Vector v;
    std::memcpy(&v, p, sizeof v);
    return v;
}
template <class Vector, class Value>
inline void store(Value* p, Vector v) {
    std::memcpy(p, &v, sizeof v);
}
inline Double4 load4(const float* p) {
    return widen(load<Float4>(p));
}
inline Double4 load4(const double* p) {
    return load<Double4>(p);
}

template <class Feature>
inline Double4 gather4(const float* z, const Feature* features) {
    return widen(Float4{z[features[0]], z[features[1]], z[features[2]], z[features[3]]});
}

template <class Value>
inline double lane_sum(const Value* values, const std::int32_t* features, std::size_t n, const float* z) {
    Double4 low{}, high{};  // lanes 0-3 and 4-7
    std::size_t p = 0;
    if (features) {
        for (; p + 8 <= n; p += 8) {
            low += load4(values + p) * gather4(z, features + p);
            high += load4(values + p + 4) * gather4(z, features + p + 4);
        }
        if (p < n) low += load4(values + p) * gather4(z, features + p);
    } else {
        for (; p + 8 <= n; p += 8) {
            low += load4(values + p) * load4(z + p);
            high += load4(values + p + 4) * load4(z + p + 4);
        }
        if (p < n) low += load4(values + p) * load4(z + p);
    }
    const Double4 sum = low + high;  // l0+l4, l1+l5, l2+l6, l3+l7
    return (sum[0] + sum[2]) + (sum[1] + sum[3]);
}

}  // namespace
}  // namespace lhtree
