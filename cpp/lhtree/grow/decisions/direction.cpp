#include "lhtree/grow/decisions/direction.hpp"

#include <algorithm>
#include <cmath>

#include "lhtree/grow/decisions/ridge.hpp"

namespace lhtree {

template <class AnyMoments>
void find_active(const AnyMoments& moments, double alpha, std::vector<std::int32_t>& active) {
    active.clear();
    for (std::size_t f = 0; f < moments.n_features(); ++f) {
        if (moments.is_constant(f)) continue;
        if (alpha > 0.0 && !(moments.total_squares(f) / moments.total_weight() > alpha)) continue;
        active.push_back(static_cast<std::int32_t>(f));
    }
}

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

void scale_weights(const std::vector<double>& direction, std::vector<float>& weights) {
    double largest = 0.0;
    for (const double value : direction) largest = std::max(largest, std::abs(value));
    weights.resize(direction.size());
    for (std::size_t i = 0; i < direction.size(); ++i)
        weights[i] = static_cast<float>(direction[i] / largest);
}

template <class AnyMoments>
static double explained(const AnyMoments& moments, std::size_t feature) {
    return moments.covariance(feature) * moments.covariance(feature) / moments.response_squares();
}

void turn_to_fisher(Scatter& within, const Moments&, double shrinkage, Watch& watch,
                    std::vector<double>& direction) {
    solve_ridge(within.triangle, shrinkage, direction, watch);
}

void turn_to_fisher(Scatter& total, const RealMoments& moments, double shrinkage, Watch& watch,
                    std::vector<double>& direction) {
    const std::size_t p = direction.size();
    double trace = 0.0;
    for (std::size_t i = 0; i < p; ++i) trace += total.triangle[i * p + i] - explained(moments, i);
    const double ridge = shrinkage * (std::max(trace, 0.0) / static_cast<double>(p));
    solve_with_ridge(total.triangle, ridge, direction, watch);
}

template <class AnyMoments>
void turn_to_fisher(Gram& gram, const Rows& rows, const AnyMoments& moments, double shrinkage, Watch& watch,
                    std::vector<double>& direction) {
    double trace = gram.trace();
    for (std::size_t i = 0; i < direction.size(); ++i) trace -= explained(moments, i);
    const double ridge = shrinkage * (trace / static_cast<double>(direction.size()));
    if (ridge > 0.0 && solve_with_ridge(gram.triangle, ridge, gram.deviation, watch))
        direction = gram.to_features(rows, gram.deviation);
}

template void turn_to_fisher(Gram&, const Rows&, const Moments&, double, Watch&, std::vector<double>&);
template void turn_to_fisher(Gram&, const Rows&, const RealMoments&, double, Watch&, std::vector<double>&);
template void find_active(const Moments&, double, std::vector<std::int32_t>&);
template void find_active(const RealMoments&, double, std::vector<std::int32_t>&);
template void keep_features(const Moments&, const std::vector<std::int32_t>&, double, Kept&);
template void keep_features(const RealMoments&, const std::vector<std::int32_t>&, double, Kept&);

}  // namespace lhtree
