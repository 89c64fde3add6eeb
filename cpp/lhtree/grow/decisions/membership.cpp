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
    }
    return result;
}

template <class AnyMoments>
LinearMembership least_squares_membership(const AnyMoments& moments, Scatter& scatter,
                                          const std::vector<std::int32_t>& active, double shrinkage,
                                          Watch& watch) {
    const std::size_t p = active.size();
    std::vector<double> slopes(p);
    for (std::size_t i = 0; i < p; ++i) slopes[i] = moments.covariance(i);
    make_total(scatter, moments);
    if (!solve_ridge(scatter.triangle, shrinkage, slopes, watch))
        for (std::size_t i = 0; i < p; ++i) slopes[i] = moments.covariance(i) / moments.total_squares(i);
    double intercept = moments.response_mean();
    for (std::size_t i = 0; i < p; ++i) intercept -= slopes[i] * moments.mean(i);
    return {intercept, active, std::move(slopes)};
}

template LinearMembership marginal_membership(const Moments&, const std::vector<std::int32_t>&);
template LinearMembership marginal_membership(const RealMoments&, const std::vector<std::int32_t>&);
template LinearMembership least_squares_membership(const Moments&, Scatter&, const std::vector<std::int32_t>&,
                                                   double, Watch&);
template LinearMembership least_squares_membership(const RealMoments&, Scatter&,
                                                   const std::vector<std::int32_t>&, double, Watch&);

}  // namespace lhtree
