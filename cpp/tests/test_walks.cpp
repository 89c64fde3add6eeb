// Packed forests of every layout: walks and memberships of all instruction sets against a slow reference.
#include <algorithm>

#include "support.hpp"

namespace lhtree {
namespace {

struct NaiveWalk {
    std::size_t block = 0;
    double confidence = 1.0, membership = 0.0;
    std::vector<std::int32_t> blocks_passed;
    std::vector<double> values;  // their feature sums, and the estimate of the leaf

    NaiveWalk(const Forest& forest, std::size_t tree, const float* z, Confidence mode) {
        const Forest& blocks = forest;
        const auto root = static_cast<std::size_t>(forest.block_ptr[tree]);
        while (blocks.left[root + block] >= 0) {
            const auto at = static_cast<std::size_t>(blocks.hyperplane_ptr[root + block]);
            const auto end = static_cast<std::size_t>(blocks.hyperplane_ptr[root + block + 1]);
            const double sum =
                naive_lane_sum(&blocks.hyperplane_weight[at], &blocks.hyperplane_feature[at], end - at, z);
            blocks_passed.push_back(static_cast<std::int32_t>(block));
            values.push_back(sum);
            const double y = sum - blocks.offset[root + block];
            if (mode == Confidence::last) confidence = std::min(std::abs(y), 1.0);
            if (mode == Confidence::path) confidence = std::min(std::abs(y), confidence);
            block = static_cast<std::size_t>(blocks.left[root + block]) + !(y < 0.0);
        }
        const auto at = blocks.membership_ptr[root + block], end = blocks.membership_ptr[root + block + 1];
        const double sum =
            naive_lane_sum(blocks.membership_slope.data() + at, blocks.membership_feature.data() + at,
                           static_cast<std::size_t>(end - at), z);
        blocks_passed.push_back(static_cast<std::int32_t>(block));
        values.push_back(blocks.intercept[root + block] + sum);
        const bool has_range = !blocks.low.empty();
        membership = std::min(std::max(values.back(), has_range ? blocks.low[root + block] : 0.0),
                              has_range ? blocks.high[root + block] : 1.0);
    }
};

// Checks the walks of all rows down all trees, with trees of one layout together or alone.
void check_walks(const Forest& forest, const PackedForest& packed, const Table& table, bool is_together) {
    const std::size_t n_rows = table.n_rows, n_trees = forest.n_trees();
    std::vector<std::size_t> number(n_trees);  // of the tree at each place
    for (std::size_t tree = 0; tree < n_trees; ++tree) number[packed.place[tree]] = tree;
    bool is_leaf = true, is_distance = true, is_member = true, is_way = true;
    for (const auto mode : {Confidence::none, Confidence::last, Confidence::path})
        for (std::size_t first = 0, last = 0; first < n_trees; first = last) {
            while (last < n_trees && packed.trees[last].n_terms == packed.trees[first].n_terms &&
                   (is_together || last == first))
                ++last;
            const std::size_t n_walks = (last - first) * n_rows;
            for (const ScoreKernels* kernel : all_score_kernels) {
                std::vector<std::uint32_t> leaf(n_walks + 1);
                std::vector<double> confidence(n_walks + 1), membership(n_rows);
                std::vector<Start> starts(n_walks + 1);
                std::vector<std::uint32_t> row(2 * n_rows + 24);
                std::vector<Group> groups(n_rows + 1);
                const WalkSpace space{starts.data(), row.data(), groups.data()};
                kernel->walk({packed, first, last - first, table.rows(), mode, space}, leaf.data(),
                             confidence.data());
                for (std::size_t walk = 0; walk < n_walks; ++walk) {
                    if (walk % n_rows == 0)
                        kernel->memberships(packed, &leaf[walk], table.rows(), membership.data());
                    const float* z = table.rows()[walk % n_rows];
                    const NaiveWalk naive(forest, number[first + walk / n_rows], z, mode);
                    const auto block = static_cast<std::size_t>(packed.leaf_block[leaf[walk]]);
                    is_leaf = is_leaf && block == naive.block;
                    is_distance = is_distance && confidence[walk] == naive.confidence;
                    is_member = is_member && membership[walk % n_rows] == naive.membership;
                    if (mode != Confidence::none) continue;
                    std::vector<std::int32_t> passed(naive.values.size());
                    std::vector<double> values(naive.values.size());
                    kernel->trace(packed, first + walk / n_rows, z, passed.data(), values.data());
                    is_way = is_way && passed == naive.blocks_passed && same_bits(values, naive.values) &&
                             static_cast<std::size_t>(packed.leaf_depth[leaf[walk]]) + 1 == values.size();
                }
            }
        }
    CHECK(is_leaf);
    CHECK(is_distance);
    CHECK(is_member);
    CHECK(is_way);
}

PackedForest pack_plain(const Forest& forest, std::size_t n_features) {
    return pack(view_of(forest), Planes(view_of(forest), n_features, Planes::largest), 2, true, false);
}

std::uint32_t layout_of(std::size_t most) {
    for (const std::uint32_t n_terms : {1u, 2u, 4u, 5u, 6u, 7u, 8u, 12u, 16u})
        if (most <= n_terms) return n_terms;
    return 0;
}

TEST(walks_of_every_layout_match_a_slow_reference) {
    Random random(21);
    for (std::size_t most = 1; most <= 40; ++most)
        for (const std::size_t n_features : {most, most + 1, std::size_t{50}})
            for (const std::size_t n_branching : {1, 2, 40}) {
                Forest forest;
                forest.add(1, random_tree(random, n_branching, most, n_features));
                CHECK(find_fault(view_of(forest), n_features, 2).empty());
                const PackedForest packed = pack_plain(forest, n_features);
                CHECK(packed.trees.size() == 1 && packed.trees[0].n_terms == layout_of(most));
                CHECK(packed.leaves.size() == n_branching + 1);
                for (const std::size_t n_rows : {1, 11, 12, 13, 31, 32, 33, 60, 333})
                    check_walks(forest, packed, walking_rows(n_rows, n_features, most), true);
            }
}

// Trees of all layouts; some are a single leaf.
TEST(forests_of_mixed_layouts_match_a_slow_reference) {
    Random random(22);
    for (const std::size_t n_trees : {1, 2, 12, 90}) {
        Forest forest;
        std::vector<std::size_t> most(n_trees, 1);
        for (std::size_t tree = 0; tree < n_trees; ++tree) {
            const std::size_t n_branching = tree % 5 == 1 ? 0 : random.below(30);
            if (n_branching > 0) most[tree] = 1 + random.below(tree % 2 ? 30 : 6);
            forest.add(1, random_tree(random, n_branching, most[tree], 30));
        }
        const PackedForest packed = pack_plain(forest, 30);
        bool is_placed = true, is_sorted = true;
        for (std::size_t tree = 0; tree < n_trees; ++tree) {
            is_placed = is_placed && packed.trees[packed.place[tree]].n_terms == layout_of(most[tree]);
            is_sorted =
                is_sorted && (tree == 0 || packed.trees[tree - 1].n_terms <= packed.trees[tree].n_terms);
        }
        CHECK(is_placed);
        CHECK(is_sorted);
        for (const std::size_t n_rows : {1, 2, 5, 200})
            for (const bool is_together : {true, false})
                check_walks(forest, packed, walking_rows(n_rows, 30, n_trees), is_together);
    }
    Forest leaves;
    for (int tree = 0; tree < 20; ++tree) leaves.add(1, random_tree(random, 0, 1, 3));
    check_walks(leaves, pack_plain(leaves, 3), walking_rows(3, 3, 1), true);
}

// A symmetric tree of random levels; the offset of every other level is the feature sum of a row.
Blocks symmetric_tree(Random& random, std::size_t depth, std::size_t most, std::size_t n_features,
                      const Table& table) {
    std::vector<Hyperplane> levels(depth);
    for (Hyperplane& level : levels) {
        const std::size_t n_terms = 1 + random.below(most);
        level.features = random_features(random, n_terms, n_features);
        for (std::size_t i = 0; i < n_terms; ++i)
            level.weights.push_back(n_terms == 1 ? 1.0f : static_cast<float>(random.normal()));
        if (n_terms == 1 && random.below(4) == 0) level.weights[0] = -0.7f;
        const float* const z = table.rows()[random.below(table.n_rows)];
        level.offset = random.below(2) == 0 ? random.normal()
                                            : naive_lane_sum(level.weights.data(), level.features.data(),
                                                             level.features.size(), z);
    }
    Blocks blocks;
    std::size_t level = 0;
    for (std::size_t block = 0; block + 1 < std::size_t{2} << depth; ++block) {
        if (block + 1 == std::size_t{2} << level) ++level;
        const bool is_leaf = level == depth;
        blocks.add({1, 1.0, 0.5}, is_leaf ? Hyperplane{} : levels[level], {random.uniform(), {}, {}},
                   is_leaf ? -1 : static_cast<std::int32_t>(2 * block + 1));
    }
    return blocks;
}

// Sums of float32 leave the side of rows near a hyperplane to exact sums, at any clip.
TEST(symmetric_trees_match_a_slow_reference) {
    Random random(26);
    constexpr std::size_t n_features = 9;
    for (const double clip : {8.0, Planes::largest})
        for (const std::size_t most : {1, 2, 3, 4, 8})
            for (const std::size_t n_rows : {1, 8, 77}) {
                const Table table = random_table(n_rows, n_features, most * 100 + n_rows);
                Forest forest;
                for (std::size_t tree = 0; tree < 11; ++tree)
                    forest.add(1, symmetric_tree(random, tree % 7, most, n_features, table));
                const Planes planes(view_of(forest), n_features, clip);
                const PackedForest packed = pack(view_of(forest), planes, 2, true, true);
                CHECK(packed.symmetric.is_given());
                const std::size_t width = planes.width(), n_padded = padded(n_rows);
                std::vector<float> rows(n_rows * width + slack), columns(n_padded * width);
                planes.lay(table.rows()[0], n_rows, rows.data());
                for (std::size_t i = 0; i < n_rows * width; ++i)
                    columns[i % width * n_padded + i / width] = rows[i];
                bool is_alone = true, is_together = true, is_way = true;
                for (const ScoreKernels* kernel : all_score_kernels)
                    for (std::size_t row = 0; row < n_rows; ++row) {
                        std::vector<std::uint32_t> alone(12), together(n_padded);
                        std::vector<double> wide(width);
                        kernel->find_leaves(packed.symmetric, &rows[row * width], width, wide.data(), 1,
                                            alone.data());
                        for (std::size_t tree = 0; tree < 11; ++tree) {
                            const NaiveWalk naive(forest, tree, table.rows()[row], Confidence::none);
                            const auto block = static_cast<std::int32_t>(naive.block);
                            is_alone = is_alone && packed.leaf_block[alone[tree]] == block;
                            kernel->find_leaf(packed.symmetric, packed.symmetric.trees[tree], columns.data(),
                                              n_padded, together.data());
                            is_together = is_together && packed.leaf_block[together[row]] == block;
                            std::vector<std::int32_t> passed(naive.values.size());
                            std::vector<double> values(naive.values.size());
                            kernel->trace(packed, tree, &rows[row * width], passed.data(), values.data());
                            is_way =
                                is_way && passed == naive.blocks_passed && same_bits(values, naive.values);
                        }
                    }
                CHECK(is_alone);
                CHECK(is_together);
                CHECK(is_way);
            }
}

// Narrow blocks store features in 16 bits.
TEST(wide_layout_is_used_for_more_than_65536_features) {
    Random random(23);
    for (const std::size_t n_features : {65535, 65536, 65537, 70000}) {
        Forest forest;
        for (const std::size_t most : {1, 3, 8, 16, 40}) {
            Blocks tree = random_tree(random, 9, most, n_features);
            tree.hyperplane_feature[most - 1] = static_cast<std::int32_t>(n_features - 1);
            forest.add(1, std::move(tree));
        }
        const PackedForest packed = pack_plain(forest, n_features);
        for (const PackedTree& tree : packed.trees)
            CHECK(n_features <= 65536 ? tree.n_terms == 0 || tree.n_terms <= 16 : tree.n_terms == 0);
        CHECK(packed.trees.back().n_terms == (n_features <= 65536 ? 16u : 0u));
        check_walks(forest, packed, walking_rows(5, n_features, 2), true);
    }
}

// Leaves with their own range, also beside leaves with the range 0 to 1.
TEST(leaf_ranges_limit_memberships) {
    Random random(25);
    for (const bool is_some : {true, false}) {
        Forest forest;
        for (int tree = 0; tree < 6; ++tree) forest.add(1, random_tree(random, 12, 3, 5));
        for (std::size_t block = 0; block < forest.n_blocks(); ++block) {
            forest.low.push_back(is_some && block % 3 ? random.normal() - 0.5 : 0.0);
            forest.high.push_back(is_some && block % 3 ? forest.low.back() + random.uniform() : 1.0);
        }
        const PackedForest packed = pack_plain(forest, 5);
        CHECK(packed.ranges.empty() != is_some);
        for (const std::size_t n_rows : {3, 90})
            check_walks(forest, packed, walking_rows(n_rows, 5, 4), true);
    }
}

// Checks the outputs of every tree on one thread and on three.
void check_each_tree(const Forest& forest, const Scorer& scorer, const Table& table, Confidence mode) {
    const std::size_t n_trees = forest.n_trees(), n = table.n_rows * n_trees;
    std::vector<double> membership, confidence, values;
    std::vector<std::int64_t> ends{0};
    std::vector<std::int32_t> passed;
    for (std::size_t walk = 0; walk < n; ++walk) {
        const NaiveWalk naive(forest, walk % n_trees, table.rows()[walk / n_trees], mode);
        membership.push_back(naive.membership);
        confidence.push_back(naive.confidence);
        passed.insert(passed.end(), naive.blocks_passed.begin(), naive.blocks_passed.end());
        values.insert(values.end(), naive.values.begin(), naive.values.end());
        ends.push_back(static_cast<std::int64_t>(passed.size()));
    }
    Watch watch;
    for (const std::size_t n_threads : {1, 3}) {
        std::vector<double> mu(n), d(n), value(values.size());
        std::vector<std::int64_t> ptr(n + 1);
        std::vector<std::int32_t> block(passed.size());
        CHECK(scorer.per_tree(strided(table), n_threads, watch, mu.data(), d.data()));
        CHECK(same_bits(mu, membership) && same_bits(d, confidence));
        CHECK(scorer.measure_paths(strided(table), n_threads, watch, ptr.data()));
        CHECK(ptr == ends);
        CHECK(scorer.trace(strided(table), n_threads, watch, ptr.data(), block.data(), value.data()));
        CHECK(block == passed && same_bits(value, values));
    }
}

TEST(scores_do_not_depend_on_the_batch) {
    Random random(24);
    Forest forest;
    for (int tree = 0; tree < 30; ++tree)
        forest.add(tree % 3, random_tree(random, random.below(20), 1 + random.below(20), 20));
    const Table table = walking_rows(1500, 20, 3);
    Watch watch;
    for (const auto mode : {Confidence::none, Confidence::last, Confidence::path}) {
        const Scorer scorer = plain_scorer(forest, 20, 3, mode);
        std::vector<double> together(1500 * 3), naive(1500 * 3), parted(1500 * 3);
        CHECK(scorer.score(strided(table), Score::wolf, 1, watch, together.data()));
        for (std::size_t row = 0; row < 1500; ++row)
            for (std::size_t tree = 0; tree < 30; ++tree) {
                const NaiveWalk walk(forest, tree, table.rows()[row], mode);
                naive[row * 3 + tree % 3] += walk.confidence * walk.membership;
            }
        for (double& value : naive) value /= 10.0;
        CHECK(same_bits(together, naive));
        check_each_tree(forest, scorer, table, mode);
        Strided<float> none = strided(table);
        none.n_rows = 0;
        CHECK(scorer.score(none, Score::wolf, 2, watch, parted.data()));
        for (const std::size_t n_threads : {1, 4})
            for (const std::size_t size : {1, 7, 12, 34, 35, 750}) {  // 34 rows make 1020 walks, 35 too many
                for (std::size_t begin = 0; begin < 1500; begin += size) {
                    Strided<float> part = strided(table);
                    part.data += begin * 20;
                    part.n_rows = std::min<std::size_t>(size, 1500 - begin);
                    scorer.score(part, Score::wolf, n_threads, watch, &parted[begin * 3]);
                }
                CHECK(same_bits(together, parted));
            }
    }
}

}  // namespace
}  // namespace lhtree
