// The offset of a hyperplane: where to cut the feature sums of a block.
#pragma once
#include <optional>
#include <vector>

#include "lhtree/grow/statistics/extents.hpp"
#include "lhtree/grow/statistics/moments.hpp"
#include "lhtree/grow/statistics/order.hpp"
#include "lhtree/grow/statistics/real_moments.hpp"

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

}  // namespace lhtree
