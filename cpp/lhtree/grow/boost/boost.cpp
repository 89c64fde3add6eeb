#include "lhtree/grow/boost/boost.hpp"

#include <algorithm>
#include <numeric>

#include "lhtree/shared/random.hpp"

namespace lhtree::boost {

namespace {

constexpr std::size_t most_sampled = 200000;

std::vector<double> weigh_classes(const Plan& plan, const Labels& labels, const Weights& weights) {
    std::vector<WideSum> sums(plan.n_classes);
    for (std::size_t row = 0; row < labels.n_rows; ++row)
        if (!labels.is_held(row))
            sums[static_cast<std::size_t>(labels.classes[row])].add(weights.of.empty() ? 1 : weights.of[row]);
    std::vector<double> of_classes;
    for (const WideSum& sum : sums) of_classes.push_back(sum.value());
    return of_classes;
}

}  // namespace

std::vector<std::int64_t> sample_rows(const Labels& labels, std::uint64_t seed) {
    std::vector<std::int64_t> rows;
    for (std::size_t row = 0; row < labels.n_rows; ++row)
        if (!labels.is_held(row)) rows.push_back(static_cast<std::int64_t>(row));
    if (rows.size() <= most_sampled) return rows;
    const std::uint64_t key = derive(seed, bin_draws);
    const auto rank = [&](std::int64_t row) {
        return std::pair{derive(key, static_cast<std::uint64_t>(row)), row};
    };
    std::nth_element(rows.begin(), rows.begin() + most_sampled, rows.end(),
                     [&](std::int64_t a, std::int64_t b) { return rank(a) < rank(b); });
    rows.resize(most_sampled);
    std::sort(rows.begin(), rows.end());
    return rows;
}

Boosted boost(const Plan& plan, const Bins& bins, std::vector<std::uint8_t>&& codes, const Labels& labels,
              const Weights& weights, std::size_t n_threads, Watch& watch) {
    Boosted result;
    result.first =
        plan.first.empty() ? first_scores(plan.loss, weigh_classes(plan, labels, weights)) : plan.first;
    Rows rows(bins, std::move(codes), labels, weights, plan.loss, result.first, n_threads, watch);
    const std::size_t n_scores = rows.n_scores();
    std::size_t n_earlier = 0;
    if (plan.earlier) {
        n_earlier = plan.earlier->n_trees() / n_scores;
        for (std::size_t tree = 0; tree < plan.earlier->n_trees(); ++tree)
            replay_tree(rows, bins, *plan.earlier, tree, tree % n_scores);
    }
    const auto take_losses = [&] {
        result.training_loss.push_back(rows.mean_loss(false));
        if (labels.held) result.validation_loss.push_back(rows.mean_loss(true));
    };
    if (plan.patience > 0) take_losses();
    const std::vector<double>& judged = labels.held ? result.validation_loss : result.training_loss;
    double best = judged.empty() ? 0.0 : judged[0];
    std::size_t n_since = 0;
    for (std::size_t round = n_earlier; round < n_earlier + plan.n_rounds; ++round) {
        const std::uint64_t round_key = derive(plan.seed, round);
        rows.begin_round();
        for (std::size_t score = 0; score < n_scores; ++score) {
            Blocks tree = grow_tree(rows, bins, plan.tree, score, round_key,
                                    derive(round_key, first_score + score), n_threads, watch);
            result.forest.add(plan.loss == Loss::logistic ? 1 : static_cast<std::int32_t>(score),
                              std::move(tree));
            watch.finish_one();
        }
        if (plan.patience == 0) continue;
        take_losses();
        const bool is_better = judged.back() < best - plan.tol;
        if (is_better) best = judged.back();
        n_since = is_better ? 0 : n_since + 1;
        if (n_since >= plan.patience) break;
    }
    return result;
}

}  // namespace lhtree::boost
