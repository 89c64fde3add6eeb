#include "lhtree/grow/boost/leaves.hpp"

#include <algorithm>
#include <cmath>

#include "lhtree/grow/decisions/linear.hpp"

namespace lhtree::boost {

static constexpr double ridge = 1.0;  // on normalised values

Leaf fit_leaf(double value, const Bounds& bounds, const LeafMoments& moments,
              const std::vector<std::int32_t>& features, const Rules& rules, const Quanta& quanta,
              double learning_rate) {
    const Leaf constant = Leaf::constant(value * learning_rate);
    const Centred centred(moments);
    // If all rows have the same step, slopes are 0 up to rounding.
    if (!(centred.hessian() > 0.0) || !(moments.least < moments.largest)) return constant;
    // Real units, because the square roots of Cholesky are inexact for odd powers of two.
    const double of_gradient = quanta.gradient * quanta.moment, of_hessian = quanta.hessian * quanta.moment;
    std::vector<double> slope;
    Watch quiet;
    const auto solve = [&](const std::vector<std::size_t>& kept, std::vector<double>& found) {
        const std::size_t p = kept.size();
        std::vector<double> scatter(p * p);
        for (std::size_t i = 0; i < p; ++i) {
            for (std::size_t j = 0; j <= i; ++j)
                scatter[i * p + j] =
                    centred.product(kept[i], kept[j]) * (value_unit * value_unit) * of_hessian;
            found[i] = centred.descent(kept[i]) * value_unit * of_gradient;
        }
        return p > 0 && solve_with_ridge(scatter, ridge, found, quiet);
    };
    const std::vector<std::size_t> kept = solve_monotonic(centred, features, rules, slope, solve);
    if (kept.empty()) return constant;
    if (std::all_of(slope.begin(), slope.end(), [](double one) { return one == 0.0; })) return constant;
    const double of_step = quanta.gradient / quanta.hessian;
    Leaf leaf;
    leaf.low = learning_rate * std::max(std::min(moments.least * of_step, value), bounds.low);
    leaf.high = learning_rate * std::min(std::max(moments.largest * of_step, value), bounds.high);
    leaf.line.intercept = learning_rate * value;
    for (std::size_t i = 0; i < kept.size(); ++i) {
        leaf.line.features.push_back(features[kept[i]]);
        leaf.line.slopes.push_back(learning_rate * slope[i]);
        leaf.line.means.push_back(static_cast<float>(moments.mean(kept[i]) * value_unit));
        leaf.line.intercept -= leaf.line.slopes[i] * static_cast<double>(leaf.line.means[i]);
    }
    return std::isfinite(leaf.line.intercept) ? leaf : constant;
}

}  // namespace lhtree::boost
