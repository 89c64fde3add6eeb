#include "lhtree/grow.hpp"

#include <algorithm>
#include <deque>
#include <numeric>

#include "lhtree/cut.hpp"
#include "lhtree/kernels.hpp"
#include "lhtree/random.hpp"

namespace lhtree {

namespace {

class Grower {
  public:
    Grower(const Labelled& samples, const Options& options, Watch& watch)
        : options_(options), watch_(watch), rows_(samples), sums_(rows_.size()), is_left_(rows_.size()) {
        if (options_.max_features >= samples.rows.n_features) options_.max_features = 0;
        const Samples all = rows_.part(0, rows_.size(), rows_.n_rest());
        const double total = all.of(0).total() + all.of(1).total();
        gamma_ = options.gamma.of(total);
        min_samples_split_ = options.min_samples_split.of(total);
        min_samples_leaf_ = options.min_samples_leaf.of(total);
    }

    Grown run(std::uint64_t key, bool restores) {
        Grown grown;
        grown.leaf_of_row.resize(rows_.size());
        std::deque<Block> work{{0, rows_.size(), rows_.n_rest(), 0, key, {}}};
        std::int32_t next = 1;  // number of the next child
        while (!work.empty()) {
            watch_.check();
            Block block = work.front();
            work.pop_front();
            const Samples samples = rows_.part(block.begin, block.end, block.n_rest);
            for (int cls = 0; cls < 2; ++cls) block.weight[cls] = samples.of(cls).total();

            Hyperplane hyperplane;
            const bool is_branching = may_branch(block) && find_hyperplane(block, samples, hyperplane);
            const LinearMembership membership = is_branching && !options_.branching_membership
                                                    ? constant_membership(block.weight)
                                                    : find_membership(block, samples);
            const auto number = static_cast<std::int32_t>(grown.blocks.size());
            grown.blocks.add(samples.size(), block.weight, hyperplane, membership, is_branching ? next : -1);
            if (is_branching) {
                part(block, hyperplane.offset, work);
                next += 2;
            } else {
                for (std::size_t i = block.begin; i < block.end; ++i)
                    grown.leaf_of_row[static_cast<std::size_t>(rows_.row()[i])] = number;
            }
        }
        if (restores) rows_.restore();
        return grown;
    }

  private:
    struct Block {
        std::size_t begin, end, n_rest;
        std::int64_t depth;
        std::uint64_t key;
        double weight[2];  // non-target, target
    };

    Options options_;
    double gamma_, min_samples_split_, min_samples_leaf_;
    Watch& watch_;
    PartedRows rows_;
    // Workspace of the block at hand.
    std::vector<double> sums_;  // its feature sums
    std::vector<std::uint8_t> is_left_;
    Moments moments_;  // of all features of its rows, where moments_are_fresh_
    bool moments_are_fresh_ = false;
    std::vector<std::int32_t> active_;
    std::vector<float> columns_, kept_columns_, padded_weights_;
    std::vector<std::int32_t> padded_features_;
    Kept kept_;
    Moments kept_moments_;
    Scatter scatter_;
    GiniCutter gini_;

    void part(const Block& block, double offset, std::deque<Block>& work) {
        const std::size_t n = block.end - block.begin;
        std::size_t n_left[2] = {0, 0};
        for (std::size_t i = 0; i < n; ++i) is_left_[i] = sums_[i] < offset;
        for (std::size_t i = 0; i < block.n_rest; ++i) n_left[0] += is_left_[i];
        for (std::size_t i = block.n_rest; i < n; ++i) n_left[1] += is_left_[i];
        rows_.move(block.begin, is_left_.data(), n, n_left[0] + n_left[1]);
        const std::size_t middle = block.begin + n_left[0] + n_left[1];
        work.push_back({block.begin, middle, n_left[0], block.depth + 1, derive(block.key, left_side), {}});
        work.push_back({middle,
                        block.end,
                        block.n_rest - n_left[0],
                        block.depth + 1,
                        derive(block.key, right_side),
                        {}});
    }

    bool may_branch(const Block& block) {
        moments_are_fresh_ = false;
        return block.weight[0] > 0.0 && block.weight[1] > 0.0 &&
               block.weight[0] + block.weight[1] >= min_samples_split_ &&
               (options_.max_depth < 0 || block.depth < options_.max_depth);
    }

