#include "lhtree/grow/decisions/membership.hpp"

#include "lhtree/grow/decisions/ridge.hpp"

namespace lhtree {

LinearMembership constant_membership(const double (&weight)[2]) {
    return {weight[1] / (weight[0] + weight[1]), {}, {}};
}

LinearMembership marginal_membership(const Moments& moments, const std::vector<std::int32_t>& active) {
    LinearMembership result{moments.target_share(), active, {}};
    result.slopes.reserve(active.size());
    const double balance = moments.balance();
    for (const auto feature : active) {
        const auto f = static_cast<std::size_t>(feature);
        const double slope = balance * moments.mean_difference(f) / moments.total_squares(f);
        result.slopes.push_back(slope);
        result.intercept -= slope * moments.mean(f);
    }
    return result;
}

LinearMembership least_squares_membership(const Moments& moments, Scatter& within,
                                          const std::vector<std::int32_t>& active, double shrinkage,
                                          Watch& watch) {
    const std::size_t p = active.size();
    const double balance = moments.balance();
    std::vector<double> slopes(p);
    std::vector<double>& scatter = within.triangle;
    for (std::size_t i = 0; i < p; ++i) {  // total scatter = scatter within the classes + between them
        const double difference = moments.mean_difference(i);
        slopes[i] = balance * difference;
        for (std::size_t j = 0; j <= i; ++j)
            scatter[i * p + j] += balance * difference * moments.mean_difference(j);
    }
    if (!solve_ridge(scatter, shrinkage, slopes, watch)) {
        for (std::size_t i = 0; i < p; ++i)
            slopes[i] = balance * moments.mean_difference(i) / moments.total_squares(i);
    }
    double intercept = moments.target_share();
    for (std::size_t i = 0; i < p; ++i) intercept -= slopes[i] * moments.mean(i);
    return {intercept, active, std::move(slopes)};
}

}  // namespace lhtree
