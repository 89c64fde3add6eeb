// How rows move on: to the next level, or, from a leaf, into the scores.
#include <algorithm>
#include <array>

#include "lhtree/grow/boost/local_rows.hpp"

namespace lhtree::boost {

// Both ranges of a block, each parted in its order.
void LocalRows::part_block(Chunk& chunk, const Extent& extent, const Cut& cut, const SumTables& tables,
                           std::vector<Entry>& aside, Extent (&children)[2]) const {
    const std::size_t m = bins().slots.size();
    const std::uint8_t* const codes = codes_ + chunk.begin * m;
    const auto part_by = [&](const auto& is_left) {
        aside.resize(extent.end - extent.begin);
        std::uint32_t to = extent.begin, n_aside = 0, n_right = 0;
        for (std::uint32_t i = extent.begin; i < extent.end; ++i) {
            if (i == extent.middle) children[0].middle = to, n_right = n_aside;
            const Entry entry = chunk.entries[i];
            const bool goes_left = is_left(codes + entry.row * m);
            chunk.entries[to] = entry;
            aside[n_aside] = entry;
            to += goes_left;
            n_aside += !goes_left;
        }
        if (extent.middle == extent.end) children[0].middle = to, n_right = n_aside;
        std::copy(aside.begin(), aside.begin() + n_aside, chunk.entries.begin() + to);
        children[0].begin = extent.begin;
        children[0].end = children[1].begin = to;
        children[1].middle = to + n_right;
        children[1].end = extent.end;
    };
    if (!cut.is_single())
        tables.with_size([&](auto size) {
            part_by([&](const std::uint8_t* row) { return tables.sum<size>(row) < cut.sum; });
        });
    else {
        const auto feature = static_cast<std::size_t>(cut.direction.features[0]);
        const std::size_t slot = bins().slots.of(feature);
        std::array<bool, 256> goes_left{};
        for (std::size_t code = 0; code < bins().slots.n_codes(slot); ++code) {
            const std::size_t bin = bins().slots.bin(feature, code);
            goes_left[code] = bin <= cut.code || (cut.is_missing_left && bin == bins().missing(feature));
        }
        part_by([&](const std::uint8_t* row) { return goes_left[row[slot]]; });
    }
}

// Rows that take part and others alike.
void LocalRows::add_leaf(const Chunk& chunk, const Extent& extent, const Leaf& leaf,
                         const LeafTables& tables) {
    const std::size_t m = bins().slots.size();
    const std::uint8_t* const codes = codes_ + chunk.begin * m;
    for (std::uint32_t i = extent.begin; i < extent.end; ++i) {
        const std::size_t row = chunk.entries[i].row;
        raw_[(chunk.begin + row) * n_scores() + score_] +=
            leaf.is_constant() ? leaf.line.intercept : tables.estimate(codes + row * m);
    }
}

void LocalRows::part(const std::vector<std::optional<Cut>>& cuts, const std::vector<Leaf>& leaves) {
    std::vector<SumTables> tables;
    std::vector<LeafTables> of_leaves;
    for (std::size_t block = 0; block < cuts.size(); ++block) {
        const auto& cut = cuts[block];
        tables.emplace_back(cut && !cut->is_single() ? cut->direction : Direction{}, bins());
        of_leaves.emplace_back(leaves[block], bins());
    }
    n_blocks_ = 0;
    for (const auto& cut : cuts) n_blocks_ += cut ? 2 : 0;
    each_chunk([&](Chunk& chunk) {
        std::vector<Entry> aside;
        std::vector<Extent> next;
        for (std::size_t block = 0; block < cuts.size(); ++block) {
            const Extent& extent = chunk.blocks[block];
            if (cuts[block]) {
                Extent children[2];
                part_block(chunk, extent, *cuts[block], tables[block], aside, children);
                next.insert(next.end(), children, children + 2);
            } else {
                add_leaf(chunk, extent, leaves[block], of_leaves[block]);
            }
        }
        chunk.blocks = std::move(next);
    });
}

}  // namespace lhtree::boost
