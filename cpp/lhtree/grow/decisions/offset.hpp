// Offsets of hyperplanes, and the parts of the gain that features receive.
#pragma once
#include <algorithm>
#include <cmath>
#include <utility>
#include <vector>

#include "lhtree/grow/statistics/moments.hpp"
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

struct Limits {
    const ClassTotals& totals;  // of all rows
    double min_samples_leaf;    // least weight on each side
};

// Returns the cut of the paper (eqs. 10 and 11), in the middle of the gap between the sides: cuts off the
// largest pure set if it weighs at least gamma, otherwise cuts at e; a row exactly on e goes right.
Cut cut_purest(const Samples& samples, const Limits& limits, const double* feature_sums, double gamma);

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
                std::size_t n_features, Hyperplane& hyperplane) {
    const std::size_t n = hyperplane.features.size();
    const auto pull = [&](std::size_t i) {
        return std::abs(static_cast<double>(hyperplane.weights[i])) *
               std::sqrt(squares[hyperplane.features[i]]);
    };
    double total = 0.0;
    for (std::size_t i = 0; i < n; ++i) total += pull(i);
    const Variable response{moments.response_squares(), totals.reach()};
    hyperplane.shares.resize(n);
    for (std::size_t i = 0; i < n; ++i) {
        const auto feature = static_cast<std::size_t>(hyperplane.features[i]);
        const double credit =
            find_credit(moments.covariance(feature), {squares[feature], moments.reach(feature)}, response,
                        totals.weight(), n_features);
        hyperplane.shares[i] = static_cast<float>(credit > 0.0 ? credit * pull(i) / total : 0.0);
    }
}

// Divides the gain of a hyperplane of one feature, by the evidence for a relation between side and response.
template <class AnyMoments, class Totals>
void share_gain_alone(const AnyMoments& moments, const Totals& totals, const Totals& left,
                      std::size_t n_features, Hyperplane& hyperplane) {
    const double weight = totals.weight(), right = weight - left.weight();
    const Variable side{left.weight() * right / weight, std::max(left.weight(), right) / weight};
    const double product = left.response() - left.weight() * totals.response() / weight;
    const Variable response{moments.response_squares(), totals.reach()};
    hyperplane.shares = {static_cast<float>(find_credit(product, side, response, weight, n_features))};
}

// Draws two of n_runs classes, the first below the second, between which the direction is Fisher's.
std::pair<std::size_t, std::size_t> draw_pair(std::uint64_t key, std::size_t n_runs);

// Returns the cut with the least Gini impurity of all classes, with the same order of ties.
Cut find_gini_cut(const RunOrder& order, double weight, double min_samples_leaf);

// Divides the gain of one feature by the class that the sides separate best, given the number of classes.
void share_gain_alone(const RunTotals& totals, const RunTotals& left, std::size_t n_features,
                      Hyperplane& hyperplane);

// Memberships of many classes are constant: their shares of the weight.
inline bool may_slope(const RunTotals&, double) {
    return false;
}

}  // namespace lhtree
