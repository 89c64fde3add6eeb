// What leaves say of rows, and the way of a row to its leaf; included by body.hpp.
#pragma once
#include "lhtree/score/kernels/walk.hpp"

namespace lhtree {
namespace {

inline double estimate(const PackedForest& forest, const Leaf& leaf, const float* z) {
    if (leaf.n == 0) return leaf.intercept;
    return leaf.intercept +
           lane_sum(forest.slopes.data() + leaf.at, forest.slope_features.data() + leaf.at, leaf.n, z);
}

inline double clip(double value, double low, double high) {
    return value < low ? low : value > high ? high : value;
}

void memberships(const PackedForest& forest, const std::uint32_t* leaf, Rows rows, double* out) {
    const Leaf* const leaves = forest.leaves.data();
    if (forest.ranges.empty()) {
        for (std::size_t row = 0; row < rows.n_rows; ++row)
            out[row] = clip(estimate(forest, leaves[leaf[row]], rows[row]), 0.0, 1.0);
        return;
    }
    const Range* const ranges = forest.ranges.data();
    for (std::size_t row = 0; row < rows.n_rows; ++row)
        out[row] = clip(estimate(forest, leaves[leaf[row]], rows[row]), ranges[leaf[row]].low,
                        ranges[leaf[row]].high);
}

template <std::size_t size>
inline std::uint32_t rank_of(const Narrow<size>&, Ref distance) {
    return distance / static_cast<Ref>(sizeof(Narrow<size>) / 8);
}
inline std::uint32_t rank_of(const Wide& block, Ref) {
    return block.rank;
}

void trace(const PackedForest& forest, std::size_t place, const float* z, std::int32_t* block,
           double* value) {
    const PackedTree& tree = forest.trees[place];
    with_layout(tree, [&](auto layout, auto n_terms) {
        Ref ref = tree.root;
        *block = 0;
        while (!(ref & leaf_bit)) {
            const auto& at = *reinterpret_cast<const typename decltype(layout)::type*>(&forest.blocks[ref]);
            *value = block_sum<n_terms>(at, z) + 0.0;  // 0, not -0, as if all lanes had been added
            const bool is_right = !(*value++ - at.offset < 0.0);
            // Breadth-first, the children of the branching blocks follow the root two by two.
            *++block = static_cast<std::int32_t>(1 + 2 * rank_of(at, ref - tree.root) + is_right);
            ref = at.child[is_right];
        }
        *value = estimate(forest, forest.leaves[ref & ~leaf_bit], z);
    });
}

}  // namespace
}  // namespace lhtree
