// Weighted logistic regression on a few columns of a block's problem.
#pragma once
#include "lhtree/grow/compact/problem.hpp"

namespace lhtree::compact {

struct Logistic {
    double bias = 0.0;
    std::vector<double> slopes;
    double loss = 0.0;  // Σ w ln(1 + e^∓f), without the ridge
};

// Fits one regression after the other.
class Fitter {
  public:
    Fitter(const Problem& problem, Watch& watch);

    // b without any column, ln(W_right / W_left), and its loss.
    Logistic fit_bias();
    // The fit on some columns, from the coefficients there are.
    void fit(const Columns& columns, Logistic& fit);
    // The last fit goes on with another column.
    void add_column(const Columns& columns, Logistic& fit);
    // The fit on the clipped sums of a line, from b alone.
    Logistic fit_sums(const Line& line);

    // Of the last fit: d loss / d f of every row, w (p - side), padded with zeros, and its second derivative
    // w p (1 - p).
    const double* slope_by() const { return now_->slope_by.data(); }
    const double* curve_by() const { return now_->curve_by.data(); }

  private:
    struct Derivatives {
        std::vector<double> slope_by, curve_by;
    };

    const Problem& problem_;
    Watch& watch_;
    Logistic bias_;  // without any column: many fits begin with it
    Derivatives at_bias_, room_[2];
    const Derivatives* now_ = &at_bias_;
    std::vector<double> ones_, sums_;

    void evaluate(const Columns& columns, Logistic& fit, Derivatives& found) const;
    void improve(const Columns& columns, Logistic& fit);
};

}  // namespace lhtree::compact
