// What boosting begins with.
#pragma once
#include <vector>

#include "lhtree/grow/boost/loss.hpp"
#include "lhtree/grow/boost/rows.hpp"

namespace lhtree::boost {

// The best constants. Of classes: log odds, or the logarithms of their shares. Of a response: its mean or
// quantile, or the logarithm of its mean. Sums are of integers, so the order of rows does not matter.
std::vector<double> first_scores(const Objective& objective, Rows& rows, const ResponseSurvey& survey);

}  // namespace lhtree::boost
