#include "lhtree/score/planes.hpp"

#include <algorithm>
#include <limits>
#include <stdexcept>

namespace lhtree {

Planes::Planes(const ForestView& forest, std::size_t n_features, double clip)
    : n_features_(n_features),
      stride_(n_features),
      width_(n_features),
      clip_(static_cast<float>(std::min(clip, largest))) {
    std::array<bool, 4> is_used{true, false, false, false};
    for (std::size_t block = 0; block < forest.n_blocks(); ++block)
        is_used[plane_of(forest, static_cast<std::int64_t>(block))] = true;
    if (std::count(is_used.begin(), is_used.end(), true) == 1) return;
    // Blocks of all features read whole vectors: what is behind a plane must not be infinite.
    stride_ = (n_features + 3) / 4 * 4;
    if (stride_ > std::numeric_limits<std::int32_t>::max() / is_used.size())
        throw std::length_error("the model has too many features to score");
    width_ = 0;
    for (std::size_t plane = 0; plane < is_used.size(); ++plane)
        if (is_used[plane]) {
            begin_[plane] = static_cast<std::int32_t>(width_);
            width_ += stride_;
        }
}

Planes::Plane Planes::plane_of(const ForestView& forest, std::int64_t block) const {
    if (forest.hyperplane_ptr[block + 1] - forest.hyperplane_ptr[block] != 1) return clipped;
    const std::int8_t missing = forest.missing.empty() ? std::int8_t{0} : forest.missing[block];
    if (missing != 0) return missing < 0 ? leftmost : rightmost;
    return is_clipping() ? at_centre : clipped;
}

std::int32_t Planes::begin(const ForestView& forest, std::int64_t block) const {
    return begin_[plane_of(forest, block)];
}

void Planes::lay(const float* z, std::size_t n_rows, float* rows) const {
    constexpr float infinity = std::numeric_limits<float>::infinity();
    const std::size_t n = n_features_;
    const auto fill = [&](Plane plane, const auto& value) {
        if (begin_[plane] == unused) return;
        float* const to = rows + begin_[plane];
        for (std::size_t f = 0; f < n; ++f) to[f] = value(z[f]);
        std::fill(to + n, to + stride_, 0.0f);
    };
    const auto known_or = [](float missing) {
        return [missing](float value) { return value != value ? missing : value; };
    };
    for (std::size_t row = 0; row < n_rows; ++row, z += n, rows += width_) {
        fill(clipped, [this](float value) {
            const float bounded = value > clip_ ? clip_ : value < -clip_ ? -clip_ : value;
            return value != value ? 0.0f : bounded;
        });
        fill(at_centre, known_or(0.0f));
        fill(leftmost, known_or(-infinity));
        fill(rightmost, known_or(infinity));
    }
}

}  // namespace lhtree
