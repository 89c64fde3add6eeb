// Rows of features, and columns of categories stored as a number per row instead of a feature per level.
#pragma once
#include <algorithm>
#include <cstdint>
#include <cstring>
#include <limits>
#include <vector>

namespace lhtree {

// Levels of categorical columns. A row has a value per column: z for numbers; the number of the level for
// categories, below 0 if it is missing. Every level is a feature: z of 1 in rows of the level, z of 0 in
// other rows, 0 in rows where the level is missing.
class Levels {
  public:
    // n_levels: per column, 0 for numbers. centre, scale: per feature.
    Levels(const std::vector<std::int32_t>& n_levels, const double* centre, const double* scale);

    std::size_t n_columns() const { return first_.size() - 1; }
    std::size_t n_features() const { return column_.size(); }
    std::size_t first(std::size_t column) const { return first_[column]; }  // of its features
    std::size_t column(std::size_t feature) const { return column_[feature]; }
    bool is_coded(std::size_t column) const { return is_coded_[column] != 0; }
    bool is_level(std::size_t feature) const { return is_coded(column(feature)); }
    float off(std::size_t feature) const { return off_[feature]; }
    float on(std::size_t feature) const { return on_[feature]; }

    static std::int32_t read(const float* row, std::size_t column) {
        std::int32_t level;
        std::memcpy(&level, row + column, sizeof level);
        return level;
    }
    static void write(std::int32_t level, std::size_t column, float* row) {
        std::memcpy(row + column, &level, sizeof level);
    }
    // Returns one feature of a row.
    float value(const float* row, std::size_t feature) const {
        const std::size_t column = column_[feature];
        if (!is_coded(column)) return row[column];
        const std::int32_t level = read(row, column);
        if (level < 0) return 0.0f;
        return first_[column] + static_cast<std::size_t>(level) == feature ? on_[feature] : off_[feature];
    }
    // Writes all features of a row; a missing level has the value `missing` in all features of its column.
    void expand(const float* row, float* features, float missing = 0.0f) const;

  private:
    std::vector<std::size_t> first_;   // feature of every column, and the number of features
    std::vector<std::size_t> column_;  // of every feature
    std::vector<std::uint8_t> is_coded_;
    std::vector<float> off_, on_;
};

// Kernels read rows in vectors of eight: up to seven finite values behind the last one must be readable, and
// arrays that they write by feature have a multiple of eight elements.
constexpr std::size_t slack = 8;
constexpr std::size_t padded(std::size_t n) {
    return (n + 7) / 8 * 8;
}

// A view of contiguous rows: n_features values each, with slack behind the last; with `levels`, one value per
// column each. Kernels take rows without levels only: see each_tile.
struct Rows {
    const float* data = nullptr;
    std::size_t n_rows = 0;
    std::size_t n_features = 0;
    const Levels* levels = nullptr;

    std::size_t width() const { return levels ? levels->n_columns() : n_features; }  // values per row
    const float* operator[](std::size_t row) const { return data + row * width(); }
    float value(std::size_t row, std::size_t feature) const {
        return levels ? levels->value((*this)[row], feature) : (*this)[row][feature];
    }
    Rows part(std::size_t begin, std::size_t end) const {
        return {data + begin * width(), end - begin, n_features, levels};
    }
};

// Calls use(tile, begin) with rows as kernels take them: all at once or, if levels become features, a few at
// a time. Sums over rows in their order have the same bits either way.
template <class Use>
void each_tile(const Rows& rows, const Use& use) {
    if (!rows.levels) return use(rows, std::size_t{0});
    constexpr std::size_t tile_values = std::size_t{1} << 16;  // stay in a core's cache
    const std::size_t n_most = std::min(rows.n_rows, std::max<std::size_t>(1, tile_values / rows.n_features));
    std::vector<float> tile(n_most * rows.n_features + slack);
    for (std::size_t begin = 0; begin < rows.n_rows; begin += n_most) {
        const std::size_t n = std::min(n_most, rows.n_rows - begin);
        for (std::size_t row = 0; row < n; ++row)
            rows.levels->expand(rows[begin + row], tile.data() + row * rows.n_features);
        use(Rows{tile.data(), n, rows.n_features}, begin);
    }
}

// A matrix of float32 or float64 in any memory order; strides count values.
template <class Value>
struct Strided {
    const Value* data;
    std::size_t n_rows, n_features;
    std::ptrdiff_t row_stride, feature_stride;
};

// Writes all features of rows in the user's units: the numbers as they are; for a categorical column, 1 for
// the level of its code and 0 for its other levels, or NaN for all of them where the code is below 0. `codes`
// has a value per row and categorical column; n_levels: per column, 0 for numbers.
template <class Value>
void expand_levels(const Strided<Value>& numbers, const std::int32_t* codes,
                   const std::vector<std::int32_t>& n_levels, double* features) {
    for (std::size_t row = 0; row < numbers.n_rows; ++row) {
        const Value* number = numbers.data + static_cast<std::ptrdiff_t>(row) * numbers.row_stride;
        for (const std::int32_t n : n_levels) {
            if (n == 0) {
                *features++ = static_cast<double>(*number);
                number += numbers.feature_stride;
                continue;
            }
            const std::int32_t code = *codes++;
            std::fill_n(features, n, code < 0 ? std::numeric_limits<double>::quiet_NaN() : 0.0);
            if (code >= 0) features[code] = 1.0;
            features += n;
        }
    }
}

}  // namespace lhtree
