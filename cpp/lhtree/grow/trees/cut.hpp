// Where to cut the feature sums of a block: what is measured for it, and decided by it.
#pragma once
#include <vector>

#include "lhtree/grow/decisions/offset.hpp"
#include "lhtree/shared/options.hpp"

namespace lhtree {

inline Cut cut_purest(const Samples& samples, const Limits& limits, const double* feature_sums,
                      double gamma) {
    const Extents extents = measure_extents(samples, feature_sums);
    if (const auto cut = cut_off_largest(extents, gamma, limits)) return *cut;
    return cut_between(measure_halves(samples, feature_sums, find_middle(extents)), limits);
}

class GiniCutter {
  public:
    Cut cut(const Samples& samples, const Limits& limits, const double* feature_sums) {
        order_.measure(samples, feature_sums, limits.min_samples_leaf);
        return find_gini_cut(order_, limits, cost_);
    }
    // Column `feature` of the samples alone; the cut need not be found if it costs `limit` or more.
    Cut cut_feature(const Samples& samples, const Limits& limits, std::size_t feature, const CodedRows& coded,
                    double limit) {
        order_.measure_feature(samples, feature, coded, limit, limits.min_samples_leaf);
        return find_gini_cut(order_, limits, cost_);
    }

  private:
    ClassOrder order_;
    std::vector<double> cost_;
};

class LeastSquaresCutter {
  public:
    Cut cut(const RealSamples& samples, const RealTotals& totals, const RealMoments& moments,
            double min_samples_leaf, const double* feature_sums) {
        order_.measure(samples, feature_sums, totals.low);
        return find_least_squares_cut(order_, moments, min_samples_leaf);
    }
    Cut cut_feature(const RealSamples& samples, const RealTotals& totals, const RealMoments& moments,
                    double min_samples_leaf, std::size_t feature) {
        order_.measure_feature(samples, feature, totals.low);
        return find_least_squares_cut(order_, moments, min_samples_leaf);
    }

  private:
    RealOrder order_;
};

}  // namespace lhtree
