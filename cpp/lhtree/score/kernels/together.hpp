// Rows that go down a tree together: a block is read once for all rows that come to it, and what it does with
// them has no surprises for the processor. Included by walk.hpp.
#pragma once
#include "lhtree/score/kernels/kernels.hpp"
#include "lhtree/shared/kernels/vectors.hpp"

namespace lhtree {
namespace {

// Adds n_terms terms in the order of lane_sum, without the lanes that stay 0. A term is any kind of number.
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

// Four rows.
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

// d(x) so far, from the distances of the hyperplanes that were met.
template <Confidence mode>
inline void take_distance(double length, double& distance) {
    if constexpr (mode == Confidence::last) distance = length;
    if constexpr (mode == Confidence::path) distance = length < distance ? length : distance;
}

// Parts n rows at a block: those that go left stay, those that go right are written to `right`, both in
// order. Returns how many stay. sums(four) gives the feature sums of four rows.
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
    // In registers, since the compiler cannot know that parting does not write to the block.
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

// All rows go down one tree together. Returns how many walks are left to do, in space.starts.
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

}  // namespace
}  // namespace lhtree
