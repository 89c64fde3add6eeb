// Trees that are evaluated in the user's units, so that arithmetic on the printed numbers gives the same
// bits. Values, weights and sums are float64, terms are added from left to right, and sum < offset goes left.
// Values are limited to ±most_value, and those below least_value count as 0: nothing overflows.
#pragma once
#include <cstdint>
#include <vector>

#include "lhtree/shared/blocks.hpp"
#include "lhtree/shared/matrix.hpp"

namespace lhtree {

constexpr double most_value = 1e100, least_value = 1e-100;

class UnitForest {
  public:
    // scale: of every feature. Empty if the arrays have no units.
    UnitForest(const ForestView& forest, const std::vector<double>& scale);

    bool is_given() const { return !offset_.empty(); }
    bool has_slopes() const { return !slopes_.weight.empty(); }

    // Writes the leaf of every row, numbered among the leaves of all trees; no value of x is missing.
    void walk(std::size_t tree, const double* x, std::size_t n_rows, std::size_t n_features,
              std::uint32_t* leaf) const;
    // Writes the path of a row: blocks numbered within their tree and normalised feature sums, for the leaf
    // the estimate before it is clipped. A normalised sum is on the side that the row takes.
    void trace(std::size_t tree, const double* x, std::int32_t* block, double* value) const;
    // Writes the estimates of leaves, clipped to their ranges.
    void take_memberships(const std::uint32_t* leaf, const double* x, std::size_t n_rows,
                          std::size_t n_features, double* out) const;

  private:
    struct Terms {
        std::vector<std::int64_t> ptr;
        std::vector<std::int32_t> feature;
        std::vector<double> weight;

        double add(double sum, std::int64_t block, const double* x) const {
            for (std::int64_t i = ptr[static_cast<std::size_t>(block)];
                 i < ptr[static_cast<std::size_t>(block) + 1]; ++i)
                sum += weight[static_cast<std::size_t>(i)] * x[feature[static_cast<std::size_t>(i)]];
            return sum;
        }
    };

    std::vector<std::int64_t> block_ptr_;
    std::vector<std::int32_t> left_;  // within the tree; -1 in a leaf
    std::vector<double> offset_, intercept_, low_, high_;
    std::vector<double> normalised_offset_,
        per_norm_;                     // factor from sums in units to normalised sums
    std::vector<std::uint32_t> leaf_;  // number of every leaf among all leaves
    std::vector<std::int64_t> block_of_leaf_;
    Terms plane_;
    Terms slopes_;

    double estimate(std::int64_t block, const double* x) const;
};

// Writes rows as float64 within the limits above, with the centre for missing ones. False: an infinity.
template <class Value>
bool fill_gaps(const Strided<Value>& x, const double* centre, std::vector<double>& rows);

}  // namespace lhtree
