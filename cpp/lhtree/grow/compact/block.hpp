// The tree while it grows: blocks that own their children and store their rows.
#pragma once
#include <functional>
#include <memory>

#include "lhtree/grow/compact/problem.hpp"

namespace lhtree::compact {

struct Split {
    Line line;
    double gain = 0.0;  // decrease of the objective
};

struct Block {
    RowNumbers rows;
    Line line;  // of a branching block
    std::unique_ptr<Block> left, right;
    Estimate estimate;                      // of a leaf
    std::shared_ptr<const Question> asked;  // problem that the line solves
    std::shared_ptr<const Split> split;     // of a leaf, once it is known

    bool is_leaf() const { return !left; }
};
using Tree = std::unique_ptr<Block>;

Tree copy_of(const Block& block);

// Sends rows down the blocks and updates the estimates of leaves whose rows have changed.
void route(Block& block, RowNumbers rows, const Data& data);

double count_leaves(const Block& block);
// Returns the number of terms and leaves.
double size_of(const Block& block);
// Returns Σ costs of the rows + λ · (terms + leaves).
double objective(const Block& block, const Data& data);

// Calls visit(block) for every block, parents first, left before right.
void each_block(Block& block, const std::function<void(Block&)>& visit);

// Returns the blocks of every depth, from left to right.
std::vector<std::vector<Block*>> levels_of(Block& root);

Split find_split(const Data& data, const RowNumbers& rows, const Estimate& estimate, Watch& watch);

// Visits every branching block once, children first.
void pass(Block& root, const Data& data, Effort effort, std::size_t n_threads, Watch& watch);

// The blocks of a finished tree breadth-first, as in BlockArrays.
struct Grown {
    std::vector<std::int32_t> left;
    std::vector<double> offset;
    std::vector<std::int64_t> ptr{0};
    std::vector<std::int32_t> feature;
    std::vector<float> weight;
    std::vector<std::int32_t> leaf;  // of every row
    std::vector<double> objective;   // of every tree that was kept, in order
};

Grown grow(const Data& data, std::size_t n_threads, Watch& watch);

}  // namespace lhtree::compact
