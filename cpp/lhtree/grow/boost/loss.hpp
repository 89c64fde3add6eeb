// What boosting makes smaller: losses of raw scores, and their first and second derivatives.
#pragma once
#include <cstdint>
#include <vector>

namespace lhtree::boost {

enum class Loss : std::uint8_t { logistic, softmax };

// What rows of a chunk are to be scored as: the class of each, and the raw scores so far (n_scores each).
struct Scored {
    const std::int32_t* classes;
    double* raw;
    std::size_t n_rows, n_scores;
};

// log Σ exp(raw) of a row, from which p of every class follows as exp(raw - that).
double log_sum(const double* raw, std::size_t n_scores);

// The best constant: log odds, or the logarithms of the shares of the classes.
std::vector<double> first_scores(Loss loss, const std::vector<double>& class_weight);

// First and second derivative of the loss of every row by one of its scores; `log_sums` for softmax only.
void differentiate(Loss loss, const Scored& rows, std::size_t score, const double* log_sums, float* gradient,
                   float* hessian);

// The loss of a row, in units of 2^-32, at most 2^42 of them.
std::int64_t count_loss(Loss loss, const Scored& rows, std::size_t row);

}  // namespace lhtree::boost
