#include "lhtree/grow/statistics/scatter.hpp"

#include <algorithm>

#include "lhtree/grow/kernels.hpp"

namespace lhtree {

void Scatter::start(std::size_t n_features) {
    triangle.assign(n_features * n_features, 0.0);
    distance_.resize(n_features);
}

void Scatter::add(const WeightedRows& rows, const double* mean, bool is_first, Watch& watch) {
    const std::size_t p = rows.rows.n_features;
    // A slice is a part of a chunk that takes milliseconds, so that the watch is heard with many features.
    const std::size_t slice =
        std::max<std::size_t>(1, std::min(chunk_rows, (std::size_t{1} << 24) / (p * p + 1)));
    for (std::size_t begin = 0; begin < rows.size(); begin += chunk_rows, is_first = false) {
        const std::size_t end = std::min(rows.size(), begin + chunk_rows);
        if (!is_first) chunk_.assign(p * p, 0.0);
        double* sum = is_first ? triangle.data() : chunk_.data();
        for (std::size_t at = begin; at < end; at += slice) {
            watch.check();
            each_tile(rows.part(at, std::min(end, at + slice)), [&](const WeightedRows& tile) {
                grow_kernels().scatter_rows(tile, mean, sum, distance_.data());
            });
        }
        if (!is_first)
            for (std::size_t i = 0; i < p * p; ++i) triangle[i] += chunk_[i];
    }
}

void Scatter::measure(const Samples& samples, const Moments& moments, Watch& watch) {
    start(samples.rows.n_features);
    for (int cls = 0; cls < 2; ++cls) add(samples.of(cls), moments.of[cls].means(), cls == 0, watch);
}

void Scatter::measure(const RealSamples& samples, const RealMoments& moments, Watch& watch) {
    start(samples.rows.n_features);
    add(samples.all(), moments.features().means(), true, watch);
}

}  // namespace lhtree
