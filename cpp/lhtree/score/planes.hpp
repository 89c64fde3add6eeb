// Rows as blocks read them. A block of several features reads clipped values, one of a single feature does
// not, and may send missing values to a side of its own: so a row is laid out in planes, one after the other,
// each with all features, of which there are only those that some block reads.
#pragma once
#include <array>
#include <cstddef>
#include <cstdint>

#include "lhtree/shared/blocks.hpp"

namespace lhtree {

class Planes {
  public:
    // The bound of all normalised values; a clip of its own is below.
    static constexpr double largest = 1e30;

    // forest: arrays in which find_fault finds nothing. Throws std::length_error if rows become too wide.
    Planes(const ForestView& forest, std::size_t n_features, double clip);

    std::size_t n_features() const { return n_features_; }
    std::size_t width() const { return width_; }  // values of a row
    // Whether rows are read as they are normalised, with missing values at the centre.
    bool is_plain() const { return width_ == n_features_ && !is_clipping(); }
    // Where the plane begins that a block reads.
    std::int32_t begin(const ForestView& forest, std::int64_t block) const;
    // Lays out rows of n_features values, NaN where one is missing.
    void lay(const float* z, std::size_t n_rows, float* rows) const;

  private:
    // By what becomes of a missing value, if a plane has unclipped values.
    enum Plane : std::uint8_t { clipped, at_centre, leftmost, rightmost };
    static constexpr std::int32_t unused = -1;

    std::size_t n_features_, stride_, width_;
    float clip_;
    std::array<std::int32_t, 4> begin_{0, unused, unused, unused};

    bool is_clipping() const { return clip_ < static_cast<float>(largest); }
    Plane plane_of(const ForestView& forest, std::int64_t block) const;
};

}  // namespace lhtree
