// The tree while it grows: blocks that own their children and know their rows.
#pragma once
#include <functional>
#include <memory>
#include <optional>

#include "lhtree/grow/compact/solve.hpp"

namespace lhtree::compact {

// How a leaf would be split best.
struct Split {
    Line line;
    double gain = 0.0;  // what the objective falls by
};

struct Block {
    RowNumbers rows;
    Line line;  // of a branching block
    std::unique_ptr<Block> left, right;
    Estimate estimate;                      // of a leaf
    std::shared_ptr<const Question> asked;  // what the line is the answer to
    std::shared_ptr<const Split> split;     // of a leaf, once it is known

    bool is_leaf() const { return !left; }
};
using Tree = std::unique_ptr<Block>;

Tree copy_of(const Block& block);

// Sends rows down the blocks; leaves estimate anew where their rows have changed.
void route(Block& block, RowNumbers rows, const Data& data);

// Cost of every row, walked down the blocks, times its weight.
void add_costs(const Block& block, const Data& data, const RowNumbers& rows, double sign,
               std::vector<double>& sums);

double count_leaves(const Block& block);
// Terms + leaves.
double size_of(const Block& block);
// Σ costs of the rows + λ · (terms + leaves).
double objective(const Block& block, const Data& data);

// Blocks with a side below min_samples_leaf are replaced by the other side, root first.
void tidy(Block& block, const Data& data);

// Calls visit(block) for every block, parents first, left before right.
void each_block(Block& block, const std::function<void(Block&)>& visit);

// All blocks of every depth, from left to right.
std::vector<std::vector<Block*>> levels_of(Block& root);

// The best split of a leaf (split.cpp).
Split find_split(const Data& data, const RowNumbers& rows, const Estimate& estimate, Watch& watch);

// Visits every branching block once, children first (pass.cpp).
void pass(Block& root, const Data& data, Effort effort, std::size_t n_threads, Watch& watch);

}  // namespace lhtree::compact
