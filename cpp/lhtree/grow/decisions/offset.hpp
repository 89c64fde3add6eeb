// Offsets of hyperplanes, and the parts of the gain that features receive.
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
    double cost = 0.0;  // Σ over the sides of t·u/(t+u), or of the squared error; unused with purity
};

// Returns the middle of a gap, or its upper end if no number lies between.
inline double midway(double low, double high) {
    const double middle = low + (high - low) / 2.0;
    return middle > low ? middle : high;
}

// Constraints of a cut.
struct Limits {
    const ClassTotals& totals;  // of all rows
    double min_samples_leaf;    // least weight on each side
};

// Offsets of the paper (eqs. 10 and 11), in the middle of the gap between the sides: cuts off the largest
// pure set if it weighs at least gamma …
std::optional<Cut> cut_off_largest(const Extents& extents, double gamma, const Limits& limits);
// … otherwise cuts at e; a row exactly on e goes right.
double find_middle(const Extents& extents);
Cut cut_between(const Halves& halves, const Limits& limits);

// Returns the cut with the least Gini impurity. `cost` is working memory.
Cut find_gini_cut(const ClassOrder& order, const Limits& limits, std::vector<double>& cost);

// Squared errors that differ by less count as equal: their sums are rounded in different orders.
inline double rounding_of(const RealMoments& moments) {
    return 1e-12 * moments.response_squares();
}
// Returns the cut with the least weighted squared error, which for a response of 0 and 1 is the Gini
// impurity. Ties: the wider gap, the better balance, the lower sum.
Cut find_least_squares_cut(const RealOrder& order, const RealMoments& moments, double min_samples_leaf);

// Sum of squares of a variable about its mean, and its largest distance from the mean.
struct Variable {
    double squares, reach;
};

// Returns max(0, 1 - 2 log(m) / evidence), given the sum of products of two variables.
double find_credit(double product, const Variable& a, const Variable& b, double weight,
                   std::size_t n_features);

// Divides the gain among the features by |weight| · spread · max(0, 1 - 2 log(m) / evidence), where m is the
// number of features of the model. The evidence for a relation between feature and response follows from
// Bernstein's inequality: by chance, the best of m features reaches about 2 log(m). `squares` are sums of
// squares of the features about their means.
template <class AnyMoments, class Totals>
void share_gain(const AnyMoments& moments, const Totals& totals, const double* squares,
                std::size_t n_features, Hyperplane& hyperplane);

// Divides the gain of a hyperplane of one feature, by the evidence for a relation between side and response.
template <class AnyMoments, class Totals>
void share_gain_alone(const AnyMoments& moments, const Totals& totals, const Totals& left,
                      std::size_t n_features, Hyperplane& hyperplane);

// Decisions for blocks of many classes.

// Draws two of n_runs classes, the first below the second, between which the direction is Fisher's. The draw
// uses the key of the block's features.
std::pair<std::size_t, std::size_t> draw_pair(std::uint64_t key, std::size_t n_runs);

// Returns the cut with the least Gini impurity of all classes. Ties: the wider gap, the better balance, the
// lower sum.
Cut find_gini_cut(const RunOrder& order, double weight, double min_samples_leaf);

// Divides the gain of a hyperplane of one feature by the class that the sides separate best, corrected for
// the number of classes.
void share_gain_alone(const RunTotals& totals, const RunTotals& left, std::size_t n_features,
                      Hyperplane& hyperplane);

// Memberships of many classes are constant: their shares of the weight.
inline bool may_slope(const RunTotals&, double) {
    return false;
}

}  // namespace lhtree
