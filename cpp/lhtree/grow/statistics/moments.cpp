#include "lhtree/grow/statistics/moments.hpp"

#include <cmath>
#include <limits>

#include "lhtree/grow/kernels.hpp"

namespace lhtree {

double total_weight(const WeightedRows& rows) {
    if (!rows.weight) return static_cast<double>(rows.size());
    double total = 0.0;
    for (std::size_t begin = 0; begin < rows.size(); begin += chunk_rows) {
        double chunk = 0.0;
        for (std::size_t row = begin; row < std::min(rows.size(), begin + chunk_rows); ++row)
            chunk += rows.weight[row];
        total += chunk;
    }
    return total;
}

ClassTotals measure_totals(const Samples& samples) {
    return {{total_weight(samples.of(0)), total_weight(samples.of(1))}};
}

void FeatureMoments::reset(std::size_t n_features, bool with_squares) {
    const std::size_t n = padded(n_features);
    weight = 0.0;
    sum.assign(n, 0.0);
    squares.assign(with_squares ? n : 0, 0.0);
    low.assign(n, std::numeric_limits<float>::infinity());
    high.assign(n, -std::numeric_limits<float>::infinity());
}

const double* FeatureMoments::means() const {
    means_ = sum;
    if (weight > 0.0)
        for (double& mean : means_) mean /= weight;
    return means_.data();
}

void FeatureMoments::add(const WeightedRows& chunk) {
    weight = total_weight(chunk);
    each_tile(chunk, [&](const WeightedRows& tile) {
        grow_kernels().sum_rows(tile, sum.data(), low.data(), high.data());
    });
    if (squares.empty()) return;
    const double* const mean = means();
    each_tile(chunk,
              [&](const WeightedRows& tile) { grow_kernels().square_rows(tile, mean, squares.data()); });
}

void FeatureMoments::merge(const FeatureMoments& other) {
    if (!squares.empty()) {
        const double joint = weight * other.weight / (weight + other.weight);
        for (std::size_t f = 0; f < sum.size(); ++f) {
            const double distance = other.mean(f) - mean(f);
            squares[f] += other.squares[f] + joint * (distance * distance);
        }
    }
    weight += other.weight;
    for (std::size_t f = 0; f < sum.size(); ++f) {
        sum[f] += other.sum[f];
        low[f] = std::min(low[f], other.low[f]);
        high[f] = std::max(high[f], other.high[f]);
    }
}

void Moments::measure(const Samples& samples, bool with_squares, std::size_t n_threads, Watch& watch) {
    n_features_ = samples.rows.n_features;
    has_squares_ = with_squares;
    for (int cls = 0; cls < 2; ++cls) {
        const WeightedRows rows = samples.of(cls);
        measure_chunks(rows.size(), n_threads, watch, of[cls], chunks_,
                       [&](FeatureMoments& to, std::size_t begin, std::size_t end) {
                           to.reset(n_features_, with_squares);
                           to.add(rows.part(begin, end));
                       });
    }
}

bool Moments::is_constant(std::size_t feature) const {
    return !(std::min(of[0].low[feature], of[1].low[feature]) <
             std::max(of[0].high[feature], of[1].high[feature]));
}

double Moments::reach(std::size_t feature) const {
    const double low = std::min(of[0].low[feature], of[1].low[feature]);
    const double high = std::max(of[0].high[feature], of[1].high[feature]);
    return std::max(high - mean(feature), mean(feature) - low);
}

double Moments::total_squares(std::size_t feature) const {
    const double difference = mean_difference(feature);
    return of[0].squares[feature] + of[1].squares[feature] + balance() * (difference * difference);
}

RealTotals measure_totals(const RealSamples& samples) {
    constexpr double infinity = std::numeric_limits<double>::infinity();
    RealTotals totals{total_weight(samples.all()), 0.0, infinity, -infinity};
    for (std::size_t begin = 0; begin < samples.size(); begin += chunk_rows) {
        double sum = 0.0;
        for (std::size_t row = begin; row < std::min(samples.size(), begin + chunk_rows); ++row) {
            const double response = samples.response[row];
            sum += samples.weight_of(row) * response;
            totals.low = std::min(totals.low, response);
            totals.high = std::max(totals.high, response);
        }
        totals.sum += sum;
    }
    return totals;
}

void RealMoments::reset(std::size_t n_features, bool with_squares) {
    n_features_ = n_features;
    features_.reset(n_features, with_squares);
    response_sum_ = response_squares_ = 0.0;
    products_.assign(padded(n_features), 0.0);
}

void RealMoments::add(const RealSamples& chunk) {
    features_.add(chunk.all());
    for (std::size_t row = 0; row < chunk.size(); ++row)
        response_sum_ += chunk.weight_of(row) * chunk.response[row];
    const double middle = response_mean();
    deviation_.resize(chunk.size());
    for (std::size_t row = 0; row < chunk.size(); ++row) {
        const double distance = chunk.response[row] - middle;
        deviation_[row] = chunk.weight_of(row) * distance;
        response_squares_ += deviation_[row] * distance;
    }
    const double* const mean = features_.means();
    each_tile(chunk.rows, [&](const Rows& tile, std::size_t begin) {
        grow_kernels().product_rows(tile, mean, deviation_.data() + begin, products_.data());
    });
}

double RealMoments::relation(std::size_t feature) const {
    const double range =
        static_cast<double>(features_.high[feature]) - static_cast<double>(features_.low[feature]);
    const double most =
        range * std::sqrt(total_weight() * response_squares_);  // by the Cauchy-Schwarz inequality
    return std::abs(products_[feature]) > 1e-12 * most ? products_[feature] : 0.0;
}

void RealMoments::merge(const RealMoments& other) {
    const double joint = total_weight() * other.total_weight() / (total_weight() + other.total_weight());
    const double distance = other.response_mean() - response_mean();
    for (std::size_t f = 0; f < n_features_; ++f)
        products_[f] += other.products_[f] + joint * distance * (other.mean(f) - mean(f));
    response_squares_ += other.response_squares_ + joint * (distance * distance);
    response_sum_ += other.response_sum_;
    features_.merge(other.features_);
}

void RealMoments::measure(const RealSamples& samples, bool with_squares, std::size_t n_threads,
                          Watch& watch) {
    const std::size_t n_features = samples.rows.n_features;
    measure_chunks(samples.size(), n_threads, watch, *this, chunks_,
                   [&](RealMoments& to, std::size_t begin, std::size_t end) {
                       to.reset(n_features, with_squares);
                       to.add(samples.part(begin, end));
                   });
}

void Scatter::start(std::size_t n_features) {
    triangle.assign(n_features * n_features, 0.0);
    room_.resize(std::max(room_.size(), scatter_room(n_features)));
}

void Scatter::add(const WeightedRows& rows, const double* mean, bool is_first, Watch& watch) {
    const std::size_t p = rows.rows.n_features;
    // Slices of a chunk that take milliseconds, so that the watch is checked often with many features.
    const std::size_t slice =
        std::max<std::size_t>(1, std::min(chunk_rows, (std::size_t{1} << 24) / (p * p + 1)));
    for (std::size_t begin = 0; begin < rows.size(); begin += chunk_rows, is_first = false) {
        const std::size_t end = std::min(rows.size(), begin + chunk_rows);
        if (!is_first) chunk_.assign(p * p, 0.0);
        double* sum = is_first ? triangle.data() : chunk_.data();
        for (std::size_t at = begin; at < end; at += slice) {
            if (at > 0) watch.check();
            each_tile(rows.part(at, std::min(end, at + slice)), [&](const WeightedRows& tile) {
                grow_kernels().scatter_rows(tile, mean, sum, room_.data());
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

template <class AnySamples, class AnyMoments>
void Gram::measure(const AnySamples& samples, const AnyMoments& moments, Watch& watch) {
    constexpr std::size_t tile_features = 256;  // a row of a tile stays in the first-level cache
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
