// Growing all trees of a model.
#pragma once
#include <cstdint>
#include <vector>

#include "lhtree/grow/rows/draws.hpp"
#include "lhtree/grow/trees/tree.hpp"

namespace lhtree {

// All trees of a model: for every beta one tree of all classes, or one tree per target, whose targets are the
// rows with a 1 in its row of `responses` (n_targets rows of n_rows). Feature draws are keyed by (seed, tree,
// target, path of the block), row draws by (seed, tree).
struct ForestPlan {
    Rows rows;
    float* in_place;  // the same rows, with slack, if they may be left in another order; or nullptr
    const std::uint8_t* responses;
    const double* real_responses;  // instead, if any number is a response; or nullptr
    const std::int32_t* of_class;  // instead of both, for trees of all classes: targets has a single -1
    std::size_t n_classes;         // of those
    std::vector<std::int32_t> targets;
    const double* weight;  // nullptr: 1 each
    std::vector<double> betas;
    std::uint64_t seed;
    std::uint64_t first_tree;  // number of the first tree, where a forest is continued
    Sampling sampling;
    bool draws_rows;  // false: every tree sees all rows
    bool balances;    // weigh the strata of every tree's rows equally
};
Forest grow_forest(const ForestPlan& plan, const Options& options, std::size_t n_threads, Watch& watch);

}  // namespace lhtree
