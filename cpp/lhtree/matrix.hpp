// Views of float32 rows. A view owns nothing.
#pragma once
#include <cstddef>
#include <cstdint>
#include <vector>

namespace lhtree {

// Row sums are taken in fixed chunks and merged in order, so that a model does not depend on threads.
constexpr std::size_t chunk_rows = 4096;

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

// Rows of one class with their weights (nullptr: 1 each).
struct WeightedRows {
    Rows rows;
    const double* weight = nullptr;

    std::size_t size() const { return rows.n_rows; }
    WeightedRows part(std::size_t begin, std::size_t end) const {
        return {rows.part(begin, end), weight ? weight + begin : nullptr};
    }
    double total() const;  // of the weights, in chunks merged in order
};

// The samples of a block: first the rows that are not targets, then the targets. Growing sorts them so once;
// parting is stable and keeps it, and no loop has to ask a row for its class.
struct Samples {
    Rows rows;
    std::size_t n_rest = 0;
    const double* weight = nullptr;

    std::size_t size() const { return rows.n_rows; }
    double weight_of(std::size_t row) const { return weight ? weight[row] : 1.0; }
    WeightedRows of(int cls) const {
        const std::size_t begin = cls ? n_rest : 0, end = cls ? size() : n_rest;
        return {rows.part(begin, end), weight ? weight + begin : nullptr};
    }
};

}  // namespace lhtree
