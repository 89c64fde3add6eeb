#include "lhtree/grow/boost/loss.hpp"

#include <algorithm>
#include <cmath>
#include <utility>

#include "lhtree/shared/elementary.hpp"

namespace lhtree::boost {

namespace {

// 1 / (1 + exp(-raw)), without branches, so that loops over it become vectors.
inline double sigmoid(double raw) {
    const double e = elementary::exp(-std::abs(raw));
    return (raw < 0.0 ? e : 1.0) / (1.0 + e);
}

// The mean of a score with a log link; far beyond any response, but within float32.
inline double mean_of(double raw) {
    return elementary::exp(std::clamp(raw, -80.0, 80.0));
}

// Response over mean, for a response of any size.
inline double ratio_of(double response, double raw) {
    return elementary::exp(std::clamp(elementary::log(response) - raw, -700.0, 69.0));
}

}  // namespace

double log_sum(const double* raw, std::size_t n_scores) {
    const double largest = *std::max_element(raw, raw + n_scores);
    double sum = 0.0;
    for (std::size_t k = 0; k < n_scores; ++k) sum += elementary::exp(raw[k] - largest);
    return largest + elementary::log(sum);
}

void differentiate(const Objective& objective, const Scored& rows, std::size_t score, const double* log_sums,
                   float* gradient, float* hessian) {
    const auto each = [&](const auto& derivatives) {
        for (std::size_t row = 0; row < rows.n_rows; ++row) {
            const std::pair<double, double> both = derivatives(row);
            gradient[row] = static_cast<float>(both.first);
            hessian[row] = static_cast<float>(both.second);
        }
    };
    const auto n = static_cast<double>(rows.n_scores);
    const auto cls = static_cast<std::int32_t>(score);
    const double share = objective.share(), size = objective.loss == Loss::absolute_error ? 2.0 : 1.0;
    switch (objective.loss) {
        case Loss::logistic:
            return each([&](std::size_t row) {
                const double p = sigmoid(rows.raw[row]);
                return std::pair{p - (rows.classes[row] == 1 ? 1.0 : 0.0), p * (1.0 - p)};
            });
        case Loss::softmax:
            return each([&](std::size_t row) {
                const double p =
                    std::min(elementary::exp(rows.raw[row * rows.n_scores + score] - log_sums[row]), 1.0);
                return std::pair{p - (rows.classes[row] == cls ? 1.0 : 0.0), n / (n - 1.0) * (p * (1.0 - p))};
            });
        case Loss::squared_error:
            return each([&](std::size_t row) { return std::pair{rows.raw[row] - rows.response[row], 1.0}; });
        case Loss::absolute_error:
        case Loss::quantile:
            return each([&](std::size_t row) {
                const double above = rows.raw[row] - rows.response[row];
                return std::pair{size * (above > 0.0 ? 1.0 - share : above < 0.0 ? -share : 0.0), 1.0};
            });
        // With a log link, a block whose mean response is ρ times its mean is best moved by log ρ. Second
        // derivatives would move it by ρ - 1 or 1 - 1 / ρ, without bound; these move it by
        // 2 (ρ - 1) / (ρ + 1), close to log ρ and never beyond ±2.
        case Loss::poisson:
            return each([&](std::size_t row) {
                const double mean = mean_of(rows.raw[row]);
                return std::pair{mean - rows.response[row], 0.5 * (mean + rows.response[row])};
            });
        case Loss::gamma:
            return each([&](std::size_t row) {
                const double ratio = ratio_of(rows.response[row], rows.raw[row]);
                return std::pair{1.0 - ratio, 0.5 * (1.0 + ratio)};
            });
    }
}

double least_power_above(double value) {
    int exponent;
    std::frexp(value, &exponent);
    return value > 0.0 ? std::ldexp(1.0, exponent) : 1.0;
}

double find_loss_unit(const Objective& objective, double low, double high, double first) {
    if (objective.is_of_classes()) return 1.0;
    if (objective.loss == Loss::gamma) return 16.0;  // logarithms of ratios
    double largest = objective.loss == Loss::poisson ? mean_of(first) : 0.0;
    if (low <= high)  // there are rows
        largest = objective.loss == Loss::poisson ? std::max(largest, high)
                                                  : std::max(std::abs(low - first), std::abs(high - first));
    const double power = least_power_above(largest);
    return objective.loss == Loss::squared_error ? power * power : power;
}

double loss_quantum(const Objective& objective) {
    return objective.is_of_classes() ? 0x1p-32 : 0x1p-40;
}

std::int64_t count_loss(const Objective& objective, const Scored& rows, std::size_t row, double loss_unit) {
    const double* raw = rows.raw + row * rows.n_scores;
    double value = 0.0;
    switch (objective.loss) {
        case Loss::logistic: {
            const double away = rows.classes[row] == 1 ? -*raw : *raw;  // log(1 + exp(away))
            value = std::max(away, 0.0) + elementary::log(1.0 + elementary::exp(-std::abs(away)));
            break;
        }
        case Loss::softmax:
            value = log_sum(raw, rows.n_scores) - raw[rows.classes[row]];
            break;
        case Loss::squared_error: {
            const double residual = rows.response[row] - *raw;
            value = 0.5 * residual * residual;
            break;
        }
        case Loss::absolute_error:
            value = std::abs(rows.response[row] - *raw);
            break;
        case Loss::quantile: {
            const double residual = rows.response[row] - *raw;
            value = residual > 0.0 ? objective.quantile * residual : (objective.quantile - 1.0) * residual;
            break;
        }
        case Loss::poisson: {  // half the deviance
            const double response = rows.response[row], mean = mean_of(*raw);
            value = mean - response;
            if (response > 0.0) value += response * (elementary::log(response) - *raw);
            break;
        }
        case Loss::gamma: {  // half the deviance
            const double away = elementary::log(rows.response[row]) - *raw;
            value = ratio_of(rows.response[row], *raw) - 1.0 - away;
            break;
        }
    }
    const double most = objective.is_of_classes() ? 1000.0 : 64.0;
    return static_cast<std::int64_t>(
        std::nearbyint(std::clamp(value / loss_unit, 0.0, most) / loss_quantum(objective)));
}

}  // namespace lhtree::boost
