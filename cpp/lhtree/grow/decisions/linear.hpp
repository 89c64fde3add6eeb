// Linear models of a block: the direction of its hyperplane and its membership function.
#pragma once
#include <algorithm>
#include <cmath>
#include <vector>

#include "lhtree/grow/statistics/moments.hpp"
#include "lhtree/shared/blocks.hpp"

namespace lhtree {

// Solves (S + shrinkage · tr(S)/p · I) x = b, where `scatter` has the lower triangle of S (p rows of p) and
// is overwritten, by Cholesky decomposition. Returns false and leaves `b` unchanged if tr(S) = 0, a pivot is
// at most 1e-12 of its diagonal entry, or the solution is not finite.
bool solve_ridge(std::vector<double>& scatter, double shrinkage, std::vector<double>& b, Watch& watch);

// Solves (S + ridge · I) x = b.
bool solve_with_ridge(std::vector<double>& scatter, double ridge, std::vector<double>& b, Watch& watch);

// Finds features that are not constant in the block and have a variance above alpha (eq. 1).
template <class AnyMoments>
void find_active(const AnyMoments& moments, double alpha, std::vector<std::int32_t>& active) {
    active.clear();
    for (std::size_t f = 0; f < moments.n_features(); ++f) {
        if (moments.is_constant(f)) continue;
        if (alpha > 0.0 && !(moments.total_squares(f) / moments.total_weight() > alpha)) continue;
        active.push_back(static_cast<std::int32_t>(f));
    }
}

// Active features with |SD_i| / max|SD| > beta and their SD; empty if every SD is 0. With numbers, SD is the
// covariance.
struct Kept {
    std::vector<std::int32_t> features;
    std::vector<double> relations;
};
template <class AnyMoments>
void keep_features(const AnyMoments& moments, const std::vector<std::int32_t>& active, double beta,
                   Kept& kept) {
    kept.features.clear();
    kept.relations.clear();
    double largest = 0.0;
    for (const auto f : active)
        largest = std::max(largest, std::abs(moments.relation(static_cast<std::size_t>(f))));
    if (largest == 0.0) return;
    for (const auto f : active) {
        const double relation = moments.relation(static_cast<std::size_t>(f));
        if (std::abs(relation / largest) > beta) {
            kept.features.push_back(f);
            kept.relations.push_back(relation);
        }
    }
}

// Computes w_i = SD_i / max|SD| (eq. 6), also for the solution of a Fisher system.
void scale_weights(const std::vector<double>& direction, std::vector<float>& weights);

// Returns the part of the squares of a feature that the response explains.
template <class AnyMoments>
double explained(const AnyMoments& moments, std::size_t feature) {
    return moments.covariance(feature) * moments.covariance(feature) / moments.response_squares();
}

// Replaces SD by (S_w + shrinkage · tr(S_w)/p · I)⁻¹ SD for the kept features, unless there is no solution.
// S_w is the scatter within the classes.
void turn_to_fisher(Scatter& within, const Moments& moments, double shrinkage, Watch& watch,
                    std::vector<double>& direction);
// Replaces covariances s by (S + shrinkage · tr(S - s sᵀ/var r)/p · I)⁻¹ s, the ridge least-squares
// direction. For a response of 0 and 1 it is the Fisher direction: S - s sᵀ/var r is then S_w.
void turn_to_fisher(Scatter& total, const RealMoments& moments, double shrinkage, Watch& watch,
                    std::vector<double>& direction);
// Computes the same direction, up to its length with two classes, from the products of rows.
template <class AnyMoments>
void turn_to_fisher(Gram& gram, const Rows& rows, const AnyMoments& moments, double shrinkage, Watch& watch,
                    std::vector<double>& direction) {
    double trace = gram.trace();
    for (std::size_t i = 0; i < direction.size(); ++i) trace -= explained(moments, i);
    const double ridge = shrinkage * (trace / static_cast<double>(direction.size()));
    if (ridge > 0.0 && solve_with_ridge(gram.triangle, ridge, gram.deviation, watch))
        direction = gram.to_features(rows, gram.deviation);
}

// Returns the constant membership E[P].
template <class Totals>
LinearMembership constant_membership(const Totals& totals) {
    return {totals.response() / totals.weight(), {}, {}};
}

// Scatter about the means of all rows = scatter within the classes + between them.
inline void make_total(Scatter& within, const Moments& moments) {
    const std::size_t p = moments.n_features();
    for (std::size_t i = 0; i < p; ++i)
        for (std::size_t j = 0; j <= i; ++j)
            within.triangle[i * p + j] += moments.covariance(i) * moments.mean_difference(j);
}
inline void make_total(Scatter&, const RealMoments&) {}

// Explanations of a regression need the means; models of classes do not store them.
inline void keep_mean(const Moments&, std::size_t, LinearMembership&) {}
inline void keep_mean(const RealMoments& moments, std::size_t feature, LinearMembership& membership) {
    membership.means.push_back(static_cast<float>(moments.mean(feature)));
}

template <class AnyMoments>
LinearMembership joint_membership(const AnyMoments& moments, const std::vector<std::int32_t>& active,
                                  std::vector<double> slopes, bool is_solved) {
    LinearMembership result{moments.response_mean(), active, std::move(slopes)};
    for (std::size_t i = 0; i < result.slopes.size(); ++i) {
        if (!is_solved) result.slopes[i] = moments.covariance(i) / moments.total_squares(i);
        result.intercept -= result.slopes[i] * moments.mean(i);
        keep_mean(moments, i, result);
    }
    return result;
}

// Returns a_i = cov(x_i, p) / var(x_i) for each feature alone (closed form). Moments need squares.
template <class AnyMoments>
LinearMembership marginal_membership(const AnyMoments& moments, const std::vector<std::int32_t>& active) {
    LinearMembership result{moments.response_mean(), active, {}};
    result.slopes.reserve(active.size());
    for (const auto feature : active) {
        const auto f = static_cast<std::size_t>(feature);
        const double slope = moments.covariance(f) / moments.total_squares(f);
        result.slopes.push_back(slope);
        result.intercept -= slope * moments.mean(f);
        keep_mean(moments, f, result);
    }
    return result;
}

// Returns the joint ridge fit, or marginal slopes if it has no solution. Moments need squares; the scatter
// (within the classes, if any) is that of the active features.
template <class AnyMoments>
LinearMembership least_squares_membership(const AnyMoments& moments, Scatter& scatter,
                                          const std::vector<std::int32_t>& active, double shrinkage,
                                          Watch& watch) {
    std::vector<double> slopes(active.size());
    for (std::size_t i = 0; i < slopes.size(); ++i) slopes[i] = moments.covariance(i);
    make_total(scatter, moments);
    const bool is_solved = solve_ridge(scatter.triangle, shrinkage, slopes, watch);
    return joint_membership(moments, active, std::move(slopes), is_solved);
}
// Returns the joint ridge fit from the products of rows.
template <class AnyMoments>
LinearMembership least_squares_membership(const AnyMoments& moments, Gram& gram, const Rows& rows,
                                          const std::vector<std::int32_t>& active, double shrinkage,
                                          Watch& watch) {
    const double ridge = shrinkage * (gram.trace() / static_cast<double>(active.size()));
    const bool is_solved = ridge > 0.0 && solve_with_ridge(gram.triangle, ridge, gram.deviation, watch);
    return joint_membership(moments, active, gram.to_features(rows, gram.deviation), is_solved);
}

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
