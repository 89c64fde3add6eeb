#include "lhtree/grow/statistics/moments.hpp"

#include <algorithm>
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

}  // namespace lhtree
