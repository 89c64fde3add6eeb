// What is decided for a block of many classes.
#pragma once
#include <cstdint>
#include <utility>

#include "lhtree/grow/decisions/offset.hpp"
#include "lhtree/grow/statistics/runs.hpp"
#include "lhtree/shared/blocks.hpp"

namespace lhtree {

// Two of a block's classes (at least two), by their place among them, the first below the second: those
// between which the direction is Fisher's. The draw is keyed as that of the block's features.
std::pair<std::size_t, std::size_t> draw_pair(std::uint64_t key, std::size_t n_runs);

// The cut with the least Gini impurity of all classes. Of equal ones: the wider gap, the better balance, the
// lower sum.
Cut find_gini_cut(const RunOrder& order, double weight, double min_samples_leaf);

// What the feature of a hyperplane earns of the gain where it is alone: by the class that the sides tell
// best, as the best of as many features as there are classes to choose from.
void share_gain_alone(const RunTotals& totals, const RunTotals& left, std::size_t n_features,
                      Hyperplane& hyperplane);

// The memberships of a block of many classes are constant: their shares of the weight.
inline bool may_slope(const RunTotals&, double) {
    return false;
}

}  // namespace lhtree
