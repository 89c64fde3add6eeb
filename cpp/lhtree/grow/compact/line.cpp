#include "lhtree/grow/compact/line.hpp"

namespace lhtree::compact {

std::vector<double> sums_of(const Line& line, const Data& data, const RowNumbers& rows) {
    std::vector<double> sums(rows.size(), 0.0);
    for (std::size_t term = 0; term < line.features.size(); ++term) {
        const float* const column = data.column(static_cast<std::size_t>(line.features[term]));
        const double weight = line.weights[term];
        for (std::size_t i = 0; i < rows.size(); ++i)
            sums[i] += weight * static_cast<double>(column[rows[i]]);
    }
    return sums;
}

std::vector<std::uint8_t> sides_of(const Line& line, const Data& data, const RowNumbers& rows) {
    const std::vector<double> sums = sums_of(line, data, rows);
    std::vector<std::uint8_t> sides(rows.size());
    for (std::size_t i = 0; i < rows.size(); ++i) sides[i] = !(sums[i] < line.offset);
    return sides;
}

Sides part(const Line& line, const Data& data, const RowNumbers& rows) {
    const std::vector<std::uint8_t> sides = sides_of(line, data, rows);
    Sides parted;
    for (std::size_t i = 0; i < rows.size(); ++i) (sides[i] ? parted.right : parted.left).push_back(rows[i]);
    return parted;
}

}  // namespace lhtree::compact
