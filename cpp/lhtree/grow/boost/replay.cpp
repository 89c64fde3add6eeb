// Trees that are already grown: their values are added to the scores of rows without derivatives.
#include <algorithm>
#include <cmath>

#include "lhtree/grow/boost/boost.hpp"

namespace lhtree::boost {
namespace {

// The cut of a block of a finished tree.
Cut read_cut(const Bins& bins, const ForestView& forest, std::int64_t block) {
    Cut cut;
    for (std::int64_t i = forest.hyperplane_ptr[block]; i < forest.hyperplane_ptr[block + 1]; ++i) {
        cut.direction.features.push_back(forest.hyperplane_feature[i]);
        cut.direction.weights.push_back(static_cast<std::int32_t>(
            std::nearbyint(static_cast<double>(forest.hyperplane_weight[i]) / weight_unit)));
    }
    cut.sum = forest.offset[block] / sum_unit;
    if (!cut.is_single()) return cut;
    const auto f = static_cast<std::size_t>(cut.direction.features[0]);
    const auto first = bins.edge.begin() + bins.ptr[f],
               last = first + static_cast<std::ptrdiff_t>(bins.n_bins(f) - 1);
    cut.code = static_cast<std::uint32_t>(std::lower_bound(first, last, forest.offset[block]) - first);
    cut.is_missing_left = forest.missing[block] < 0;
    return cut;
}

// The leaf of a block of a finished tree.
Leaf read_leaf(const ForestView& forest, std::int64_t block, bool is_joint, std::size_t n_scores) {
    if (is_joint) {
        std::vector<double> values(n_scores);
        for (std::int64_t i = forest.value_ptr[block]; i < forest.value_ptr[block + 1]; ++i)
            values[static_cast<std::size_t>(forest.value_class[i])] = forest.value[i];
        return Leaf::joint(std::move(values));
    }
    Leaf leaf = Leaf::constant(forest.intercept[block]);
    for (std::int64_t i = forest.membership_ptr[block]; i < forest.membership_ptr[block + 1]; ++i) {
        leaf.line.features.push_back(forest.membership_feature[i]);
        leaf.line.slopes.push_back(forest.membership_slope[i]);
    }
    leaf.low = forest.low[block];
    leaf.high = forest.high[block];
    return leaf;
}

}  // namespace

void replay_tree(Rows& rows, const ForestView& forest, std::size_t tree, std::size_t score) {
    rows.ask(BeginReplay{{}, score});
    std::vector<std::int64_t> level{forest.block_ptr[tree]};
    while (!level.empty()) {
        std::vector<std::optional<Cut>> cuts;
        std::vector<Leaf> leaves;
        std::vector<std::int64_t> next;
        for (const std::int64_t block : level) {
            leaves.push_back(read_leaf(forest, block, forest.target[tree] < 0, rows.n_scores()));
            cuts.emplace_back();
            if (forest.left[block] < 0) continue;
            cuts.back() = read_cut(rows.bins(), forest, block);
            const std::int64_t left = forest.block_ptr[tree] + forest.left[block];
            next.push_back(left);
            next.push_back(left + 1);
        }
        rows.ask(SplitLevel{{}, std::move(cuts), std::move(leaves), 0});
        level = std::move(next);
    }
}

}  // namespace lhtree::boost
