#include "lhtree/grow/boost/boost.hpp"

#include <algorithm>
#include <cmath>
#include <numeric>
#include <stdexcept>

#include "lhtree/shared/random.hpp"

namespace lhtree::boost {

std::vector<std::int64_t> sample_rows(std::size_t n_rows, std::uint64_t seed, std::size_t most) {
    std::vector<std::int64_t> rows;
    rows.reserve(std::min(n_rows, most));
    if (n_rows <= most) {
        rows.resize(n_rows);
        std::iota(rows.begin(), rows.end(), std::int64_t{0});
        return rows;
    }
    const std::uint64_t key = derive(seed, Stream::sampled_rows);
    std::vector<std::uint64_t> keys(n_rows);  // no two are equal, because derive is a bijection
    for (std::size_t row = 0; row < n_rows; ++row) keys[row] = derive(key, row);
    const auto next = keys.begin() + static_cast<std::ptrdiff_t>(most);
    std::nth_element(keys.begin(), next, keys.end());
    for (std::size_t row = 0; row < n_rows; ++row)
        if (derive(key, row) < *next) rows.push_back(static_cast<std::int64_t>(row));
    return rows;
}

namespace {

double mean_loss(const Loss& loss, Rows& rows, bool of_held, double loss_unit) {
    const SplitSums sums = rows.ask(SumLosses{{}, of_held});
    return (sums.high.value() * 0x1p16 + sums.low.value()) * LossQuanta(loss).quantum / sums.weight.value() *
           loss_unit;
}

// Logarithms of the shares of the classes.
std::vector<double> measure_log_shares(const std::vector<WideSum>& weights) {
    double total = 0.0;
    for (const WideSum& weight : weights) total += weight.value();
    std::vector<double> log_shares;
    for (const WideSum& weight : weights)  // a class may weigh nothing beside another
        log_shares.push_back(elementary::log(std::max(weight.value() / total, 1e-15)));
    return log_shares;
}

// The weighted mean, from integers: the response in units of 2^-52 of a power of two, in two halves.
double measure_mean(Rows& rows, double largest) {
    const double unit = std::max(least_power_above(largest) * 0x1p-52, 0x1p-1074);
    const SplitSums sums = rows.ask(SumResponses{{}, unit});
    return (sums.high.value() * 0x1p26 + sums.low.value()) / sums.weight.value() * unit;
}

}  // namespace

std::vector<double> find_initial_scores(const Loss& loss, Rows& rows, const ResponseSurvey& survey) {
    return std::visit(
        [&](const auto& one) -> std::vector<double> {
            using One = std::decay_t<decltype(one)>;
            if constexpr (One::is_of_classes) {
                return one.initial_scores(measure_log_shares(rows.ask(WeighClasses{})));
            } else if constexpr (One::selects) {
                rows.ask(BeginReplay{{}, 0});
                return rows.select(1);
            } else {
                const double score = one.initial_score(measure_mean(rows, survey.largest));
                if (!std::isfinite(score)) throw std::invalid_argument("all responses are 0");
                return {score};
            }
        },
        loss);
}

Boosted boost(const Plan& plan, Rows& rows, std::size_t n_threads, Watch& watch) {
    Boosted result;
    const Loss& loss = plan.loss;
    const ResponseSurvey survey = is_of_classes(loss) ? ResponseSurvey{} : rows.ask(SurveyResponses{});
    result.first = plan.first.empty() ? find_initial_scores(loss, rows, survey) : plan.first;
    Begin begin{{}, result.first, {}};
    for (const int of_held : {0, 1})
        begin.loss_unit[of_held] =
            find_loss_unit(loss, survey.low[of_held], survey.high[of_held], result.first[0]);
    rows.ask(begin);
    const bool is_joint = plan.tree.is_joint && rows.n_scores() > 1;
    const std::size_t n_per_round = is_joint ? 1 : rows.n_scores();
    std::size_t n_earlier = 0;
    if (plan.earlier) {
        n_earlier = plan.earlier->n_trees() / n_per_round;
        for (std::size_t tree = 0; tree < plan.earlier->n_trees(); ++tree)
            replay_tree(rows, *plan.earlier, tree, tree % n_per_round);
    }
    const auto take_losses = [&] {
        result.training_loss.push_back(mean_loss(loss, rows, false, begin.loss_unit[0]));
        if (rows.has_held())
            result.validation_loss.push_back(mean_loss(loss, rows, true, begin.loss_unit[1]));
    };
    if (plan.patience > 0) take_losses();
    const std::vector<double>& judged = rows.has_held() ? result.validation_loss : result.training_loss;
    double best = judged.empty() ? 0.0 : judged[0];
    const double tol = is_of_classes(loss) ? plan.tol : plan.tol * best;
    std::size_t n_since = 0;
    for (std::size_t round = n_earlier; round < n_earlier + plan.n_rounds; ++round) {
        const std::uint64_t round_key = derive(plan.seed, round);
        if (std::holds_alternative<Softmax>(loss)) rows.ask(BeginRound{{}, is_joint});
        for (std::size_t score = 0; score < n_per_round; ++score) {
            TreeScores scores{score};
            if (is_joint)
                scores.projection = Projection::draw(rows.n_scores(), derive(round_key, projection_draws)).of;
            Blocks tree = grow_tree(rows, plan.tree, loss, scores, round_key,
                                    derive(round_key, first_score + score), n_threads, watch);
            const auto target = std::holds_alternative<Logistic>(loss) ? 1 : static_cast<std::int32_t>(score);
            result.forest.add(is_joint ? -1 : target, std::move(tree));
            watch.finish_one();
        }
        if (plan.patience == 0) continue;
        take_losses();
        const bool is_better = judged.back() < best - tol;
        if (is_better) best = judged.back();
        n_since = is_better ? 0 : n_since + 1;
        if (n_since >= plan.patience) break;
    }
    return result;
}

}  // namespace lhtree::boost
