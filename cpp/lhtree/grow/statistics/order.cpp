#include "lhtree/grow/statistics/order.hpp"

#include <algorithm>
#include <limits>

namespace lhtree {

namespace {

// Few rows are sorted sooner. Weights are added in the order of the values, which takes all of them.
bool pays_to_narrow(const Samples& samples) {
    constexpr std::size_t least = 32;  // measured
    return samples.size() >= least && !samples.weight;
}

}  // namespace

template <class Key>
void SortedRows::enter(const std::uint32_t* chosen, std::size_t n, const Key& key) {
    size_ = n;
    sorted_.resize(n);
    value_.resize(n + slack);
    if (chosen)
        for (std::size_t i = 0; i < n; ++i) sorted_[i] = keyed_row(key(chosen[i]), chosen[i]);
    else
        for (std::size_t row = 0; row < n; ++row) sorted_[row] = keyed_row(key(row), row);
    sorter_.sort(sorted_);
}

void SortedRows::sort(const double* feature_sums, const std::uint32_t* chosen, std::size_t n) {
    enter(chosen, n, [feature_sums](std::size_t row) { return static_cast<float>(feature_sums[row]); });
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
}

void SortedRows::sort(const Rows& rows, std::size_t feature, const std::uint32_t* chosen, std::size_t n) {
    enter(chosen, n, [rows, feature](std::size_t row) { return rows.value(row, feature); });
    for (std::size_t i = 0; i < n; ++i) value_[i] = static_cast<double>(key_of(sorted_[i]));
}

void ClassOrder::measure(const Samples& samples, const double* feature_sums, double min_samples_leaf) {
    std::size_t n = samples.size();
    const bool is_narrowed = pays_to_narrow(samples);
    if (is_narrowed) {
        narrower_.bin(feature_sums, n, samples.n_rest);
        n = narrower_.choose(std::numeric_limits<double>::infinity(), min_samples_leaf);
    }
    sorted_.sort(feature_sums, is_narrowed ? narrower_.chosen() : nullptr, n);
    add_up(samples, is_narrowed);
}

void ClassOrder::measure_feature(const Samples& samples, std::size_t feature, const CodedRows& coded,
                                 double limit, double min_samples_leaf) {
    std::size_t n = samples.size();
    const bool is_narrowed = coded.code && pays_to_narrow(samples);
    if (is_narrowed) {
        narrower_.bin(coded, n, samples.n_rest);
        n = narrower_.choose(limit, min_samples_leaf);
        if (n == 0) return sorted_.clear();
    }
    sorted_.sort(samples.rows, feature, is_narrowed ? narrower_.chosen() : nullptr, n);
    add_up(samples, is_narrowed);
}

// Weights of the classes up to each entry.
void ClassOrder::add_up(const Samples& samples, bool is_narrowed) {
    const std::size_t n = sorted_.size(), n_rest = samples.n_rest;
    for (auto* sums : {&rest_, &target_}) sums->resize(n + slack);
    if (is_narrowed && narrower_.has_one_value_each()) {
        for (std::size_t i = 0; i < n; ++i) {
            const std::size_t next = narrower_.bin_of(sorted_.row(i)) + 1;
            rest_[i] = narrower_.rest_before(next);
            target_[i] = narrower_.target_before(next);
        }
        return;
    }
    double rest = 0.0, target = 0.0;
    for (std::size_t i = 0, bin = 0; i < n; ++i) {
        const std::size_t row = sorted_.row(i);
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

void RealOrder::measure(const RealSamples& samples, const double* feature_sums, double lowest) {
    sorted_.sort(feature_sums, nullptr, samples.size());
    add_up(samples, lowest);
}

void RealOrder::measure_feature(const RealSamples& samples, std::size_t feature, double lowest) {
    sorted_.sort(samples.rows, feature, nullptr, samples.size());
    add_up(samples, lowest);
}

void RealOrder::add_up(const RealSamples& samples, double lowest) {
    const std::size_t n = sorted_.size();
    for (auto* sums : {&weight_, &distance_}) sums->resize(n);
    double weight = 0.0, distance = 0.0;
    for (std::size_t i = 0; i < n; ++i) {
        const std::size_t row = sorted_.row(i);
        weight_[i] = weight += samples.weight_of(row);
        distance_[i] = distance += samples.weight_of(row) * (samples.response[row] - lowest);
    }
}

}  // namespace lhtree
