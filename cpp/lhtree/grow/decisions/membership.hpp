// Fitting the membership function of a block.
#pragma once
#include <cstdint>
#include <vector>

#include "lhtree/grow/statistics/gram.hpp"
#include "lhtree/grow/statistics/scatter.hpp"
#include "lhtree/shared/blocks.hpp"

namespace lhtree {

// The constant membership E[P].
template <class Totals>
LinearMembership constant_membership(const Totals& totals) {
    return {totals.response() / totals.weight(), {}, {}};
}

// a_i = cov(x_i, p) / var(x_i), each feature by itself (the paper's closed form). Moments need squares.
template <class AnyMoments>
LinearMembership marginal_membership(const AnyMoments& moments, const std::vector<std::int32_t>& active);

// The joint ridge fit from the moments, with squares, and the scatter (within the classes, if there are such)
// of the active features alone; the marginal slopes where it has no solution.
template <class AnyMoments>
LinearMembership least_squares_membership(const AnyMoments& moments, Scatter& scatter,
                                          const std::vector<std::int32_t>& active, double shrinkage,
                                          Watch& watch);
// The same from the products of rows.
template <class AnyMoments>
LinearMembership least_squares_membership(const AnyMoments& moments, Gram& gram, const Rows& rows,
                                          const std::vector<std::int32_t>& active, double shrinkage,
                                          Watch& watch);

// Slopes are 0 where either class holds less than min_samples_leaf, so pure blocks are constant …
inline bool may_slope(const ClassTotals& totals, double min_samples_leaf) {
    const double rarer = totals.of[0] < totals.of[1] ? totals.of[0] : totals.of[1];
    return rarer > 0.0 && rarer >= min_samples_leaf;
}
// … and where the response is one number.
inline bool may_slope(const RealTotals& totals, double) {
    return !totals.is_pure();
}

}  // namespace lhtree
