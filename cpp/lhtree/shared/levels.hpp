// Columns of categories, stored as one number to a row instead of a feature of 0 and 1 for every level.
#pragma once
#include <cstdint>
#include <cstring>
#include <vector>

namespace lhtree {

// A row is stored as a value per column: of a column of numbers z, of a column of categories the number of
// the row's level, below 0 where it is missing. The features are what the row would be with a feature for
// every level: z of 1 in the rows of the level, z of 0 in others, 0 where the level is missing.
class Levels {
  public:
    // By column: the number of its levels, 0 if it holds numbers. By feature: how values become z.
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
    // One feature of a row, …
    float value(const float* row, std::size_t feature) const {
        const std::size_t column = column_[feature];
        if (!is_coded(column)) return row[column];
        const std::int32_t level = read(row, column);
        if (level < 0) return 0.0f;
        return first_[column] + static_cast<std::size_t>(level) == feature ? on_[feature] : off_[feature];
    }
    // … or all of them.
    void expand(const float* row, float* features) const;

  private:
    std::vector<std::size_t> first_;   // feature of every column, and the number of features
    std::vector<std::size_t> column_;  // of every feature
    std::vector<std::uint8_t> is_coded_;
    std::vector<float> off_, on_;
};

}  // namespace lhtree
