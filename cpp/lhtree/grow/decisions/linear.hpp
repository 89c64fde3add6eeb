// Linear models of a block: the direction of its hyperplane and its membership function.
#pragma once
#include <cstddef>
#include <cstdint>
#include <vector>

#include "lhtree/grow/statistics/moments.hpp"
#include "lhtree/shared/blocks.hpp"
#include "lhtree/shared/options.hpp"
#include "lhtree/shared/threads.hpp"

namespace lhtree {

// Ridge systems, solved by Cholesky decomposition.

// Solves (S + shrinkage · tr(S)/p · I) x = b, where `scatter` has the lower triangle of S (p rows of p) and
// is overwritten. Returns false and leaves `b` unchanged if tr(S) = 0, a pivot is at most 1e-12 of its
// diagonal entry, or the solution is not finite.
bool solve_ridge(std::vector<double>& scatter, double shrinkage, std::vector<double>& b, Watch& watch);

// Solves (S + ridge · I) x = b.
bool solve_with_ridge(std::vector<double>& scatter, double ridge, std::vector<double>& b, Watch& watch);

// Directions of hyperplanes.

// Finds features that are not constant in the block and have a variance above alpha (eq. 1).
template <class AnyMoments>
void find_active(const AnyMoments& moments, double alpha, std::vector<std::int32_t>& active);

// Active features with |SD_i| / max|SD| > beta and their SD; empty if every SD is 0. With a numeric response,
// the covariance replaces SD.
struct Kept {
    std::vector<std::int32_t> features;
    std::vector<double> relations;
};
template <class AnyMoments>
void keep_features(const AnyMoments& moments, const std::vector<std::int32_t>& active, double beta,
                   Kept& kept);

// Computes w_i = SD_i / max|SD| (eq. 6), also for the solution of a Fisher system.
void scale_weights(const std::vector<double>& direction, std::vector<float>& weights);

// Replaces SD by (S_w + shrinkage · tr(S_w)/p · I)⁻¹ SD for the kept features, unless there is no solution.
// S_w is the scatter within the classes.
void turn_to_fisher(Scatter& within, const Moments& moments, double shrinkage, Watch& watch,
                    std::vector<double>& direction);
// Replaces covariances s by (S + shrinkage · tr(S - s sᵀ/var r)/p · I)⁻¹ s, the ridge least-squares
// direction. For a response of 0 and 1 it is the Fisher direction: S - s sᵀ/var r is then the scatter within
// the classes.
void turn_to_fisher(Scatter& total, const RealMoments& moments, double shrinkage, Watch& watch,
                    std::vector<double>& direction);
// Computes the same direction, up to its length with two classes, from the products of rows.
template <class AnyMoments>
void turn_to_fisher(Gram& gram, const Rows& rows, const AnyMoments& moments, double shrinkage, Watch& watch,
                    std::vector<double>& direction);

// Membership functions.

// Returns the constant membership E[P].
template <class Totals>
LinearMembership constant_membership(const Totals& totals) {
    return {totals.response() / totals.weight(), {}, {}};
}

// Returns a_i = cov(x_i, p) / var(x_i) for each feature alone (the paper's closed form). Moments need
// squares.
template <class AnyMoments>
LinearMembership marginal_membership(const AnyMoments& moments, const std::vector<std::int32_t>& active);

// Returns the joint ridge fit, or marginal slopes if it has no solution. Moments need squares; the scatter
// (within the classes, if any) is that of the active features.
template <class AnyMoments>
LinearMembership least_squares_membership(const AnyMoments& moments, Scatter& scatter,
                                          const std::vector<std::int32_t>& active, double shrinkage,
                                          Watch& watch);
// Returns the joint ridge fit from the products of rows.
template <class AnyMoments>
LinearMembership least_squares_membership(const AnyMoments& moments, Gram& gram, const Rows& rows,
                                          const std::vector<std::int32_t>& active, double shrinkage,
                                          Watch& watch);

// Slopes are 0 if a class weighs less than min_samples_leaf, so pure blocks are constant.
inline bool may_slope(const ClassTotals& totals, double min_samples_leaf) {
    const double rarer = totals.of[0] < totals.of[1] ? totals.of[0] : totals.of[1];
    return rarer > 0.0 && rarer >= min_samples_leaf;
}
// Slopes are 0 if the response is constant.
inline bool may_slope(const RealTotals& totals, double) {
    return !totals.is_pure();
}

}  // namespace lhtree
