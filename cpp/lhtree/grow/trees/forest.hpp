// Growing trees and forests.
#pragma once
#include <cstdint>
#include <vector>

#include "lhtree/grow/rows/parted.hpp"
#include "lhtree/shared/blocks.hpp"
#include "lhtree/shared/options.hpp"
#include "lhtree/shared/threads.hpp"

namespace lhtree {

// Growing trees: Algorithm 1, block by block from an explicit work list.

struct Grown {
    Blocks blocks;
    std::vector<std::int32_t>
        leaf_of_row;  // leaf in which every row ended, in the order the tree was given them
};

// Grows one tree that separates the targets from the rest, or estimates a response that is any number (of
// which 0 and 1 are targets again), or one of all classes. `key` fixes the draws of features and classes.
// Throws std::invalid_argument for a response that the options do not allow.
Grown grow(const Labelled& samples, const Options& options, std::uint64_t key, std::size_t n_threads,
           Watch& watch);

// The same, with a response of 0 and 1 grown like any other: slower, and up to rounding the same partition.
Grown grow_real(const Labelled& samples, const Options& options, std::uint64_t key, std::size_t n_threads,
                Watch& watch);

// Targets, if the response is 0 and 1 throughout; empty otherwise.
std::vector<std::uint8_t> find_targets(const double* response, std::size_t n);

// Random subsets of rows, drawn by stratum so that none is missing.

struct Sampling {
    const std::int32_t* stratum = nullptr;  // of every row; the strata are 0 … counts.size() - 1
    std::size_t n_rows = 0;
    std::vector<std::size_t> counts;  // rows to draw from each stratum
    bool bootstrap = false;           // with replacement
};

struct Drawn {
    std::vector<std::int32_t> rows;   // ascending, each once
    std::vector<std::int32_t> times;  // how often each was drawn; empty without replacement
};

// The rows of one tree; a function of (seed, tree) alone, so that the trees of all classes share them.
Drawn draw_rows(const Sampling& sampling, std::uint64_t seed, std::uint64_t tree);

// Growing all trees of a model.

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
