#include "lhtree/grow/decisions/linear.hpp"

#include "lhtree/grow/kernels.hpp"

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
    // Column j of L replaces row j of the upper triangle: so vectors run along memory, and every element is
    // still computed from the same products in the same order.
    for (std::size_t i = 0; i < p; ++i)
        for (std::size_t j = 0; j < i; ++j) scatter[j * p + i] = scatter[i * p + j];
    for (std::size_t j = 0; j < p; ++j) {
        if (j % 64 == 63) watch.check();
        double* const own = &scatter[j * p];
        const double diagonal = own[j] += ridge;
        grow_kernels().subtract_products(scatter.data(), p, j);
        if (!(own[j] > 1e-12 * diagonal)) return false;
        const double root = std::sqrt(own[j]);
        own[j] = root;
        for (std::size_t i = j + 1; i < p; ++i) own[i] /= root;
    }
    std::vector<double> x = b;
    for (std::size_t j = 0; j < p; ++j) {
        const double* const own = &scatter[j * p];
        const double value = x[j] /= own[j];
        for (std::size_t i = j + 1; i < p; ++i) x[i] -= own[i] * value;
    }
    for (std::size_t i = p; i-- > 0;) {
        const double* const own = &scatter[i * p];
        double value = x[i];
        for (std::size_t j = i + 1; j < p; ++j) value -= own[j] * x[j];
        x[i] = value / own[i];
    }
    for (const double value : x)
        if (!std::isfinite(value)) return false;
    b = std::move(x);
    return true;
}

void scale_weights(const std::vector<double>& direction, std::vector<float>& weights) {
    double largest = 0.0;
    for (const double value : direction) largest = std::max(largest, std::abs(value));
    weights.resize(direction.size());
    for (std::size_t i = 0; i < direction.size(); ++i)
        weights[i] = static_cast<float>(direction[i] / largest);
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

}  // namespace lhtree
