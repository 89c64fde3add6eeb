// A hyperplane of few terms.
#pragma once
#include <cstdint>
#include <vector>

#include "lhtree/grow/compact/data.hpp"

namespace lhtree::compact {

struct Line {
    std::vector<std::int32_t> features;  // ascending
    std::vector<float> weights;          // max |w| = 1
    double offset = 0.0;

    bool is_given() const { return !features.empty(); }
    double n_terms() const { return static_cast<double>(features.size()); }
    bool operator==(const Line& other) const {
        return features == other.features && weights == other.weights && offset == other.offset;
    }
};

// Feature sums of rows.
std::vector<double> sums_of(const Line& line, const Data& data, const RowNumbers& rows);

// Whether each row goes right.
std::vector<std::uint8_t> sides_of(const Line& line, const Data& data, const RowNumbers& rows);

struct Sides {
    RowNumbers left, right;
};
Sides part(const Line& line, const Data& data, const RowNumbers& rows);

}  // namespace lhtree::compact
