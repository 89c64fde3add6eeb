#include "lhtree/grow/decisions/direction.hpp"

#include <algorithm>
#include <cmath>

#include "lhtree/grow/decisions/ridge.hpp"

namespace lhtree {

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

void turn_to_fisher(Scatter& scatter, double shrinkage, Watch& watch, std::vector<double>& direction) {
    solve_ridge(scatter.triangle, shrinkage, direction, watch);
}

}  // namespace lhtree
