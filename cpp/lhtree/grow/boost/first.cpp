#include "lhtree/grow/boost/first.hpp"

#include <algorithm>
#include <cmath>
#include <stdexcept>

#include "lhtree/shared/elementary.hpp"

namespace lhtree::boost {

namespace {

std::vector<double> score_classes(Loss loss, const std::vector<WideSum>& sums) {
    double total = 0.0;
    for (const WideSum& sum : sums) total += sum.value();
    std::vector<double> scores;
    for (const WideSum& sum : sums)  // a class may weigh nothing beside another
        scores.push_back(elementary::log(std::max(sum.value() / total, 1e-15)));
    if (loss == Loss::logistic) return {scores[1] - scores[0]};
    return scores;
}

// The weighted mean, from integers: the response in units of 2^-52 of a power of two, in two halves.
double mean_response(Rows& rows, double largest) {
    const double unit = std::max(least_power_above(largest) * 0x1p-52, 0x1p-1074);
    const SplitSums sums = rows.sum_responses(unit);
    return (sums.high.value() * 0x1p26 + sums.low.value()) / sums.weight.value() * unit;
}

}  // namespace

std::vector<double> first_scores(const Objective& objective, Rows& rows, const ResponseSurvey& survey) {
    if (objective.is_of_classes()) return score_classes(objective.loss, rows.weigh_classes());
    if (objective.selects()) {
        rows.begin_all(0);
        return rows.select(1);
    }
    if (objective.loss == Loss::poisson && survey.largest == 0.0)
        throw std::invalid_argument("all responses are 0");
    const double mean = mean_response(rows, survey.largest);
    return {objective.loss == Loss::squared_error ? mean : elementary::log(mean)};
}

}  // namespace lhtree::boost
