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

// Grows one tree that separates the targets from the rest. Knows no classes. `key` fixes the feature draws.
Grown grow(const Labelled& samples, const Options& options, std::uint64_t key, std::size_t n_threads,
           Watch& watch);

}  // namespace lhtree
