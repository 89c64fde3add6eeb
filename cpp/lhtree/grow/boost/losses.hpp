// The losses of boosting: one struct each, listed in Loss. CONTRIBUTING.md has the recipe for a new one.
#pragma once
#include <algorithm>
#include <cmath>
#include <cstdint>
#include <string>
#include <type_traits>
#include <variant>
#include <vector>

#include "lhtree/grow/boost/kernels.hpp"
#include "lhtree/shared/elementary.hpp"

namespace lhtree::boost {

// First and second derivative of a loss by a raw score, or an upper bound of the second.
struct Derivatives {
    double gradient, hessian;
};

// Rows of a chunk: the class or the responses of each, its raw scores, and for softmax log Σ exp(raw score)
// or, in rounds of one tree, the probabilities.
struct Scored {
    const std::int32_t* classes;
    const double* response;
    const double* raw;
    std::size_t n_rows, n_scores, n_responses;
    const double* log_sums;
    const float* proba;

    // The response that a score estimates.
    double response_of(std::size_t row, std::size_t score) const {
        return response[row * n_responses + (n_responses > 1 ? score : 0)];
    }
};

enum class Responses : std::uint8_t { any, not_negative, positive };

// Derivatives and losses of Logistic are kernels; Softmax has derivatives(rows, row, score) and loss(rows,
// row).
struct ClassLoss {
    static constexpr bool is_of_classes = true, selects = false, has_parameter = false;
    static constexpr const char* description = "log loss";
    static constexpr Responses responses = Responses::any;
    static constexpr int degree = 0, free_exponent = 0;
};

// A loss of a number has these properties, derivatives(response, raw) and loss(response, raw). It either has
// initial_score(mean response), or selects.
struct NumberLoss {
    static constexpr bool is_of_classes = false;
    // The values of blocks and the initial score are quantiles of the residuals; has a share() then.
    static constexpr bool selects = false;
    static constexpr bool has_parameter = false;  // quantile, with which it is constructed
    static constexpr const char* link = "identity";
    static constexpr Responses responses = Responses::any;
    static constexpr int degree = 1;  // the power of the response that losses are proportional to
    // Responses up to 2 to this power are accepted, larger ones must be scaled: derivatives are float32.
    static constexpr int free_exponent = 0;
};

// A loss of numbers whose raw score is the logarithm of the mean. A block whose mean response is ρ times its
// mean is best moved by log ρ. Second derivatives would move it by ρ - 1 or 1 - 1 / ρ, without bound; the
// Hessians of these losses move it by 2 (ρ - 1) / (ρ + 1), close to log ρ and never beyond ±2.
struct LogLinkLoss : NumberLoss {
    static constexpr const char* link = "log";

    static double initial_score(double mean) { return elementary::log(mean); }
    // Far beyond any response, but within float32.
    static double mean(double raw) { return elementary::exp(std::clamp(raw, -80.0, 80.0)); }
};

struct Logistic : ClassLoss {
    static constexpr const char *name = "logistic", *link = "logistic";

    std::vector<double> initial_scores(const std::vector<double>& log_shares) const {
        return {log_shares[1] - log_shares[0]};
    }
};

struct Softmax : ClassLoss {
    static constexpr const char *name = "softmax", *link = "softmax";

    static double log_sum(const double* raw, std::size_t n_scores) {
        const double largest = *std::max_element(raw, raw + n_scores);
        double sum = 0.0;
        for (std::size_t k = 0; k < n_scores; ++k) sum += elementary::exp(raw[k] - largest);
        return largest + elementary::log(sum);
    }
    // Probabilities of the classes of a row.
    static void take_probabilities(const double* raw, std::size_t n_scores, double* room, float* proba) {
        const double largest = *std::max_element(raw, raw + n_scores);
        for (std::size_t k = 0; k < n_scores; ++k) room[k] = elementary::exp(raw[k] - largest);
        double sum = 0.0;
        for (std::size_t k = 0; k < n_scores; ++k) sum += room[k];
        for (std::size_t k = 0; k < n_scores; ++k) proba[k] = static_cast<float>(room[k] / sum);
    }
    // An upper bound of the second derivative over p (1 - p).
    static double bound(std::size_t n_scores) {
        return static_cast<double>(n_scores) / (static_cast<double>(n_scores) - 1.0);
    }
    std::vector<double> initial_scores(const std::vector<double>& log_shares) const { return log_shares; }
    Derivatives derivatives(const Scored& rows, std::size_t row, std::size_t score) const {
        const double raw = rows.raw[row * rows.n_scores + score];
        const double p = std::min(elementary::exp(raw - rows.log_sums[row]), 1.0);
        const bool is_own = static_cast<std::size_t>(rows.classes[row]) == score;
        return {p - (is_own ? 1.0 : 0.0), bound(rows.n_scores) * (p * (1.0 - p))};
    }
    double loss(const Scored& rows, std::size_t row) const {
        const double* const raw = rows.raw + row * rows.n_scores;
        return log_sum(raw, rows.n_scores) - raw[rows.classes[row]];
    }
};

struct SquaredError : NumberLoss {
    static constexpr const char *name = "squared_error", *description = "half the squared error";
    static constexpr int degree = 2;

