// Kernels of scoring, compiled once per instruction set into the namespace LHTREE_KERNELS.
//
// Many rows first go down a tree together: a block is read once for all rows that reach it. Where only a few
// rows are left together, every row walks alone.
#include "lhtree/score/kernels.hpp"

#include "lhtree/shared/vectors.hpp"

namespace lhtree {
namespace {

// Adds n_terms terms in the order of lane_sum, without the lanes that stay 0. Terms are numbers or vectors.
template <std::size_t p>
using Place = std::integral_constant<std::size_t, p>;

template <std::size_t n_terms, class Term>
inline auto sum_terms(const Term& term) {
    const auto lane = [&](auto p) {
        if constexpr (p + 8 < n_terms)
            return term(p) + term(p + 8);
        else
            return term(p);
    };
    const auto pair = [&](auto p) {
        if constexpr (p + 4 < n_terms)
            return lane(Place<p>{}) + lane(Place<p + 4>{});
        else
            return lane(Place<p>{});
    };
    const auto quad = [&](auto p) {
        if constexpr (p + 2 < n_terms)
            return pair(Place<p>{}) + pair(Place<p + 2>{});
        else
            return pair(Place<p>{});
    };
    if constexpr (n_terms > 1)
        return quad(Place<0>{}) + quad(Place<1>{});
    else
        return quad(Place<0>{});
}

struct Four {
    const float* z[4];

