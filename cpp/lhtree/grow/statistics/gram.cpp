#include "lhtree/grow/statistics/gram.hpp"

#include <algorithm>
#include <cmath>

#include "lhtree/grow/kernels.hpp"

namespace lhtree {

template <class AnySamples, class AnyMoments>
void Gram::measure(const AnySamples& samples, const AnyMoments& moments, Watch& watch) {
    constexpr std::size_t tile_features = 256;  // a row of a tile stays in the first cache
    const Rows& rows = samples.rows;
    const std::size_t n = rows.n_rows, p = rows.n_features;
    mean_.assign(padded(p), 0.0);
    for (std::size_t f = 0; f < p; ++f) mean_[f] = moments.mean(f);
    root_weight_.resize(n);
    deviation.resize(n);
    for (std::size_t row = 0; row < n; ++row) {
        root_weight_[row] = std::sqrt(samples.weight_of(row));
        deviation[row] = root_weight_[row] * (samples.response_of(row) - moments.response_mean());
    }
    triangle.assign(n * n, 0.0);
    tile_.resize(n * tile_features);
    for (std::size_t begin = 0; begin < p; begin += tile_features) {
        const std::size_t width = std::min(tile_features, p - begin);
        for (std::size_t row = 0; row < n; ++row) {
            watch.check();
            double* own = &tile_[row * tile_features];
            std::fill(own, own + tile_features, 0.0);
            for (std::size_t f = 0; f < width; ++f)
                own[f] =
                    root_weight_[row] * (static_cast<double>(rows.value(row, begin + f)) - mean_[begin + f]);
            for (std::size_t other = 0; other <= row; ++other)
                triangle[row * n + other] +=
                    grow_kernels().dot(own, &tile_[other * tile_features], tile_features);
        }
    }
}

double Gram::trace() const {
    const std::size_t n = deviation.size();
    double trace = 0.0;
    for (std::size_t row = 0; row < n; ++row) trace += triangle[row * n + row];
    return trace;
}

std::vector<double> Gram::to_features(const Rows& rows, const std::vector<double>& factors) const {
    std::vector<double> weighted(factors), result(padded(rows.n_features), 0.0);
    for (std::size_t row = 0; row < weighted.size(); ++row) weighted[row] *= root_weight_[row];
    each_tile(rows, [&](const Rows& tile, std::size_t begin) {
        grow_kernels().product_rows(tile, mean_.data(), weighted.data() + begin, result.data());
    });
    result.resize(rows.n_features);
    return result;
}

template void Gram::measure(const Samples&, const Moments&, Watch&);
template void Gram::measure(const RealSamples&, const RealMoments&, Watch&);

}  // namespace lhtree
