#include "lhtree/grow/boost/losses.hpp"

#include <stdexcept>

#include "lhtree/shared/random.hpp"

namespace lhtree::boost {

Loss make_loss(const std::string& name, double quantile) {
    Loss found;
    bool is_known = false;
    each_loss([&](auto loss) {
        if (name != loss.name) return;
        if constexpr (decltype(loss)::has_parameter) loss.quantile = quantile;
        found = loss;
        is_known = true;
    });
    if (!is_known) throw std::invalid_argument("unknown loss: " + name);
    return found;
}

double selected_share(const Loss& loss) {
    return std::visit(
        [](const auto& one) {
            if constexpr (std::decay_t<decltype(one)>::selects)
                return one.share();
            else
                return 0.5;
        },
        loss);
}

Objective Objective::make(const std::string& name, const std::vector<double>& quantiles,
                          std::size_t n_classes, std::size_t n_responses) {
    if (quantiles.empty() || n_responses == 0) throw std::invalid_argument("there is nothing to estimate");
    Objective made{{make_loss(name, quantiles[0])}, n_classes, n_responses};
    const bool has_parameter = std::visit([](const auto& one) { return one.has_parameter; }, made.losses[0]);
    for (std::size_t i = 1; has_parameter && i < quantiles.size(); ++i)
        made.losses.push_back(make_loss(name, quantiles[i]));
    if (n_responses > 1 && (made.losses.size() > 1 || is_of_classes(made.losses[0])))
        throw std::invalid_argument("several responses need a loss of one number");
    return made;
}

void differentiate(const Objective& objective, const Scored& rows, std::size_t score, float* gradient,
                   float* hessian) {
    std::visit(
        [&](const auto& one) {
            using One = std::decay_t<decltype(one)>;
            if constexpr (std::is_same_v<One, Logistic>) {
                boost_kernels().differentiate_logistic(rows.raw, rows.classes, rows.n_rows, gradient,
                                                       hessian);
            } else {
                for (std::size_t row = 0; row < rows.n_rows; ++row) {
                    Derivatives both;
                    if constexpr (One::is_of_classes)
                        both = one.derivatives(rows, row, score);
                    else
                        both = one.derivatives(rows.response_of(row, score),
                                               rows.raw[row * rows.n_scores + score]);
                    gradient[row] = static_cast<float>(both.gradient);
                    hessian[row] = static_cast<float>(both.hessian);
                }
            }
        },
        objective.loss(score));
}

std::vector<double> draw_projection(std::size_t n_scores, std::uint64_t key) {
    std::vector<double> drawn;
    for (std::size_t k = 0; k < n_scores; ++k) {
        std::int64_t sum = -6 * 65535;
        for (std::uint64_t i = 0; i < 3; ++i)
            for (std::uint64_t bits = derive(key, 3 * k + i); bits > 0; bits >>= 16)
                sum += static_cast<std::int64_t>(bits & 0xffff);
        drawn.push_back(static_cast<double>(sum) * 0x1p-16);
    }
    return drawn;
}

void differentiate(const Objective& objective, const Scored& rows, const std::vector<double>& projection,
                   float* gradient, float* hessian) {
    with_scores(objective, rows, [&](const auto& each) {
        for (std::size_t row = 0; row < rows.n_rows; ++row) {
            double g = 0.0, h = 0.0;
            each(row, [&](std::size_t k, float of_score, float bound) {
                g += projection[k] * static_cast<double>(of_score);
                h += projection[k] * projection[k] * static_cast<double>(bound);
            });
            gradient[row] = static_cast<float>(g);
            hessian[row] = static_cast<float>(h);
        }
    });
}

double least_power_above(double value) {
    int exponent;
    std::frexp(value, &exponent);
    return value > 0.0 ? std::ldexp(1.0, exponent) : 1.0;
}

double find_loss_unit(const Loss& loss, double low, double high, double initial_score) {
    return std::visit(
        [&](const auto& one) {
            using One = std::decay_t<decltype(one)>;
            if (one.is_of_classes) return 1.0;
            if (one.degree == 0) return 16.0;  // logarithms of ratios
            double largest = 0.0;
            if constexpr (std::is_base_of_v<LogLinkLoss, One>) {
                largest = std::max(one.mean(initial_score), low <= high ? high : 0.0);
            } else if (low <= high) {
                largest = std::max(std::abs(low - initial_score), std::abs(high - initial_score));
            }
            const double power = least_power_above(largest);
            return one.degree == 2 ? power * power : power;
        },
        loss);
}

}  // namespace lhtree::boost
