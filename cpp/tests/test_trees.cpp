// Whole trees: invariants on ordinary and degenerate data, and partitioning of rows.
#include <algorithm>
#include <stdexcept>

#include "lhtree/grow/rows/parted.hpp"
#include "lhtree/grow/statistics/moments.hpp"
#include "lhtree/shared/random.hpp"
#include "support.hpp"

namespace lhtree {
namespace {

// Checks the invariants of a grown tree. Returns its depth.
std::size_t check_tree(const Table& table, const Grown& grown, bool is_weighted) {
    const Blocks& blocks = grown.blocks;
    std::vector<std::size_t> depth(blocks.size());
    std::size_t deepest = 0;
    bool adds_up = true, is_shared = true;
    for (std::size_t block = 0; block < blocks.size(); ++block) {
        deepest = std::max(deepest, depth[block]);
        is_shared = is_shared && blocks.n_samples[block] > 0 && blocks.n_target[block] >= 0.0 &&
                    blocks.n_target[block] <= blocks.weight[block];
        if (blocks.left[block] < 0) continue;
        const auto left = static_cast<std::size_t>(blocks.left[block]), right = left + 1;
        if (right >= blocks.size()) return CHECK(right < blocks.size()), deepest;
        depth[left] = depth[right] = depth[block] + 1;
        // Weights are integers here, so that sums are exact.
        adds_up = adds_up && blocks.n_samples[left] + blocks.n_samples[right] == blocks.n_samples[block] &&
                  blocks.weight[left] + blocks.weight[right] == blocks.weight[block] &&
                  blocks.n_target[left] + blocks.n_target[right] == blocks.n_target[block];
    }
    CHECK(adds_up);
    CHECK(is_shared);
    CHECK(deepest <= table.n_rows);

    Forest forest;
    forest.add(1, Blocks(blocks));
    CHECK(find_fault(view_of(forest), table.n_features, 2).empty());  // breadth-first numbers among the rest
    std::vector<std::int64_t> leaf(table.n_rows);
    Watch watch;
    CHECK(plain_scorer(forest, table.n_features, 2).apply(strided(table), 1, watch, leaf.data()));
    std::vector<std::int64_t> grown_in(grown.leaf_of_row.begin(), grown.leaf_of_row.end());
    CHECK(leaf == grown_in);
    std::vector<double> weight(blocks.size());
    for (std::size_t row = 0; row < table.n_rows; ++row)
        weight[static_cast<std::size_t>(grown_in[row])] += is_weighted ? table.weight[row] : 1.0;
    bool is_leaf_weight = true;
    for (std::size_t block = 0; block < blocks.size(); ++block)
        is_leaf_weight = is_leaf_weight && (blocks.left[block] >= 0 || blocks.weight[block] == weight[block]);
    CHECK(is_leaf_weight);
    return deepest;
}

std::vector<Options> all_options() {
    std::vector<Options> all;
    for (const auto direction : {Direction::mean_difference, Direction::fisher, Direction::mixed})
        for (const auto offset : {Offset::purity, Offset::gini})
            for (const auto membership :
                 {Membership::marginal, Membership::least_squares, Membership::constant})
                for (const std::size_t max_features : {0, 2}) {
                    if (direction == Direction::mixed && offset != Offset::gini) continue;
                    Options options;
                    options.direction = direction;
                    options.offset = offset;
                    options.membership = membership;
                    options.max_features = max_features;
                    options.gamma = {1.0, false};
                    options.min_samples_split = {2.0, false};
                    all.push_back(options);
                }
    return all;
}

TEST(grown_trees_satisfy_the_invariants) {
    for (Options options : all_options())
        for (const std::size_t m : {1, 2, 5, 9, 33})
            for (const int n_levels : {0, 3})
                for (const bool is_weighted : {false, true}) {
                    const std::size_t n = m == 33 ? 20 : 150;  // more features than rows, too
                    const Table table =
                        random_table(n, m, m * 10 + static_cast<std::size_t>(n_levels), n_levels);
                    check_tree(table, grow_table(table, options, is_weighted), is_weighted);
                    options.min_samples_leaf = {0.05, true};
                    options.alpha = 0.2;
                    check_tree(table, grow_table(table, options, is_weighted), is_weighted);
                    options.min_samples_leaf = {1.0, false};
                    options.alpha = 0.0;
                }
    Options paper;
    const Table large = random_table(3 * chunk_rows, 6, 12);
    check_tree(large, grow_table(large, paper, true), true);
    paper.max_depth = 3;
    CHECK(check_tree(large, grow_table(large, paper), false) <= 3);
}

TEST(degenerate_tables_give_valid_trees) {
    for (const Options& options : all_options()) {
        Table duplicates(40, 3);  // equal rows with both classes
        for (std::size_t row = 0; row < 40; ++row) duplicates.is_target[row] = row % 2;
        CHECK(grow_table(duplicates, options).blocks.size() == 1);
        check_tree(duplicates, grow_table(duplicates, options), false);

        Table one(1, 2);
        check_tree(one, grow_table(one, options), false);

        Table constant = random_table(60, 4, 13);  // two of four features are constant
        for (std::size_t row = 0; row < 60; ++row) constant.at(row, 0) = constant.at(row, 2) = 7.0f;
        check_tree(constant, grow_table(constant, options), false);

        Table ends(50, 2);  // the largest normalised values
        for (std::size_t row = 0; row < 50; ++row) {
            ends.at(row, 0) = row % 3 ? 1e30f : -1e30f;
            ends.at(row, 1) = static_cast<float>(row);
            ends.is_target[row] = row % 2;
        }
        check_tree(ends, grow_table(ends, options), false);
    }
    // Classes that alternate along a line: every pure set has one row, so the tree is a chain.
    Options chain;
    chain.gamma = chain.min_samples_split = {1.0, false};
    Table line(1200, 1);
    for (std::size_t row = 0; row < line.n_rows; ++row) {
        line.at(row, 0) = static_cast<float>(row * row);  // squares: the class means never meet
        line.is_target[row] = row % 2;
    }
    CHECK(check_tree(line, grow_table(line, chain), false) >= 500);
    // XOR: no difference of means, so only single features can cut it.
    Table xor_table(4, 2);
    for (std::size_t row = 0; row < 4; ++row) {
        xor_table.at(row, 0) = static_cast<float>(row / 2);
        xor_table.at(row, 1) = static_cast<float>(row % 2);
        xor_table.is_target[row] = row == 1 || row == 2;
    }
    CHECK(grow_table(xor_table, chain).blocks.size() == 1);
    chain.direction = Direction::mixed;
    chain.offset = Offset::gini;
    CHECK(grow_table(xor_table, chain).blocks.size() == 7);
}

// The row with the upper sum goes right.
TEST(offset_between_adjacent_doubles_is_the_upper_one) {
    const float a = 0x1p29f, e = 0x1p-23f;
    const float values[4][2] = {{0, 0}, {a, 0}, {a, e}, {2 * a, 2 * a}};
    Table table(4, 2);
    for (std::size_t row = 0; row < 4; ++row) {
        table.at(row, 0) = values[row][0];
        table.at(row, 1) = values[row][1];
        table.is_target[row] = row >= 2;
    }
    Options options;
    options.gamma = options.min_samples_split = {1.0, false};
    const Grown grown = grow_table(table, options);
    CHECK(grown.blocks.offset[0] == 0x1p29 + 0x1p-23);
    CHECK((grown.leaf_of_row == std::vector<std::int32_t>{1, 1, 2, 2}));
    check_tree(table, grown, false);
}

// One of nine features is drawn per block: parent and child seldom share it.
TEST(features_are_drawn_anew_for_every_block) {
    Options options;
    options.max_features = 1;
    const Table table = random_table(3000, 9, 17);
    const Blocks blocks = grow_table(table, options).blocks;
    int n_children[2] = {0, 0}, n_same[2] = {0, 0};
    for (std::size_t block = 0; block < blocks.size(); ++block)
        for (std::size_t side = 0; side < 2 && blocks.left[block] >= 0; ++side) {
            const std::size_t child = static_cast<std::size_t>(blocks.left[block]) + side;
            if (blocks.left[child] < 0) continue;
            const auto feature_of = [&](std::size_t which) {
                return blocks.hyperplane_feature[static_cast<std::size_t>(blocks.hyperplane_ptr[which])];
            };
            ++n_children[side];
            n_same[side] += feature_of(child) == feature_of(block);
        }
    for (int side = 0; side < 2; ++side) CHECK(n_children[side] > 20 && n_same[side] * 2 < n_children[side]);
}

TEST(growing_stops_on_request) {
    const Table table = random_table(300000, 8, 16);  // which take far longer than the watch waits
    Options options;
    options.gamma = options.min_samples_split = {1.0, false};
    options.direction = Direction::mixed;
    options.offset = Offset::gini;
    Watch watch([](std::size_t) { return false; });
    CHECK_THROWS(grow({table.rows(), table.is_target.data(), nullptr}, options, 1, 1, watch), Stopped);
}

TEST(regression_trees_match_their_moments_on_any_number_of_threads) {
    const std::size_t n = 3 * chunk_rows + 5, m = 5;
    Table table = random_table(n, m, 18);
    Random random(19);
    std::vector<double> response(n);
    for (std::size_t row = 0; row < n; ++row)
        response[row] = 1000.0 + static_cast<double>(table.at(row, 0)) + 0.1 * random.normal();
    Watch watch;
    for (const bool is_weighted : {false, true}) {
        const double* weight = is_weighted ? table.weight.data() : nullptr;
        const RealSamples samples{table.rows(), response.data(), weight};
        RealMoments moments;
        moments.measure(samples, true, 3, watch);
        const RealTotals totals = measure_totals(samples);
        CHECK(totals.weight() == moments.total_weight());
        double squares = 0.0;
        for (std::size_t row = 0; row < n; ++row)
            squares += samples.weight_of(row) * std::pow(response[row] - moments.response_mean(), 2);
        CHECK_NEAR(moments.response_squares(), squares, 1e-9 * squares);
        for (std::size_t f = 0; f < m; ++f) {
            double product = 0.0;
            for (std::size_t row = 0; row < n; ++row)
                product += samples.weight_of(row) *
                           (static_cast<double>(table.at(row, f)) - moments.mean(f)) *
                           (response[row] - moments.response_mean());
            CHECK_NEAR(moments.covariance(f), product, 1e-9 * static_cast<double>(n));
        }
        for (Options options : all_options()) {
            options.min_samples_split = {200.0, false};
            Labelled given{table.rows(), nullptr, weight};
            given.response = response.data();
            if (options.offset == Offset::purity) {
                CHECK_THROWS(grow(given, options, 11, 1, watch), std::invalid_argument);
                continue;
            }
            if (options.membership == Membership::least_squares) options.alpha = 0.1;
            const Grown alone = grow(given, options, 11, 1, watch);
            std::vector<float> own = table.values;
            given.rows.data = given.in_place = own.data();
            const Grown together = grow(given, options, 11, 4, watch);
            CHECK(same_bits(own, table.values));
            CHECK(alone.leaf_of_row == together.leaf_of_row && alone.blocks.size() > 5);
            CHECK(same_bits(alone.blocks.membership_slope, together.blocks.membership_slope));
            CHECK(same_bits(alone.blocks.low, together.blocks.low));
            Forest forest;
            forest.add(0, Blocks(alone.blocks));
            std::vector<std::int64_t> leaf(n);
            const Scorer scorer(view_of(forest), std::vector<double>(m, 0.0), std::vector<double>(m, 1.0), {},
                                Confidence::none, find_link("mean"));
            CHECK(scorer.apply(strided(table), 1, watch, leaf.data()));
            CHECK(std::equal(leaf.begin(), leaf.end(), alone.leaf_of_row.begin()));
            std::vector<double> estimate(n), confidence(n);
            CHECK(scorer.per_tree(strided(table), 1, watch, estimate.data(), confidence.data()));
            bool is_inside = true;
            for (std::size_t row = 0; row < n; ++row) {
                const auto block = static_cast<std::size_t>(leaf[row]);
                is_inside = is_inside && estimate[row] >= alone.blocks.low[block] &&
                            estimate[row] <= alone.blocks.high[block] &&
                            response[row] >= alone.blocks.low[block] &&
                            response[row] <= alone.blocks.high[block];
            }
            CHECK(is_inside);
        }
    }
}

// Whether the partitioned rows are these rows of the table (or of `chosen`), with their weights.
bool holds(const PartedRows& parted, const std::vector<std::int32_t>& order, const Table& table,
           const Chosen* chosen, bool is_weighted) {
    const Samples all = parted.part(0, parted.size(), parted.n_rest());
    if (parted.row() != order) return false;
    for (std::size_t i = 0; i < order.size(); ++i) {
        const auto at = static_cast<std::size_t>(order[i]);
        const std::size_t row = chosen ? static_cast<std::size_t>(chosen->rows[at]) : at;
        const auto& weight = chosen ? chosen->weight : table.weight;
        if (all.weight_of(i) != (is_weighted ? weight[at] : 1.0)) return false;
        if (!std::equal(all.rows[i], all.rows[i] + table.n_features, table.rows()[row])) return false;
    }
    return true;
}

TEST(row_moves_match_a_stable_partition) {
    Random random(31);
    for (const std::size_t n : {1, 2, 7, 40, 300})
        for (const std::size_t m : {1, 2, 9})
            for (const bool is_weighted : {false, true})
                for (const int kind : {0, 1, 2}) {  // a copy, the rows themselves, a choice of rows
                    const Table table = random_table(n, m, n * 10 + m);
                    Chosen chosen;
                    for (std::size_t row = 0; row < n; ++row)
                        if (row == 0 || random.below(3) > 0) {
                            chosen.rows.push_back(static_cast<std::int32_t>(row));
                            if (is_weighted) chosen.weight.push_back(random.uniform());
                        }
                    const Chosen* const choice = kind == 2 ? &chosen : nullptr;
                    std::vector<float> own = table.values;
                    PartedRows parted({table.rows(), table.is_target.data(),
                                       is_weighted ? table.weight.data() : nullptr, choice,
                                       kind == 1 ? own.data() : nullptr});
                    std::vector<std::int32_t> order(choice ? chosen.rows.size() : n);
                    std::iota(order.begin(), order.end(), 0);
                    const auto is_rest = [&](std::int32_t i) {
                        const auto at = static_cast<std::size_t>(i);
                        return !table.is_target[choice ? static_cast<std::size_t>(chosen.rows[at]) : at];
                    };
                    std::stable_partition(order.begin(), order.end(), is_rest);
                    CHECK(parted.n_rest() ==
                          static_cast<std::size_t>(std::count_if(order.begin(), order.end(), is_rest)));
                    CHECK(holds(parted, order, table, choice, is_weighted));
                    Aside aside;
                    Watch watch;
                    for (int turn = 0; turn < 12; ++turn) {
                        const std::size_t begin = random.below(order.size()),
                                          size = 1 + random.below(order.size() - begin);
                        // Halves, all to one side, or all but a few.
                        const std::size_t odds = turn % 4 == 0 ? 0 : turn % 4 == 1 ? 10 : 1 + random.below(9);
                        std::vector<std::uint8_t> is_left(size);
                        for (auto& left : is_left) left = random.below(10) < odds;
                        std::vector<std::int32_t> naive;
                        for (const int side : {1, 0})
                            for (std::size_t i = 0; i < size; ++i)
                                if (is_left[i] == side) naive.push_back(order[begin + i]);
                        std::copy(naive.begin(), naive.end(),
                                  order.begin() + static_cast<std::ptrdiff_t>(begin));
                        parted.move(begin, is_left.data(), size, 1 + size % 4, aside, watch);
                        CHECK(holds(parted, order, table, choice, is_weighted));
                    }
                    parted.restore();
                    std::iota(order.begin(), order.end(), 0);
                    CHECK(parted.row() == order);
                    if (kind == 1) CHECK(same_bits(own, table.values));
                }
}

// Compares two trees, or two forests without their targets.
template <class Arrays>
bool is_same_tree(const Arrays& a, const Arrays& b) {
    bool is_same = true;
    each_block_array([&](auto, const auto& get) { is_same = is_same && same_bits(get(a), get(b)); });
    return is_same;
}

TEST(growing_in_place_gives_the_same_trees) {
    Watch watch;
    for (const Options& options : all_options())
        for (const bool is_weighted : {false, true}) {
            const Table table = random_table(200, 5, 41, is_weighted ? 0 : 4);
            std::vector<float> own = table.values;
            Labelled samples{table.rows(), table.is_target.data(),
                             is_weighted ? table.weight.data() : nullptr};
            const Grown copied = grow(samples, options, 3, 1, watch);
            samples.rows.data = samples.in_place = own.data();
            const Grown in_place = grow(samples, options, 3, 2, watch);
            CHECK(is_same_tree(copied.blocks, in_place.blocks));
            CHECK(copied.leaf_of_row == in_place.leaf_of_row);
            CHECK(same_bits(own, table.values));  // back in their order for the next tree
            Chosen all;                           // a choice of all rows is no choice
            for (std::int32_t row = 0; row < 200; ++row) all.rows.push_back(row);
            if (is_weighted) all.weight = table.weight;
            samples.chosen = &all;
            CHECK(is_same_tree(copied.blocks, grow(samples, options, 3, 3, watch).blocks));
            CHECK(same_bits(own, table.values));
        }
}

// With many rows, a trunk is grown first and then subtrees, each by one thread.
TEST(large_trees_are_the_same_on_any_number_of_threads) {
    Watch watch;
    Options options;
    options.gamma = options.min_samples_split = {200.0, false};
    for (const bool is_weighted : {false, true}) {
        const Table table = random_table(70000, 5, 43);
        const Labelled samples{table.rows(), table.is_target.data(),
                               is_weighted ? table.weight.data() : nullptr};
        const Grown alone = grow(samples, options, 3, 1, watch);
        check_tree(table, alone, is_weighted);
        for (const std::size_t n_threads : {2, 3}) {
            const Grown together = grow(samples, options, 3, n_threads, watch);
            CHECK(is_same_tree(alone.blocks, together.blocks));
            CHECK(alone.leaf_of_row == together.leaf_of_row);
        }
    }
}

TEST(forest_consists_of_its_trees) {
    const Table table = random_table(300, 6, 42);
    std::vector<std::uint8_t> responses(3 * 300);
    std::vector<std::int32_t> stratum(300);
    for (std::size_t row = 0; row < 300; ++row) {
        stratum[row] = table.is_target[row] ? 2 : static_cast<std::int32_t>(row % 2);
        responses[static_cast<std::size_t>(stratum[row]) * 300 + row] = 1;
    }
    Options options;
    options.max_features = 2;
    Watch watch;
    for (const bool bootstrap : {false, true})
        for (const bool draws : {false, true})
            for (const bool is_weighted : {false, true})
                for (const std::size_t n_trees : {1, 3}) {
                    std::vector<float> own = table.values;
                    ForestPlan plan{};
                    plan.rows = {own.data(), 300, 6};
                    plan.in_place = own.data();
                    plan.responses = responses.data();
                    plan.targets = {0, 1, 2};
                    plan.weight = is_weighted ? table.weight.data() : nullptr;
                    plan.betas = std::vector<double>(n_trees, 0.2);
                    plan.seed = 9;
                    plan.first_tree = 4;
                    plan.draws_rows = draws;
                    plan.sampling = {stratum.data(), 300, {20, 30, 40}, bootstrap};
                    Forest expected;
                    for (std::uint64_t tree = 4; tree < 4 + n_trees; ++tree) {
                        const Drawn drawn = draw_rows(plan.sampling, 9, tree);
                        Chosen chosen{drawn.rows, {}};
                        for (std::size_t i = 0; i < drawn.rows.size(); ++i)
                            chosen.weight.push_back(
                                (bootstrap ? drawn.times[i] : 1) *
                                (is_weighted ? table.weight[static_cast<std::size_t>(drawn.rows[i])] : 1.0));
                        for (std::size_t target = 0; target < 3; ++target) {
                            const Labelled samples{table.rows(), &responses[target * 300], plan.weight,
                                                   draws ? &chosen : nullptr};
                            Options own_options = options;
                            own_options.beta = 0.2;
                            const std::uint64_t key =
                                derive(derive(derive(9, tree), Stream::feature_draws), target);
                            expected.add(static_cast<std::int32_t>(target),
                                         grow(samples, own_options, key, 1, watch).blocks);
                        }
                    }
                    for (const std::size_t n_threads : {1, 4}) {
                        std::copy(table.values.begin(), table.values.end(), own.begin());
                        const Forest forest = grow_forest(plan, options, n_threads, watch);
                        CHECK(forest.target == expected.target && forest.block_ptr == expected.block_ptr);
                        CHECK(is_same_tree(forest, expected));
                    }
                    if (!draws) continue;
                    plan.balances = true;
                    const Forest balanced = grow_forest(plan, options, 2, watch);
                    bool is_balanced = true;
                    for (std::size_t tree = 0; tree < balanced.n_trees(); ++tree) {
                        const auto root = static_cast<std::size_t>(balanced.block_ptr[tree]);
                        is_balanced = is_balanced &&
                                      std::abs(balanced.n_target[root] * 3.0 - balanced.weight[root]) < 1e-9;
                    }
                    CHECK(is_balanced);
                }
}

}  // namespace
}  // namespace lhtree
