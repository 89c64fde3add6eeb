// Trees that are evaluated in the user's units: a person who types what is printed gets the same bits.
// Values, weights and sums are float64, terms are added from left to right, and sum < offset goes left.
// Values beyond 1e100 count as that, and those below 1e-100 as 0, so that no arithmetic anywhere overflows or
// underflows.
#pragma once
#include <cstdint>
#include <vector>

#include "lhtree/shared/blocks.hpp"
#include "lhtree/shared/matrix.hpp"

namespace lhtree {

class UnitForest {
  public:
    // scale: of every feature. Nothing is given where the arrays have no units.
    UnitForest(const ForestView& forest, const std::vector<double>& scale);

    bool is_given() const { return !offset_.empty(); }
    bool has_slopes() const { return !slopes_.weight.empty(); }

    // The leaf of every row, among the leaves of all trees; x has rows of n_features values without gaps.
    void walk(std::size_t tree, const double* x, std::size_t n_rows, std::size_t n_features,
              std::uint32_t* leaf) const;
    // The way of a row: blocks numbered within their tree, and normalised feature sums, which are on the same
    // side of the normalised offset as the sum in the user's units is of its own; for the leaf the estimate
    // before it is clipped.
    void trace(std::size_t tree, const double* x, std::int32_t* block, double* value) const;
    // What leaves estimate, clipped to their ranges.
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
        per_norm_;                     // a normalised sum is the sum in units times the latter
    std::vector<std::uint32_t> leaf_;  // number of every leaf among all leaves
    std::vector<std::int64_t> block_of_leaf_;
    Terms plane_;
    Terms slopes_;

    double estimate(std::int64_t block, const double* x) const;
};

// Rows as float64 within the bounds above, with the centre where a value is missing. False if an infinity was
// met.
template <class Value>
bool fill_gaps(const Strided<Value>& x, const double* centre, std::vector<double>& rows);

}  // namespace lhtree
