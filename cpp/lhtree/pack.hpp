// A forest laid out for walking: what a block needs lies together, and leaves are apart from branching
// blocks.
#pragma once
#include <cstdint>
#include <vector>

#include "lhtree/blocks.hpp"

namespace lhtree {

// Where a walk goes next: the number of a leaf, or of the eight bytes at which a block begins.
using Ref = std::uint32_t;
constexpr Ref leaf_bit = Ref{1} << 31;

// A branching block with at most four or eight weights, padded with zeros; with eight it is one cache line.
template <std::size_t size>
struct Narrow {
    double offset;
    Ref child[2];
    std::uint16_t features[size];
    float weights[size];
};
// Any other: `n` weights (padded with zeros to a multiple of 4) follow, behind their features unless it is
// dense, which is to use every feature in order.
struct Wide {
    double offset;
    Ref child[2];
    std::uint32_t n, is_dense;
};

struct Leaf {
    double intercept;
    std::uint32_t at, n;  // slopes, padded like weights, and their features
};

enum class Layout : std::uint8_t { narrow4, narrow8, wide };

struct PackedTree {
    Ref root;
    std::int32_t target;
    std::uint32_t first_leaf;
    Layout layout;
};

struct PackedForest {
    std::vector<PackedTree> trees;
    std::vector<std::uint64_t> blocks;  // of all trees, in units of eight bytes
    std::vector<Leaf> leaves;
    std::vector<std::int32_t> leaf_block;  // number of every leaf within its tree
    std::vector<double> slopes;
    std::vector<std::int32_t> slope_features;
};

// Lays out arrays in which find_fault finds nothing. Throws std::length_error if they are too large.
PackedForest pack(const ForestView& forest, std::size_t n_features);

}  // namespace lhtree
