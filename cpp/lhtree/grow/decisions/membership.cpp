#include "lhtree/grow/decisions/membership.hpp"

#include "lhtree/grow/decisions/ridge.hpp"

namespace lhtree {

namespace {

// Scatter about the means of all rows = scatter within the classes + between them.
void make_total(Scatter& within, const Moments& moments) {
    const std::size_t p = moments.n_features();
    for (std::size_t i = 0; i < p; ++i)
        for (std::size_t j = 0; j <= i; ++j)
            within.triangle[i * p + j] += moments.covariance(i) * moments.mean_difference(j);
}
void make_total(Scatter&, const RealMoments&) {}

// Explanations of a regression tell slopes from the means; the arrays of classes stay as they are.
void keep_mean(const Moments&, std::size_t, LinearMembership&) {}
void keep_mean(const RealMoments& moments, std::size_t feature, LinearMembership& membership) {
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

}  // namespace

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

template <class AnyMoments>
LinearMembership least_squares_membership(const AnyMoments& moments, Gram& gram, const Rows& rows,
                                          const std::vector<std::int32_t>& active, double shrinkage,
                                          Watch& watch) {
    const double ridge = shrinkage * (gram.trace() / static_cast<double>(active.size()));
    const bool is_solved = ridge > 0.0 && solve_with_ridge(gram.triangle, ridge, gram.deviation, watch);
    return joint_membership(moments, active, gram.to_features(rows, gram.deviation), is_solved);
}

template LinearMembership marginal_membership(const Moments&, const std::vector<std::int32_t>&);
template LinearMembership marginal_membership(const RealMoments&, const std::vector<std::int32_t>&);
template LinearMembership least_squares_membership(const Moments&, Scatter&, const std::vector<std::int32_t>&,
                                                   double, Watch&);
template LinearMembership least_squares_membership(const Moments&, Gram&, const Rows&,
                                                   const std::vector<std::int32_t>&, double, Watch&);
template LinearMembership least_squares_membership(const RealMoments&, Gram&, const Rows&,
                                                   const std::vector<std::int32_t>&, double, Watch&);
template LinearMembership least_squares_membership(const RealMoments&, Scatter&,
                                                   const std::vector<std::int32_t>&, double, Watch&);

}  // namespace lhtree
