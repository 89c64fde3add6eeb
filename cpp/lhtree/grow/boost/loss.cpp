#include "lhtree/grow/boost/loss.hpp"

#include <algorithm>
#include <cmath>

#include "lhtree/shared/elementary.hpp"

namespace lhtree::boost {

namespace {

// 1 / (1 + exp(-raw)), without branches, so that loops over it become vectors.
inline double sigmoid(double raw) {
    const double e = elementary::exp(-std::abs(raw));
    return (raw < 0.0 ? e : 1.0) / (1.0 + e);
}

}  // namespace

double log_sum(const double* raw, std::size_t n_scores) {
    const double largest = *std::max_element(raw, raw + n_scores);
    double sum = 0.0;
    for (std::size_t k = 0; k < n_scores; ++k) sum += elementary::exp(raw[k] - largest);
    return largest + elementary::log(sum);
}

std::vector<double> first_scores(Loss loss, const std::vector<double>& class_weight) {
    double total = 0.0;
    for (const double weight : class_weight) total += weight;
    std::vector<double> scores;
    for (const double weight : class_weight)  // a class may weigh nothing beside another
        scores.push_back(elementary::log(std::max(weight / total, 1e-15)));
    if (loss == Loss::logistic) return {scores[1] - scores[0]};
    return scores;
}

void differentiate(Loss loss, const Scored& rows, std::size_t score, const double* log_sums, float* gradient,
                   float* hessian) {
    if (loss == Loss::logistic) {
        for (std::size_t row = 0; row < rows.n_rows; ++row) {
            const double p = sigmoid(rows.raw[row]);
            gradient[row] = static_cast<float>(p - (rows.classes[row] == 1 ? 1.0 : 0.0));
            hessian[row] = static_cast<float>(p * (1.0 - p));
        }
        return;
    }
    const auto n = static_cast<double>(rows.n_scores);
    const auto cls = static_cast<std::int32_t>(score);
    for (std::size_t row = 0; row < rows.n_rows; ++row) {
        const double p =
            std::min(elementary::exp(rows.raw[row * rows.n_scores + score] - log_sums[row]), 1.0);
        gradient[row] = static_cast<float>(p - (rows.classes[row] == cls ? 1.0 : 0.0));
        hessian[row] = static_cast<float>(n / (n - 1.0) * (p * (1.0 - p)));
    }
}

std::int64_t count_loss(Loss loss, const Scored& rows, std::size_t row) {
    const double* raw = rows.raw + row * rows.n_scores;
    double value;
    if (loss == Loss::logistic) {
        const double away = rows.classes[row] == 1 ? -*raw : *raw;  // log(1 + exp(away))
        value = std::max(away, 0.0) + elementary::log(1.0 + elementary::exp(-std::abs(away)));
    } else {
        value = log_sum(raw, rows.n_scores) - raw[rows.classes[row]];
    }
    return static_cast<std::int64_t>(std::nearbyint(std::clamp(value, 0.0, 1000.0) * 0x1p32));
}

}  // namespace lhtree::boost
