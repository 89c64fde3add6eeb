// Views of rows. A view owns nothing.
#pragma once
#include <cstddef>

namespace lhtree {

// Kernels read rows in whole vectors of eight, so up to seven finite values past the last one must be
// readable, and what they write by feature has room for a multiple of eight.
constexpr std::size_t slack = 8;
constexpr std::size_t padded(std::size_t n) {
    return (n + 7) / 8 * 8;
}

// Rows stored one after the other, `n_features` values each, with slack behind the last.
struct Rows {
    const float* data = nullptr;
    std::size_t n_rows = 0;
    std::size_t n_features = 0;

    const float* operator[](std::size_t row) const { return data + row * n_features; }
    Rows part(std::size_t begin, std::size_t end) const {
        return {data + begin * n_features, end - begin, n_features};
    }
};

// A matrix of float32 or float64 in any memory order; strides count values.
template <class Value>
struct Strided {
    const Value* data;
    std::size_t n_rows, n_features;
    std::ptrdiff_t row_stride, feature_stride;
};

}  // namespace lhtree
