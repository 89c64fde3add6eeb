#include "lhtree/score/units.hpp"

#include <cmath>
#include <limits>

namespace lhtree {
namespace {

template <class T>
std::vector<T> copy(const View<T>& values) {
    return {values.data(), values.data() + values.size()};
}

double bounded(double value) {
    if (value > most_value) return most_value;
    if (value < -most_value) return -most_value;
    return std::abs(value) < least_value ? 0.0 : value;
}

}  // namespace

UnitForest::UnitForest(const ForestView& forest, const std::vector<double>& scale) {
    if (forest.unit_offset.empty()) return;
    block_ptr_ = copy(forest.block_ptr);
    left_ = copy(forest.left);
    offset_ = copy(forest.unit_offset);
    normalised_offset_ = copy(forest.offset);
    plane_ = {copy(forest.hyperplane_ptr), copy(forest.hyperplane_feature), copy(forest.unit_weight)};
    if (!forest.unit_slope.empty()) {
        slopes_ = {copy(forest.membership_ptr), copy(forest.membership_feature), copy(forest.unit_slope)};
        intercept_ = copy(forest.unit_intercept);
    } else {
        intercept_ = copy(forest.intercept);
    }
    low_ = forest.low.empty() ? std::vector<double>(left_.size(), 0.0) : copy(forest.low);
    high_ = forest.high.empty() ? std::vector<double>(left_.size(), 1.0) : copy(forest.high);
    leaf_.resize(left_.size());
    for (std::size_t block = 0; block < left_.size(); ++block) {
        if (left_[block] < 0) {
            leaf_[block] = static_cast<std::uint32_t>(block_of_leaf_.size());
            block_of_leaf_.push_back(static_cast<std::int64_t>(block));
        }
        double largest = 0.0, factor = 1.0;  // the largest normalised weight has the least error
        for (auto i = static_cast<std::size_t>(plane_.ptr[block]);
             i < static_cast<std::size_t>(plane_.ptr[block + 1]); ++i) {
            const double weight = forest.hyperplane_weight[i];
            if (std::abs(weight) <= largest) continue;
            largest = std::abs(weight);
            factor =
                std::abs(weight / (plane_.weight[i] * scale[static_cast<std::size_t>(plane_.feature[i])]));
        }
        per_norm_.push_back(std::isfinite(factor) ? factor : 1.0);
    }
}

void UnitForest::walk(std::size_t tree, const double* x, std::size_t n_rows, std::size_t n_features,
                      std::uint32_t* leaf) const {
    const std::int64_t root = block_ptr_[tree];
    for (std::size_t row = 0; row < n_rows; ++row, x += n_features) {
        std::int64_t block = root;
        while (left_[static_cast<std::size_t>(block)] >= 0) {
            const bool is_left = plane_.add(0.0, block, x) < offset_[static_cast<std::size_t>(block)];
            block = root + left_[static_cast<std::size_t>(block)] + !is_left;
        }
        leaf[row] = leaf_[static_cast<std::size_t>(block)];
    }
}

void UnitForest::trace(std::size_t tree, const double* x, std::int32_t* block, double* value) const {
    const std::int64_t root = block_ptr_[tree];
    std::int32_t number = 0;
    while (true) {
        const auto at = static_cast<std::size_t>(root + number);
        *block++ = number;
        if (left_[at] < 0) {
            *value = estimate(root + number, x);
            return;
        }
        const double sum = plane_.add(0.0, root + number, x), offset = normalised_offset_[at];
        const bool is_left = sum < offset_[at];
        double normalised = offset + (sum - offset_[at]) * per_norm_[at];
        if (!(is_left ? normalised < offset
                      : normalised >= offset))  // rounding crossed the offset, or the sum overflowed
            normalised = is_left ? std::nextafter(offset, -std::numeric_limits<double>::infinity()) : offset;
        *value++ = normalised;
        number = left_[at] + !is_left;
    }
}

void UnitForest::take_memberships(const std::uint32_t* leaf, const double* x, std::size_t n_rows,
                                  std::size_t n_features, double* out) const {
    for (std::size_t row = 0; row < n_rows; ++row, x += n_features) {
        const std::int64_t block = block_of_leaf_[leaf[row]];
        const double value = estimate(block, x), low = low_[static_cast<std::size_t>(block)],
                     high = high_[static_cast<std::size_t>(block)];
        out[row] = !(value >= low) ? low : value > high ? high : value;  // low for NaN
    }
}

double UnitForest::estimate(std::int64_t block, const double* x) const {
    const double intercept = intercept_[static_cast<std::size_t>(block)];
    return has_slopes() ? slopes_.add(intercept, block, x) : intercept;
}

template <class Value>
bool fill_gaps(const Strided<Value>& x, const double* centre, std::vector<double>& rows) {
    rows.resize(x.n_rows * x.n_features);
    bool is_finite = true;
    for (std::size_t row = 0; row < x.n_rows; ++row) {
        const Value* value = x.data + static_cast<std::ptrdiff_t>(row) * x.row_stride;
        double* const to = &rows[row * x.n_features];
        for (std::size_t f = 0; f < x.n_features; ++f, value += x.feature_stride) {
            const auto one = static_cast<double>(*value);
            is_finite = is_finite && !std::isinf(one);
            to[f] = std::isnan(one) ? centre[f] : bounded(one);
        }
    }
    return is_finite;
}

template bool fill_gaps(const Strided<double>&, const double*, std::vector<double>&);
template bool fill_gaps(const Strided<float>&, const double*, std::vector<double>&);

}  // namespace lhtree
