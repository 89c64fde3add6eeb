// Kernels of scoring: its inner loops.
#pragma once
#include <cstddef>
#include <cstdint>

#include "lhtree/score/layout.hpp"
#include "lhtree/shared/dispatch.hpp"
#include "lhtree/shared/options.hpp"

namespace lhtree {

// The start of a walk: a block, the number of the walk, and its row.
struct Start {
    Ref ref;
    std::uint32_t slot;
    const float* z;
};
// Rows that reached one block together: n entries of WalkSpace::row.
struct Group {
    Ref ref;
    std::uint32_t begin, n;
};
// Working memory. Kernels do not allocate: template code of the standard library, compiled with their
// instruction set, could be linked into the rest of the core and fail on other machines.
struct WalkSpace {
    Start* starts;       // one per walk and one more
    std::uint32_t* row;  // twice the number of rows and 24 more
    Group* groups;       // one per row and one more
};

// Walks of some rows down some trees.
struct Walks {
    const PackedForest& forest;
    std::size_t first_tree, n_trees;  // all of one layout
    Rows rows;                        // normalised
    Confidence confidence;
    WalkSpace space;
};

struct ScoreKernels {
    // Writes, tree by tree and row by row, the leaf (among all leaves) that is reached and the confidence
    // d(x), 1 in a tree without branching blocks. Both arrays have one more element.
    void (*walk)(const Walks& walks, std::uint32_t* leaf, double* confidence);
    // Symmetric trees. Writes the leaf of one row in every tree: leaf[tree · stride], with room for one more
    // tree. `wide` has room for the `width` values of the row.
    void (*find_leaves)(const SymmetricForest& forest, const float* z, std::size_t width, double* wide,
                        std::size_t stride, std::uint32_t* leaf);
    // Writes the leaf of n_rows rows, a multiple of 8, in one tree. `columns` has n_rows values of every
    // feature in turn.
    void (*find_leaf)(const SymmetricForest& forest, const SymmetricTree& tree, const float* columns,
                      std::size_t n_rows, std::uint32_t* leaf);
    // Writes the path of one row down the tree at `place`, from the root to the leaf: the number of every
    // block within its tree and its feature sum, for the leaf the estimate.
    void (*trace)(const PackedForest& forest, std::size_t place, const float* z, std::int32_t* block,
                  double* value);
    // Writes the membership of every row: the estimate of its leaf, clipped to the range of the leaf.
    void (*memberships)(const PackedForest& forest, const std::uint32_t* leaf, Rows rows, double* out);
};

LHTREE_DECLARE_KERNELS(ScoreKernels, score_kernels)

}  // namespace lhtree
