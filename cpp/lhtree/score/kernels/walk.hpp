// Rows on their way down trees; included by body.hpp.
//
// Many rows first go down a tree together; where only a few are left together, every row walks alone.
#pragma once
#include "lhtree/score/kernels/together.hpp"

namespace lhtree {
namespace {

// The feature sum of a block with at most n_terms weights: the lanes of lane_sum that can differ from 0.
template <std::size_t n_terms, std::size_t size>
inline double block_sum(const Narrow<size>& block, const float* z) {
    const auto term = [&](std::size_t p) {
        return static_cast<double>(block.weights[p]) * static_cast<double>(z[block.features[p]]);
    };
    if constexpr (n_terms == 1) {
        return term(0);
    } else if constexpr (n_terms == 2) {
        return term(0) + term(1);
    } else {
        Double4 sum = load4(block.weights) * gather4(z, block.features);
        if constexpr (n_terms == 5)
            sum += Double4{term(4), 0.0, 0.0, 0.0};
        else if constexpr (n_terms == 6)
            sum += Double4{term(4), term(5), 0.0, 0.0};
        else if constexpr (n_terms > 6) {
            Double4 high = load4(block.weights + 4) * gather4(z, block.features + 4);
            if constexpr (n_terms > 8) sum += load4(block.weights + 8) * gather4(z, block.features + 8);
            if constexpr (n_terms > 12) high += load4(block.weights + 12) * gather4(z, block.features + 12);
            sum += high;
        }
        return (sum[0] + sum[2]) + (sum[1] + sum[3]);
    }
}
template <std::size_t>
inline double block_sum(const Wide& block, const float* z) {
    const auto* features = reinterpret_cast<const std::int32_t*>(&block + 1);
    if (block.is_dense) return lane_sum(reinterpret_cast<const float*>(features), nullptr, block.n, z);
    return lane_sum(reinterpret_cast<const float*>(features + block.n), features, block.n, z);
}

// Several walks go on at once, a block each in turn: while one waits for its next block to come from memory,
// the others have work. Nothing in the loop branches on the data, since a wrong guess would throw away the
// work of all: a walk that has ended stays at the block that leads nowhere (number 0) until, every few steps,
// its place is given to the next; in low trees, when all have ended.
template <class Block, std::size_t n_terms, Confidence mode>
void walk_alone(const Walks& walks, std::size_t n_walks, std::uint32_t* leaf, double* confidence) {
    constexpr std::size_t max_walkers = 12;
    const std::int32_t depth = walks.forest.depth, n_steps = depth > 0 && depth <= 6 ? depth : 4;
    Start* const starts = walks.space.starts;
    const auto nobody = static_cast<std::uint32_t>(walks.n_trees * walks.rows.n_rows);
    starts[n_walks] = {leaf_bit, nobody, walks.rows[0]};  // for walkers without a walk
    confidence[nobody] = 1.0;

    const std::size_t n_walkers = n_walks < max_walkers ? n_walks : max_walkers;
    Ref ref[max_walkers];
    const float* z[max_walkers];
    double distance[max_walkers];
    std::uint32_t slot[max_walkers];
    std::size_t next = 0, n_ended = 0;
    for (std::size_t i = 0; i < n_walkers; ++i) {
        slot[i] = starts[next].slot;
        ref[i] = starts[next].ref;
        z[i] = starts[next].z;
        distance[i] = confidence[slot[i]];
        next += next < n_walks;
    }
    const std::uint64_t* const blocks = walks.forest.blocks.data();
    while (n_ended < n_walks) {
        for (std::int32_t step = 0; step < n_steps; ++step)
            for (std::size_t i = 0; i < n_walkers; ++i) {
                const Ref is_over = -(ref[i] >> 31);  // all ones or none
                const auto& block = *reinterpret_cast<const Block*>(blocks + (ref[i] & ~is_over));
                const double y = block_sum<n_terms>(block, z[i]) - block.offset;
                if constexpr (mode != Confidence::none) {
                    const double length = y < 0.0 ? -y : y;
                    take_distance<mode>(length == infinity ? distance[i] : length, distance[i]);
                }
                ref[i] = (ref[i] & is_over) | block.child[!(y < 0.0)];
                prefetch(blocks + (ref[i] & ((ref[i] >> 31) - 1)));
            }
        for (std::size_t i = 0; i < n_walkers; ++i) {
            const bool is_over = ref[i] & leaf_bit;
            leaf[slot[i]] = ref[i] & ~leaf_bit;
            confidence[slot[i]] = distance[i];
            n_ended += is_over && slot[i] != nobody;
            const Start& from = starts[next];
            slot[i] = is_over ? from.slot : slot[i];
            ref[i] = is_over ? from.ref : ref[i];
            z[i] = is_over ? from.z : z[i];
            distance[i] = is_over ? confidence[from.slot] : distance[i];
            next += is_over && next < n_walks;
        }
    }
}

template <class Block, std::size_t n_terms, Confidence mode>
void walk_by(const Walks& walks, std::uint32_t* leaf, double* confidence) {
    constexpr std::size_t many_rows = 32;
    const std::size_t n_rows = walks.rows.n_rows, n_walks = walks.n_trees * n_rows;
    std::size_t n_left = 0;
    if (walks.n_trees == 1 && n_rows >= many_rows) {
        n_left = walk_together<Block, n_terms, mode>(walks, leaf, confidence);
    } else {
        for (std::size_t tree = 0; tree < walks.n_trees; ++tree)
            for (std::size_t row = 0; row < n_rows; ++row, ++n_left) {
                walks.space.starts[n_left] = {walks.forest.trees[walks.first_tree + tree].root,
                                              static_cast<std::uint32_t>(n_left), walks.rows[row]};
                confidence[n_left] = 1.0;
            }
    }
    walk_alone<Block, n_terms, mode>(walks, n_left, leaf, confidence);
    if constexpr (mode != Confidence::none)
        for (std::size_t i = 0; i < n_walks; ++i) confidence[i] = confidence[i] < 1.0 ? confidence[i] : 1.0;
}

template <class Block, std::size_t n_terms>
void walk_layout(const Walks& walks, std::uint32_t* leaf, double* confidence) {
    switch (walks.confidence) {
        case Confidence::none:
            return walk_by<Block, n_terms, Confidence::none>(walks, leaf, confidence);
        case Confidence::last:
            return walk_by<Block, n_terms, Confidence::last>(walks, leaf, confidence);
        case Confidence::path:
            return walk_by<Block, n_terms, Confidence::path>(walks, leaf, confidence);
    }
}

template <class Block>
struct Layout {
    using type = Block;
};

// Calls use(layout, number of terms) with those of the blocks of a tree.
template <class Use>
inline void with_layout(const PackedTree& tree, const Use& use) {
    switch (tree.n_terms) {
        case 1:
            return use(Layout<Narrow<4>>{}, Place<1>{});
        case 2:
            return use(Layout<Narrow<4>>{}, Place<2>{});
        case 4:
            return use(Layout<Narrow<4>>{}, Place<4>{});
        case 5:
            return use(Layout<Narrow<8>>{}, Place<5>{});
        case 6:
            return use(Layout<Narrow<8>>{}, Place<6>{});
        case 7:
            return use(Layout<Narrow<8>>{}, Place<7>{});
        case 8:
            return use(Layout<Narrow<8>>{}, Place<8>{});
        case 12:
            return use(Layout<Narrow<12>>{}, Place<12>{});
        case 16:
            return use(Layout<Narrow<16>>{}, Place<16>{});
        default:
            return use(Layout<Wide>{}, Place<0>{});
    }
}

void walk(const Walks& walks, std::uint32_t* leaf, double* confidence) {
    with_layout(walks.forest.trees[walks.first_tree], [&](auto layout, auto n_terms) {
        walk_layout<typename decltype(layout)::type, n_terms>(walks, leaf, confidence);
    });
}

}  // namespace
}  // namespace lhtree
