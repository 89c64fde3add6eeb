// Rows as growing a block looks at them: some features, some classes.
#pragma once
#include <algorithm>
#include <cstdint>
#include <vector>

#include "lhtree/grow/statistics/runs.hpp"

namespace lhtree {

// Samples with some of the features only, copied to `to`.
template <class Samples>
Samples take_columns(const Samples& samples, const std::vector<std::int32_t>& features,
                     std::vector<float>& to) {
    to.resize(std::max(to.size(), samples.size() * features.size() + slack));
    float* out = to.data();
    if (samples.rows.levels) {
        for (std::size_t row = 0; row < samples.size(); ++row)
            for (const auto feature : features)
                *out++ = samples.rows.value(row, static_cast<std::size_t>(feature));
        return samples.with({to.data(), samples.size(), features.size()});
    }
    for (std::size_t row = 0; row < samples.size(); ++row) {
        const float* z = samples.rows[row];
        for (const auto feature : features) *out++ = z[feature];
    }
    return samples.with({to.data(), samples.size(), features.size()});
}

// All samples as moments take them. Of many classes, the first stands against the rest: moments of all rows
// do not depend on it.
template <class Samples>
const Samples& whole(const Samples& samples) {
    return samples;
}
inline Samples whole(const ClassedSamples& samples) {
    const auto* const end = samples.of_class + samples.size();
    const auto* const first = std::upper_bound(samples.of_class, end, samples.of_class[0]);
    return {samples.rows, static_cast<std::size_t>(first - samples.of_class), samples.weight};
}

// The rows of two classes of a block, those of the second behind those of the first; copied unless they are
// all.
inline Samples take_pair(const ClassedSamples& samples, const RunTotals& totals, std::size_t first,
                         std::size_t second, std::vector<float>& columns, std::vector<double>& weight) {
    const std::size_t n_first = totals.end[first] - totals.begin(first);
    if (second == first + 1) {
        const WeightedRows both = samples.run(totals.begin(first), totals.end[second]);
        return {both.rows, n_first, both.weight};
    }
    const std::size_t n = n_first + totals.end[second] - totals.begin(second);
    const std::size_t width = samples.rows.width();
    columns.resize(std::max(columns.size(), n * width + slack));
    weight.resize(samples.weight ? n : 0);
    std::size_t to = 0;
    for (const std::size_t run : {first, second}) {
        const WeightedRows rows = samples.run(totals.begin(run), totals.end[run]);
        std::copy(rows.rows[0], rows.rows[0] + rows.size() * width, &columns[to * width]);
        if (rows.weight) std::copy(rows.weight, rows.weight + rows.size(), &weight[to]);
        to += rows.size();
    }
    return {{columns.data(), n, samples.rows.n_features, samples.rows.levels},
            n_first,
            samples.weight ? weight.data() : nullptr};
}

}  // namespace lhtree
