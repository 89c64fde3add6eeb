#include "lhtree/grow/statistics/narrow.hpp"

#include <algorithm>
#include <cmath>
#include <limits>

#include "lhtree/grow/kernels.hpp"

namespace lhtree {

void Binned::bin(const CodedRows& coded, std::size_t n, std::size_t most) {
    n_ = n;
    bin_.resize(std::max(bin_.size(), n));
    Code low = std::numeric_limits<Code>::max(), high = 0;
    for (std::size_t i = 0; i < n; ++i) {
        bin_[i] = coded.code[coded.row ? static_cast<std::size_t>(coded.row[i]) : i];
        low = std::min(low, bin_[i]);
        high = std::max(high, bin_[i]);
    }
    const auto range = static_cast<std::size_t>(high - low);
    unsigned shift = 0;
    while (range >> shift >= most) ++shift;
    n_bins_ = (range >> shift) + 1;
    has_one_value_each_ = coded.is_exact && shift == 0;
    for (std::size_t i = 0; i < n; ++i) bin_[i] = static_cast<Code>((bin_[i] - low) >> shift);
}

void Binned::bin(const double* feature_sums, std::size_t n, std::size_t most) {
    n_ = n;
    bin_.resize(std::max(bin_.size(), n));
    n_bins_ = most;
    has_one_value_each_ = false;
    double low, high;
    grow_kernels().extremes(feature_sums, n, low, high);
    const double last = static_cast<double>(n_bins_ - 1);
    double per_unit = last / (high - low);
    if (!std::isfinite(per_unit)) per_unit = 0.0;  // all sums are next to equal
    for (std::size_t i = 0; i < n; ++i)
        bin_[i] = static_cast<Code>(std::min((feature_sums[i] - low) * per_unit, last));
}

std::size_t ChosenRows::take(const Binned& bins, const std::vector<std::uint8_t>& is_chosen) {
    const std::size_t n = bins.n_rows();
    chosen_.resize(std::max(chosen_.size(), n + 1));
    std::size_t n_chosen = 0;
    if (bins.has_one_value_each()) {
        some_row_.resize(std::max(some_row_.size(), bins.size()));
        for (std::size_t i = 0; i < n; ++i) some_row_[bins[i]] = static_cast<std::uint32_t>(i);
        for (std::size_t b = 0; b < bins.size(); ++b) {
            chosen_[n_chosen] = some_row_[b];
            n_chosen += is_chosen[b];
        }
        return n_chosen;
    }
    for (std::size_t i = 0; i < n; ++i) {
        chosen_[n_chosen] = static_cast<std::uint32_t>(i);
        n_chosen += is_chosen[bins[i]];
    }
    return n_chosen;
}

// Enough bins that few rows share one, few enough to be looked through quickly.
std::size_t Narrower::most_bins(std::size_t n) {
    std::size_t bins = 16;
    while (bins < 512 && bins * 4 < n) bins *= 2;
    return bins;
}

void Narrower::count(std::size_t n_rest) {
    const std::size_t n_bins = bins_.size();
    rest_count_.assign(n_bins + 1, 0);
    target_count_.assign(n_bins + 1, 0);
    for (std::size_t i = 0; i < n_rest; ++i) ++rest_count_[bins_[i] + 1u];
    for (std::size_t i = n_rest; i < bins_.n_rows(); ++i) ++target_count_[bins_[i] + 1u];
    for (auto* values : {&rest_, &target_, &bound_}) values->resize(n_bins + 1 + slack);
    std::uint32_t rest = 0, target = 0;
    for (std::size_t b = 0; b <= n_bins; ++b) {
        rest_count_[b] = rest += rest_count_[b];
        target_count_[b] = target += target_count_[b];
        rest_[b] = static_cast<float>(rest);
        target_[b] = static_cast<float>(target);
    }
    std::fill_n(&rest_[n_bins + 1], slack, rest_[n_bins]);
    std::fill_n(&target_[n_bins + 1], slack, target_[n_bins]);
}

std::size_t Narrower::choose(double limit, double min_samples_leaf) {
    const std::size_t n_bins = bins_.size();
    // Bounds are float: far above their error.
    const double margin = 4e-6 * static_cast<double>(bins_.n_rows());
    const float least = grow_kernels().gini_bounds(rest_.data(), target_.data(), n_bins,
                                                   static_cast<float>(min_samples_leaf * (1.0 + 1e-6)),
                                                   bins_.has_one_value_each(), bound_.data());
    const auto threshold = static_cast<float>(std::min(limit, static_cast<double>(least)) + margin);
    is_chosen_.resize(n_bins);
    std::size_t n_chosen = 0;
    bool precedes = false;  // a bin that may hold the cut, be it between its last row and the first one here
    for (std::size_t b = 0; b < n_bins; ++b) {
        const bool is_empty =
            rest_count_[b] == rest_count_[b + 1] && target_count_[b] == target_count_[b + 1];
        const bool may_hold = bound_[b] <= threshold && !is_empty;
        is_chosen_[b] = (precedes && !is_empty) || may_hold;
        n_chosen += is_chosen_[b];
        precedes = may_hold || (is_empty && precedes);
    }
    return n_chosen == 0 ? 0 : chosen_.take(bins_, is_chosen_);
}

}  // namespace lhtree
