// Growing trees: Algorithm 1, block by block from an explicit work list.
#pragma once
#include <cstdint>
#include <vector>

#include "lhtree/grow/rows/parted.hpp"
#include "lhtree/shared/blocks.hpp"
#include "lhtree/shared/options.hpp"
#include "lhtree/shared/threads.hpp"

namespace lhtree {

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

}  // namespace lhtree
