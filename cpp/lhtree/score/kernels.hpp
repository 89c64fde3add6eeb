// Kernels of scoring: its inner loops.
#pragma once
#include <cstddef>
#include <cstdint>

#include "lhtree/score/layout.hpp"
#include "lhtree/shared/dispatch.hpp"
#include "lhtree/shared/matrix.hpp"
#include "lhtree/shared/options.hpp"

namespace lhtree {

// Where a walk begins, and the number it has among all walks.
struct Start {
    Ref ref;
    std::uint32_t slot;
    const float* z;
};
// Rows that have come to one block together: n of WalkSpace::row.
struct Group {
    Ref ref;
    std::uint32_t begin, n;
};
// Room to work in. Kernels allocate nothing: what they instantiated of the standard library could be linked
// into code for machines without their instruction set.
struct WalkSpace {
    Start* starts;       // a walk each and one more
    std::uint32_t* row;  // twice the rows, and twenty-four more
    Group* groups;       // a row each and one more
};

// Some trees of a forest and some rows, each of which goes down each tree.
struct Walks {
    const PackedForest& forest;
    std::size_t first_tree, n_trees;  // all of one layout
    Rows rows;                        // normalised
    Confidence confidence;
    WalkSpace space;
};

struct ScoreKernels {
    // For tree after tree, row after row: the leaf (among all leaves) that is reached, and the confidence
    // d(x) (1 if there was no way to go). Both have room for one more.
    void (*walk)(const Walks& walks, std::uint32_t* leaf, double* confidence);
    // Writes the way of one row down the tree at `place`, from the root to the leaf: the number of every
    // block within its tree and its feature sum; for the leaf the estimate, intercept + the same sum of
    // slopes.
    void (*trace)(const PackedForest& forest, std::size_t place, const float* z, std::int32_t* block,
                  double* value);
    // Membership of every row in its leaf: the estimate, clipped to the range of the leaf.
    void (*memberships)(const PackedForest& forest, const std::uint32_t* leaf, Rows rows, double* out);
};

LHTREE_DECLARE_KERNELS(ScoreKernels, score_kernels)

}  // namespace lhtree
