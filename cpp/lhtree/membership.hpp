// The membership function of a block: p̂(x) = intercept + Σ slopes_i · x_i, clipped to [0, 1] when it is used.
#pragma once
#include <cstdint>
#include <vector>

#include "lhtree/moments.hpp"
#include "lhtree/options.hpp"

namespace lhtree {

struct LinearMembership {
    double intercept = 0.0;
    std::vector<std::int32_t> features;  // ascending
    std::vector<double> slopes;
};

// The constant membership E[P].
LinearMembership constant_membership(const double (&weight)[2]);

// a_i = cov(x_i, p) / var(x_i), each feature by itself (the paper's closed form). Moments need squares.
LinearMembership marginal_membership(const Moments& moments, const std::vector<std::int32_t>& active);

// The joint ridge fit over `samples`, which hold the active features only; the marginal slopes where it has
// no solution.
LinearMembership least_squares_membership(const Samples& samples, const std::vector<std::int32_t>& active,
                                          double shrinkage, Watch& watch);

}  // namespace lhtree
