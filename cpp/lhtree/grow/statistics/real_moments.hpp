// What a block knows of its samples if the response is any number: sums that merge.
#pragma once
#include <algorithm>
#include <vector>

#include "lhtree/grow/statistics/moments.hpp"

namespace lhtree {

// Weight, sum and range of the response, in chunks merged in order.
struct RealTotals {
    double sum_of_weights = 0.0, sum = 0.0;
    double low = 0.0, high = 0.0;

    double weight() const { return sum_of_weights; }
    double response() const { return sum; }
    bool is_pure() const { return !(low < high); }
    double reach() const { return std::max(high - sum / weight(), sum / weight() - low); }
};
RealTotals measure_totals(const RealSamples& samples);

// Moments of the features, of the response, and of both together.
class RealMoments {
  public:
    void measure(const RealSamples& samples, bool with_squares, std::size_t n_threads, Watch& watch);
    void merge(const RealMoments& other);
    void add(const RealSamples& chunk);  // to empty moments
    void reset(std::size_t n_features, bool with_squares);

    const FeatureMoments& features() const { return features_; }
    std::size_t n_features() const { return n_features_; }
    bool has_squares() const { return !features_.squares.empty(); }
    bool is_constant(std::size_t feature) const {
        return !(features_.low[feature] < features_.high[feature]);
    }
    double total_weight() const { return features_.weight; }
    double mean(std::size_t feature) const { return features_.mean(feature); }
    double response_mean() const { return response_sum_ / features_.weight; }
    double total_squares(std::size_t feature) const { return features_.squares[feature]; }  // n · var(x_i)
    double squares_between(std::size_t) const { return 0.0; }  // the scatter is taken about the same means
    double response_squares() const { return response_squares_; }                // n · var(r)
    double covariance(std::size_t feature) const { return products_[feature]; }  // n · cov(x_i, r)
    double reach(std::size_t feature) const {                                    // max |x_i - mean|
        return std::max(features_.high[feature] - mean(feature), mean(feature) - features_.low[feature]);
    }
    double relation(std::size_t feature) const;  // the same, 0 where it may be rounding alone

  private:
    std::size_t n_features_ = 0;
    FeatureMoments features_;
    double response_sum_ = 0.0, response_squares_ = 0.0;
    std::vector<double> products_;  // of the deviations of a feature and the response from their means
    std::vector<double> deviation_;
    std::vector<RealMoments> chunks_;
};

}  // namespace lhtree
