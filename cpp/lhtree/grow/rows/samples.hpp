// Rows of a block with their labels and weights.
#pragma once
#include <cstdint>
#include <vector>

#include "lhtree/shared/matrix.hpp"
#include "lhtree/shared/threads.hpp"

namespace lhtree {

// Sums over rows are computed in fixed chunks and merged in order, so that models do not depend on threads.
constexpr std::size_t chunk_rows = 4096;

// Rows of one class with their weights (nullptr: 1 each).
struct WeightedRows {
    Rows rows;
    const double* weight = nullptr;

    std::size_t size() const { return rows.n_rows; }
    WeightedRows part(std::size_t begin, std::size_t end) const {
        return {rows.part(begin, end), weight ? weight + begin : nullptr};
    }
};

// each_tile with the weights.
template <class Use>
void each_tile(const WeightedRows& rows, const Use& use) {
    each_tile(rows.rows, [&](const Rows& tile, std::size_t begin) {
        use(WeightedRows{tile, rows.weight ? rows.weight + begin : nullptr});
    });
}

// Samples of a block: non-targets first, then targets. Partitioning keeps this order, so no loop tests
// classes.
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
    double response_of(std::size_t row) const { return row < n_rest ? 0.0 : 1.0; }
    Samples with(const Rows& other) const { return {other, n_rest, weight}; }
};

// Samples of a block with a numeric response.
struct RealSamples {
    Rows rows;
    const double* response = nullptr;
    const double* weight = nullptr;

    std::size_t size() const { return rows.n_rows; }
    double weight_of(std::size_t row) const { return weight ? weight[row] : 1.0; }
    double response_of(std::size_t row) const { return response[row]; }
    WeightedRows all() const { return {rows, weight}; }
    RealSamples part(std::size_t begin, std::size_t end) const {
        return {rows.part(begin, end), response + begin, weight ? weight + begin : nullptr};
    }
    RealSamples with(const Rows& other) const { return {other, response, weight}; }
};

// Samples of a block of many classes: every class is a contiguous run.
struct ClassedSamples {
    Rows rows;
    const std::int32_t* of_class = nullptr;  // class of every row, ascending
    const double* weight = nullptr;

    std::size_t size() const { return rows.n_rows; }
    double weight_of(std::size_t row) const { return weight ? weight[row] : 1.0; }
    WeightedRows run(std::size_t begin, std::size_t end) const {
        return {rows.part(begin, end), weight ? weight + begin : nullptr};
    }
    ClassedSamples with(const Rows& other) const { return {other, of_class, weight}; }
};

// Codes that ascend with the values of a feature, computed once for all trees: bins then need no sorting.

using Code = std::uint16_t;

// A column of codes per numeric feature. Equal values have equal codes; if is_exact, only those.
struct Codes {
    std::size_t n_rows = 0;
    std::vector<std::size_t> column;  // of every feature
    std::vector<Code> code;
    std::vector<std::uint8_t> is_exact;  // by column

    bool empty() const { return column.empty(); }
    const Code* of(std::size_t feature) const { return code.data() + column[feature] * n_rows; }
    Codes take(const std::vector<std::int32_t>& rows) const;
};

Codes code_features(const Rows& rows, std::size_t n_threads, Watch& watch);

}  // namespace lhtree
