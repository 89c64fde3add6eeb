#include "lhtree/grow/decisions/offset.hpp"

#include <limits>
#include <optional>

#include "lhtree/shared/elementary.hpp"
#include "lhtree/shared/random.hpp"

namespace lhtree {
namespace {

constexpr double infinity = std::numeric_limits<double>::infinity();

// A pure set at one end: rows of one class beyond the extreme of the other class.
struct PureSet {
    double weight = 0.0, below = 0.0, above = 0.0;
    bool is_left = false;
    double gap() const { return above - below; }
};

// The best cut so far. Of equal cuts: the wider gap, then the better balance, then the lower sum.
struct BestCut {
    Cut cut;
    double gap = 0.0, imbalance = 0.0;

    // Takes a cut behind a value that is cheaper, or one that costs the same if it is preferred.
    bool offer(bool is_cheaper, const double* value, double left, double right, double cost) {
        const double own_gap = value[1] - value[0], own = std::abs(left - right);
        const bool is_preferred = own_gap > gap || (own_gap == gap && own < imbalance);
        if (cut.exists && !is_cheaper && !is_preferred) return false;
        cut = {true, midway(value[0], value[1]), cost};
        gap = own_gap;
        imbalance = own;
        return true;
    }
};

// Returns the cut between two sums, given the weight on its left.
Cut cut_with(double offset, double left, const Limits& limits) {
    const double right = limits.totals.weight() - left;
    return {left >= limits.min_samples_leaf && right >= limits.min_samples_leaf, offset, 0.0};
}

// Cuts off the largest pure set if it weighs at least gamma.
std::optional<Cut> cut_off_largest(const Extents& extents, double gamma, const Limits& limits) {
    PureSet under[2], over[2];  // by class of the set
    for (int cls = 0; cls < 2; ++cls) {
        const Side &left = extents.under[cls], &right = extents.over[cls];
        under[cls] = {left.weight, left.nearest, extents.low[1 - cls], true};
        over[cls] = {right.weight, extents.high[1 - cls], right.nearest, false};
    }
    // In order of preference among equal weights, before gaps are compared: {N2, N3}, {N1, N4}.
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

}  // namespace

Cut cut_purest(const Samples& samples, const Limits& limits, const double* feature_sums, double gamma) {
    const Extents extents = measure_extents(samples, feature_sums);
    if (const auto cut = cut_off_largest(extents, gamma, limits)) return *cut;
    const double middle = (extents.low[0] + extents.high[0] + extents.low[1] + extents.high[1]) / 4.0;
    // No number lies between the middle and the next double below it.
    const double before = std::nextafter(middle, -infinity);
    const Side under = grow_kernels().below(feature_sums, samples.weight, samples.size(), middle);
    const Side from = grow_kernels().above(feature_sums, samples.weight, samples.size(), before);
    if (under.nearest == -infinity || from.nearest == infinity) return {};
    return cut_with(midway(under.nearest, from.nearest), under.weight, limits);
}

Cut find_gini_cut(const ClassOrder& order, const Limits& limits, std::vector<double>& cost) {
    const std::size_t n = order.size();
    const double *const value = order.value(), *const rest = order.rest(), *const target = order.target();
    cost.resize(std::max(cost.size(), n + slack));
    const double least = grow_kernels().gini_costs(value, rest, target, n, limits.totals.of,
                                                   limits.min_samples_leaf, cost.data());
    if (least == infinity) return {};
    BestCut best;
    for (std::size_t i = 0; i + 1 < n; ++i) {
        if (cost[i] != least) continue;
        const double right = (limits.totals.of[0] - rest[i]) + (limits.totals.of[1] - target[i]);
        best.offer(false, value + i, rest[i] + target[i], right, least);
    }
    return best.cut;
}

Cut find_least_squares_cut(const RealOrder& order, const RealMoments& moments, double min_samples_leaf) {
    BestCut best;
    double best_gain = 0.0;
    const double* const value = order.value();
    const double rounding = rounding_of(moments);
    for (std::size_t i = 0; i + 1 < order.size(); ++i) {
        const double left = order.weight(i), right = moments.total_weight() - left;
        if (value[i] == value[i + 1] || left < min_samples_leaf || right < min_samples_leaf) continue;
        // Decrease of the squared error: W_l·W_r/W · (difference of the means)².
        const double own = order.distance(i), other = order.distance(order.size() - 1) - own;
        const double apart = own * right - other * left, squared = apart * apart;
        const double scale = left * right * moments.total_weight();
        // Most cuts are far worse than the best so far: they need no division.
        if (best.cut.exists && squared < (best_gain - rounding) * scale * (1.0 - 1e-12)) continue;
        const double gain = squared / scale;
        if (best.cut.exists && !(gain >= best_gain - rounding)) continue;
        if (best.offer(gain > best_gain + rounding, value + i, left, right,
                       std::max(moments.response_squares() - gain, 0.0)))
            best_gain = gain;
    }
    return best.cut;
}

double find_credit(double product, const Variable& a, const Variable& b, double weight,
                   std::size_t n_features) {
    if (product == 0.0) return 0.0;
    const double chance = a.squares * b.squares / weight + a.reach * b.reach * std::abs(product) / 3.0;
    const double most = 2.0 * elementary::log(static_cast<double>(n_features));
    return std::max(0.0, 1.0 - most * chance / (product * product));
}

std::pair<std::size_t, std::size_t> draw_pair(std::uint64_t key, std::size_t n_runs) {
    Draws draws(key, Stream::direction_draws);
    const std::size_t one = draws.below(n_runs);
    std::size_t other = draws.below(n_runs - 1);
    other += other >= one;
    return std::minmax(one, other);
}

Cut find_gini_cut(const RunOrder& order, double weight, double min_samples_leaf) {
    BestCut best;
    const double* const value = order.value();
    for (std::size_t i = 0; i + 1 < order.size(); ++i) {
        const double left = order.left(i), right = weight - left, cost = order.cost(i);
        if (best.cut.exists && cost > best.cut.cost) continue;
        if (value[i] == value[i + 1] || left < min_samples_leaf || right < min_samples_leaf) continue;
        best.offer(cost < best.cut.cost, value + i, left, right, cost);
    }
    return best.cut;
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
