#include "lhtree/grow/boost/boost.hpp"

#include <algorithm>
#include <cmath>
#include <limits>
#include <numeric>
#include <stdexcept>

#include "lhtree/shared/random.hpp"

namespace lhtree::boost {

namespace {

// The key with `most` smaller ones; no two are equal, because derive is a bijection. Keys are uniform, so
// that only those near the expected place are sorted.
std::uint64_t find_limit(std::uint64_t key, std::size_t n_rows, std::size_t most) {
    const double n = static_cast<double>(n_rows), share = static_cast<double>(most) / n;
    for (double margin = 4.0 * std::sqrt(static_cast<double>(most + 1)) / n;; margin *= 4.0) {
        const std::uint64_t low = share > margin ? static_cast<std::uint64_t>((share - margin) * 0x1p64) : 0;
        const std::uint64_t high = share + margin < 1.0
                                       ? static_cast<std::uint64_t>((share + margin) * 0x1p64)
                                       : std::numeric_limits<std::uint64_t>::max();
        std::size_t n_below = 0;
        std::vector<std::uint64_t> between;
        for (std::size_t row = 0; row < n_rows; ++row) {
            const std::uint64_t own = derive(key, row);
            n_below += own < low;
            if (own - low <= high - low) between.push_back(own);
        }
        if (n_below > most || most - n_below >= between.size()) continue;
        const auto found = between.begin() + static_cast<std::ptrdiff_t>(most - n_below);
        std::nth_element(between.begin(), found, between.end());
        return *found;
    }
}

}  // namespace

std::vector<std::int64_t> sample_rows(std::size_t n_rows, std::uint64_t seed, std::size_t most) {
    std::vector<std::int64_t> rows;
    if (n_rows <= most) {
        rows.resize(n_rows);
        std::iota(rows.begin(), rows.end(), std::int64_t{0});
        return rows;
    }
    const std::uint64_t key = derive(seed, Stream::sampled_rows), limit = find_limit(key, n_rows, most);
    rows.resize(most + 1);  // one more than are kept, because every row is written
    std::size_t n_kept = 0;
    for (std::size_t row = 0; row < n_rows; ++row) {
        rows[n_kept] = static_cast<std::int64_t>(row);
        n_kept += derive(key, row) < limit;
    }
    rows.resize(most);
    return rows;
}

namespace {

// The mean of every loss over the rows.
std::vector<double> mean_losses(const Loss& loss, Rows& rows, bool of_held, const Begin& begin) {
    std::vector<double> means;
    for (const SplitSums& sums : rows.ask(SumLosses{{}, of_held}))
        means.push_back((sums.high.value() * 0x1p16 + sums.low.value()) * LossQuanta(loss).quantum /
                        sums.weight.value() * begin.loss_units[of_held][means.size()]);
    return means;
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

// The weighted means, from integers: responses in units of 2^-52 of a power of two, in two halves.
std::vector<double> measure_means(Rows& rows, const std::vector<ResponseSurvey>& surveys) {
    SumResponses request;
    for (const ResponseSurvey& survey : surveys)
        request.units.push_back(std::max(least_power_above(survey.largest) * 0x1p-52, 0x1p-1074));
    const std::vector<double> units = request.units;
    std::vector<double> means;
    for (const SplitSums& sums : rows.ask(std::move(request)))
        means.push_back((sums.high.value() * 0x1p26 + sums.low.value()) / sums.weight.value() *
                        units[means.size()]);
    return means;
}

std::vector<std::size_t> number_scores(const Rows& rows) {
    std::vector<std::size_t> all(rows.n_scores());
    std::iota(all.begin(), all.end(), std::size_t{0});
    return all;
}

}  // namespace

std::vector<double> find_initial_scores(const Loss& loss, Rows& rows,
                                        const std::vector<ResponseSurvey>& surveys) {
    return std::visit(
        [&](const auto& one) -> std::vector<double> {
            using One = std::decay_t<decltype(one)>;
            if constexpr (One::is_of_classes) {
                return one.initial_scores(measure_log_shares(rows.ask(WeighClasses{})));
            } else if constexpr (One::selects) {
                rows.ask(BeginReplay{{}, 0});
                return rows.select(1, number_scores(rows));
            } else {
                std::vector<double> scores;
                for (const double mean : measure_means(rows, surveys)) {
                    scores.push_back(one.initial_score(mean));
                    if (!std::isfinite(scores.back())) throw std::invalid_argument("all responses are 0");
                }
                return scores;
            }
        },
        loss);
}

namespace {

// Factors of the scores of trees of all scores, which make their gradients similar in size, and divisors of
// their losses. Losses of several responses have no common unit: each is relative to that of its initial
// score.
struct ScoreScales {
    std::vector<double> projection, loss;

