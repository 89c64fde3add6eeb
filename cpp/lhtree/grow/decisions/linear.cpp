#include "lhtree/grow/decisions/linear.hpp"

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
