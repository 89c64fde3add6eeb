#include "lhtree/cut.hpp"

#include <algorithm>
#include <cmath>
#include <limits>

#include "lhtree/kernels.hpp"

namespace lhtree {

namespace {

constexpr double infinity = std::numeric_limits<double>::infinity();

// The middle of the gap, or its upper end where rounding leaves nothing between.
double midway(double low, double high) {
    const double middle = low + (high - low) / 2.0;
    return middle > low ? middle : high;
}

// A set that a cut takes off pure: beyond an extreme of the other class, on the lower or the upper end.
struct PureSet {
    double weight = 0.0, below = 0.0, above = 0.0;
    bool is_left = false;
    double gap() const { return above - below; }
};

// Few rows are sorted sooner. Weights are added in the order of the values, which takes all of them.
bool pays_to_narrow(const Samples& samples) {
    constexpr std::size_t least = 32;  // measured
    return samples.size() >= least && !samples.weight;
}

}  // namespace

Cut cut_purest(const CutRows& rows, const double* feature_sums, double gamma) {
    const Samples& samples = rows.samples;
    const std::size_t begin[2] = {0, samples.n_rest},
                      size[2] = {samples.n_rest, samples.size() - samples.n_rest};
    double low[2], high[2];
    for (int cls = 0; cls < 2; ++cls)
        kernels().extremes(feature_sums + begin[cls], size[cls], low[cls], high[cls]);
    PureSet under[2], over[2];  // by class of the set
    for (int cls = 0; cls < 2; ++cls) {
        const double* weight = samples.weight ? samples.weight + begin[cls] : nullptr;
        const Side left = kernels().below(feature_sums + begin[cls], weight, size[cls], low[1 - cls]);
        const Side right = kernels().above(feature_sums + begin[cls], weight, size[cls], high[1 - cls]);
        under[cls] = {left.weight, left.nearest, low[1 - cls], true};
        over[cls] = {right.weight, high[1 - cls], right.nearest, false};
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

    const double total = rows.weight[0] + rows.weight[1];
    Cut cut;
    double left = 0.0;
    if (best.weight >= gamma) {
        cut.offset = midway(best.below, best.above);
        left = best.is_left ? best.weight : total - best.weight;
    } else {
        const double e = (low[0] + high[0] + low[1] + high[1]) / 4.0;
        const Side under_e = kernels().below(feature_sums, samples.weight, samples.size(), e);
        // The nearest row from e upwards: nothing lies between e and the next number below it.
        const Side from_e =
            kernels().above(feature_sums, samples.weight, samples.size(), std::nextafter(e, -infinity));
        if (under_e.nearest == -infinity || from_e.nearest == infinity) return cut;
        cut.offset = midway(under_e.nearest, from_e.nearest);
        left = under_e.weight;
    }
    cut.exists = left >= rows.min_samples_leaf && total - left >= rows.min_samples_leaf;
    return cut;
}

template <class Key>
void GiniCutter::enter(std::size_t n, bool is_narrowed, const Key& key) {
    sorted_.resize(n);
    for (auto* values : {&value_, &rest_, &target_, &cost_}) values->resize(n + slack);
    if (is_narrowed) {
        const std::uint32_t* const chosen = narrower_.chosen();
        for (std::size_t i = 0; i < n; ++i) sorted_[i] = keyed_row(key(chosen[i]), chosen[i]);
    } else {
        for (std::size_t row = 0; row < n; ++row) sorted_[row] = keyed_row(key(row), row);
    }
    sorter_.sort(sorted_);
}

Cut GiniCutter::cut(const CutRows& rows, const double* feature_sums) {
    std::size_t n = rows.samples.size();
    const bool is_narrowed = pays_to_narrow(rows.samples);
    if (is_narrowed) {
        narrower_.bin(feature_sums, n, rows.samples.n_rest);
        n = narrower_.choose(infinity, rows.min_samples_leaf);
    }
    enter(n, is_narrowed, [feature_sums](std::size_t row) { return static_cast<float>(feature_sums[row]); });
    // Sums that are one float but not one double are still in the order of their rows.
    const auto is_less = [feature_sums](KeyedRow a, KeyedRow b) {
        return feature_sums[row_of(a)] < feature_sums[row_of(b)];
    };
    for (std::size_t begin = 0, end; begin < n; begin = end) {
        for (end = begin + 1; end < n && sorted_[end] >> 32 == sorted_[begin] >> 32;) ++end;
        const auto first = sorted_.begin() + static_cast<std::ptrdiff_t>(begin);
        const auto last = sorted_.begin() + static_cast<std::ptrdiff_t>(end);
        if (!std::is_sorted(first, last, is_less)) std::stable_sort(first, last, is_less);
    }
    for (std::size_t i = 0; i < n; ++i) value_[i] = feature_sums[row_of(sorted_[i])];
    return find_best(rows, is_narrowed);
}

Cut GiniCutter::cut_feature(const CutRows& rows, std::size_t feature, const CodedRows& coded, double limit) {
    std::size_t n = rows.samples.size();
    const bool is_narrowed = coded.code && pays_to_narrow(rows.samples);
    if (is_narrowed) {
        narrower_.bin(coded, n, rows.samples.n_rest);
        n = narrower_.choose(limit, rows.min_samples_leaf);
        if (n == 0) return {};
    }
    enter(n, is_narrowed, [&](std::size_t row) { return rows.samples.rows[row][feature]; });
    for (std::size_t i = 0; i < n; ++i) value_[i] = static_cast<double>(key_of(sorted_[i]));
    return find_best(rows, is_narrowed);
}

// Weights of the classes up to each entry.
void GiniCutter::add_up(const CutRows& rows, bool is_narrowed) {
    const std::size_t n = sorted_.size(), n_rest = rows.samples.n_rest;
    if (is_narrowed && narrower_.has_one_value_each()) {
        for (std::size_t i = 0; i < n; ++i) {
            const std::size_t next = narrower_.bin_of(row_of(sorted_[i])) + 1;
            rest_[i] = narrower_.rest_before(next);
            target_[i] = narrower_.target_before(next);
        }
        return;
    }
    double rest = 0.0, target = 0.0;
    for (std::size_t i = 0, bin = 0; i < n; ++i) {
        const std::size_t row = row_of(sorted_[i]);
        if (is_narrowed && (i == 0 || narrower_.bin_of(row) != bin)) {  // rows before it may be left out
            bin = narrower_.bin_of(row);
            rest = narrower_.rest_before(bin);
            target = narrower_.target_before(bin);
        }
        const double weight = rows.samples.weight_of(row);
        rest += row < n_rest ? weight : 0.0;
        target += row < n_rest ? 0.0 : weight;
        rest_[i] = rest;
        target_[i] = target;
    }
}

Cut GiniCutter::find_best(const CutRows& rows, bool is_narrowed) {
    const std::size_t n = sorted_.size();
    add_up(rows, is_narrowed);
    const double least = kernels().gini_costs(value_.data(), rest_.data(), target_.data(), n, rows.weight,
                                              rows.min_samples_leaf, cost_.data());
    Cut best;
    if (least == infinity) return best;
    double best_gap = 0.0, best_imbalance = 0.0;
    for (std::size_t i = 0; i + 1 < n; ++i) {
        if (cost_[i] != least) continue;
        const double left = rest_[i] + target_[i];
        const double right = (rows.weight[0] - rest_[i]) + (rows.weight[1] - target_[i]);
        const double gap = value_[i + 1] - value_[i], imbalance = std::abs(left - right);
        if (best.exists && !(gap > best_gap || (gap == best_gap && imbalance < best_imbalance))) continue;
        best = {true, midway(value_[i], value_[i + 1]), least};
        best_gap = gap;
        best_imbalance = imbalance;
    }
    return best;
}

}  // namespace lhtree
