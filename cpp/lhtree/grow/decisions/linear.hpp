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

// A small symmetric system, solved by Cholesky.

// Solves (S + shrinkage · tr(S)/p · I) x = b, where `scatter` holds the lower triangle of S (p rows of p) and
// is overwritten. False, with `b` as it was, where tr(S) = 0, a pivot is not above 1e-12 of its diagonal
// entry, or the solution is not finite.
bool solve_ridge(std::vector<double>& scatter, double shrinkage, std::vector<double>& b, Watch& watch);

// The same with a ridge that is given.
bool solve_with_ridge(std::vector<double>& scatter, double ridge, std::vector<double>& b, Watch& watch);

// The direction of a hyperplane: which features, with which weights.

// Features that are not constant over the block and whose variance is above alpha (eq. 1).
template <class AnyMoments>
void find_active(const AnyMoments& moments, double alpha, std::vector<std::int32_t>& active);

// Features with |SD_i| / max|SD| > beta among the active ones, with their SD; none where every SD is 0. If
// the response is any number, its covariance with the feature takes the place of SD.
struct Kept {
    std::vector<std::int32_t> features;
    std::vector<double> relations;
};
template <class AnyMoments>
void keep_features(const AnyMoments& moments, const std::vector<std::int32_t>& active, double beta,
                   Kept& kept);

// w_i = SD_i / max|SD| (eq. 6), also for the solution of a Fisher system.
void scale_weights(const std::vector<double>& direction, std::vector<float>& weights);

// Replaces the SD by (S_w + shrinkage · tr(S_w)/p · I)⁻¹ SD, where the scatter within the classes and the
// moments are those of the kept features; they stay as they are where that has no solution …
void turn_to_fisher(Scatter& within, const Moments& moments, double shrinkage, Watch& watch,
                    std::vector<double>& direction);
// … and covariances s by (S + shrinkage · tr(S - s sᵀ/var r)/p · I)⁻¹ s, the ridge least-squares direction:
// for a response of 0 and 1 the same line, since S - s sᵀ/var r is the scatter within the classes.
void turn_to_fisher(Scatter& total, const RealMoments& moments, double shrinkage, Watch& watch,
                    std::vector<double>& direction);
// The latter, up to its length the same for two classes, from the products of rows instead.
template <class AnyMoments>
void turn_to_fisher(Gram& gram, const Rows& rows, const AnyMoments& moments, double shrinkage, Watch& watch,
                    std::vector<double>& direction);

// Fitting the membership function of a block.

// The constant membership E[P].
template <class Totals>
LinearMembership constant_membership(const Totals& totals) {
    return {totals.response() / totals.weight(), {}, {}};
}

// a_i = cov(x_i, p) / var(x_i), each feature by itself (the paper's closed form). Moments need squares.
template <class AnyMoments>
LinearMembership marginal_membership(const AnyMoments& moments, const std::vector<std::int32_t>& active);

// The joint ridge fit from the moments, with squares, and the scatter (within the classes, if there are such)
// of the active features alone; the marginal slopes where it has no solution.
template <class AnyMoments>
LinearMembership least_squares_membership(const AnyMoments& moments, Scatter& scatter,
                                          const std::vector<std::int32_t>& active, double shrinkage,
                                          Watch& watch);
// The same from the products of rows.
template <class AnyMoments>
LinearMembership least_squares_membership(const AnyMoments& moments, Gram& gram, const Rows& rows,
                                          const std::vector<std::int32_t>& active, double shrinkage,
                                          Watch& watch);

// Slopes are 0 where either class holds less than min_samples_leaf, so pure blocks are constant …
inline bool may_slope(const ClassTotals& totals, double min_samples_leaf) {
    const double rarer = totals.of[0] < totals.of[1] ? totals.of[0] : totals.of[1];
    return rarer > 0.0 && rarer >= min_samples_leaf;
}
// … and where the response is one number.
inline bool may_slope(const RealTotals& totals, double) {
    return !totals.is_pure();
}

}  // namespace lhtree
