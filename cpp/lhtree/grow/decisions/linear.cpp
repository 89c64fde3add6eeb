#include "lhtree/grow/decisions/linear.hpp"

#include <algorithm>
#include <cmath>

namespace lhtree {

bool solve_ridge(std::vector<double>& scatter, double shrinkage, std::vector<double>& b, Watch& watch) {
    const std::size_t p = b.size();
    double trace = 0.0;
    for (std::size_t i = 0; i < p; ++i) trace += scatter[i * p + i];
    if (!(trace > 0.0)) return false;
    return solve_with_ridge(scatter, shrinkage * (trace / static_cast<double>(p)), b, watch);
}

bool solve_with_ridge(std::vector<double>& scatter, double ridge, std::vector<double>& b, Watch& watch) {
    const std::size_t p = b.size();
    for (std::size_t i = 0; i < p; ++i) {  // L replaces the lower triangle
        watch.check();
        double* row = &scatter[i * p];
        const double diagonal = row[i] + ridge;
        double pivot = diagonal;
        for (std::size_t j = 0; j < i; ++j) {
            const double* other = &scatter[j * p];
            double sum = row[j];
            for (std::size_t k = 0; k < j; ++k) sum -= row[k] * other[k];
            row[j] = sum / other[j];
            pivot -= row[j] * row[j];
        }
        if (!(pivot > 1e-12 * diagonal)) return false;
        row[i] = std::sqrt(pivot);
    }
    std::vector<double> x = b;
    for (std::size_t i = 0; i < p; ++i) {
        for (std::size_t j = 0; j < i; ++j) x[i] -= scatter[i * p + j] * x[j];
        x[i] /= scatter[i * p + i];
    }
    for (std::size_t i = p; i-- > 0;) {
        for (std::size_t j = i + 1; j < p; ++j) x[i] -= scatter[j * p + i] * x[j];
        x[i] /= scatter[i * p + i];
    }
    for (const double value : x)
        if (!std::isfinite(value)) return false;
    b = std::move(x);
    return true;
}

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

namespace {

// Scatter about the means of all rows = scatter within the classes + between them.
void make_total(Scatter& within, const Moments& moments) {
    const std::size_t p = moments.n_features();
    for (std::size_t i = 0; i < p; ++i)
        for (std::size_t j = 0; j <= i; ++j)
            within.triangle[i * p + j] += moments.covariance(i) * moments.mean_difference(j);
}
void make_total(Scatter&, const RealMoments&) {}

// Explanations of a regression need the means; models of classes do not store them.
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
