// Boosted hyperplane trees: rounds of small trees, each a Newton step from the scores of the rounds before.
#pragma once
#include <cstdint>
#include <functional>
#include <vector>

#include "lhtree/grow/boost/losses.hpp"
#include "lhtree/grow/boost/rows.hpp"
#include "lhtree/shared/options.hpp"

namespace lhtree::boost {

// Free trees have a cut for every block, symmetric ones a cut for every level.
enum class Growth : std::uint8_t { free, symmetric };
constexpr Named<Growth> growth_names[] = {{"symmetric", Growth::symmetric}, {"free", Growth::free}};

// An offset above every z: all values go left, and missing ones right.
constexpr double beyond = 1e31;

struct TreeOptions {
    Rules rules;
    Growth growth = Growth::free;
    std::size_t max_depth = 5;
    double max_features = 0.5;     // share of the features that a block or level tries alone
    std::size_t n_directions = 1;  // that a level tries; a block tries one
    std::size_t n_directed = 4;    // features of a direction; below 2: none
    double learning_rate = 0.05;
    double subsample = 0.7;
    bool has_linear_leaves = false;
    bool is_joint = false;  // one tree for all scores
    // Groups of features, ascending in each: all features on a path are of one group. Empty: no constraint.
    std::vector<std::vector<std::int32_t>> groups{};
};

// The scores of a tree: one, or all of them along a projection.
struct TreeScores {
    std::size_t score = 0;
    std::vector<double> projection{};

    bool is_joint() const { return !projection.empty(); }
};

// Grows a tree and adds its values to the scores of the rows. `key` is that of its draws.
Blocks grow_tree(Rows& rows, const TreeOptions& options, bool selects, const TreeScores& scores,
                 std::uint64_t round_key, std::uint64_t key, std::size_t n_threads, Watch& watch);

// Adds the values of a tree that is already grown, block_ptr[tree] …, to the scores of the rows.
void replay_tree(Rows& rows, const ForestView& forest, std::size_t tree, std::size_t score);

struct Plan {
    Objective objective;
    std::size_t n_rounds = 400;
    std::uint64_t seed = 0;
    TreeOptions tree;
    // Early stopping after this many rounds in which the loss does not fall by more than tol in all; 0:
    // losses are not computed. The loss is that of the validation rows or, without them, of the training
    // rows. For numbers, tol is relative to the loss before the first round.
    std::size_t patience = 0;
    double tol = 1e-7;
    // Trees of an earlier fit, and the scores before them.
    const ForestView* earlier = nullptr;
    std::vector<double> first;  // empty: the best constants
    // Called, with early stopping, whenever the loss is smaller than ever before, with the scale of every
    // loss.
    std::function<void(const std::vector<double>&)> at_best{};
    // Called after every round; true ends the fit with the rounds so far.
    std::function<bool()> is_over{};
};

struct Boosted {
    Forest forest;  // of the new rounds
    std::vector<double> first;
    std::vector<double> training_loss, validation_loss;  // before the first of the new rounds, and after each
};

// Numbers of the rows from which bins and scales are learned: all, or a keyed sample of at most `most`.
constexpr std::size_t most_sampled = 200000;
std::vector<std::int64_t> sample_rows(std::size_t n_rows, std::uint64_t seed,
                                      std::size_t most = most_sampled);

// The best constants. They come from sums of integers, so they do not depend on the order of rows.
std::vector<double> find_initial_scores(const Loss& loss, Rows& rows,
                                        const std::vector<ResponseSurvey>& surveys);

Boosted boost(const Plan& plan, Rows& rows, std::size_t n_threads, Watch& watch);

}  // namespace lhtree::boost
