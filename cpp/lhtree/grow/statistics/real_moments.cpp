#include "lhtree/grow/statistics/real_moments.hpp"

#include <algorithm>
#include <cmath>
#include <limits>

#include "lhtree/grow/kernels.hpp"

namespace lhtree {

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
    const double most = range * std::sqrt(total_weight() * response_squares_);  // Cauchy and Schwarz
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

}  // namespace lhtree
