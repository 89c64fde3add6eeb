#include "lhtree/grow/decisions/runs.hpp"

#include <algorithm>
#include <cmath>

#include "lhtree/grow/decisions/share.hpp"
#include "lhtree/shared/random.hpp"

namespace lhtree {

std::pair<std::size_t, std::size_t> draw_pair(std::uint64_t key, std::size_t n_runs) {
    Draws draws(key, direction_draws);
    const std::size_t one = draws.below(n_runs);
    std::size_t other = draws.below(n_runs - 1);
    other += other >= one;
    return std::minmax(one, other);
}

Cut find_gini_cut(const RunOrder& order, double weight, double min_samples_leaf) {
    Cut best;
    double best_gap = 0.0, best_imbalance = 0.0;
    const double* const value = order.value();
    for (std::size_t i = 0; i + 1 < order.size(); ++i) {
        const double left = order.left(i), right = weight - left, cost = order.cost(i);
        if (best.exists && cost > best.cost) continue;
        if (value[i] == value[i + 1] || left < min_samples_leaf || right < min_samples_leaf) continue;
        const double gap = value[i + 1] - value[i], imbalance = std::abs(left - right);
        const bool is_better = !best.exists || cost < best.cost || gap > best_gap ||
                               (gap == best_gap && imbalance < best_imbalance);
        if (!is_better) continue;
        best = {true, midway(value[i], value[i + 1]), cost};
        best_gap = gap;
        best_imbalance = imbalance;
    }
    return best;
}

void share_gain_alone(const RunTotals& totals, const RunTotals& left, std::size_t n_features,
                      Hyperplane& hyperplane) {
    const double weight = totals.weight(), on_left = left.weight(), on_right = weight - on_left;
    const Variable side{on_left * on_right / weight, std::max(on_left, on_right) / weight};
    double best = 0.0;
    for (std::size_t run = 0; run < totals.size(); ++run) {
        const double own = totals.of[run], rest = weight - own;
        const double product = left.weight_of(totals.classes[run]) - on_left * own / weight;
        best = std::max(best, find_credit(product, side, {own * rest / weight, std::max(own, rest) / weight},
                                          weight, n_features * (totals.size() - 1)));
    }
    hyperplane.shares = {static_cast<float>(best)};
}

}  // namespace lhtree
