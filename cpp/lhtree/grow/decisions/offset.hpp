// The offset of a hyperplane: where to cut the feature sums of a block.
#pragma once
#include <cstdint>
#include <optional>
#include <utility>
#include <vector>

#include "lhtree/grow/statistics/moments.hpp"
#include "lhtree/grow/statistics/order.hpp"
#include "lhtree/grow/statistics/runs.hpp"
#include "lhtree/shared/blocks.hpp"

namespace lhtree {

struct Cut {
    bool exists = false;
    double offset = 0.0;
    double cost = 0.0;  // Σ over the two sides of t·u/(t+u) or of the squared error; not of purity
};

// The middle of the gap, or its upper end where rounding leaves nothing between.
inline double midway(double low, double high) {
    const double middle = low + (high - low) / 2.0;
    return middle > low ? middle : high;
}

// What a cut has to keep to.
struct Limits {
    const ClassTotals& totals;  // of all rows
    double min_samples_leaf;    // least weight on each side
};

// The candidates of the paper (eqs. 10 and 11), c midway in the empty gap between the sides: the largest pure
// set if it weighs at least gamma …
std::optional<Cut> cut_off_largest(const Extents& extents, double gamma, const Limits& limits);
// … otherwise e, a row exactly on which goes right.
double find_middle(const Extents& extents);
Cut cut_between(const Halves& halves, const Limits& limits);

// The cut with the least Gini impurity. `cost` is room to work in.
Cut find_gini_cut(const ClassOrder& order, const Limits& limits, std::vector<double>& cost);

// The cut with the least weighted squared error, which for a response of 0 and 1 is the Gini impurity. Of
// equal ones, as there: the wider gap, the better balance, the lower sum.
// Squared errors that differ by less are equal: they come from sums of real numbers in different orders.
inline double rounding_of(const RealMoments& moments) {
    return 1e-12 * moments.response_squares();
}
Cut find_least_squares_cut(const RealOrder& order, const RealMoments& moments, double min_samples_leaf);

// What each feature of a hyperplane earns of the gain of its block.

// A variable of the rows of a block about its mean: the sum of its squares, and its largest distance.
struct Variable {
    double squares, reach;
};

// 1 - 2 log(m) / evidence, at least 0, where `product` is the sum of the products of two variables.
double find_credit(double product, const Variable& a, const Variable& b, double weight,
                   std::size_t n_features);

// By |weight| · spread, times 1 - 2 log(m) / evidence, at least 0, where m is the number of features of the
// model. The evidence is that of Bernstein's inequality for the relation between feature and response: by
// chance, the best of m features reaches about 2 log(m), however rare its values are. `squares` are those of
// the features about their means.
template <class AnyMoments, class Totals>
void share_gain(const AnyMoments& moments, const Totals& totals, const double* squares,
                std::size_t n_features, Hyperplane& hyperplane);

// The same for a hyperplane of one feature, where the relation between side and response counts.
template <class AnyMoments, class Totals>
void share_gain_alone(const AnyMoments& moments, const Totals& totals, const Totals& left,
                      std::size_t n_features, Hyperplane& hyperplane);

// What is decided for a block of many classes.

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
