#include "lhtree/grow/boost/split_finder.hpp"

#include <algorithm>
#include <cmath>

#include "lhtree/grow/decisions/linear.hpp"

namespace lhtree::boost {

Centred::Centred(std::size_t n_features)
    : descent_(n_features), product_(n_features * (n_features + 1) / 2), raw_square_(n_features) {}

void Centred::add(const Moments& moments) {
    const double hessian = moments.hessian.value(), gradient = moments.gradient.value();
    if (!(hessian > 0.0)) return;
    hessian_ += hessian;
    for (std::size_t i = 0, at = 0; i < n_features(); ++i) {
        const double sum = moments.hessian_value[i].value();
        descent_[i] += gradient * moments.mean(i) - moments.gradient_value[i].value();
        for (std::size_t j = 0; j <= i; ++j, ++at)
            product_[at] += moments.products[at].value() - sum * moments.mean(j);
        raw_square_[i] += moments.products[at - 1].value();
    }
}

std::vector<std::size_t> Centred::varying() const {
    std::vector<std::size_t> varying;
    for (std::size_t i = 0; i < n_features(); ++i)
        if (product(i, i) > 1e-9 * raw_square_[i]) varying.push_back(i);
    return varying;
}

// The least hessian is that of HistGradientBoosting: below it, a step would be a guess.
SplitFinder::SplitFinder(const Rules& rules, const Quanta& quanta)
    : rules_(rules), quanta_(quanta), l2_(rules.l2 / quanta.weight), least_hessian_(1e-3 / quanta.weight) {}

double SplitFinder::value(const Sums& sums, const Bounds& bounds) const {
    const double h = static_cast<double>(sums.hessian) * quanta_.hessian + l2_;
    const double g = static_cast<double>(sums.gradient) * quanta_.gradient;
    return h > 0.0 ? std::clamp(-g / h, bounds.low, bounds.high) : std::clamp(0.0, bounds.low, bounds.high);
}

double SplitFinder::reduction(const Sums& sums, const Bounds& bounds) const {
    const double h = static_cast<double>(sums.hessian) * quanta_.hessian + l2_;
    const double g = static_cast<double>(sums.gradient) * quanta_.gradient;
    if (!(h > 0.0)) return 0.0;
    if (rules_.monotonic.empty()) return g * g / h;
    const double step = std::clamp(-g / h, bounds.low, bounds.high);
    return -(2.0 * g * step + h * step * step);
}

bool SplitFinder::may_be_child(const Sums& sums) const {
    return static_cast<double>(sums.weight) * quanta_.weight >= rules_.min_weight && sums.weight > 0 &&
           static_cast<double>(sums.hessian) * quanta_.hessian >= least_hessian_;
}

bool SplitFinder::may_split(const Sums& sums) const {
    return static_cast<double>(sums.weight) * quanta_.weight >= 2.0 * rules_.min_weight;
}

// Whether two children together reduce the loss by clearly less than `least`; without divisions, because most
// cuts do.
bool SplitFinder::is_far_worse(const Sums& left, const Sums& right, double least) const {
    const auto parts = [&](const Sums& sums) {
        return std::pair{static_cast<double>(sums.gradient) * quanta_.gradient,
                         static_cast<double>(sums.hessian) * quanta_.hessian + l2_};
    };
    const auto [g, h] = parts(left);
    const auto [other_g, other_h] = parts(right);
    return g * g * other_h + other_g * other_g * h < least * (h * other_h) * (1.0 - 1e-12);
}

double SplitFinder::gain_of(const Totals& totals, const Sums& left) const {
    const Sums right = totals.sums - left;
    if (!may_be_child(left) || !may_be_child(right)) return 0.0;
    return std::max(0.0, reduction(left, totals.bounds) + reduction(right, totals.bounds) -
                             reduction(totals.sums, totals.bounds));
}

bool SplitFinder::is_better(const Totals& totals, double unsplit, const Sums& left, int sign,
                            double& gain) const {
    const Sums right = totals.sums - left;
    if (!may_be_child(left) || !may_be_child(right)) return false;
    if (rules_.monotonic.empty() && is_far_worse(left, right, gain + unsplit)) return false;
    const double found = reduction(left, totals.bounds) + reduction(right, totals.bounds) - unsplit;
    if (!(found > gain)) return false;
    if (sign != 0 && sign * (value(right, totals.bounds) - value(left, totals.bounds)) < 0.0) return false;
    gain = found;
    return true;
}

void SplitFinder::cut_feature(const Totals& totals, std::int32_t feature, const Bins& bins,
                              const Histogram& histogram, std::size_t first, std::optional<Cut>& best) const {
    const auto f = static_cast<std::size_t>(feature);
    const std::size_t n_bins = bins.n_bins(f);
    const Sums missing = histogram[first + n_bins];
    const bool any_missing = missing.weight > 0;
    const int sign = rules_.monotonic.empty() ? 0 : rules_.monotonic[f];
    const double unsplit = reduction(totals.sums, totals.bounds);
    double gain = best ? best->gain : 0.0;
    Cut cut;
    bool is_found = false;
    Sums left;
    for (std::size_t bin = 0; bin < n_bins; ++bin) {
        const Sums sums = histogram[first + bin];
        left += sums;
        if (sums.weight == 0 && bin + 1 < n_bins) continue;
        if (bin + 1 == n_bins && !any_missing) break;
        if (is_better(totals, unsplit, left, sign, gain)) {  // missing values, if any, go right
            is_found = true;
            cut.code = static_cast<std::uint32_t>(bin);
            cut.is_missing_left = false;
            cut.left = left;
        }
        if (!any_missing || bin + 1 == n_bins) continue;
        Sums with_missing = left;
        with_missing += missing;
        if (is_better(totals, unsplit, with_missing, sign, gain)) {
            is_found = true;
            cut.code = static_cast<std::uint32_t>(bin);
            cut.is_missing_left = true;
            cut.left = with_missing;
        }
    }
    if (!is_found) return;
    if (!any_missing) cut.is_missing_left = 2 * cut.left.weight >= totals.sums.weight;  // the heavier side
    cut.direction = Direction::single(feature);
    cut.gain = gain;
    best = std::move(cut);
}

Direction SplitFinder::direct(const Moments& moments, const Centred& centred,
                              const std::vector<std::int32_t>& features) const {
    const double hessian = moments.hessian.value();
    if (!(hessian > 0.0)) return {};
    const Centred overall(moments);
    Direction direction;
    std::vector<double> step;  // only its ratios matter, so sums may stay in quanta
    Watch quiet;
    const auto solve = [&](const std::vector<std::size_t>& kept, std::vector<double>& found) {
        const std::size_t p = kept.size();
        if (p < 2) return false;
        std::vector<double> scatter(p * p);
        for (std::size_t i = 0; i < p; ++i) {
            for (std::size_t j = 0; j <= i; ++j) scatter[i * p + j] = centred.product(kept[i], kept[j]);
            found[i] = centred.descent(kept[i]);
        }
        return solve_ridge(scatter, rules_.ridge, found, quiet);
    };
    const std::vector<std::size_t> kept = solve_monotonic(centred, features, rules_, step, solve);
    if (kept.empty()) return {};
    double largest = 0.0;
    for (const double value : step) largest = std::max(largest, std::abs(value));
    if (!(largest > 0.0)) return {};
    double mean_sum = 0.0, variance = 0.0;
    std::vector<std::size_t> used;
    for (std::size_t i = 0; i < kept.size(); ++i) {
        const auto weight = static_cast<std::int32_t>(std::nearbyint(step[i] / largest / weight_unit));
        if (weight == 0) continue;
        used.push_back(kept[i]);
        direction.features.push_back(features[kept[i]]);
        direction.weights.push_back(weight);
        direction.spreads.push_back(std::sqrt(overall.product(kept[i], kept[i]) / hessian));
    }
    if (used.size() < 2) return {};
    for (std::size_t i = 0; i < used.size(); ++i) {
        const auto weight = static_cast<double>(direction.weights[i]);
        mean_sum += weight * moments.mean(used[i]);
        for (std::size_t j = 0; j <= i; ++j)
            variance += (i == j ? 1.0 : 2.0) * weight * static_cast<double>(direction.weights[j]) *
                        (overall.product(used[i], used[j]) / hessian);
    }
    const double reach = 3.0 * std::sqrt(std::max(variance, 0.0));
    direction.low = std::floor(mean_sum - reach);
    direction.step = std::max(1.0, std::ceil(2.0 * reach / static_cast<double>(n_steps)));
    return direction;
}

int SplitFinder::sign_of(const Direction& direction) const {
    if (rules_.monotonic.empty()) return 0;
    for (std::size_t i = 0; i < direction.features.size(); ++i)
        if (const int sign = rules_.monotonic[static_cast<std::size_t>(direction.features[i])])
            return direction.weights[i] > 0 ? sign : -sign;
    return 0;
}

void SplitFinder::cut_direction(const Totals& totals, const Direction& direction, const Histogram& sums,
                                std::optional<Cut>& best) const {
    const double unsplit = reduction(totals.sums, totals.bounds);
    const int sign = sign_of(direction);
    double gain = best ? best->gain : 0.0;
    std::size_t found = n_steps;
    Sums left, found_left;
    for (std::size_t step = 0; step + 1 < n_steps; ++step) {
        left += sums[step];
        if (sums[step].weight == 0 || !is_better(totals, unsplit, left, sign, gain)) continue;
        found = step;
        found_left = left;
    }
    if (found == n_steps) return;
    Cut cut;
    cut.direction = direction;
    cut.sum = direction.low + static_cast<double>(found + 1) * direction.step;
    cut.gain = gain;
    cut.left = found_left;
    best = std::move(cut);
}

void SplitFinder::pass_bounds(const Totals& totals, double of_block, const Cut& cut, Bounds& left,
                              Bounds& right) const {
    left = right = totals.bounds;
    const int sign = sign_of(cut.direction);
    if (sign == 0) return;
    const auto value_or = [&](const Sums& sums) {
        return sums.weight > 0 ? value(sums, totals.bounds) : of_block;
    };
    const double middle = (value_or(cut.left) + value_or(totals.sums - cut.left)) / 2.0;
    (sign > 0 ? left.high : left.low) = middle;
    (sign > 0 ? right.low : right.high) = middle;
}

}  // namespace lhtree::boost
