#include "lhtree/grow/trees/forest.hpp"

#include <cmath>

#include "lhtree/shared/random.hpp"

namespace lhtree {

namespace {

// Rows and weights of one tree of a forest.
Chosen choose_rows(const ForestPlan& plan, std::uint64_t tree) {
    Drawn drawn = draw_rows(plan.sampling, plan.seed, tree);
    Chosen chosen{std::move(drawn.rows), {}};
    if (!plan.weight && drawn.times.empty() && !plan.balances) return chosen;
    const std::size_t n = chosen.rows.size(), n_strata = plan.sampling.counts.size();
    chosen.weight.assign(n, 1.0);
    std::vector<double> of_stratum(n_strata, 0.0);
    double total = 0.0;
    for (std::size_t i = 0; i < n; ++i) {
        const auto row = static_cast<std::size_t>(chosen.rows[i]);
        if (plan.weight) chosen.weight[i] = plan.weight[row];
        if (!drawn.times.empty()) chosen.weight[i] *= drawn.times[i];
        of_stratum[static_cast<std::size_t>(plan.sampling.stratum[row])] += chosen.weight[i];
        total += chosen.weight[i];
    }
    if (plan.balances)
        for (std::size_t i = 0; i < n; ++i) {
            const auto s = static_cast<std::size_t>(plan.sampling.stratum[chosen.rows[i]]);
            const double share = static_cast<double>(n_strata) * of_stratum[s], factor = total / share;
            if (std::isfinite(factor))
                chosen.weight[i] *= factor;
            else
                chosen.weight[i] = chosen.weight[i] / of_stratum[s] * (total / static_cast<double>(n_strata));
        }
    return chosen;
}

// Codes take one sort of every feature of all rows; they save several of the drawn features of every tree's
// rows.
bool pays_to_code(const ForestPlan& plan, const Options& options) {
    const bool has_weights =
        plan.weight || plan.balances || (plan.draws_rows && plan.sampling.bootstrap);  // bins count rows
    if (options.direction != Direction::mixed || has_weights || plan.real_responses) return false;
    std::size_t n_rows = plan.rows.n_rows;
    if (plan.draws_rows) {
        n_rows = 0;
        for (const std::size_t count : plan.sampling.counts) n_rows += count;
    }
    constexpr std::size_t n_saved = 4;  // measured
    const std::size_t n_drawn = options.max_features > 0 ? options.max_features : plan.rows.n_features;
    return plan.betas.size() * plan.targets.size() * n_rows * n_drawn * n_saved >=
           plan.rows.n_rows * plan.rows.width();
}

}  // namespace

Forest grow_forest(const ForestPlan& given, const Options& options, std::size_t n_threads, Watch& watch) {
    ForestPlan plan = given;
    std::vector<std::uint8_t> is_target;
    if (given.real_responses)
        is_target = find_targets(given.real_responses, given.targets.size() * given.rows.n_rows);
    if (!is_target.empty()) {
        plan.responses = is_target.data();
        plan.real_responses = nullptr;
    }
    const std::size_t n_targets = plan.targets.size(), n_trees = plan.betas.size();
    std::vector<Blocks> trees(n_trees * n_targets);
    // The trees of one class each share the rows one after the other, and their threads, where there are many
    // rows; otherwise threads take trees.
    const bool works_in_place = n_trees == 1 && !plan.of_class &&
                                (n_threads == 1 || n_targets == 1 || plan.rows.n_rows >= 16 * chunk_rows);
    Codes codes;
    if (pays_to_code(plan, options)) codes = code_features(plan.rows, n_threads, watch);
    const std::size_t n_inner = works_in_place ? n_threads : 1;
    run(trees.size(), works_in_place ? 1 : n_threads, watch, [&](std::size_t task) {
        const std::size_t target = task % n_targets;
        const std::uint64_t tree = plan.first_tree + task / n_targets;
        Options own = options;
        own.beta = plan.betas[task / n_targets];
        const std::size_t begin = target * plan.rows.n_rows;
        Labelled samples{plan.rows, nullptr, plan.weight};
        if (plan.of_class) {
            samples.of_class = plan.of_class;
            samples.n_classes = plan.n_classes;
        } else if (plan.real_responses)
            samples.response = plan.real_responses + begin;
        else
            samples.is_target = plan.responses + begin;
        samples.in_place = works_in_place ? plan.in_place : nullptr;
        samples.codes = codes.empty() ? nullptr : &codes;
        samples.is_last = task + 1 == trees.size();
        Chosen chosen;
        if (plan.draws_rows) {
            chosen = choose_rows(plan, tree);
            samples.chosen = &chosen;
        }
        const std::uint64_t key = derive(derive(derive(plan.seed, tree), feature_draws), target);
        trees[task] = grow(samples, own, key, n_inner, watch).blocks;
        watch.finish_one();
    });
    Forest forest;
    for (std::size_t task = 0; task < trees.size(); ++task) {
        forest.add(plan.targets[task % n_targets], std::move(trees[task]));
    }
    return forest;
}

}  // namespace lhtree
