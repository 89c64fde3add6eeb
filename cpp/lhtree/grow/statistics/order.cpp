#include "lhtree/grow/statistics/order.hpp"

#include <algorithm>
#include <limits>

namespace lhtree {

namespace {

constexpr double infinity = std::numeric_limits<double>::infinity();

// Few rows are sorted sooner. Weights are added in the order of the values, which takes all of them.
bool pays_to_narrow(const Samples& samples) {
    constexpr std::size_t least = 32;  // measured
    return samples.size() >= least && !samples.weight;
}

}  // namespace

template <class Key>
void ClassOrder::enter(std::size_t n, bool is_narrowed, const Key& key) {
    size_ = n;
    sorted_.resize(n);
    for (auto* values : {&value_, &rest_, &target_}) values->resize(n + slack);
    if (is_narrowed) {
        const std::uint32_t* const chosen = narrower_.chosen();
        for (std::size_t i = 0; i < n; ++i) sorted_[i] = keyed_row(key(chosen[i]), chosen[i]);
    } else {
        for (std::size_t row = 0; row < n; ++row) sorted_[row] = keyed_row(key(row), row);
    }
    sorter_.sort(sorted_);
}

void ClassOrder::measure(const Samples& samples, const double* feature_sums, double min_samples_leaf) {
    std::size_t n = samples.size();
    const bool is_narrowed = pays_to_narrow(samples);
    if (is_narrowed) {
        narrower_.bin(feature_sums, n, samples.n_rest);
        n = narrower_.choose(infinity, min_samples_leaf);
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
    add_up(samples, is_narrowed);
}

void ClassOrder::measure_feature(const Samples& samples, std::size_t feature, const CodedRows& coded,
                                 double limit, double min_samples_leaf) {
    std::size_t n = samples.size();
    const bool is_narrowed = coded.code && pays_to_narrow(samples);
    if (is_narrowed) {
        narrower_.bin(coded, n, samples.n_rest);
        n = narrower_.choose(limit, min_samples_leaf);
        if (n == 0) {
            size_ = 0;
            return;
        }
    }
    enter(n, is_narrowed, [&](std::size_t row) { return samples.rows[row][feature]; });
    for (std::size_t i = 0; i < n; ++i) value_[i] = static_cast<double>(key_of(sorted_[i]));
    add_up(samples, is_narrowed);
}

// Weights of the classes up to each entry.
void ClassOrder::add_up(const Samples& samples, bool is_narrowed) {
    const std::size_t n = sorted_.size(), n_rest = samples.n_rest;
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
        const double weight = samples.weight_of(row);
        rest += row < n_rest ? weight : 0.0;
        target += row < n_rest ? 0.0 : weight;
        rest_[i] = rest;
        target_[i] = target;
    }
}

}  // namespace lhtree
