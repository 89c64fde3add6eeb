// Growing trees and forests.
#pragma once
#include <cstdint>
#include <vector>

#include "lhtree/grow/rows/parted.hpp"
#include "lhtree/shared/blocks.hpp"
#include "lhtree/shared/options.hpp"

namespace lhtree {

struct Grown {
    Blocks blocks;
    std::vector<std::int32_t> leaf_of_row;  // leaf of every row, in the original order; empty: not wanted
};

// Grows one tree (Algorithm 1): of targets against the rest, of a numeric response, or of all classes. `key`
// determines the draws of features and classes. Throws std::invalid_argument if the options do not allow the
// response.
Grown grow(const Labelled& samples, const Options& options, std::uint64_t key, std::size_t n_threads,
           Watch& watch);

// Random subsets of rows, drawn per stratum.
struct Sampling {
    const std::int32_t* stratum = nullptr;  // of every row; the strata are 0 … counts.size() - 1
    std::size_t n_rows = 0;
    std::vector<std::size_t> counts;  // rows to draw from each stratum
    bool bootstrap = false;           // with replacement
};

struct Drawn {
    std::vector<std::int32_t> rows;   // ascending, each once
    std::vector<std::int32_t> times;  // number of draws of each; empty without replacement
};

// Returns the rows of one tree, which depend on (seed, tree) alone: the trees of all classes share them.
Drawn draw_rows(const Sampling& sampling, std::uint64_t seed, std::uint64_t tree);

// Plan of a forest: for every beta one tree of all classes, or one tree per target. A row of `responses`
// (n_targets rows of n_rows) has 1 for targets. Feature draws are keyed by (seed, tree, target, path of the
// block), row draws by (seed, tree).
struct ForestPlan {
    Rows rows;
    float* in_place;  // the same rows, with slack, if they may be reordered; or nullptr
    const std::uint8_t* responses;
    const double*
        real_responses;  // numeric responses instead; or nullptr. If all are 0 or 1, they are targets
    const std::int32_t* of_class;  // classes instead, for trees of all classes: targets is {-1}
    std::size_t n_classes;         // number of them
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
