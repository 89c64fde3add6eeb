#include "lhtree/grow/decisions/offset.hpp"

#include <algorithm>
#include <cmath>
#include <limits>

#include "lhtree/grow/kernels.hpp"

namespace lhtree {

namespace {

constexpr double infinity = std::numeric_limits<double>::infinity();

// A set that a cut takes off pure: beyond an extreme of the other class, on the lower or the upper end.
struct PureSet {
    double weight = 0.0, below = 0.0, above = 0.0;
    bool is_left = false;
    double gap() const { return above - below; }
};

// A cut with so much weight on its left.
Cut cut_with(double offset, double left, const Limits& limits) {
    const double right = limits.totals.weight() - left;
    return {left >= limits.min_samples_leaf && right >= limits.min_samples_leaf, offset, 0.0};
}

}  // namespace

std::optional<Cut> cut_off_largest(const Extents& extents, double gamma, const Limits& limits) {
    PureSet under[2], over[2];  // by class of the set
    for (int cls = 0; cls < 2; ++cls) {
        const Side &left = extents.under[cls], &right = extents.over[cls];
        under[cls] = {left.weight, left.nearest, extents.low[1 - cls], true};
        over[cls] = {right.weight, extents.high[1 - cls], right.nearest, false};
    }
    // In order of preference among equals, before gaps are looked at: {N2, N3}, {N1, N4}.
    const PureSet* const pairs[2][2] = {{&over[1], &under[0]}, {&under[1], &over[0]}};
    PureSet best;
    for (const auto& pair : pairs) {
        const PureSet &first = *pair[0], &second = *pair[1];
        const bool takes_second =
            second.weight > first.weight || (second.weight == first.weight && second.gap() > first.gap());
        const PureSet& better = takes_second ? second : first;
        if (better.weight > best.weight) best = better;
    }

    if (!(best.weight >= gamma)) return std::nullopt;
    const double total = limits.totals.weight();
    return cut_with(midway(best.below, best.above), best.is_left ? best.weight : total - best.weight, limits);
}

double find_middle(const Extents& extents) {
    return (extents.low[0] + extents.high[0] + extents.low[1] + extents.high[1]) / 4.0;
}

Cut cut_between(const Halves& halves, const Limits& limits) {
    if (halves.under.nearest == -infinity || halves.from.nearest == infinity) return {};
    return cut_with(midway(halves.under.nearest, halves.from.nearest), halves.under.weight, limits);
}

Cut find_gini_cut(const ClassOrder& order, const Limits& limits, std::vector<double>& cost) {
    const std::size_t n = order.size();
    const double *const value = order.value(), *const rest = order.rest(), *const target = order.target();
    cost.resize(std::max(cost.size(), n + slack));
    const double least = grow_kernels().gini_costs(value, rest, target, n, limits.totals.of,
                                                   limits.min_samples_leaf, cost.data());
    Cut best;
    if (least == infinity) return best;
    double best_gap = 0.0, best_imbalance = 0.0;
    for (std::size_t i = 0; i + 1 < n; ++i) {
        if (cost[i] != least) continue;
        const double left = rest[i] + target[i];
        const double right = (limits.totals.of[0] - rest[i]) + (limits.totals.of[1] - target[i]);
        const double gap = value[i + 1] - value[i], imbalance = std::abs(left - right);
        if (best.exists && !(gap > best_gap || (gap == best_gap && imbalance < best_imbalance))) continue;
        best = {true, midway(value[i], value[i + 1]), least};
        best_gap = gap;
        best_imbalance = imbalance;
    }
    return best;
}

Cut find_least_squares_cut(const RealOrder& order, const RealMoments& moments, double min_samples_leaf) {
    Cut best;
    double best_gap = 0.0, best_imbalance = 0.0, best_gain = 0.0;
    const double* const value = order.value();
    const double rounding = rounding_of(moments);
    for (std::size_t i = 0; i + 1 < order.size(); ++i) {
        const double left = order.weight(i), right = moments.total_weight() - left;
        if (value[i] == value[i + 1] || left < min_samples_leaf || right < min_samples_leaf) continue;
        // What the cut takes off the squared error: W_l·W_r/W · (difference of the means)².
        const double own = order.distance(i), other = order.distance(order.size() - 1) - own;
        const double apart = own * right - other * left;
        const double gain = apart * apart / (left * right * moments.total_weight());
        const double gap = value[i + 1] - value[i], imbalance = std::abs(left - right);
        const bool is_better = !best.exists || gain > best_gain + rounding ||
                               (gain >= best_gain - rounding &&
                                (gap > best_gap || (gap == best_gap && imbalance < best_imbalance)));
        if (!is_better) continue;
        best = {true, midway(value[i], value[i + 1]), std::max(moments.response_squares() - gain, 0.0)};
        best_gain = gain;
        best_gap = gap;
        best_imbalance = imbalance;
    }
    return best;
}

}  // namespace lhtree