    // Direction and offset; on success sums_ holds the feature sums of the rows.
    bool find_hyperplane(const Block& block, const Samples& samples, Hyperplane& hyperplane) {
        std::vector<std::int32_t> drawn;  // features that the columns of `view` stand for; empty: all
        Samples view = samples;
        if (options_.max_features > 0) {
            drawn = draw_features(block.key, samples);
            view = take_columns(samples, drawn, columns_);
            moments_.measure(view, false, watch_);
            active_.resize(drawn.size());
            std::iota(active_.begin(), active_.end(), 0);
        } else {
            measure_all(samples, needs_squares(block) && options_.branching_membership);
        }
        const bool is_found = orient(block, view, hyperplane);
        if (is_found && !drawn.empty())
            for (auto& feature : hyperplane.features) feature = drawn[static_cast<std::size_t>(feature)];
        return is_found;
    }

    bool orient(const Block& block, const Samples& view, Hyperplane& hyperplane) {
        const CutRows rows{view, block.weight, min_samples_leaf_};
        Cut best;
        keep_features(moments_, active_, options_.beta, kept_);
        if (!kept_.features.empty()) {
            if (options_.direction != Direction::mean_difference) turn_to_fisher(view);
            hyperplane.features = kept_.features;
            scale_weights(kept_.mean_differences, hyperplane.weights);
            sum_features(view.rows, hyperplane, sums_.data());
            best = options_.offset == Offset::purity ? cut_purest(rows, sums_.data(), gamma_)
                                                     : gini_.cut(rows, sums_.data());
        }
        if (options_.direction == Direction::mixed) {
            std::int32_t single = -1;
            for (const auto feature : active_) {
                watch_.check();
                if (best.exists && best.cost == 0.0) break;  // nothing is purer, and the first of equals wins
                const Cut cut = gini_.cut_feature(rows, static_cast<std::size_t>(feature));
                if (!cut.exists || (best.exists && cut.cost >= best.cost)) continue;
                best = cut;
                single = feature;
            }
            if (single >= 0) {
                hyperplane.features = {single};
                hyperplane.weights = {1.0f};
                for (std::size_t row = 0; row < view.size(); ++row)
                    sums_[row] = static_cast<double>(view.rows[row][single]);
            }
        }
        if (!best.exists) {
            hyperplane = {};
            return false;
        }
        hyperplane.offset = best.offset;
        return true;
    }

    void turn_to_fisher(const Samples& view) {
        if (kept_.features.size() == view.rows.n_features) {
            lhtree::turn_to_fisher(view, moments_, options_.shrinkage, watch_, kept_.mean_differences,
                                   scatter_);
            return;
        }
        const Samples columns = take_columns(view, kept_.features, kept_columns_);
        kept_moments_.measure(columns, false, watch_);
        lhtree::turn_to_fisher(columns, kept_moments_, options_.shrinkage, watch_, kept_.mean_differences,
                               scatter_);
    }

    LinearMembership find_membership(const Block& block, const Samples& samples) {
        if (!needs_slopes(block)) return constant_membership(block.weight);
        if (!moments_are_fresh_ || (!moments_.has_squares() && needs_squares(block)))
            measure_all(samples, needs_squares(block));
        if (active_.empty()) return constant_membership(block.weight);
        if (options_.membership == Membership::marginal) return marginal_membership(moments_, active_);
        const bool is_all = active_.size() == samples.rows.n_features;
        return least_squares_membership(is_all ? samples : take_columns(samples, active_, columns_), active_,
                                        options_.shrinkage, watch_);
    }

    // Slopes are 0 where either class holds less than min_samples_leaf; so pure blocks are constant.
    bool needs_slopes(const Block& block) const {
        return options_.membership != Membership::constant &&
               std::min(block.weight[0], block.weight[1]) > 0.0 &&
               std::min(block.weight[0], block.weight[1]) >= min_samples_leaf_;
    }
    bool needs_squares(const Block& block) const {
        return options_.alpha > 0.0 || (needs_slopes(block) && options_.membership == Membership::marginal);
    }

    void measure_all(const Samples& samples, bool with_squares) {
        moments_.measure(samples, with_squares || options_.alpha > 0.0, watch_);
        find_active(moments_, options_.alpha, active_);
        moments_are_fresh_ = true;
    }