    static double initial_score(double mean) { return mean; }
    Derivatives derivatives(double response, double raw) const { return {raw - response, 1.0}; }
    double loss(double response, double raw) const { return 0.5 * (response - raw) * (response - raw); }
};

struct Quantile : NumberLoss {
    static constexpr const char *name = "quantile", *description = "pinball loss";
    static constexpr bool selects = true, has_parameter = true;
    double quantile = 0.5;

    double share() const { return quantile; }
    Derivatives derivatives(double response, double raw) const {
        return {raw > response ? 1.0 - quantile : raw < response ? -quantile : 0.0, 1.0};
    }
    double loss(double response, double raw) const {
        const double residual = response - raw;
        return residual > 0.0 ? quantile * residual : (quantile - 1.0) * residual;
    }
};

struct AbsoluteError : NumberLoss {
    static constexpr const char *name = "absolute_error", *description = "absolute error";
    static constexpr bool selects = true;

    double share() const { return 0.5; }
    Derivatives derivatives(double response, double raw) const {
        return {raw > response ? 1.0 : raw < response ? -1.0 : 0.0, 1.0};
    }
    double loss(double response, double raw) const { return std::abs(response - raw); }
};

struct Poisson : LogLinkLoss {
    static constexpr const char *name = "poisson", *description = "half the Poisson deviance";
    static constexpr Responses responses = Responses::not_negative;
    static constexpr int free_exponent = 40;

    Derivatives derivatives(double response, double raw) const {
        const double fitted = mean(raw);
        return {fitted - response, 0.5 * (fitted + response)};
    }
    double loss(double response, double raw) const {
        const double difference = mean(raw) - response;
        return response > 0.0 ? difference + response * (elementary::log(response) - raw) : difference;
    }
};

struct Gamma : LogLinkLoss {
    static constexpr const char *name = "gamma", *description = "half the gamma deviance";
    static constexpr Responses responses = Responses::positive;
    static constexpr int degree = 0, free_exponent = 1024;

    // Response over mean, for a response of any size.
    static double ratio(double response, double raw) {
        return elementary::exp(std::clamp(elementary::log(response) - raw, -700.0, 69.0));
    }
    Derivatives derivatives(double response, double raw) const {
        const double of_mean = ratio(response, raw);
        return {1.0 - of_mean, 0.5 * (1.0 + of_mean)};
    }
    double loss(double response, double raw) const {
        return ratio(response, raw) - 1.0 - (elementary::log(response) - raw);
    }
};

using Loss = std::variant<Logistic, Softmax, SquaredError, AbsoluteError, Quantile, Poisson, Gamma>;

// Calls use(loss) with every loss.
template <class Use, std::size_t i = 0>
void each_loss(const Use& use) {
    if constexpr (i < std::variant_size_v<Loss>) {
        use(std::variant_alternative_t<i, Loss>{});
        each_loss<Use, i + 1>(use);
    }
}

// The loss of a name; the quantile is ignored by losses without one.
Loss make_loss(const std::string& name, double quantile);

inline bool is_of_classes(const Loss& loss) {
    return std::visit([](const auto& one) { return one.is_of_classes; }, loss);
}
inline bool selects(const Loss& loss) {
    return std::visit([](const auto& one) { return one.selects; }, loss);
}
// The quantile of the residuals that a loss selects.
double selected_share(const Loss& loss);

// Estimates of the raw scores of a row (the classes, a number, several quantiles of a number, or several
// numbers), and their losses.
struct Objective {
    std::vector<Loss> losses;  // of every score, or one of all scores
    std::size_t n_classes = 0, n_responses = 1;

    // A loss with a parameter has a score for every quantile.
    static Objective make(const std::string& name, const std::vector<double>& quantiles,
                          std::size_t n_classes, std::size_t n_responses);

