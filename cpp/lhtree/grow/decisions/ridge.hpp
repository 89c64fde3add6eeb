// A small symmetric system, solved by Cholesky.
#pragma once
#include <cstddef>
#include <vector>

#include "lhtree/shared/threads.hpp"

namespace lhtree {

// Solves (S + shrinkage · tr(S)/p · I) x = b, where `scatter` holds the lower triangle of S (p rows of p) and
// is overwritten. False, with `b` as it was, where tr(S) = 0, a pivot is not above 1e-12 of its diagonal
// entry, or the solution is not finite.
bool solve_ridge(std::vector<double>& scatter, double shrinkage, std::vector<double>& b, Watch& watch);

// The same with a ridge that is given.
bool solve_with_ridge(std::vector<double>& scatter, double ridge, std::vector<double>& b, Watch& watch);

}  // namespace lhtree