    void sum_features(const Rows& rows, const Hyperplane& hyperplane, double* out) {
        const bool is_dense = hyperplane.features.size() == rows.n_features;
        padded_weights_.assign(padded(hyperplane.weights.size()), 0.0f);
        padded_features_.assign(padded(hyperplane.features.size()), 0);
        std::copy(hyperplane.weights.begin(), hyperplane.weights.end(), padded_weights_.begin());
        std::copy(hyperplane.features.begin(), hyperplane.features.end(), padded_features_.begin());
        for (std::size_t begin = 0; begin < rows.n_rows; begin += chunk_rows) {
            watch_.check();
            const Rows chunk = rows.part(begin, std::min(rows.n_rows, begin + chunk_rows));
            kernels().feature_sums(padded_weights_.data(), is_dense ? nullptr : padded_features_.data(),
                                   padded_weights_.size(), chunk, out + begin);
        }
    }

    // Draws features until max_features active ones are found; ascending.
    std::vector<std::int32_t> draw_features(std::uint64_t key, const Samples& samples) {
        const std::size_t n_features = samples.rows.n_features;
        std::vector<std::int32_t> deck(n_features), drawn;
        std::iota(deck.begin(), deck.end(), 0);
        Draws draws(key, feature_draws);
        for (std::size_t i = 0; i < n_features && drawn.size() < options_.max_features; ++i) {
            std::swap(deck[i], deck[i + draws.below(n_features - i)]);
            if (is_active(samples, deck[i])) drawn.push_back(deck[i]);
        }
        std::sort(drawn.begin(), drawn.end());
        return drawn;
    }

    bool is_active(const Samples& samples, std::int32_t feature) {
        if (options_.alpha > 0.0) {
            Moments moments;
            std::vector<std::int32_t> active;
            moments.measure(take_columns(samples, {feature}, columns_), true, watch_);
            find_active(moments, options_.alpha, active);
            return !active.empty();
        }
        const float first = samples.rows[0][feature];
        for (std::size_t row = 1; row < samples.size(); ++row)
            if (samples.rows[row][feature] != first) return true;
        return false;
    }

    // Samples with some of the features only, copied to `to`.
    static Samples take_columns(const Samples& samples, const std::vector<std::int32_t>& features,
                                std::vector<float>& to) {
        to.resize(std::max(to.size(), samples.size() * features.size() + slack));
        float* out = to.data();
        for (std::size_t row = 0; row < samples.size(); ++row) {
            const float* z = samples.rows[row];
            for (const auto feature : features) *out++ = z[feature];
        }
        return {{to.data(), samples.size(), features.size()}, samples.n_rest, samples.weight};
    }
};

}  // namespace

Grown grow(const Labelled& samples, const Options& options, std::uint64_t key, Watch& watch) {
    return Grower(samples, options, watch).run(key, samples.in_place != nullptr);
}

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
            chosen.weight[i] *= total / (static_cast<double>(n_strata) * of_stratum[s]);
        }
    return chosen;
}

}  // namespace

Forest grow_forest(const ForestPlan& plan, const Options& options, std::size_t n_threads, Watch& watch) {
    const std::size_t n_targets = plan.targets.size(), n_trees = plan.betas.size();
    std::vector<Blocks> trees(n_trees * n_targets);
    // One tree per target, one after the other, can share the rows; copies are faster to come by than the old
    // order.
    const bool works_in_place = n_trees == 1 && (n_threads == 1 || n_targets == 1);
    run(trees.size(), n_threads, watch, [&](std::size_t task) {
        const std::size_t target = task % n_targets;
        const std::uint64_t tree = plan.first_tree + task / n_targets;
        Options own = options;
        own.beta = plan.betas[task / n_targets];
        Labelled samples{plan.rows, plan.responses + target * plan.rows.n_rows, plan.weight, nullptr,
                         works_in_place ? plan.in_place : nullptr};
        Chosen chosen;
        if (plan.draws_rows) {
            chosen = choose_rows(plan, tree);
            samples.chosen = &chosen;
        }
        const std::uint64_t key = derive(derive(derive(plan.seed, tree), feature_draws), target);
        trees[task] = grow(samples, own, key, watch).blocks;
    });
    Forest forest;
    for (std::size_t task = 0; task < trees.size(); ++task) {
        forest.add(plan.targets[task % n_targets], std::move(trees[task]));
    }
    return forest;
}

}  // namespace lhtree
