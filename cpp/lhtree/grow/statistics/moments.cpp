#include "lhtree/grow/statistics/moments.hpp"

#include <algorithm>
#include <limits>

#include "lhtree/grow/kernels/kernels.hpp"

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

void ClassMoments::reset(std::size_t n_features, bool with_squares) {
    const std::size_t n = padded(n_features);
    weight = 0.0;
    sum.assign(n, 0.0);
    squares.assign(with_squares ? n : 0, 0.0);
    low.assign(n, std::numeric_limits<float>::infinity());
    high.assign(n, -std::numeric_limits<float>::infinity());
}

const double* ClassMoments::means() const {
    means_ = sum;
    if (weight > 0.0)
        for (double& mean : means_) mean /= weight;
    return means_.data();
}

void ClassMoments::add(const WeightedRows& chunk) {
    weight = total_weight(chunk);
    grow_kernels().sum_rows(chunk, sum.data(), low.data(), high.data());
    if (!squares.empty()) grow_kernels().square_rows(chunk, means(), squares.data());
}

void ClassMoments::merge(const ClassMoments& other) {
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
    constexpr std::size_t chunks_at_once = 64;  // so that waiting for their turn they take little memory
    for (int cls = 0; cls < 2; ++cls) {
        const WeightedRows rows = samples.of(cls);
        const auto add = [&](ClassMoments& to, std::size_t chunk) {
            to.reset(n_features_, with_squares);
            to.add(rows.part(chunk * chunk_rows, std::min(rows.size(), (chunk + 1) * chunk_rows)));
        };
        add(of[cls], 0);
        const std::size_t n_chunks = (rows.size() + chunk_rows - 1) / chunk_rows;
        for (std::size_t first = 1; first < n_chunks; first += chunks_at_once) {
            const std::size_t n = std::min(n_chunks - first, chunks_at_once);
            chunks_.resize(std::max(chunks_.size(), n));
            run(n, n_threads, watch, [&](std::size_t i) { add(chunks_[i], first + i); });
            for (std::size_t i = 0; i < n; ++i) of[cls].merge(chunks_[i]);
        }
    }
}

bool Moments::is_constant(std::size_t feature) const {
    return !(std::min(of[0].low[feature], of[1].low[feature]) <
             std::max(of[0].high[feature], of[1].high[feature]));
}

double Moments::total_squares(std::size_t feature) const {
    const double difference = mean_difference(feature);
    return of[0].squares[feature] + of[1].squares[feature] + balance() * (difference * difference);
}

void Scatter::measure(const Samples& samples, const Moments& moments, Watch& watch) {
    const std::size_t p = samples.rows.n_features;
    // A slice is a part of a chunk that takes milliseconds, so that the watch is heard with many features.
    const std::size_t slice =
        std::max<std::size_t>(1, std::min(chunk_rows, (std::size_t{1} << 24) / (p * p + 1)));
    triangle.assign(p * p, 0.0);
    distance_.resize(p);
    for (int cls = 0; cls < 2; ++cls) {
        const double* mean = moments.of[cls].means();
        const WeightedRows rows = samples.of(cls);
        for (std::size_t begin = 0; begin < rows.size(); begin += chunk_rows) {
            const std::size_t end = std::min(rows.size(), begin + chunk_rows);
            const bool is_first = cls == 0 && begin == 0;
            if (!is_first) chunk_.assign(p * p, 0.0);
            double* sum = is_first ? triangle.data() : chunk_.data();
            for (std::size_t at = begin; at < end; at += slice) {
                watch.check();
                grow_kernels().scatter_rows(rows.part(at, std::min(end, at + slice)), mean, sum,
                                            distance_.data());
            }
            if (!is_first)
                for (std::size_t i = 0; i < p * p; ++i) triangle[i] += chunk_[i];
        }
    }
}

}  // namespace lhtree