    Double4 operator[](std::size_t feature) const {
        return widen(Float4{z[0][feature], z[1][feature], z[2][feature], z[3][feature]});
    }
};

inline Double4 four_sums_dense(const float* weights, std::size_t n, const Four& rows) {
    Double4 low[4]{}, high[4]{};
    std::size_t p = 0;
    for (; p + 8 <= n; p += 8) {
        const Double4 first = load4(weights + p), second = load4(weights + p + 4);
        LHTREE_UNROLL(4)
        for (std::size_t i = 0; i < 4; ++i) {
            low[i] += first * load4(rows.z[i] + p);
            high[i] += second * load4(rows.z[i] + p + 4);
        }
    }
    Double4 result;
    const Double4 last = p < n ? load4(weights + p) : Double4{};
    LHTREE_UNROLL(4)
    for (std::size_t i = 0; i < 4; ++i) {
        if (p < n) low[i] += last * load4(rows.z[i] + p);
        const Double4 sum = low[i] + high[i];
        result[i] = (sum[0] + sum[2]) + (sum[1] + sum[3]);
    }
    return result;
}

inline Double4 four_sums_sparse(const float* weights, const std::int32_t* features, std::size_t n,
                                const Four& rows) {
    Double4 lane[8]{};
    const auto add = [&](std::size_t p, std::size_t i) {
        lane[i] += static_cast<double>(weights[p]) * rows[static_cast<std::size_t>(features[p])];
    };
    std::size_t p = 0;
    for (; p + 8 <= n; p += 8) {
        LHTREE_UNROLL(8)
        for (std::size_t i = 0; i < 8; ++i) add(p + i, i);
    }
    if (p < n) {
        LHTREE_UNROLL(4)
        for (std::size_t i = 0; i < 4; ++i) add(p + i, i);
    }
    return sum_terms<8>([&](std::size_t i) { return lane[i]; });
}

// Updates d(x) by the distance from one more hyperplane.
template <Confidence mode>
inline void take_distance(double length, double& distance) {
    if constexpr (mode == Confidence::last) distance = length;
    if constexpr (mode == Confidence::path) distance = length < distance ? length : distance;
}

// Partitions n rows at a block: rows that go left stay, the others are written to `right`, both in order.
// Returns the number of rows that stay. sums(four) returns the feature sums of four rows.
template <Confidence mode, class Sums>
inline std::uint32_t part_rows(const Rows& rows, double offset, std::uint32_t* row, std::uint32_t n,
                               std::uint32_t* right, double* distance, const Sums& sums) {
    std::uint32_t n_left = 0, begin = 0;
    const auto score = [&](const std::uint32_t (&four)[4], std::uint32_t some) {
        const Double4 y = sums(Four{{rows[four[0]], rows[four[1]], rows[four[2]], rows[four[3]]}}) - offset;
        if constexpr (mode != Confidence::none) {
            const Double4 length = select(y < 0.0, -y, y);
            for (std::uint32_t i = 0; i < some; ++i) take_distance<mode>(length[i], distance[four[i]]);
        }
        return y;
    };
    for (; begin + 4 <= n; begin += 4) {
        const std::uint32_t four[4] = {row[begin], row[begin + 1], row[begin + 2], row[begin + 3]};
        for (std::uint32_t i = 0; i < 4; ++i) prefetch(rows[row[begin + 16 + i]]);
        n_left += part_four(score(four, 4), four, row + n_left, right + begin - n_left);
    }
    if (begin < n) {
        const std::uint32_t last = n - 1;
        const std::uint32_t four[4] = {row[begin], row[begin + 1 < n ? begin + 1 : last],
                                       row[begin + 2 < n ? begin + 2 : last], row[last]};
        const Double4 y = score(four, n - begin);
        for (std::uint32_t i = 0; begin < n; ++i, ++begin) {
            row[n_left] = right[begin - n_left] = four[i];
            n_left += y[i] < 0.0;
        }
    }
    return n_left;
}

template <Confidence mode, std::size_t n_terms, std::size_t size>
inline std::uint32_t part_rows(const Rows& rows, const Narrow<size>& block, std::uint32_t* row,
                               std::uint32_t n, std::uint32_t* right, double* distance) {
    const auto part = [&](const auto& sums) {
        return part_rows<mode>(rows, block.offset, row, n, right, distance, sums);
    };
    // Copied to registers: the compiler must assume that writing rows may change the block.
    double weights[n_terms];
    std::size_t features[n_terms];
    bool is_single = true;
    for (std::size_t p = 0; p < n_terms; ++p) {
        weights[p] = static_cast<double>(block.weights[p]);
        features[p] = block.features[p];
        is_single &= p == 0 || weights[p] == 0.0;
    }
    if (is_single) return part([&](const Four& four) { return weights[0] * four[features[0]]; });
    return part([&](const Four& four) {
        return sum_terms<n_terms>([&](std::size_t p) { return weights[p] * four[features[p]]; });
    });
}

template <Confidence mode, std::size_t>
inline std::uint32_t part_rows(const Rows& rows, const Wide& block, std::uint32_t* row, std::uint32_t n,
                               std::uint32_t* right, double* distance) {
    const auto part = [&](const auto& sums) {
        return part_rows<mode>(rows, block.offset, row, n, right, distance, sums);
    };
    const auto* features = reinterpret_cast<const std::int32_t*>(&block + 1);
    const auto* weights = reinterpret_cast<const float*>(features + (block.is_dense ? 0 : block.n));
    if (block.is_dense)
        return part([&](const Four& four) { return four_sums_dense(weights, block.n, four); });
    return part([&](const Four& four) { return four_sums_sparse(weights, features, block.n, four); });
}

// Walks all rows down one tree together. Returns the number of walks that remain, in space.starts.
template <class Block, std::size_t n_terms, Confidence mode>
std::size_t walk_together(const Walks& walks, std::uint32_t* leaf, double* confidence) {
    constexpr std::uint32_t few = 4;
    const Rows& rows = walks.rows;
    const PackedTree& tree = walks.forest.trees[walks.first_tree];
    const std::uint64_t* const blocks = walks.forest.blocks.data();
    const WalkSpace& space = walks.space;
    const auto n_rows = static_cast<std::uint32_t>(rows.n_rows);
    for (std::uint32_t i = 0; i < n_rows; ++i) {
        space.row[i] = i;
        confidence[i] = 1.0;
    }
    std::size_t n_groups = 0, n_starts = 0;
    space.groups[n_groups++] = {tree.root, 0, n_rows};
    while (n_groups > 0) {
        Group group = space.groups[--n_groups];
        while (group.n > 0) {
            std::uint32_t* const row = space.row + group.begin;
            if (group.ref & leaf_bit) {
                for (std::uint32_t i = 0; i < group.n; ++i) leaf[row[i]] = group.ref & ~leaf_bit;
                break;
            }
            if (group.n <= few) {
                for (std::uint32_t i = 0; i < group.n; ++i)
                    space.starts[n_starts++] = {group.ref, row[i], rows[row[i]]};
                break;
            }
            const auto& block = *reinterpret_cast<const Block*>(blocks + group.ref);
            std::uint32_t* const right = space.row + n_rows;
            const std::uint32_t n_left =
                part_rows<mode, n_terms>(rows, block, row, group.n, right, confidence);
            const std::uint32_t n_right = group.n - n_left;
            std::memcpy(row + n_left, right, n_right * sizeof *right);
            space.groups[n_groups] = {block.child[1], group.begin + n_left, n_right};
            n_groups += n_right > 0;
            group = {block.child[0], group.begin, n_left};
        }
    }
    return n_starts;
}

// Returns the feature sum of a block with at most n_terms weights, from the lanes that can differ from 0.
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

// Advances several walks by one block each in turn: while one waits for memory, the others compute. Nothing
// in the loop branches on data, because a misprediction would stall all walks. A walk that has ended stays at
// the sentinel block (number 0) until, every few steps, its slot is given to the next walk; in low trees,
// until all have ended.
template <class Block, std::size_t n_terms, Confidence mode>
void walk_alone(const Walks& walks, std::size_t n_walks, std::uint32_t* leaf, double* confidence) {
    constexpr std::size_t max_walkers = 12;
    const std::int32_t depth = walks.forest.depth, n_steps = depth > 0 && depth <= 6 ? depth : 4;
    Start* const starts = walks.space.starts;
    const auto nobody = static_cast<std::uint32_t>(walks.n_trees * walks.rows.n_rows);
    starts[n_walks] = {leaf_bit, nobody, walks.rows[0]};  // for slots without a walk
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
                const Ref is_over = -(ref[i] >> 31);  // all bits set, or none
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
    constexpr auto none = Confidence::none, last = Confidence::last, path = Confidence::path;
    if (walks.confidence == none) return walk_by<Block, n_terms, none>(walks, leaf, confidence);
    if (walks.confidence == last) return walk_by<Block, n_terms, last>(walks, leaf, confidence);
    return walk_by<Block, n_terms, path>(walks, leaf, confidence);
}

template <class Block>
struct Layout {
    using type = Block;
};

// Calls use(layout, number of terms) for the layout of a tree.
template <std::size_t n, std::size_t... more, class Use>
inline void with_layout_of(std::uint32_t n_terms, const Use& use) {
    if constexpr (n == 0)
        use(Layout<Wide>{}, Place<0>{});
    else if (n_terms == n)
        use(Layout<Narrow<(n + 3) / 4 * 4>>{}, Place<n>{});
    else
        with_layout_of<more...>(n_terms, use);
}
template <class Use>
inline void with_layout(const PackedTree& tree, const Use& use) {
    with_layout_of<1, 2, 4, 5, 6, 7, 8, 12, 16, 0>(tree.n_terms, use);
}

void walk(const Walks& walks, std::uint32_t* leaf, double* confidence) {
    with_layout(walks.forest.trees[walks.first_tree], [&](auto layout, auto n_terms) {
        walk_layout<typename decltype(layout)::type, n_terms>(walks, leaf, confidence);
    });
}

inline double estimate(const PackedForest& forest, const Leaf& leaf, const float* z) {
    if (leaf.n == 0) return leaf.intercept;
    return leaf.intercept +
           lane_sum(forest.slopes.data() + leaf.at, forest.slope_features.data() + leaf.at, leaf.n, z);
}

// Also returns `low` for NaN, the sum of terms that overflow in both directions.
inline double clip(double value, double low, double high) {
    return !(value >= low) ? low : value > high ? high : value;
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

// Calls use(n_terms) with the number of terms of a level, rounded up to one of the groups.
template <class Use>
inline void with_terms(std::size_t n_terms, const Use& use) {
    if (n_terms <= 1) return use(Place<1>{});
    if (n_terms == 2) return use(Place<2>{});
    if (n_terms <= 4) return use(Place<4>{});
    use(Place<8>{});
}

void find_leaves(const SymmetricForest& forest, const float* z, std::size_t width, double* wide,
                 std::size_t stride, std::uint32_t* leaf) {
    const Double4 zero{};
    for (std::size_t i = 0; i < width; ++i) wide[i] = static_cast<double>(z[i]);
    const double* offset = forest.quad_offsets.data();
    const float *bit = forest.quad_bits.data(), *weights = forest.quad_weights.data();
    const std::uint32_t* features = forest.quad_features.data();
    leaf[forest.trees.size() * stride] = 0;
    with_terms(forest.n_terms, [&](auto n_terms) {
        for (const TreeQuad& quad : forest.quads) {
            Double4 number = zero;
            for (std::uint32_t i = 0; i < quad.n_levels; ++i) {
                const Double4 y = sum_terms<n_terms>([&](std::size_t term) {
                                      const std::uint32_t* const at = features + 4 * term;
                                      return load4(weights + 4 * term) *
                                             Double4{wide[at[0]], wide[at[1]], wide[at[2]], wide[at[3]]};
                                  }) -
                                  load4(offset);
                number += select(y < 0.0, zero, load4(bit));
                offset += 4;
                bit += 4;
                weights += 4 * n_terms;
                features += 4 * n_terms;
            }
            for (std::size_t j = 0; j < 4; ++j)
                leaf[quad.tree[j] * stride] = static_cast<std::uint32_t>(number[j]);
        }
    });
    const Step* const steps = forest.steps.data();
    for (const StepColumn& column : forest.columns) {
        const float value = z[column.column];
        for (std::uint32_t i = column.begin; i < column.end && !(value < steps[i].near); ++i)
            leaf[steps[i].tree * stride] += steps[i].bit;
    }
    for (std::size_t tree = 0; tree < forest.trees.size(); ++tree)
        leaf[tree * stride] += forest.trees[tree].first_leaf;
}

// The numbers of the leaves of eight rows, given their sides at the levels above and at one more level.
inline void add_side(std::uint32_t* number, Int8 is_left) {
    const Int8 before = load<Int8>(number);
    store(number, before + before + 1 + is_left);
}

template <std::size_t n_terms>
void take_level(const Level& level, const float* columns, std::size_t n_rows, std::uint32_t* number) {
    const float* column[n_terms];
    for (std::size_t term = 0; term < n_terms; ++term) column[term] = columns + level.features[term] * n_rows;
    const float near = level.near, margin = level.margin;
    for (std::size_t row = 0; row < n_rows; row += 8) {
        const Float8 y = sum_terms<n_terms>([&](std::size_t term) {
                             return level.weights[term] * load<Float8>(column[term] + row);
                         }) -
                         near;
        Int8 is_left = y<0.0f, is_sure = y> margin;
        is_sure |= y < -margin;
        if (any(~is_sure)) {
            std::int32_t exact[8];
            for (std::size_t j = 0; j < 8; j += 4) {
                const Double4 sum = sum_terms<n_terms>([&](std::size_t term) {
                    return static_cast<double>(level.weights[term]) * load4(column[term] + row + j);
                });
                for (std::size_t i = 0; i < 4; ++i) exact[j + i] = -(sum[i] - level.offset < 0.0);
            }
            is_left = load<Int8>(exact);
        }
        add_side(number + row, is_left);
    }
}

void find_leaf(const SymmetricForest& forest, const SymmetricTree& tree, const float* columns,
               std::size_t n_rows, std::uint32_t* leaf) {
    for (std::size_t row = 0; row < n_rows; ++row) leaf[row] = 0;
    for (std::uint32_t i = 0; i < tree.n_levels; ++i) {
        const Level& level = forest.levels[tree.first_level + i];
        if (level.is_step()) {
            const float* const column = columns + level.features[0] * n_rows;
            const float near = level.near;
            for (std::size_t row = 0; row < n_rows; row += 8)
                add_side(leaf + row, load<Float8>(column + row) < near);
        } else {
            with_terms(level.n_terms,
                       [&](auto n_terms) { take_level<n_terms>(level, columns, n_rows, leaf); });
        }
    }
    for (std::size_t row = 0; row < n_rows; ++row) leaf[row] += tree.first_leaf;
}

// The path of one row down a symmetric tree.
void trace_levels(const PackedForest& forest, std::size_t number, const float* z, std::int32_t* block,
                  double* value) {
    const SymmetricTree& tree = forest.symmetric.trees[number];
    std::uint32_t side = 0;
    for (std::uint32_t i = 0; i < tree.n_levels; ++i) {
        const Level& level = forest.symmetric.levels[tree.first_level + i];
        *block++ = static_cast<std::int32_t>((1u << i) - 1 + side);
        with_terms(level.n_terms, [&](auto n_terms) {
            *value = sum_terms<n_terms>([&](std::size_t term) {
                         return static_cast<double>(level.weights[term]) *
                                static_cast<double>(z[level.features[term]]);
                     }) +
                     0.0;  // 0 instead of -0, as the sum of all lanes
        });
        side = 2 * side + !(*value++ - level.offset < 0.0);
    }
    *block = static_cast<std::int32_t>((1u << tree.n_levels) - 1 + side);
    *value = estimate(forest, forest.leaves[tree.first_leaf + side], z);
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
    if (forest.symmetric.is_given()) return trace_levels(forest, place, z, block, value);
    const PackedTree& tree = forest.trees[place];
    with_layout(tree, [&](auto layout, auto n_terms) {
        Ref ref = tree.root;
        *block = 0;
        while (!(ref & leaf_bit)) {
            const auto& at = *reinterpret_cast<const typename decltype(layout)::type*>(&forest.blocks[ref]);
            *value = block_sum<n_terms>(at, z) + 0.0;  // 0 instead of -0, as the sum of all lanes
            const bool is_right = !(*value++ - at.offset < 0.0);
            // The blocks are numbered breadth-first: children follow the root in pairs.
            *++block = static_cast<std::int32_t>(1 + 2 * rank_of(at, ref - tree.root) + is_right);
            ref = at.child[is_right];
        }
        *value = estimate(forest, forest.leaves[ref & ~leaf_bit], z);
    });
}

}  // namespace

namespace LHTREE_KERNELS {
const ScoreKernels score_kernels = {walk, find_leaves, find_leaf, trace, memberships};
}

}  // namespace lhtree
