// Growing trees: Algorithm 1, block by block from an explicit work list.
#pragma once
#include <cstdint>
#include <vector>

#include "lhtree/blocks.hpp"
#include "lhtree/options.hpp"
#include "lhtree/parallel.hpp"
#include "lhtree/sample.hpp"

namespace lhtree {

struct Grown {
    Blocks blocks;
    std::vector<std::int32_t>
        leaf_of_row;  // leaf in which every row ended, in the order the tree was given them
};

// A choice of rows with weights of their own (empty: 1 each).
struct Chosen {
    std::vector<std::int32_t> rows;
    std::vector<double> weight;
};

// Rows with what is to be learned of them: is a row a target (0 or 1), and what does it weigh (nullptr: 1
// each)?
struct Labelled {
    Rows rows;  // needs no slack: growing works on a copy
    const std::uint8_t* is_target;
    const double* weight;
    const Chosen* chosen = nullptr;  // nullptr: all rows
};

// Grows one tree that separates the targets from the rest. Knows no classes. `key` fixes the feature draws.
Grown grow(const Labelled& samples, const Options& options, std::uint64_t key, Watch& watch);

// All trees of a model: for every beta one tree per target, whose targets are the rows with a 1 in its row of
// `responses` (n_targets rows of n_rows). Feature draws are keyed by (seed, tree, target, path of the block),
// row draws by (seed, tree).
struct ForestPlan {
    Rows rows;
    const std::uint8_t* responses;
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
