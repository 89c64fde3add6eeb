#include "lhtree/shared/levels.hpp"

#include <algorithm>

#include "lhtree/shared/normalise.hpp"

namespace lhtree {

Levels::Levels(const std::vector<std::int32_t>& n_levels, const double* centre, const double* scale)
    : first_{0} {
    for (const std::int32_t n : n_levels) {
        const std::size_t n_features = n > 0 ? static_cast<std::size_t>(n) : 1;
        column_.insert(column_.end(), n_features, is_coded_.size());
        is_coded_.push_back(n > 0);
        first_.push_back(column_.size());
    }
    const std::vector<double> zeros(n_features(), 0.0), ones(n_features(), 1.0);
    off_.resize(n_features());
    on_.resize(n_features());
    normalise_kernels().float64(zeros.data(), centre, scale, n_features(), 0.0, off_.data());
    normalise_kernels().float64(ones.data(), centre, scale, n_features(), 0.0, on_.data());
}

void Levels::expand(const float* row, float* features) const {
    for (std::size_t column = 0; column < n_columns(); ++column) {
        const std::size_t begin = first_[column], end = first_[column + 1];
        if (!is_coded(column)) {
            features[begin] = row[column];
            continue;
        }
        const std::int32_t level = read(row, column);
        if (level < 0) {
            std::fill(features + begin, features + end, 0.0f);
            continue;
        }
        std::copy(off_.data() + begin, off_.data() + end, features + begin);
        const std::size_t own = begin + static_cast<std::size_t>(level);
        features[own] = on_[own];
    }
}

}  // namespace lhtree
