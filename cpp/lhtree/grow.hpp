// Growing trees: Algorithm 1, block by block from an explicit work list.
#pragma once
#include <cstdint>
#include <vector>

#include "lhtree/blocks.hpp"
#include "lhtree/options.hpp"
#include "lhtree/parallel.hpp"

namespace lhtree {

struct Grown {
    Blocks blocks;
    std::vector<std::int32_t> leaf_of_row;  // leaf in which every sample ended, in the order they were given
};

// Rows with what is to be learned of them: is a row a target (0 or 1), and what does it weigh (nullptr: 1
// each)?
struct Labelled {
    Rows rows;  // needs no slack: growing works on a copy
    const std::uint8_t* is_target;
    const double* weight;
};

// Grows one tree that separates the targets from the rest. Knows no classes. `key` fixes the feature draws.
Grown grow(const Labelled& samples, const Options& options, std::uint64_t key, Watch& watch);

// All trees of a model: for every beta one tree per target, whose samples are those with a 1 in its row of
// `responses` (n_targets rows of n_rows). Feature draws are keyed by (seed, tree, target, path of the block).
struct ForestPlan {
    Rows rows;
    const std::uint8_t* responses;
    std::vector<std::int32_t> targets;
    const double* weight;  // nullptr: 1 each
    std::vector<double> betas;
    std::uint64_t seed;
};
Forest grow_forest(const ForestPlan& plan, const Options& options, std::size_t n_threads, Watch& watch);

}  // namespace lhtree
