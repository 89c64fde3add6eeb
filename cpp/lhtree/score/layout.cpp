#include "lhtree/score/layout.hpp"

#include <algorithm>
#include <cmath>
#include <cstring>
#include <limits>
#include <numeric>
#include <stdexcept>

namespace lhtree {

Planes::Planes(const ForestView& forest, std::size_t n_features, double clip)
    : n_features_(n_features),
      stride_(n_features),
      width_(n_features),
      clip_(static_cast<float>(std::min(clip, largest))) {
    std::array<bool, 4> is_used{true, false, false, false};
    for (std::size_t block = 0; block < forest.n_blocks(); ++block)
        is_used[plane_of(forest, static_cast<std::int64_t>(block))] = true;
    if (std::count(is_used.begin(), is_used.end(), true) == 1) return;
    // Dense blocks read whole vectors: values behind a plane must be finite.
    stride_ = (n_features + 3) / 4 * 4;
    if (stride_ > std::numeric_limits<std::int32_t>::max() / is_used.size())
        throw std::length_error("the model has too many features to score");
    width_ = 0;
    for (std::size_t plane = 0; plane < is_used.size(); ++plane)
        if (is_used[plane]) {
            begin_[plane] = static_cast<std::int32_t>(width_);
            width_ += stride_;
        }
}

Planes::Plane Planes::plane_of(const ForestView& forest, std::int64_t block) const {
    if (forest.hyperplane_ptr[block + 1] - forest.hyperplane_ptr[block] != 1) return clipped;
    const std::int8_t missing = forest.missing.empty() ? std::int8_t{0} : forest.missing[block];
    if (missing != 0) return missing < 0 ? leftmost : rightmost;
    return is_clipping() ? at_centre : clipped;
}

std::int32_t Planes::begin(const ForestView& forest, std::int64_t block) const {
    return begin_[plane_of(forest, block)];
}

void Planes::lay(const float* z, std::size_t n_rows, float* rows) const {
    constexpr float infinity = std::numeric_limits<float>::infinity();
    const std::size_t n = n_features_;
    const auto fill = [&](Plane plane, const auto& value) {
        if (begin_[plane] == unused) return;
        float* const to = rows + begin_[plane];
        for (std::size_t f = 0; f < n; ++f) to[f] = value(z[f]);
        std::fill(to + n, to + stride_, 0.0f);
    };
    const auto known_or = [](float missing) {
        return [missing](float value) { return value != value ? missing : value; };
    };
    for (std::size_t row = 0; row < n_rows; ++row, z += n, rows += width_) {
        fill(clipped, [this](float value) {
            const float bounded = value > clip_ ? clip_ : value < -clip_ ? -clip_ : value;
            return value != value ? 0.0f : bounded;
        });
        fill(at_centre, known_or(0.0f));
        fill(leftmost, known_or(-infinity));
        fill(rightmost, known_or(infinity));
    }
}

namespace {

constexpr std::uint32_t padded4(std::uint32_t n) {
    return (n + 3) / 4 * 4;
}

// Values padded with zeros to a multiple of 4.
template <class T>
void append(std::vector<T>& to, const T* values, std::uint32_t n) {
    to.insert(to.end(), values, values + n);
    to.resize(to.size() + padded4(n) - n);
}

std::uint32_t n_weights(const ForestView& forest, std::int64_t block) {
    return static_cast<std::uint32_t>(forest.hyperplane_ptr[block + 1] - forest.hyperplane_ptr[block]);
}

std::uint32_t count_terms(const ForestView& forest, std::int64_t begin, std::int64_t end, std::size_t width) {
    std::uint32_t most = 1;
    for (std::int64_t block = begin; block < end; ++block) most = std::max(most, n_weights(forest, block));
    if (width > 65536) return 0;
    for (const std::uint32_t n_terms : {1u, 2u, 4u, 5u, 6u, 7u, 8u, 12u, 16u})
        if (most <= n_terms) return n_terms;
    return 0;
}

std::size_t block_bytes(std::uint32_t n_terms, std::uint32_t n, bool is_dense) {
    if (n_terms == 0)
        return sizeof(Wide) + padded4(n) * (sizeof(float) + (is_dense ? 0 : sizeof(std::int32_t)));
    if (n_terms <= 4) return sizeof(Narrow<4>);
    if (n_terms <= 8) return sizeof(Narrow<8>);
    return n_terms <= 12 ? sizeof(Narrow<12>) : sizeof(Narrow<16>);
}

template <std::size_t size>
void fill(Narrow<size>& to, const ForestView& forest, std::int64_t block, std::int32_t plane) {
    const std::int64_t begin = forest.hyperplane_ptr[block];
    for (std::uint32_t i = 0; i < n_weights(forest, block); ++i) {
        to.features[i] = static_cast<std::uint16_t>(plane + forest.hyperplane_feature[begin + i]);
        to.weights[i] = forest.hyperplane_weight[begin + i];
    }
}

void fill(Wide& to, const ForestView& forest, std::int64_t block, std::int32_t plane, bool is_dense,
          std::uint32_t rank) {
    const std::int64_t begin = forest.hyperplane_ptr[block];
    const std::uint32_t n = n_weights(forest, block);
    to.n = padded4(n);
    to.is_dense = is_dense;
    to.rank = rank & 0x7fffffffu;
    auto* behind = reinterpret_cast<unsigned char*>(&to + 1);
    if (!is_dense) {
        auto* const features = reinterpret_cast<std::int32_t*>(behind);
        for (std::uint32_t i = 0; i < n; ++i) features[i] = plane + forest.hyperplane_feature[begin + i];
        behind += to.n * sizeof(std::int32_t);
    }
    std::memcpy(behind, forest.hyperplane_weight.data() + begin, n * sizeof(float));
}

// Whether a leaf has a range other than 0 to 1, which needs another kernel.
bool needs_ranges(const ForestView& forest) {
    for (std::size_t block = 0; block < forest.low.size(); ++block)
        if (forest.left[block] < 0 && (forest.low[block] != 0.0 || forest.high[block] != 1.0)) return true;
    return false;
}

void pack_shares(const ForestView& forest, std::size_t n_classes, PackedForest& packed) {
    for (std::size_t cls = 0; cls < n_classes; ++cls)
        packed.shares.push_back({1.0, static_cast<std::uint32_t>(cls)});
    for (std::size_t block = 0; block < forest.n_blocks(); ++block) {
        if (forest.left[block] >= 0) continue;
        const std::int64_t begin = forest.value_ptr[block], end = forest.value_ptr[block + 1];
        const double of_prior = forest.prior_share.empty() ? 0.0 : forest.prior_share[block];
        if (!forest.prior_share.empty()) packed.prior_shares.push_back(of_prior);
        if (end - begin == 1 && forest.value[begin] == 1.0 && of_prior == 0.0) {
            packed.leaf_shares.push_back({static_cast<std::uint32_t>(forest.value_class[begin]), 1});
            continue;
        }
        packed.leaf_shares.push_back(
            {static_cast<std::uint32_t>(packed.shares.size()), static_cast<std::uint32_t>(end - begin)});
        for (std::int64_t i = begin; i < end; ++i)
            packed.shares.push_back(
                {(1.0 - of_prior) * forest.value[i], static_cast<std::uint32_t>(forest.value_class[i])});
        if (packed.shares.size() > 0xffffffffu)
            throw std::length_error(
                "the model has too many shares to score: fewer or smaller trees are needed");
    }
}

void pack_values(const ForestView& forest, std::size_t n_classes, PackedForest& packed) {
    packed.leaf_values.resize(packed.leaves.size() * n_classes);
    double* to = packed.leaf_values.data();
    for (std::size_t block = 0; block < forest.n_blocks(); ++block) {
        if (forest.left[block] >= 0) continue;
        for (std::int64_t i = forest.value_ptr[block]; i < forest.value_ptr[block + 1]; ++i)
            to[forest.value_class[i]] = forest.value[i];
        to += n_classes;
    }
}

// The depth of a tree whose leaves are all at the same depth and whose blocks of a level have the same
// hyperplane, with one term or a few; -1 of any other tree.
std::int32_t find_symmetric_depth(const ForestView& forest, std::int64_t begin, std::int64_t end) {
    std::int32_t depth = 0;
    std::int64_t first = begin, n = 1;  // blocks of the level
    const std::int32_t* const features = forest.hyperplane_feature.data();
    const float* const weights = forest.hyperplane_weight.data();
    for (; first < end && forest.left[first] >= 0; first += n, n *= 2, ++depth) {
        const std::uint32_t n_terms = n_weights(forest, first);
        if (first + n + 2 * n > end || n_terms == 0 || n_terms > most_level_terms) return -1;
        const auto same = [&](std::int64_t block) {
            const std::int64_t a = forest.hyperplane_ptr[first], b = forest.hyperplane_ptr[block];
            const std::uint32_t size = n_weights(forest, first);
            const bool is_missing_same =
                forest.missing.empty() || forest.missing[first] == forest.missing[block];
            return forest.left[block] >= 0 && n_weights(forest, block) == size && is_missing_same &&
                   forest.offset[first] == forest.offset[block] &&
                   std::equal(features + a, features + a + size, features + b) &&
                   std::equal(weights + a, weights + a + size, weights + b);
        };
        for (std::int64_t block = first; block < first + n; ++block)
            if (!same(block)) return -1;
    }
    return first + n == end ? depth : -1;  // the rest are leaves
}

// Sets `near` and `margin`. With at most eight terms of at most `bound` each, sums of float32 have an error
// below 16 · 2^-24 times the sum of their absolute values.
void round_offset(Level& level, double bound) {
    constexpr float none = std::numeric_limits<float>::infinity();
    level.near = static_cast<float>(level.offset);
    level.margin = none;
    if (level.is_step()) {
        if (static_cast<double>(level.near) < level.offset) level.near = std::nextafter(level.near, none);
        return;
    }
    if (level.n_terms == 1) return;  // may read infinities
    double total = std::abs(level.offset);
    for (const float weight : level.weights) total += std::abs(static_cast<double>(weight)) * bound;
    if (total < 1e30) level.margin = static_cast<float>(total * 0x1p-20 + 1e-30);
}

// Lays out trees by levels if all of them are symmetric.
SymmetricForest pack_symmetric(const ForestView& forest, const Planes& planes) {
    SymmetricForest packed;
    std::uint32_t n_leaves = 0;
    for (std::size_t tree = 0; tree < forest.n_trees(); ++tree) {
        const std::int64_t begin = forest.block_ptr[tree], end = forest.block_ptr[tree + 1];
        const std::int32_t depth = find_symmetric_depth(forest, begin, end);
        if (depth < 0) return {};
        packed.trees.push_back(
            {static_cast<std::uint32_t>(packed.levels.size()), static_cast<std::uint32_t>(depth), n_leaves});
        for (std::int32_t level = 0; level < depth; ++level) {
            const std::int64_t block = begin + (std::int64_t{1} << level) - 1;
            const std::int64_t first = forest.hyperplane_ptr[block];
            Level to{forest.offset[block], 0.0f, 0.0f, n_weights(forest, block), {}, {}};
            const auto plane = static_cast<std::uint32_t>(planes.begin(forest, block));
            std::fill(std::begin(to.features), std::end(to.features), plane);
            for (std::uint32_t i = 0; i < to.n_terms; ++i) {
                to.features[i] = plane + static_cast<std::uint32_t>(forest.hyperplane_feature[first + i]);
                to.weights[i] = forest.hyperplane_weight[first + i];
            }
            round_offset(to, planes.bound());
            packed.levels.push_back(to);
        }
        n_leaves += std::uint32_t{1} << depth;
    }
    return packed;
}

void add_steps(SymmetricForest& forest) {
    std::vector<std::pair<std::uint32_t, Step>> found;  // by column
    for (std::uint32_t tree = 0; tree < forest.trees.size(); ++tree)
        for (std::uint32_t i = 0; i < forest.trees[tree].n_levels; ++i)
            if (const Level& level = forest.levels[forest.trees[tree].first_level + i]; level.is_step())
                found.push_back(
                    {level.features[0], {level.near, tree, 1u << (forest.trees[tree].n_levels - 1 - i)}});
    std::stable_sort(found.begin(), found.end(), [](const auto& a, const auto& b) {
        return a.first != b.first ? a.first < b.first : a.second.near < b.second.near;
    });
    for (const auto& [column, step] : found) {
        const auto at = static_cast<std::uint32_t>(forest.steps.size());
        if (forest.columns.empty() || forest.columns.back().column != column)
            forest.columns.push_back({column, at, at});
        forest.steps.push_back(step);
        ++forest.columns.back().end;
    }
}

// Trees with similar numbers of levels share a quad, so that few levels are padding.
void add_quads(SymmetricForest& forest) {
    const auto n_trees = static_cast<std::uint32_t>(forest.trees.size());
    struct Other {
        const Level* level;
        float bit;
    };
    std::vector<std::vector<Other>> others(n_trees + 1);
    std::uint32_t most = 1;
    for (std::uint32_t tree = 0; tree < n_trees; ++tree)
        for (std::uint32_t i = 0; i < forest.trees[tree].n_levels; ++i)
            if (const Level& level = forest.levels[forest.trees[tree].first_level + i]; !level.is_step()) {
                others[tree].push_back(
                    {&level, static_cast<float>(1u << (forest.trees[tree].n_levels - 1 - i))});
                most = std::max(most, level.n_terms);
            }
    while (forest.n_terms < most) forest.n_terms *= 2;
    std::vector<std::uint32_t> order(n_trees);
    std::iota(order.begin(), order.end(), 0u);
    std::stable_sort(order.begin(), order.end(),
                     [&](std::uint32_t a, std::uint32_t b) { return others[a].size() > others[b].size(); });
    const Level nothing{};
    for (std::size_t first = 0; first < n_trees; first += 4) {
        TreeQuad quad{{}, static_cast<std::uint32_t>(others[order[first]].size())};
        for (std::size_t j = 0; j < 4; ++j) quad.tree[j] = first + j < n_trees ? order[first + j] : n_trees;
        forest.quads.push_back(quad);
        for (std::size_t i = 0; i < quad.n_levels; ++i) {
            Other four[4];
            for (std::size_t j = 0; j < 4; ++j) {
                const std::vector<Other>& own = others[quad.tree[j]];
                four[j] = i < own.size() ? own[i] : Other{&nothing, 0.0f};
                forest.quad_offsets.push_back(four[j].level->offset);
                forest.quad_bits.push_back(four[j].bit);
            }
            for (std::size_t term = 0; term < forest.n_terms; ++term)
                for (const Other& one : four) {
                    forest.quad_weights.push_back(one.level->weights[term]);
                    forest.quad_features.push_back(one.level->features[term]);
                }
        }
    }
}

}  // namespace

PackedForest pack(const ForestView& forest, const Planes& planes, std::size_t n_classes, bool has_shares,
                  bool takes_levels) {
    PackedForest packed;
    if (takes_levels) packed.symmetric = pack_symmetric(forest, planes);
    const bool has_blocks = !packed.symmetric.is_given();
    if (!has_blocks) {
        add_steps(packed.symmetric);
        add_quads(packed.symmetric);
    }
    std::vector<Ref> refs;
    std::vector<std::int32_t> depth;
    const bool has_ranges = needs_ranges(forest);
    packed.blocks.resize(sizeof(Narrow<16>) / 8, 0);
    const double nowhere = -std::numeric_limits<double>::infinity();
    std::memcpy(packed.blocks.data(), &nowhere, sizeof nowhere);
    for (std::size_t tree = 0; tree < forest.n_trees(); ++tree) {
        const std::int64_t begin = forest.block_ptr[tree], end = forest.block_ptr[tree + 1];
        const std::uint32_t n_terms = has_blocks ? count_terms(forest, begin, end, planes.width()) : 0;
        const auto is_dense = [&](std::int64_t block) {
            return n_weights(forest, block) == planes.n_features();
        };
        // Positions first, contents second: a block contains the positions of its children.
        refs.clear();
        std::size_t at = packed.blocks.size();
        if (n_terms > 4 && n_terms <= 8) at = padded(at);  // whole cache lines
        std::size_t n_leaves = packed.leaves.size();
        for (std::int64_t block = begin; block < end; ++block) {
            if (forest.left[block] < 0) {
                refs.push_back(leaf_bit | static_cast<Ref>(n_leaves++));
            } else {
                refs.push_back(static_cast<Ref>(at));
                if (has_blocks)
                    at += (block_bytes(n_terms, n_weights(forest, block), is_dense(block)) + 7) / 8;
            }
            if (at >= leaf_bit || n_leaves >= leaf_bit)
                throw std::length_error("the model is too large to score: fewer or smaller trees are needed");
        }
        packed.trees.push_back({refs[0], forest.target[tree], n_terms});
        packed.blocks.resize(at, 0);
        depth.assign(refs.size(), 0);
        std::uint32_t rank = 0;
        for (std::int64_t block = begin; block < end; ++block) {
            const auto number = static_cast<std::size_t>(block - begin);
            const Ref ref = refs[number];
            if (forest.left[block] < 0) {
                const std::int64_t first = forest.membership_ptr[block];
                const auto n = static_cast<std::uint32_t>(forest.membership_ptr[block + 1] - first);
                packed.leaves.push_back(
                    {forest.intercept[block], static_cast<std::uint32_t>(packed.slopes.size()), padded4(n)});
                if (has_ranges) packed.ranges.push_back({forest.low[block], forest.high[block]});
                packed.leaf_block.push_back(static_cast<std::int32_t>(number));
                packed.leaf_depth.push_back(depth[number]);
                packed.depth = std::max(packed.depth, depth[number]);
                append(packed.slopes, forest.membership_slope.data() + first, n);
                append(packed.slope_features, forest.membership_feature.data() + first, n);
                if (packed.slopes.size() > 0xffffffffu)
                    throw std::length_error(
                        "the model has too many slopes to score: fewer or smaller trees are needed");
                continue;
            }
            const auto left = static_cast<std::size_t>(forest.left[block]);
            depth[left] = depth[left + 1] = depth[number] + 1;
            if (!has_blocks) continue;
            auto* const place = reinterpret_cast<unsigned char*>(&packed.blocks[ref]);
            Wide head{forest.offset[block], {refs[left], refs[left + 1]}, 0, 0, 0};
            std::memcpy(place, &head, sizeof(double) + sizeof head.child);
            const std::int32_t plane = planes.begin(forest, block);
            if (n_terms == 0)
                fill(*reinterpret_cast<Wide*>(place), forest, block, plane, is_dense(block), rank);
            else if (n_terms <= 4)
                fill(*reinterpret_cast<Narrow<4>*>(place), forest, block, plane);
            else if (n_terms <= 8)
                fill(*reinterpret_cast<Narrow<8>*>(place), forest, block, plane);
            else if (n_terms <= 12)
                fill(*reinterpret_cast<Narrow<12>*>(place), forest, block, plane);
            else
                fill(*reinterpret_cast<Narrow<16>*>(place), forest, block, plane);
            ++rank;
        }
    }
    if (forest.target[0] < 0)
        has_shares ? pack_shares(forest, n_classes, packed) : pack_values(forest, n_classes, packed);
    std::vector<std::uint32_t> order(packed.trees.size());
    std::iota(order.begin(), order.end(), 0u);
    const auto unsorted = std::move(packed.trees);
    std::stable_sort(order.begin(), order.end(), [&](std::uint32_t a, std::uint32_t b) {
        return unsorted[a].n_terms < unsorted[b].n_terms;
    });
    packed.trees.clear();
    packed.place.resize(order.size());
    for (const std::uint32_t number : order) {
        packed.place[number] = static_cast<std::uint32_t>(packed.trees.size());
        packed.trees.push_back(unsorted[number]);
    }
    return packed;
}

}  // namespace lhtree
