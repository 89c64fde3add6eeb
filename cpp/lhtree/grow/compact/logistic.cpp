#include "lhtree/grow/compact/logistic.hpp"

#include <cmath>

#include "lhtree/grow/decisions/ridge.hpp"
#include "lhtree/grow/kernels/kernels.hpp"
#include "lhtree/shared/elementary.hpp"

namespace lhtree::compact {

namespace {

// Loss and derivatives by f of every row.
void evaluate(const Problem& problem, const std::vector<const Column*>& columns, Logistic& fit) {
    const std::size_t n_padded = problem.n_padded();
    Column f(n_padded, fit.bias);
    for (std::size_t j = 0; j < columns.size(); ++j) {
        const double slope = fit.slopes[j], *const column = columns[j]->data();
        for (std::size_t i = 0; i < n_padded; ++i) f[i] += slope * column[i];
    }
    fit.slope_by.resize(n_padded);
    fit.curve_by.resize(n_padded);
    fit.loss = grow_kernels().logistic(f.data(), problem.weight().data(), problem.side().data(), n_padded,
                                       fit.slope_by.data(), fit.curve_by.data());
}

double ridged(const Logistic& fit, double rho) {
    double squares = 0.0;
    for (const double slope : fit.slopes) squares += slope * slope;
    return fit.loss + 0.5 * rho * squares;
}

}  // namespace

double find_bias(const Problem& problem) {
    return elementary::log(problem.wrong_if_left() / problem.wrong_if_right());
}

void fit_logistic(const Problem& problem, const std::vector<const Column*>& columns, Logistic& fit,
                  Watch& watch) {
    const std::size_t p = columns.size(), size = p + 1, n_padded = problem.n_padded();
    const double total = problem.total(), rho = ridge * total;
    fit.slopes.resize(p, 0.0);
    // What was fitted without the last column is known with a slope of 0.
    if (fit.slope_by.empty()) evaluate(problem, columns, fit);
    if (p == 0) return;
    double value = ridged(fit, rho);
    const auto dot = grow_kernels().dot;
    const Column ones(n_padded, 1.0);
    Column curved(n_padded);
    for (int step = 0; step < most_newton_steps; ++step) {
        std::vector<double> curve(size * size, 0.0), down(size);
        for (std::size_t a = 0; a < size; ++a) {  // the bias comes last
            const double* const own = a < p ? columns[a]->data() : ones.data();
            for (std::size_t i = 0; i < n_padded; ++i) curved[i] = fit.curve_by[i] * own[i];
            for (std::size_t b = 0; b <= a; ++b)
                curve[a * size + b] = dot(curved.data(), b < p ? columns[b]->data() : ones.data(), n_padded);
            down[a] = -dot(fit.slope_by.data(), own, n_padded) - (a < p ? rho * fit.slopes[a] : 0.0);
            curve[a * size + a] += a < p ? rho : bias_ridge * total;
        }
        if (!solve_with_ridge(curve, 0.0, down, watch)) return;
        Logistic next = fit;
        double factor = 1.0, reached = value;
        for (int halving = 0; halving <= most_halvings; ++halving, factor *= 0.5) {
            for (std::size_t a = 0; a < p; ++a) next.slopes[a] = fit.slopes[a] + factor * down[a];
            next.bias = fit.bias + factor * down[p];
            evaluate(problem, columns, next);
            reached = ridged(next, rho);
            if (reached < value) break;
        }
        if (!(reached < value)) return;
        const bool is_done = value - reached <= newton_tolerance * total;
        fit = std::move(next);
        value = reached;
        if (is_done) return;
    }
}

}  // namespace lhtree::compact