    ScoreScales(const Objective& objective, Rows& rows, const Begin& begin)
        : projection(rows.n_scores(), 1.0), loss(objective.n_losses(), 1.0) {
        if (objective.n_responses > 1) {
            const std::vector<double> means = mean_losses(objective.loss(), rows, false, begin);
            for (std::size_t k = 0; k < means.size(); ++k)
                if (means[k] > 0.0) {
                    loss[k] = means[k];
                    projection[k] = 1.0 / std::sqrt(means[k]);
                }
        }
        for (std::size_t k = 0; k < objective.losses.size(); ++k)
            if (const auto* const one = std::get_if<Quantile>(&objective.losses[k]))
                projection[k] = 1.0 / std::sqrt(one->quantile * (1.0 - one->quantile));
    }

    // The mean over all scores.
    double add_up(const std::vector<double>& losses) const {
        double sum = 0.0;
        for (std::size_t k = 0; k < losses.size(); ++k) sum += losses[k] / loss[k];
        return sum / static_cast<double>(losses.size());
    }
};

}  // namespace

Boosted boost(const Plan& plan, Rows& rows, std::size_t n_threads, Watch& watch) {
    Boosted result;
    const Objective& objective = plan.objective;
    const Loss& loss = objective.loss();
    std::vector<ResponseSurvey> surveys(objective.n_responses);
    if (!is_of_classes(loss)) surveys = rows.ask(SurveyResponses{});
    result.first = plan.first.empty() ? find_initial_scores(loss, rows, surveys) : plan.first;
    Begin begin{{}, result.first, {}};
    for (std::size_t k = 0; k < objective.n_losses(); ++k) {
        const ResponseSurvey& survey = surveys[objective.n_responses > 1 ? k : 0];
        for (const int of_held : {0, 1})
            begin.loss_units[of_held].push_back(find_loss_unit(objective.loss(k), survey.low[of_held],
                                                               survey.high[of_held], result.first[k]));
    }
    rows.ask(begin);
    const ScoreScales scales(objective, rows, begin);
    const bool is_joint = plan.tree.is_joint && rows.n_scores() > 1;
    const std::size_t n_per_round = is_joint ? 1 : rows.n_scores();
    std::size_t n_earlier = 0;
    if (plan.earlier) {
        n_earlier = plan.earlier->n_trees() / n_per_round;
        for (std::size_t tree = 0; tree < plan.earlier->n_trees(); ++tree)
            replay_tree(rows, *plan.earlier, tree, tree % n_per_round);
    }
    const auto take_losses = [&] {
        result.training_loss.push_back(scales.add_up(mean_losses(loss, rows, false, begin)));
        if (rows.has_held())
            result.validation_loss.push_back(scales.add_up(mean_losses(loss, rows, true, begin)));
    };
    const std::vector<double>& judged = rows.has_held() ? result.validation_loss : result.training_loss;
    double least = std::numeric_limits<double>::infinity();
    const auto judge = [&] {
        take_losses();
        if (judged.back() >= least) return;
        least = judged.back();
        if (plan.at_best) plan.at_best(scales.loss);
    };
    if (plan.patience > 0) judge();
    double best = judged.empty() ? 0.0 : judged[0];
    const double tol = is_of_classes(loss) ? plan.tol : plan.tol * best;
    std::size_t n_since = 0;
    for (std::size_t round = n_earlier; round < n_earlier + plan.n_rounds; ++round) {
        const std::uint64_t round_key = derive(plan.seed, round);
        if (objective.is_softmax()) rows.ask(BeginRound{{}, is_joint});
        for (std::size_t score = 0; score < n_per_round; ++score) {
            TreeScores scores{score};
            if (is_joint) {
                scores.projection =
                    draw_projection(rows.n_scores(), derive(round_key, Stream::projection_draws));
                for (std::size_t k = 0; k < rows.n_scores(); ++k)
                    scores.projection[k] *= scales.projection[k];
            }
            Blocks tree = grow_tree(rows, plan.tree, selects(loss), scores, round_key,
                                    derive(round_key, Stream::round_trees, score), n_threads, watch);
            const auto target = std::holds_alternative<Logistic>(loss) ? 1 : static_cast<std::int32_t>(score);
            result.forest.add(is_joint ? -1 : target, std::move(tree));
            watch.finish_one();
        }
        if (plan.patience > 0) {
            judge();
            const bool is_better = judged.back() < best - tol;
            if (is_better) best = judged.back();
            n_since = is_better ? 0 : n_since + 1;
            if (n_since >= plan.patience) break;
        }
        if (plan.is_over && plan.is_over()) break;
    }
    return result;
}

}  // namespace lhtree::boost
