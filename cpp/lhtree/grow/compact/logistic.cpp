#include "lhtree/grow/compact/logistic.hpp"

#include "lhtree/grow/decisions/ridge.hpp"
#include "lhtree/grow/kernels.hpp"
#include "lhtree/shared/elementary.hpp"

namespace lhtree::compact {

namespace {

double ridged(const Logistic& fit, double rho) {
    double squares = 0.0;
    for (const double slope : fit.slopes) squares += slope * slope;
    return fit.loss + 0.5 * rho * squares;
}

}  // namespace

Fitter::Fitter(const Problem& problem, Watch& watch)
    : problem_(problem), watch_(watch), ones_(problem.n_padded(), 1.0), sums_(problem.n_padded()) {
    for (Derivatives* one : {&at_bias_, &room_[0], &room_[1]}) {
        one->slope_by.resize(problem.n_padded());
        one->curve_by.resize(problem.n_padded());
    }
    bias_.bias = elementary::log(problem_.wrong_if_left() / problem_.wrong_if_right());
    evaluate({}, bias_, at_bias_);
}

// Loss and derivatives by f of every row.
void Fitter::evaluate(const Columns& columns, Logistic& fit, Derivatives& found) const {
    fit.loss = grow_kernels().logistic({columns.data(), fit.slopes.data(), fit.slopes.size(), fit.bias},
                                       problem_.weight().data(), problem_.side().data(), problem_.n_padded(),
                                       found.slope_by.data(), found.curve_by.data());
}

Logistic Fitter::fit_bias() {
    now_ = &at_bias_;
    return bias_;
}

void Fitter::fit(const Columns& columns, Logistic& fit) {
    evaluate(columns, fit, room_[0]);
    now_ = &room_[0];
    improve(columns, fit);
}

void Fitter::add_column(const Columns& columns, Logistic& fit) {
    fit.slopes.push_back(0.0);  // what is known of the last fit holds for it, too
    improve(columns, fit);
}

Logistic Fitter::fit_sums(const Line& line) {
    sums_.assign(sums_.size(), 0.0);
    for (std::size_t term = 0; term < line.features.size(); ++term) {
        const double *const column = problem_.column(line.features[term]), weight = line.weights[term];
        for (std::size_t i = 0; i < sums_.size(); ++i) sums_[i] += weight * column[i];
    }
    Logistic fit = fit_bias();
    add_column({sums_.data()}, fit);
    return fit;
}

void Fitter::improve(const Columns& columns, Logistic& fit) {
    const std::size_t p = columns.size(), size = p + 1, n_padded = problem_.n_padded();
    const double total = problem_.total(), rho = ridge * total;
    double value = ridged(fit, rho);
    Columns all = columns;  // the bias comes last
    all.push_back(ones_.data());
    std::vector<double> curve(size * size), down(size), room(8 * size * size);
    Logistic next = fit;
    for (int step = 0; step < most_newton_steps; ++step) {
        grow_kernels().weighted_products(all.data(), size, curve_by(), n_padded, curve.data(), room.data());
        for (std::size_t a = 0; a < size; ++a) {
            down[a] = -grow_kernels().dot(slope_by(), all[a], n_padded);
            if (a < p) down[a] -= rho * fit.slopes[a];
            curve[a * size + a] += a < p ? rho : bias_ridge * total;
        }
        if (!solve_with_ridge(curve, 0.0, down, watch_)) return;
        Derivatives& found = room_[now_ == &room_[0]];
        double factor = 1.0, reached = value;
        for (int halving = 0; halving <= most_halvings; ++halving, factor *= 0.5) {
            for (std::size_t a = 0; a < p; ++a) next.slopes[a] = fit.slopes[a] + factor * down[a];
            next.bias = fit.bias + factor * down[p];
            evaluate(columns, next, found);
            reached = ridged(next, rho);
            if (reached < value) break;
        }
        if (!(reached < value)) return;
        const bool is_done = value - reached <= newton_tolerance * total;
        fit = next;
        now_ = &found;
        value = reached;
        if (is_done) return;
    }
}

}  // namespace lhtree::compact
