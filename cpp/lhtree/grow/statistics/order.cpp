#include "lhtree/grow/statistics/order.hpp"

#include <algorithm>
#include <cmath>
#include <limits>

namespace lhtree {

Extents measure_extents(const Samples& samples, const double* feature_sums) {
    const std::size_t begin[2] = {0, samples.n_rest},
                      size[2] = {samples.n_rest, samples.size() - samples.n_rest};
    Extents extents;
    for (int cls = 0; cls < 2; ++cls)
        grow_kernels().extremes(feature_sums + begin[cls], size[cls], extents.low[cls], extents.high[cls]);
    for (int cls = 0; cls < 2; ++cls) {
        const double* const sums = feature_sums + begin[cls];
        const double* const weight = samples.weight ? samples.weight + begin[cls] : nullptr;
        extents.under[cls] = grow_kernels().below(sums, weight, size[cls], extents.low[1 - cls]);
        extents.over[cls] = grow_kernels().above(sums, weight, size[cls], extents.high[1 - cls]);
    }
    return extents;
}

void Binned::bin(const CodedRows& coded, std::size_t n, std::size_t most) {
    n_ = n;
    bin_.resize(std::max(bin_.size(), n));
    Code low = std::numeric_limits<Code>::max(), high = 0;
    for (std::size_t i = 0; i < n; ++i) {
        bin_[i] = coded.code[coded.row ? static_cast<std::size_t>(coded.row[i]) : i];
        low = std::min(low, bin_[i]);
        high = std::max(high, bin_[i]);
    }
    // Exact codes are moved so that the least has a bin of its own: often it is the 0 of most rows.
    const auto range = static_cast<std::size_t>(high - low);
    unsigned shift = 0, moved = 0;
    while ((range + moved) >> shift >= most) {
        ++shift;
        moved = coded.is_exact ? (1u << shift) - 1 : 0;
    }
    n_bins_ = ((range + moved) >> shift) + 1;
    n_single_ = !coded.is_exact ? 0 : shift == 0 ? n_bins_ : 1;
    for (std::size_t i = 0; i < n; ++i) bin_[i] = static_cast<Code>((bin_[i] - low + moved) >> shift);
}

void Binned::bin(const double* feature_sums, std::size_t n, std::size_t most) {
    n_ = n;
    bin_.resize(std::max(bin_.size(), n));
    n_bins_ = most;
    n_single_ = 0;
    double low, high;
    grow_kernels().extremes(feature_sums, n, low, high);
    const double last = static_cast<double>(n_bins_ - 1);
    double per_unit = last / (high - low);
    if (!std::isfinite(per_unit)) per_unit = 0.0;  // all sums are nearly equal
    for (std::size_t i = 0; i < n; ++i)
        bin_[i] = static_cast<Code>(std::min((feature_sums[i] - low) * per_unit, last));
}

std::size_t ChosenRows::take_rows() {
    const std::size_t n = bins_.n_rows();
    chosen_.resize(std::max(chosen_.size(), n + 1));
    std::size_t n_chosen = 0;
    if (bins_.n_single() == bins_.size()) {
        some_row_.resize(std::max(some_row_.size(), bins_.size()));
        for (std::size_t i = 0; i < n; ++i) some_row_[bins_[i]] = static_cast<std::uint32_t>(i);
        for (std::size_t b = 0; b < bins_.size(); ++b) {
            chosen_[n_chosen] = some_row_[b];
            n_chosen += is_chosen_[b];
        }
        return n_chosen;
    }
    if (bins_.n_single() > 0 && is_chosen_[0]) {
        std::uint32_t row = 0;
        while (bins_[row] != 0) ++row;
        chosen_[n_chosen++] = row;
        is_chosen_[0] = false;
    }
    for (std::size_t i = 0; i < n; ++i) {
        chosen_[n_chosen] = static_cast<std::uint32_t>(i);
        n_chosen += is_chosen_[bins_[i]];
    }
    return n_chosen;
}

// Number of bins: few rows per bin, but few enough bins to scan quickly.
std::size_t Narrower::most_bins(std::size_t n) {
    std::size_t bins = 16;
    while (bins < 512 && bins * 4 < n) bins *= 2;
    return bins;
}

void Narrower::count(std::size_t n_rest) {
    const std::size_t n_bins = bins_.size();
    counts_.assign(n_bins + 1, 0);
    for (std::size_t i = 0; i < n_rest; ++i) ++counts_[bins_[i] + 1u];
    for (std::size_t i = n_rest; i < bins_.n_rows(); ++i) counts_[bins_[i] + 1u] += one_target;
    for (auto* values : {&rest_, &target_, &bound_}) values->resize(n_bins + 1 + slack);
    std::uint64_t both = 0;
    for (std::uint64_t& count : counts_) count = both += count;
    for (std::size_t b = 0; b <= n_bins; ++b) {
        rest_[b] = static_cast<float>(rest_before(b));
        target_[b] = static_cast<float>(target_before(b));
    }
    std::fill_n(&rest_[n_bins + 1], slack, rest_[n_bins]);
    std::fill_n(&target_[n_bins + 1], slack, target_[n_bins]);
}

std::size_t Narrower::choose(double limit, double min_samples_leaf) {
    // Tolerance far above the error of float bounds.
    const double margin = 4e-6 * static_cast<double>(bins_.n_rows());
    const float least = grow_kernels().gini_bounds(rest_.data(), target_.data(), bins_.size(),
                                                   static_cast<float>(min_samples_leaf * (1.0 + 1e-6)),
                                                   bins_.n_single() == bins_.size(), bound_.data());
    if (bins_.n_single() > 0) bound_[0] = bound_behind_first();
    const auto threshold = static_cast<float>(std::min(limit, static_cast<double>(least)) + margin);
    const auto is_empty = [&](std::size_t b) { return counts_[b] == counts_[b + 1]; };
    return choose_bins(is_empty, [&](std::size_t b) { return bound_[b] <= threshold; });
}

// Returns the cost of the cut behind the first bin, up to rounding.
float Narrower::bound_behind_first() const {
    const auto impurity = [](float rest, float target) {
        return rest + target > 0.0f ? rest * target / (rest + target) : 0.0f;
    };
    const std::size_t n_bins = bins_.size();
    return impurity(rest_[1], target_[1]) + impurity(rest_[n_bins] - rest_[1], target_[n_bins] - target_[1]);
}

// Sorting few rows is faster. With weights, all rows are needed: they are added in the order of the values.
static bool pays_to_narrow(const Samples& samples) {
    constexpr std::size_t least = 32;  // measured
    return samples.size() >= least && !samples.weight;
}

template <class Key>
void SortedRows::enter(const std::uint32_t* chosen, std::size_t n, const Key& key) {
    size_ = n;
    sorted_.resize(n);
    value_.resize(n + slack);
    if (chosen)
        for (std::size_t i = 0; i < n; ++i) sorted_[i] = keyed_row(key(chosen[i]), chosen[i]);
    else
        for (std::size_t row = 0; row < n; ++row) sorted_[row] = keyed_row(key(row), row);
}

void SortedRows::sort(const double* feature_sums, const std::uint32_t* chosen, std::size_t n) {
    enter(chosen, n, [feature_sums](std::size_t row) { return static_cast<float>(feature_sums[row]); });
    sorter_.sort_by(feature_sums, sorted_);
    for (std::size_t i = 0; i < n; ++i) value_[i] = feature_sums[row_of(sorted_[i])];
}

void SortedRows::sort(const Rows& rows, std::size_t feature, const std::uint32_t* chosen, std::size_t n) {
    enter(chosen, n, [rows, feature](std::size_t row) { return rows.value(row, feature); });
    sorter_.sort(sorted_);
    for (std::size_t i = 0; i < n; ++i) value_[i] = static_cast<double>(key_of(sorted_[i]));
}

void SortedRows::sort(const Rows& rows, std::size_t feature, const CodedRows& coded) {
    const std::size_t n = size_ = rows.n_rows;
    sorted_.resize(n);
    value_.resize(n + slack);
    Code low = std::numeric_limits<Code>::max();  // codes near 0 need one digit
    for (std::size_t row = 0; row < n; ++row) {
        const Code code = coded.code[coded.row ? static_cast<std::size_t>(coded.row[row]) : row];
        low = std::min(low, code);
        sorted_[row] = KeyedRow{code} << 32 | row;
    }
    for (KeyedRow& entry : sorted_) entry -= KeyedRow{low} << 32;
    sorter_.sort_short(sorted_);
    for (std::size_t i = 0; i < n; ++i)
        value_[i] = static_cast<double>(rows.value(row_of(sorted_[i]), feature) + 0.0f);  // -0 becomes 0
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

// Adds up the weights of the classes up to each place.
void ClassOrder::add_up(const Samples& samples, bool is_narrowed) {
    const std::size_t n = sorted_.size(), n_rest = samples.n_rest;
    for (auto* sums : {&rest_, &target_}) sums->resize(n + slack);
    double rest = 0.0, target = 0.0;
    for (std::size_t i = 0, bin = 0; i < n; ++i) {
        const std::size_t row = sorted_.row(i);
        if (is_narrowed && (i == 0 || narrower_.bin_of(row) != bin)) {  // rows before it may be missing
            bin = narrower_.bin_of(row);
            rest = narrower_.rest_before(bin);
            target = narrower_.target_before(bin);
        }
        if (is_narrowed && narrower_.has_one_value(bin)) {
            rest_[i] = narrower_.rest_before(bin + 1);
            target_[i] = narrower_.target_before(bin + 1);
            continue;
        }
        const double weight = samples.weight_of(row);
        rest += row < n_rest ? weight : 0.0;
        target += row < n_rest ? 0.0 : weight;
        rest_[i] = rest;
        target_[i] = target;
    }
}

void RealOrder::measure(const RealSamples& samples, const double* feature_sums, double lowest) {
    is_short_ = false;
    sorted_.sort(feature_sums, nullptr, samples.size());
    add_up(samples, lowest);
}

void RealOrder::measure_feature(const RealSamples& samples, std::size_t feature, const CodedRows& coded,
                                double lowest) {
    is_short_ = add_up_values(samples, feature, lowest);
    if (is_short_) return;
    if (coded.code && coded.is_exact)
        sorted_.sort(samples.rows, feature, coded);
    else
        sorted_.sort(samples.rows, feature, nullptr, samples.size());
    add_up(samples, lowest);
}

// Adds up the rows of each value, from the least on: the sums of the sorted rows. Returns false if there are
// more than three values, which levels of a category do not have.
bool RealOrder::add_up_values(const RealSamples& samples, std::size_t feature, double lowest) {
    constexpr std::size_t most = 3;
    const std::size_t n = samples.size();
    short_value_.clear();
    column_.resize(std::max(column_.size(), n));
    for (std::size_t row = 0; row < n; ++row) {
        const auto z = static_cast<double>(samples.rows.value(row, feature));
        column_[row] = z;
        if (std::find(short_value_.begin(), short_value_.end(), z) != short_value_.end()) continue;
        if (short_value_.size() == most) return false;
        short_value_.push_back(z);
    }
    std::sort(short_value_.begin(), short_value_.end());
    for (auto* sums : {&weight_, &distance_}) sums->clear();
    double weight = 0.0, distance = 0.0;
    for (const double value : short_value_) {
        for (std::size_t row = 0; row < n; ++row) {
            if (column_[row] != value) continue;
            weight += samples.weight_of(row);
            distance += samples.weight_of(row) * (samples.response[row] - lowest);
        }
        weight_.push_back(weight);
        distance_.push_back(distance);
    }
    return true;
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
