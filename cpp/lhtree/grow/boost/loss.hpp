// What boosting makes smaller: losses of raw scores, and their first and second derivatives.
#pragma once
#include <cstdint>
#include <vector>

#include "lhtree/grow/boost/labels.hpp"
#include "lhtree/shared/options.hpp"

namespace lhtree::boost {

enum class Loss : std::uint8_t { logistic, softmax, squared_error, absolute_error, quantile, poisson, gamma };
constexpr Named<Loss> loss_names[] = {{"logistic", Loss::logistic},
                                      {"softmax", Loss::softmax},
                                      {"squared_error", Loss::squared_error},
                                      {"absolute_error", Loss::absolute_error},
                                      {"quantile", Loss::quantile},
                                      {"poisson", Loss::poisson},
                                      {"gamma", Loss::gamma}};

struct Objective {
    Loss loss = Loss::logistic;
    double quantile = 0.5;  // of Loss::quantile

    bool is_of_classes() const { return loss == Loss::logistic || loss == Loss::softmax; }
    // Whether the value of a block is a quantile of its residuals.
    bool selects() const { return loss == Loss::absolute_error || loss == Loss::quantile; }
    double share() const { return loss == Loss::quantile ? quantile : 0.5; }
};

// What rows of a chunk are to be scored as, the class or the response of each, and the raw scores so far
// (n_scores each).
struct Scored {
    const std::int32_t* classes;
    const double* response;
    const double* raw;
    std::size_t n_rows, n_scores;
};

// log Σ exp(raw) of a row, from which p of every class follows as exp(raw - that).
double log_sum(const double* raw, std::size_t n_scores);

// First and second derivative of the loss of every row by one of its scores, or what stands for the second;
// `log_sums` for softmax only.
void differentiate(const Objective& objective, const Scored& rows, std::size_t score, const double* log_sums,
                   float* gradient, float* hessian);

// The least power of two above a number; 1 for 0.
double least_power_above(double value);

// A power of two in which the losses of rows with responses from low to high are of the order of 1 at most,
// or a little more; with low above high there are none.
double find_loss_unit(const Objective& objective, double low, double high, double first);

// The loss of a row in units of loss_unit · loss_quantum, at most 2^46 of them.
std::int64_t count_loss(const Objective& objective, const Scored& rows, std::size_t row, double loss_unit);
double loss_quantum(const Objective& objective);

}  // namespace lhtree::boost
