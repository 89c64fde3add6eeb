// Parting rows against a naive stable partition, and trees grown in the rows themselves or in a copy.
#pragma once
#include <algorithm>

#include "lhtree/grow/rows/parted.hpp"
#include "lhtree/shared/random.hpp"
#include "test_trees.hpp"

namespace lhtree {

// Whether the parted rows are these rows of the table (by way of `chosen`), with their weights.
inline bool holds(const PartedRows& parted, const std::vector<std::int32_t>& order, const Table& table,
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

inline void test_moves() {
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

// Two trees, or two forests but for their targets.
template <class Arrays>
bool is_same_tree(const Arrays& a, const Arrays& b) {
    bool is_same = true;
    each_block_array([&](auto, const auto& get) { is_same = is_same && same_bits(get(a), get(b)); });
    return is_same;
}

inline void test_trees_in_place() {
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

// So many rows that a trunk is grown first and subtrees by themselves: the same tree for any number of
// threads.
inline void test_large_trees() {
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

// A forest is its trees, each grown from its own rows with its own key.
inline void test_forest_trees() {
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
                            const std::uint64_t key = derive(derive(derive(9, tree), feature_draws), target);
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

inline void test_parted() {
    test_moves();
    test_trees_in_place();
    test_large_trees();
    test_forest_trees();
}

}  // namespace lhtree
