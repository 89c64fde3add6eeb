// Fitting the membership function of a block.
#pragma once
#include <cstdint>
#include <vector>

#include "lhtree/grow/statistics/moments.hpp"
#include "lhtree/shared/blocks.hpp"
#include "lhtree/shared/options.hpp"

namespace lhtree {

// The constant membership E[P].
LinearMembership constant_membership(const double (&weight)[2]);

// a_i = cov(x_i, p) / var(x_i), each feature by itself (the paper's closed form). Moments need squares.
LinearMembership marginal_membership(const Moments& moments, const std::vector<std::int32_t>& active);

// The joint ridge fit from the moments, with squares, and the scatter within the classes of the active
// features alone; the marginal slopes where it has no solution.
LinearMembership least_squares_membership(const Moments& moments, Scatter& within,
                                          const std::vector<std::int32_t>& active, double shrinkage,
                                          Watch& watch);

}  // namespace lhtree
