#include "lhtree/hyperplane.hpp"

#include <algorithm>
#include <cmath>
#include <limits>

#include "lhtree/kernels.hpp"
#include "lhtree/linear.hpp"

namespace lhtree {

namespace {

constexpr double infinity = std::numeric_limits<double>::infinity();

// The middle of the gap, or its upper end where rounding leaves nothing between.
double midway(double low, double high) {
    const double middle = low + (high - low) / 2.0;
    return middle > low ? middle : high;
}

double impurity(double target, double rest) {
    const double weight = target + rest;
    return weight > 0.0 ? target * rest / weight : 0.0;
}

}  // namespace

void find_active(const Moments& moments, double alpha, std::vector<std::int32_t>& active) {
    active.clear();
    for (std::size_t f = 0; f < moments.n_features(); ++f) {
        if (moments.is_constant(f)) continue;
        if (alpha > 0.0 && !(moments.total_squares(f) / moments.total_weight() > alpha)) continue;
        active.push_back(static_cast<std::int32_t>(f));
    }
}

void keep_features(const Moments& moments, const std::vector<std::int32_t>& active, double beta, Kept& kept) {
    kept.features.clear();
    kept.mean_differences.clear();
    double largest = 0.0;
    for (const auto f : active)
        largest = std::max(largest, std::abs(moments.mean_difference(static_cast<std::size_t>(f))));
    if (largest == 0.0) return;
    for (const auto f : active) {
        const double difference = moments.mean_difference(static_cast<std::size_t>(f));
        if (std::abs(difference / largest) > beta) {
            kept.features.push_back(f);
            kept.mean_differences.push_back(difference);
        }
    }
}

void scale_weights(const std::vector<double>& direction, std::vector<float>& weights) {
    double largest = 0.0;
    for (const double value : direction) largest = std::max(largest, std::abs(value));
    weights.resize(direction.size());
    for (std::size_t i = 0; i < direction.size(); ++i)
        weights[i] = static_cast<float>(direction[i] / largest);
}

void turn_to_fisher(const Samples& samples, double shrinkage, Watch& watch, std::vector<double>& direction) {
    Moments moments;
    std::vector<double> scatter;
    moments.measure(samples, false, watch);
    measure_scatter(samples, moments, watch, scatter);
    solve_ridge(scatter, shrinkage, direction, watch);
}

Cut cut_purest(const Sums& sums, double gamma, double min_samples_leaf) {
    const Samples& samples = sums.samples;
    const double* feature_sum = sums.feature_sum;
    const std::size_t begin[2] = {0, samples.n_rest}, end[2] = {samples.n_rest, samples.size()};
    double low[2], high[2];
    for (int cls = 0; cls < 2; ++cls)
        kernels().extremes(feature_sum + begin[cls], end[cls] - begin[cls], low[cls], high[cls]);
    // A set that a cut takes off pure: beyond an extreme of the other class, on the lower or the upper end.
    struct PureSet {
        double weight, below, above;
        double gap() const { return above - below; }
    };
    PureSet under[2], over[2];  // by class of the set
    for (int cls = 0; cls < 2; ++cls) {
        const double least = low[1 - cls], most = high[1 - cls];
        double under_weight = 0.0, over_weight = 0.0, below = -infinity, above = infinity;
        for (std::size_t row = begin[cls]; row < end[cls]; ++row) {
            const double value = feature_sum[row], weight = samples.weight_of(row);
            const bool is_under = value<least, is_over = value> most;
            under_weight += is_under ? weight : 0.0;
            over_weight += is_over ? weight : 0.0;
            below = std::max(below, is_under ? value : -infinity);
            above = std::min(above, is_over ? value : infinity);
        }
        under[cls] = {under_weight, below, least};
        over[cls] = {over_weight, most, above};
    }
    // In order of preference among equals, before gaps are looked at: {N2, N3}, {N1, N4}.
    const PureSet* const pairs[2][2] = {{&over[1], &under[0]}, {&under[1], &over[0]}};
    const PureSet* best = pairs[0][0];
    for (const auto& pair : pairs) {
        const PureSet* first = pair[0];
        const PureSet* second = pair[1];
        const bool takes_second = second->weight > first->weight ||
                                  (second->weight == first->weight && second->gap() > first->gap());
        const PureSet* better = takes_second ? second : first;
        if (better->weight > best->weight || best == first) best = better;
    }

    const double total = sums.weight[0] + sums.weight[1];
    Cut cut;
    double left = 0.0;
    if (best->weight >= gamma) {
        cut.offset = midway(best->below, best->above);
        left = best == &under[0] || best == &under[1] ? best->weight : total - best->weight;
    } else {
        const double e = (low[0] + high[0] + low[1] + high[1]) / 4.0;
        double below = -infinity, above = infinity;
        for (std::size_t row = 0; row < samples.size(); ++row) {
            const double value = feature_sum[row];
            const bool is_left = value < e;
            left += is_left ? samples.weight_of(row) : 0.0;
            below = std::max(below, is_left ? value : -infinity);
            above = std::min(above, is_left ? infinity : value);
        }
        if (below == -infinity || above == infinity) return cut;
        cut.offset = midway(below, above);
    }
    cut.exists = left >= min_samples_leaf && total - left >= min_samples_leaf;
    return cut;
}

Cut GiniCutter::operator()(const Sums& sums, double min_samples_leaf) {
    const std::size_t n = sums.samples.size();
    sorted_.resize(n);
    for (std::size_t row = 0; row < n; ++row)
        sorted_[row] = {sums.feature_sum[row], static_cast<std::uint32_t>(row)};
    std::sort(sorted_.begin(), sorted_.end(), [](const Entry& a, const Entry& b) {
        return a.feature_sum < b.feature_sum || (a.feature_sum == b.feature_sum && a.row < b.row);
    });

    Cut best;
    double best_gap = 0.0, best_imbalance = 0.0;
    double left[2] = {0.0, 0.0};
    for (std::size_t i = 0; i + 1 < n; ++i) {
        left[sorted_[i].row >= sums.samples.n_rest] += sums.samples.weight_of(sorted_[i].row);
        const double below = sorted_[i].feature_sum, above = sorted_[i + 1].feature_sum;
        if (below == above) continue;
        const double right[2] = {sums.weight[0] - left[0], sums.weight[1] - left[1]};
        const double left_weight = left[0] + left[1], right_weight = right[0] + right[1];
        if (left_weight < min_samples_leaf || right_weight < min_samples_leaf) continue;
        const double cost = impurity(left[1], left[0]) + impurity(right[1], right[0]);
        if (best.exists && cost > best.cost) continue;
        const double gap = above - below, imbalance = std::abs(left_weight - right_weight);
        const bool is_better = !best.exists || cost < best.cost || gap > best_gap ||
                               (gap == best_gap && imbalance < best_imbalance);
        if (!is_better) continue;
        best = {true, midway(below, above), cost};
        best_gap = gap;
        best_imbalance = imbalance;
    }
    return best;
}

}  // namespace lhtree
