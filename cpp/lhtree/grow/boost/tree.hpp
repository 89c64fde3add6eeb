// One boosted tree, grown level by level.
#pragma once
#include <cstdint>

#include "lhtree/grow/boost/losses.hpp"
#include "lhtree/grow/boost/rows.hpp"
#include "lhtree/shared/blocks.hpp"

namespace lhtree::boost {

struct TreeOptions {
    Rules rules;
    std::size_t max_depth = 5;
    double max_features = 0.5;   // share of the features that a block tries alone
    std::size_t n_directed = 4;  // features of its direction; below 2: none
    double learning_rate = 0.05;
    double subsample = 0.7;
    bool has_linear_leaves = false;
};

// Grows a tree of one score and adds its values to the scores of the rows. `key` is that of its draws.
Blocks grow_tree(Rows& rows, const TreeOptions& options, const Loss& loss, std::size_t score,
                 std::uint64_t round_key, std::uint64_t key, std::size_t n_threads, Watch& watch);

// Adds the values of a tree that is already grown, block_ptr[tree] … of the forest, to the scores of the
// rows.
void replay_tree(Rows& rows, const ForestView& forest, std::size_t tree, std::size_t score);

}  // namespace lhtree::boost
