#include "lhtree/grow/decisions/share.hpp"

#include <algorithm>
#include <cmath>

#include "lhtree/shared/elementary.hpp"

namespace lhtree {

double find_credit(double product, const Variable& a, const Variable& b, double weight,
                   std::size_t n_features) {
    if (product == 0.0) return 0.0;
    const double chance = a.squares * b.squares / weight + a.reach * b.reach * std::abs(product) / 3.0;
    const double most = 2.0 * elementary::log(static_cast<double>(n_features));
    return std::max(0.0, 1.0 - most * chance / (product * product));
}

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

template <class AnyMoments, class Totals>
void share_gain_alone(const AnyMoments& moments, const Totals& totals, const Totals& left,
                      std::size_t n_features, Hyperplane& hyperplane) {
    const double weight = totals.weight(), right = weight - left.weight();
    const Variable side{left.weight() * right / weight, std::max(left.weight(), right) / weight};
    const double product = left.response() - left.weight() * totals.response() / weight;
    const Variable response{moments.response_squares(), totals.reach()};
    hyperplane.shares = {static_cast<float>(find_credit(product, side, response, weight, n_features))};
}

template void share_gain(const Moments&, const ClassTotals&, const double*, std::size_t, Hyperplane&);
template void share_gain(const RealMoments&, const RealTotals&, const double*, std::size_t, Hyperplane&);
template void share_gain_alone(const Moments&, const ClassTotals&, const ClassTotals&, std::size_t,
                               Hyperplane&);
template void share_gain_alone(const RealMoments&, const RealTotals&, const RealTotals&, std::size_t,
                               Hyperplane&);

}  // namespace lhtree
