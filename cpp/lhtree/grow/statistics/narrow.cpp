#include "lhtree/grow/statistics/narrow.hpp"

#include <algorithm>
#include <cmath>
#include <limits>

#include "lhtree/grow/kernels/kernels.hpp"

namespace lhtree {

namespace {

// Enough bins that few rows share one, few enough to be looked through quickly.
std::size_t most_bins(std::size_t n) {
    std::size_t bins = 16;
    while (bins < 512 && bins * 4 < n) bins *= 2;
    return bins;
}

}  // namespace

void Narrower::start(std::size_t n) {
    n_ = n;
    bin_.resize(std::max(bin_.size(), n));
    chosen_.resize(std::max(chosen_.size(), n + 1));
}

void Narrower::bin(const CodedRows& coded, std::size_t n, std::size_t n_rest) {
    start(n);
    Code low = std::numeric_limits<Code>::max(), high = 0;
    for (std::size_t i = 0; i < n; ++i) {
        bin_[i] = coded.code[coded.row[i]];
        low = std::min(low, bin_[i]);
        high = std::max(high, bin_[i]);
    }
    const std::size_t range = static_cast<std::size_t>(high - low), most = most_bins(n);
    unsigned shift = 0;
    while (range >> shift >= most) ++shift;
    n_bins_ = (range >> shift) + 1;
    has_one_value_each_ = coded.is_exact && shift == 0;
    for (std::size_t i = 0; i < n; ++i) bin_[i] = static_cast<Code>((bin_[i] - low) >> shift);
    count(n_rest);
}

void Narrower::bin(const double* feature_sums, std::size_t n, std::size_t n_rest) {
    start(n);
    n_bins_ = most_bins(n);
    has_one_value_each_ = false;
    double low, high;
    grow_kernels().extremes(feature_sums, n, low, high);
    const double last = static_cast<double>(n_bins_ - 1);
    double per_unit = last / (high - low);
    if (!std::isfinite(per_unit)) per_unit = 0.0;  // all sums are next to equal
    for (std::size_t i = 0; i < n; ++i)
        bin_[i] = static_cast<Code>(std::min((feature_sums[i] - low) * per_unit, last));
    count(n_rest);
}

void Narrower::count(std::size_t n_rest) {
    rest_count_.assign(n_bins_ + 1, 0);
    target_count_.assign(n_bins_ + 1, 0);
    for (std::size_t i = 0; i < n_rest; ++i) ++rest_count_[bin_[i] + 1u];
    for (std::size_t i = n_rest; i < n_; ++i) ++target_count_[bin_[i] + 1u];
    for (auto* values : {&rest_, &target_, &bound_}) values->resize(n_bins_ + 1 + slack);
    std::uint32_t rest = 0, target = 0;
    for (std::size_t b = 0; b <= n_bins_; ++b) {
        rest_count_[b] = rest += rest_count_[b];
        target_count_[b] = target += target_count_[b];
        rest_[b] = static_cast<float>(rest);
        target_[b] = static_cast<float>(target);
    }
    std::fill_n(&rest_[n_bins_ + 1], slack, rest_[n_bins_]);
    std::fill_n(&target_[n_bins_ + 1], slack, target_[n_bins_]);
}

std::size_t Narrower::choose(double limit, double min_samples_leaf) {
    const double margin = 4e-6 * static_cast<double>(n_);  // bounds are float: far above their error
    const float least = grow_kernels().gini_bounds(rest_.data(), target_.data(), n_bins_,
                                                   static_cast<float>(min_samples_leaf * (1.0 + 1e-6)),
                                                   has_one_value_each_, bound_.data());
    const auto threshold = static_cast<float>(std::min(limit, static_cast<double>(least)) + margin);
    is_chosen_.resize(n_bins_);
    std::size_t n_chosen = 0;
    bool precedes = false;  // a bin that may hold the cut, be it between its last row and the first one here
    for (std::size_t b = 0; b < n_bins_; ++b) {
        const bool is_empty =
            rest_count_[b] == rest_count_[b + 1] && target_count_[b] == target_count_[b + 1];
        const bool may_hold = bound_[b] <= threshold && !is_empty;
        is_chosen_[b] = (precedes && !is_empty) || may_hold;
        n_chosen += is_chosen_[b];
        precedes = may_hold || (is_empty && precedes);
    }
    if (n_chosen == 0) return 0;
    n_chosen = 0;
    if (has_one_value_each_) {
        some_row_.resize(std::max(some_row_.size(), n_bins_));
        for (std::size_t i = 0; i < n_; ++i) some_row_[bin_[i]] = static_cast<std::uint32_t>(i);
        for (std::size_t b = 0; b < n_bins_; ++b) {
            chosen_[n_chosen] = some_row_[b];
            n_chosen += is_chosen_[b];
        }
        return n_chosen;
    }
    for (std::size_t i = 0; i < n_; ++i) {
        chosen_[n_chosen] = static_cast<std::uint32_t>(i);
        n_chosen += is_chosen_[bin_[i]];
    }
    return n_chosen;
}

}  // namespace lhtree