    std::size_t n_scores() const {
        return n_classes > 0 ? (n_classes > 2 ? n_classes : 1) : std::max(losses.size(), n_responses);
    }
    const Loss& loss() const { return losses[0]; }
    const Loss& loss(std::size_t score) const { return losses[losses.size() > 1 ? score : 0]; }
    bool is_softmax() const { return std::holds_alternative<Softmax>(loss()); }
    // Losses that are added up: of classes, one for all scores.
    std::size_t n_losses() const { return is_of_classes(loss()) ? 1 : n_scores(); }
};

// Derivatives of all rows by one of their scores.
void differentiate(const Objective& objective, const Scored& rows, std::size_t score, float* gradient,
                   float* hessian);

// Draws a direction in the space of the scores of a row. Sums of 12 uniform numbers are close to a normal
// distribution, and the same on every platform.
std::vector<double> draw_projection(std::size_t n_scores, std::uint64_t key);

// Derivatives of softmax by the scores of a row with these probabilities, in float32: calls use(score,
// gradient, hessian) for each.
template <class Use>
void each_score(const float* proba, std::size_t cls, std::size_t n_scores, const Use& use) {
    const auto bound = static_cast<float>(Softmax::bound(n_scores));
    for (std::size_t k = 0; k < n_scores; ++k)
        use(k, proba[k] - (k == cls ? 1.0f : 0.0f), bound * (proba[k] * (1.0f - proba[k])));
}

// Calls work(each), where each(row, use) calls use(score, gradient, hessian) with the derivatives of a row by
// all of its scores, in float32.
template <class Work>
void with_scores(const Objective& objective, const Scored& rows, const Work& work) {
    const std::size_t n = rows.n_scores;
    std::visit(
        [&](const auto& first) {
            using One = std::decay_t<decltype(first)>;
            if constexpr (std::is_same_v<One, Softmax>) {
                work([&](std::size_t row, const auto& use) {
                    each_score(rows.proba + row * n, static_cast<std::size_t>(rows.classes[row]), n, use);
                });
            } else if constexpr (!One::is_of_classes) {
                work([&](std::size_t row, const auto& use) {
                    for (std::size_t k = 0; k < n; ++k) {
                        const Derivatives both =
                            std::get<One>(objective.loss(k))
                                .derivatives(rows.response_of(row, k), rows.raw[row * n + k]);
                        use(k, static_cast<float>(both.gradient), static_cast<float>(both.hessian));
                    }
                });
            }
        },
        objective.loss());
}

// Derivatives of all rows along a projection: Σ s g and Σ s² h.
void differentiate(const Objective& objective, const Scored& rows, const std::vector<double>& projection,
                   float* gradient, float* hessian);

// Calls use(row, score, loss) for all rows that are wanted; classes have one loss for all scores.
template <class IsWanted, class Use>
void each_row_loss(const Objective& objective, const Scored& rows, const IsWanted& is_wanted,
                   const Use& use) {
    for (std::size_t score = 0; score < objective.n_losses(); ++score)
        std::visit(
            [&](const auto& one) {
                using One = std::decay_t<decltype(one)>;
                std::vector<double> losses(std::is_same_v<One, Logistic> ? rows.n_rows : 0);
                if constexpr (std::is_same_v<One, Logistic>)
                    boost_kernels().measure_logistic(rows.raw, rows.classes, rows.n_rows, losses.data());
                for (std::size_t row = 0; row < rows.n_rows; ++row) {
                    if (!is_wanted(row)) continue;
                    if constexpr (std::is_same_v<One, Logistic>)
                        use(row, score, losses[row]);
                    else if constexpr (One::is_of_classes)
                        use(row, score, one.loss(rows, row));
                    else
                        use(row, score,
                            one.loss(rows.response_of(row, score), rows.raw[row * rows.n_scores + score]));
                }
            },
            objective.loss(score));
}

// The least power of two above a number; 1 for 0.
double least_power_above(double value);

// A power of two in which the losses of responses from low to high are about 1 at most. Without rows, low is
// above high.
double find_loss_unit(const Loss& loss, double low, double high, double initial_score);

// Losses are added up as integers of at most 2^46: quanta of a loss unit.
struct LossQuanta {
    double quantum, most;

    explicit LossQuanta(const Loss& loss)
        : quantum(is_of_classes(loss) ? 0x1p-32 : 0x1p-40), most(is_of_classes(loss) ? 1000.0 : 64.0) {}
    std::int64_t count(double loss, double loss_unit) const {
        return static_cast<std::int64_t>(std::nearbyint(std::clamp(loss / loss_unit, 0.0, most) / quantum));
    }
};

}  // namespace lhtree::boost
