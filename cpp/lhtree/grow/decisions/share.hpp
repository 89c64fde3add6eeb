// What each feature of a hyperplane earns of the gain of its block.
#pragma once
#include "lhtree/grow/statistics/real_moments.hpp"
#include "lhtree/shared/blocks.hpp"

namespace lhtree {

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

}  // namespace lhtree
