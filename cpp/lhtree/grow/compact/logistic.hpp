// Weighted logistic regression on a few columns of a block's problem.
#pragma once
#include "lhtree/grow/compact/problem.hpp"

namespace lhtree::compact {

struct Logistic {
    double bias = 0.0;
    std::vector<double> slopes;
    double loss = 0.0;             // Σ w ln(1 + e^∓f), without the ridge
    std::vector<double> slope_by;  // d loss / d f of every row: w (p - side), padded with zeros …
    std::vector<double> curve_by;  // … and its second derivative w p (1 - p)
};

// A column of n_padded values, zeros behind the rows.
using Column = std::vector<double>;

// b without any column: ln(W_right / W_left).
double find_bias(const Problem& problem);
// The fit on some columns, from the coefficients there are; those that are missing begin with 0. Without
// columns it only takes the loss and its derivatives.
void fit_logistic(const Problem& problem, const std::vector<const Column*>& columns, Logistic& fit,
                  Watch& watch);

}  // namespace lhtree::compact
