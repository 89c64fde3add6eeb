#include "lhtree/grow/trees/forest.hpp"

#include <algorithm>
#include <atomic>
#include <cmath>
#include <deque>
#include <stdexcept>

#include "lhtree/grow/trees/branch.hpp"
#include "lhtree/shared/random.hpp"

namespace lhtree {
namespace {

struct RowRange {
    std::size_t begin, end;
};

// A part of a tree, numbered breadth-first by itself.
struct Draft {
    Blocks blocks;
    std::vector<RowRange> rows;           // of every block
    std::vector<std::int32_t> elsewhere;  // draft that continues a block; -1: none
};

// Grows from `root` until blocks have at most `small` rows; leave(block) returns the draft that continues it.
template <class Response, class Leave>
Draft grow_from(const Block& root, std::size_t small, Brancher<Response>& brancher, Watch& watch,
                const Leave& leave) {
    Draft draft;
    std::deque<Block> work{root};
    std::int32_t next = 1;  // number of the next child
    while (!work.empty()) {
        watch.check();
        const Block block = std::move(work.front());
        work.pop_front();
        draft.rows.push_back({block.begin, block.end});
        if (block.size() <= small) {
            draft.elsewhere.push_back(leave(block));
            draft.blocks.add({0, 1.0, 0.0}, {}, {}, -1);
            Response::set_values({}, draft.blocks);
            continue;
        }
        Outcome<Response> outcome = brancher.grow(block);
        draft.elsewhere.push_back(-1);
        const Counts counts{block.size(), outcome.totals.weight(), outcome.totals.response()};
        draft.blocks.add(counts, outcome.hyperplane, outcome.membership, outcome.is_branching ? next : -1);
        Response::set_values(outcome.totals, draft.blocks);
        if (!outcome.is_branching) continue;
        for (Block& child : outcome.children) work.push_back(std::move(child));
        next += 2;
    }
    return draft;
}

// Joins the drafts (the first has the root) to one tree, numbered breadth-first, with the leaf of every row
// if it is wanted.
Grown assemble(std::vector<Draft>& drafts, const PartedRows& rows, bool wants_leaves) {
    Grown grown;
    if (wants_leaves) grown.leaf_of_row.resize(rows.size());
    struct Place {
        std::size_t draft, block;
    };
    std::deque<Place> work{{0, 0}};
    std::int32_t next = 1;
    while (!work.empty()) {
        Place place = work.front();
        work.pop_front();
        while (drafts[place.draft].elsewhere[place.block] >= 0)
            place = {static_cast<std::size_t>(drafts[place.draft].elsewhere[place.block]), 0};
        const Draft& draft = drafts[place.draft];
        const auto number = static_cast<std::int32_t>(grown.blocks.size());
        const std::int32_t left = draft.blocks.left[place.block];
        grown.blocks.add(draft.blocks, place.block, left < 0 ? -1 : next);
        if (left >= 0) {
            work.push_back({place.draft, static_cast<std::size_t>(left)});
            work.push_back({place.draft, static_cast<std::size_t>(left) + 1});
            next += 2;
            continue;
        }
        if (!wants_leaves) continue;
        for (std::size_t i = draft.rows[place.block].begin; i < draft.rows[place.block].end; ++i)
            grown.leaf_of_row[static_cast<std::size_t>(rows.row()[i])] = number;
    }
    return grown;
}

template <class Response>
Grown grow_any(const Labelled& samples, const Options& options, std::uint64_t key, std::size_t n_threads,
               Watch& watch) {
    PartedRows rows(samples);
    // First the trunk: large blocks, breadth-first, whose rows all threads share. Then subtrees that stay in
    // a core's cache, one thread each. Draws and sums depend on the block alone, not on the order.
    constexpr std::size_t cache_bytes = std::size_t{1} << 19;
    const std::size_t small = cache_bytes / (sizeof(float) * samples.rows.width() + 1);
    const Block root{0, rows.size(), rows.n_rest(), 0, key, {}};
    const double total = measure_totals(Response::samples(rows, root)).weight();
    const Settings settings(options, total, samples.rows.n_features);
    std::vector<Block> later;
    std::vector<Draft> drafts(1);
    {
        Brancher<Response> brancher(settings, rows, n_threads, watch);
        drafts[0] =
            grow_from(root, rows.size() > 2 * small ? small : 0, brancher, watch, [&](const Block& block) {
                later.push_back(block);
                return static_cast<std::int32_t>(later.size());
            });
    }
    drafts.resize(1 + later.size());
    std::atomic<std::size_t> next{0};  // each thread keeps its workspace from subtree to subtree
    run(std::min(n_threads, later.size()), n_threads, watch, [&](std::size_t) {
        Brancher<Response> brancher(settings, rows, 1, watch);
        for (std::size_t i = next++; i < later.size(); i = next++)
            drafts[1 + i] = grow_from(later[i], 0, brancher, watch, [](const Block&) { return -1; });
    });
    Grown grown = assemble(drafts, rows, samples.wants_leaves);
    if (samples.in_place && !samples.is_last) rows.restore();
    return grown;
}

}  // namespace

Grown grow(const Labelled& samples, const Options& options, std::uint64_t key, std::size_t n_threads,
           Watch& watch) {
    if (samples.of_class) {
        if (options.direction != Direction::mixed)
            throw std::invalid_argument("a tree of all classes needs direction mixed");
        return grow_any<ManyClassed>(samples, options, key, n_threads, watch);
    }
    if (!samples.response) return grow_any<TwoValued>(samples, options, key, n_threads, watch);
    if (options.offset == Offset::purity)
        throw std::invalid_argument("offset purity needs a response of 0 and 1: choose gini");
    return grow_any<RealValued>(samples, options, key, n_threads, watch);
}

Drawn draw_rows(const Sampling& sampling, std::uint64_t seed, std::uint64_t tree) {
    std::vector<std::vector<std::int32_t>> strata(sampling.counts.size());
    for (std::size_t row = 0; row < sampling.n_rows; ++row)
        strata[static_cast<std::size_t>(sampling.stratum[row])].push_back(static_cast<std::int32_t>(row));

    Draws draws(derive(seed, tree), Stream::row_draws);
    std::vector<std::int32_t> times(sampling.n_rows, 0);
    for (std::size_t s = 0; s < strata.size(); ++s) {
        auto& rows = strata[s];
        for (std::size_t i = 0; i < sampling.counts[s]; ++i) {
            std::size_t chosen = draws.below(sampling.bootstrap ? rows.size() : rows.size() - i);
            if (!sampling.bootstrap) {  // without replacement: Fisher-Yates shuffle
                std::swap(rows[i], rows[i + chosen]);
                chosen = i;
            }
            ++times[static_cast<std::size_t>(rows[chosen])];
        }
    }
    Drawn drawn;
    for (std::size_t row = 0; row < sampling.n_rows; ++row) {
        if (times[row] == 0) continue;
        drawn.rows.push_back(static_cast<std::int32_t>(row));
        if (sampling.bootstrap) drawn.times.push_back(times[row]);
    }
    return drawn;
}

namespace {

// Returns the targets if all responses are 0 or 1, otherwise nothing.
std::vector<std::uint8_t> find_targets(const double* response, std::size_t n) {
    std::vector<std::uint8_t> is_target(n);
    for (std::size_t row = 0; row < n; ++row) {
        if (response[row] != 0.0 && response[row] != 1.0) return {};
        is_target[row] = response[row] == 1.0;
    }
    return is_target;
}

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

// Whether codes pay: they need one sort of every feature of all rows and save several sorts per tree.
bool pays_to_code(const ForestPlan& plan, const Options& options) {
    const bool has_weights = plan.weight || plan.balances || (plan.draws_rows && plan.sampling.bootstrap);
    // Bins of classes need rows of weight 1; numeric responses are sorted by codes, whatever the weights.
    if (options.direction != Direction::mixed || (has_weights && !plan.real_responses)) return false;
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
    // With many rows, trees are grown one by one, in place and on all threads; otherwise one per thread.
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
        samples.wants_leaves = false;
        Chosen chosen;
        if (plan.draws_rows) {
            chosen = choose_rows(plan, tree);
            samples.chosen = &chosen;
        }
        const std::uint64_t key = derive(derive(derive(plan.seed, tree), Stream::feature_draws), target);
        trees[task] = grow(samples, own, key, n_inner, watch).blocks;
        watch.finish_one();
    });
    Forest forest;
    for (std::size_t task = 0; task < trees.size(); ++task)
        forest.add(plan.targets[task % n_targets], std::move(trees[task]));
    return forest;
}

}  // namespace lhtree
