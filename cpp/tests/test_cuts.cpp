// Offsets: cuts of small cases worked out by hand, and against a search of all cuts.
#include <algorithm>
#include <limits>
#include <numeric>
#include <set>

#include "lhtree/grow/trees/response.hpp"
#include "support.hpp"

namespace lhtree {
namespace {

// Feature sums by class, with unit weights unless given.
struct CutCase {
    std::vector<double> sums, weights;
    std::size_t n_rest;
    Samples samples;
    ClassTotals total;

    CutCase(const std::vector<double>& rest, const std::vector<double>& target,
            std::vector<double> weights_ = {})
        : sums(rest), weights(std::move(weights_)), n_rest(rest.size()) {
        sums.insert(sums.end(), target.begin(), target.end());
        const bool is_weighted = !weights.empty();
        if (!is_weighted) weights.assign(sums.size(), 1.0);
        samples = {{nullptr, sums.size(), 0}, n_rest, is_weighted ? weights.data() : nullptr};
        total = {{0.0, 0.0}};
        for (std::size_t row = 0; row < sums.size(); ++row) total.of[row >= n_rest] += weights[row];
    }
    Cut purest(double gamma, double min_samples_leaf = 1.0) const {
        return cut_purest(samples, {total, min_samples_leaf}, sums.data(), gamma);
    }
    Cut gini(double min_samples_leaf = 1.0) const {
        return GiniCutter().cut(samples, {total, min_samples_leaf}, sums.data());
    }
    // Cuts the sums as the second of two features; n_shared codes at a time are made equal.
    Cut gini_feature(double min_samples_leaf, std::size_t n_shared = 0,
                     double limit = std::numeric_limits<double>::infinity()) const {
        Table table(sums.size(), 2);
        for (std::size_t row = 0; row < sums.size(); ++row) table.at(row, 1) = static_cast<float>(sums[row]);
        CodedRows coded;
        Watch watch;
        Codes codes = code_features(table.rows(), 1, watch);
        std::vector<std::int32_t> row(sums.size());
        std::iota(row.begin(), row.end(), 0);
        if (n_shared > 0) {
            for (Code& code : codes.code) code = static_cast<Code>(code / n_shared);
            coded = {codes.of(1), row.data(), n_shared == 1};
        }
        return GiniCutter().cut_feature({table.rows(), n_rest, samples.weight}, {total, min_samples_leaf}, 1,
                                        coded, limit);
    }
};

// Sums of a numeric response in the order of a column, compared with sums of sorted rows at the last row of
// every value.
TEST(numeric_responses_add_up_in_the_order_of_a_column) {
    Random random(5);
    for (const int n_levels : {1, 2, 3, 4, 9, 300, 5000})
        for (const std::size_t n : {1, 2, 7, 50, 700}) {
            const Table table = random_table(n, 3, n + static_cast<std::size_t>(n_levels), n_levels);
            std::vector<double> response(n);
            for (double& value : response) value = random.normal();
            const double lowest = *std::min_element(response.begin(), response.end());
            for (const bool is_weighted : {false, true}) {
                const RealSamples samples{table.rows(), response.data(),
                                          is_weighted ? table.weight.data() : nullptr};
                std::vector<std::size_t> row(n);
                std::iota(row.begin(), row.end(), std::size_t{0});
                const auto z = [&](std::size_t i) { return table.rows()[row[i]][1]; };
                std::stable_sort(row.begin(), row.end(), [&](std::size_t a, std::size_t b) {
                    return table.rows()[a][1] < table.rows()[b][1];
                });
                std::vector<double> values, weights, distances;
                double weight = 0.0, distance = 0.0;
                for (std::size_t i = 0; i < n; ++i) {
                    weight += samples.weight_of(row[i]);
                    distance += samples.weight_of(row[i]) * (response[row[i]] - lowest);
                    if (i + 1 < n && z(i) == z(i + 1)) continue;
                    values.push_back(static_cast<double>(z(i)));
                    weights.push_back(weight);
                    distances.push_back(distance);
                }
                CHECK(values.size() <= static_cast<std::size_t>(n_levels));
                Watch watch;
                const Codes codes = code_features(table.rows(), 1, watch);
                for (const CodedRows& coded : {CodedRows{}, CodedRows{codes.of(1), nullptr, true}}) {
                    RealOrder order;
                    order.measure_feature(samples, 1, coded, lowest);
                    CHECK(order.size() == (values.size() <= 3 ? values.size() : n));
                    std::vector<double> found_values, found_weights, found_distances;
                    for (std::size_t i = 0; i < order.size(); ++i) {
                        if (i + 1 < order.size() && order.value()[i] == order.value()[i + 1]) continue;
                        found_values.push_back(order.value()[i]);
                        found_weights.push_back(order.weight(i));
                        found_distances.push_back(order.distance(i));
                    }
                    CHECK(same_bits(values, found_values) && same_bits(weights, found_weights));
                    CHECK(same_bits(distances, found_distances));
                }
            }
        }
}

TEST(purity_cuts_match_cases_worked_out_by_hand) {
    CHECK(CutCase({0, 1, 2}, {3, 4, 5}).purest(1).offset == 2.5);
    CHECK(CutCase({0, 1, 2}, {3, 4, 5}).purest(9).offset == 2.5);           // e = 2.5
    CHECK(CutCase({0, 1, 2, 3}, {2, 3, 4, 4}).purest(1).offset == 3.5);     // a tie of weight and gap: N2
    CHECK(CutCase({0, 0.5, 2, 3}, {2, 3, 4, 4}).purest(1).offset == 1.25);  // a tie of weight: the wider gap
    CHECK(CutCase({0, 1, 1, 2, 3}, {2, 3, 4, 4}).purest(1).offset == 1.5);  // the larger set
    CHECK(CutCase({4, 4, 3, 2}, {3, 2, 1, 0}).purest(1).offset == 1.5);  // N1 and N4, where 2 and 3 are empty
    CHECK(CutCase({0, 2}, {1, 1}).purest(9).offset == 0.5);              // rows exactly on e = 1 go right
    CHECK(!CutCase({1, 1}, {1, 1}).purest(1).exists);                    // nothing lies apart
    CHECK(!CutCase({1, 1}, {1, 1}).purest(9).exists);
    CHECK(!CutCase({0, 1}, {2, 3}).purest(1, 3.0).exists);  // sides of 2 with 3 asked for
    CHECK(CutCase({0, 1}, {2, 3}, {1, 2, 3, 4}).purest(1, 3.0).exists);
    CHECK(CutCase({0, 1, 2}, {1, 2, 3}, {5, 1, 1, 1, 1, 1}).purest(5).offset == 0.5);  // weight, not rows
    const double next = std::nextafter(1.0, 2.0);
    CHECK(CutCase({1.0}, {next}).purest(1).offset == next);  // nothing between: the upper end
}

// Searches all cuts of the sorted sums.
Cut naive_gini(const CutCase& data, double min_samples_leaf) {
    Cut best;
    double best_gap = 0.0, best_imbalance = 0.0;
    const std::set<double> distinct(data.sums.begin(), data.sums.end());
    for (auto high = distinct.begin(); high != distinct.end(); ++high) {
        if (high == distinct.begin()) continue;
        const double low = *std::prev(high);
        double side[2][2] = {};
        for (std::size_t row = 0; row < data.sums.size(); ++row)
            side[data.sums[row] >= *high][row >= data.n_rest] += data.weights[row];
        double cost = 0.0, weight[2];
        for (int i = 0; i < 2; ++i) {
            weight[i] = side[i][0] + side[i][1];
            cost += side[i][0] * side[i][1] / weight[i];
        }
        if (weight[0] < min_samples_leaf || weight[1] < min_samples_leaf) continue;
        const double gap = *high - low, imbalance = std::abs(weight[0] - weight[1]);
        const bool is_better =
            !best.exists || cost < best.cost ||
            (cost == best.cost && (gap > best_gap || (gap == best_gap && imbalance < best_imbalance)));
        if (!is_better) continue;
        const double middle = low + gap / 2.0;
        best = {true, middle > low ? middle : *high, cost};
        best_gap = gap;
        best_imbalance = imbalance;
    }
    return best;
}

bool is_same(const Cut& a, const Cut& b) {
    return a.exists == b.exists && (!a.exists || (a.offset == b.offset && a.cost == b.cost));
}

TEST(gini_cuts_match_a_search_of_all_cuts) {
    CHECK(CutCase({0, 1, 2}, {3, 4, 5}).gini().offset == 2.5 &&
          CutCase({0, 1, 2}, {3, 4, 5}).gini().cost == 0.0);
    CHECK(!CutCase({1, 1}, {1}).gini().exists);
    CHECK(!CutCase({0, 1}, {2}).gini(2.0).exists);
    CHECK(CutCase({0, 8}, {2, 3, 5}).gini().offset == 6.5);  // equal cost at both ends: the wider gap
    const double next = std::nextafter(1.0, 2.0);            // one float, two doubles, given in falling order
    CHECK(CutCase({next, next}, {1.0}).gini().offset == next &&
          CutCase({next, next}, {1.0}).gini().cost == 0.0);
    Random random(9);
    for (int i = 0; i < 3000; ++i) {
        // Few levels give ties; a small step gives sums that differ as doubles but not as floats. Above 400
        // rows another algorithm sorts.
        const std::size_t most = i % 100 == 0 ? 600 : i % 10 == 0 ? 40 : 8, n_levels = i % 3 ? 7 : 200;
        const double step = i % 4 ? 1.0 : 1e-9;
        std::vector<double> rest(1 + random.below(most)), target(1 + random.below(most)), weights;
        for (auto* sums : {&rest, &target})
            for (double& sum : *sums) {
                const bool is_least = i % 7 == 0 && random.below(2) == 0;  // a bin of half the rows
                const std::size_t level = is_least ? n_levels - 1 : random.below(n_levels);
                sum = 1.0 - step * static_cast<double>(level);
            }
        for (std::size_t row = 0; row < rest.size() + target.size(); ++row)
            weights.push_back(static_cast<double>(1 + random.below(3)));
        const CutCase data(rest, target, weights);
        const double min_samples_leaf = static_cast<double>(1 + random.below(4));
        const Cut naive = naive_gini(data, min_samples_leaf), cut = data.gini(min_samples_leaf);
        CHECK(is_same(cut, naive));
        if (step == 1.0) CHECK(is_same(data.gini_feature(min_samples_leaf), naive));
    }
}

// Sizes around those at which the algorithm of sorting changes.
TEST(row_sorter_matches_a_stable_sort) {
    Random random(10);
    RowSorter sorter;
    constexpr float infinity = std::numeric_limits<float>::infinity();
    const float ends[] = {infinity,
                          -infinity,
                          0.0f,
                          -0.0f,
                          std::numeric_limits<float>::max(),
                          std::numeric_limits<float>::lowest(),
                          std::numeric_limits<float>::denorm_min(),
                          -std::numeric_limits<float>::denorm_min()};
    for (const std::size_t n : {0, 1, 2, 19, 159, 160, 161, 399, 400, 401, 5000})
        for (const int kind : {0, 1, 2, 3, 4}) {
            std::vector<KeyedRow> entries;
            std::vector<std::pair<float, std::size_t>> naive;
            for (std::size_t row = 0; row < n; ++row) {
                auto key = static_cast<float>(random.normal() * std::exp(20.0 * random.normal()));
                if (kind == 1) key = static_cast<float>(random.below(5)) - 2.0f;  // ties
                if (kind == 2) key = ends[random.below(8)];
                if (kind == 3)
                    key = 1.0f + 0x1p-23f * static_cast<float>(random.below(900));  // one high digit
                if (kind == 4) key = -7.0f;
                if (key == 0.0f && row % 2) key = -0.0f;  // the same key as 0
                entries.push_back(keyed_row(key, row));
                naive.emplace_back(key, row);
            }
            sorter.sort(entries);
            std::stable_sort(naive.begin(), naive.end(),
                             [](const auto& a, const auto& b) { return a.first < b.first; });
            bool is_sorted = entries.size() == n;
            for (std::size_t i = 0; is_sorted && i < n; ++i)
                is_sorted = key_of(entries[i]) == naive[i].first && row_of(entries[i]) == naive[i].second;
            CHECK(is_sorted);
        }
}

// Groups of hundreds of sums that are equal as floats.
TEST(sums_that_round_to_one_float_are_cut_exactly) {
    Random random(12);
    for (const std::size_t n : {10, 19, 200, 900})
        for (int turn = 0; turn < 6; ++turn) {
            std::vector<double> rest(n), target(n);
            for (auto* sums : {&rest, &target})
                for (double& sum : *sums)
                    sum = 1.0 + static_cast<double>(random.below(3)) +
                          1e-12 * static_cast<double>(random.below(turn % 2 ? 40 : 4000));
            for (double& sum : target) sum += 1e-12 * 30.0 * turn;
            const CutCase data(rest, target);
            const double min_samples_leaf = 1.0 + 3.0 * turn;
            CHECK(is_same(data.gini(min_samples_leaf), naive_gini(data, min_samples_leaf)));
        }
}

TEST(cut_kernels_agree_on_all_instruction_sets) {
    Random random(11);
    constexpr double infinity = std::numeric_limits<double>::infinity();
    for (std::size_t n = 0; n <= 30; ++n)
        for (const bool is_weighted : {false, true}) {
            std::vector<double> values(n + slack), weights(n), rest(n + slack), target(n + slack);
            double sum[2] = {0.0, 0.0};
            for (std::size_t i = 0; i < n; ++i) {
                values[i] = static_cast<double>(random.below(9));
                weights[i] = 0.1 + random.uniform();
            }
            std::sort(values.begin(), values.begin() + static_cast<std::ptrdiff_t>(n));
            for (std::size_t i = 0; i < n; ++i) {
                sum[random.below(2)] += weights[i];
                rest[i] = sum[0];
                target[i] = sum[1];
            }
            const double total[2] = {sum[0] + 0.5, sum[1] + 0.5};
            std::vector<double> first_costs;
            double first_least = 0.0;
            for (const GrowKernels* kernel : all_grow_kernels) {
                std::vector<double> costs(n + slack);
                const double least = kernel->gini_costs(values.data(), rest.data(), target.data(), n, total,
                                                        1.0, costs.data());
                costs.resize(n < 2 ? 0 : n - 1);
                if (kernel == all_grow_kernels[0]) {
                    first_costs = costs;
                    first_least = least;
                }
                CHECK(same_bits(costs, first_costs) && least == first_least);
                const double* weight = is_weighted ? weights.data() : nullptr;
                const Side below = kernel->below(values.data(), weight, n, 4.0);
                const Side above = kernel->above(values.data(), weight, n, 4.0);
                Side naive_below{0.0, -infinity}, naive_above{0.0, infinity};
                for (std::size_t row = 0; row < n; ++row) {
                    Side& side = values[row] < 4.0 ? naive_below : naive_above;
                    if (values[row] == 4.0) continue;
                    side.weight += is_weighted ? weights[row] : 1.0;
                    if (std::abs(values[row] - 4.0) < std::abs(side.nearest - 4.0))
                        side.nearest = values[row];
                }
                CHECK(below.weight == naive_below.weight && below.nearest == naive_below.nearest);
                CHECK(above.weight == naive_above.weight && above.nearest == naive_above.nearest);
            }
        }
}

// Enough rows of weight 1 that most bins are skipped.
TEST(narrowed_cuts_match_a_search_of_all_cuts) {
    Random random(13);
    for (int i = 0; i < 1000; ++i) {
        const std::size_t most = i % 50 == 0 ? 700 : i % 4 ? 60 : 300;
        const std::size_t n_levels = i % 3 ? 5000 : 1 + random.below(40);
        std::vector<double> rest(1 + random.below(most)), target(1 + random.below(most));
        const double apart = random.uniform(), tail = i % 5 ? 0.5 : 8.0;
        for (auto* sums : {&rest, &target})
            for (double& sum : *sums) {
                const double value = random.normal() * std::exp(tail * random.normal());
                const double shifted = value + (sums == &target ? apart : 0.0);
                sum = static_cast<float>(std::round(shifted * static_cast<double>(n_levels)));
            }
        const CutCase data(rest, target);
        const double min_samples_leaf = i % 2 ? 1.0 : static_cast<double>(1 + random.below(20));
        const Cut naive = naive_gini(data, min_samples_leaf);
        CHECK(is_same(data.gini(min_samples_leaf), naive));
        for (const std::size_t n_shared : {0, 1, 3, 100})
            CHECK(is_same(data.gini_feature(min_samples_leaf, n_shared), naive));
        if (!naive.exists) continue;
        const double above = std::nextafter(naive.cost, 1e9);
        CHECK(is_same(data.gini_feature(min_samples_leaf, 1, above), naive));
    }
}

TEST(narrower_selects_few_rows_where_classes_are_apart) {
    constexpr std::size_t n = 5000;
    std::vector<double> sums(n);
    for (std::size_t i = 0; i < n; ++i) sums[i] = static_cast<double>(i);
    Narrower narrower;
    narrower.bin(sums.data(), n, n / 2);
    const std::size_t n_chosen = narrower.choose(1e9, 1.0);
    CHECK(n_chosen >= 2 && n_chosen <= n / 20);
    CHECK(narrower.choose(-1.0, 1.0) == 0);
}

// Codes increase by one where values are few, and are equal for equal values.
TEST(codes_ascend_with_the_values) {
    Random random(14);
    for (const std::size_t n : {1, 50, 60000, 200000}) {
        Table table(n, 2);
        for (std::size_t row = 0; row < n; ++row) {
            table.at(row, 0) = static_cast<float>(random.normal());
            table.at(row, 1) = (row % 2 ? -1.0f : 1.0f) * static_cast<float>(random.below(9));  // 0 and -0
        }
        Watch watch;
        const Codes codes = code_features(table.rows(), 2, watch);
        for (std::size_t feature = 0; feature < 2; ++feature) {
            std::vector<std::pair<float, Code>> pairs;
            for (std::size_t row = 0; row < n; ++row)
                pairs.emplace_back(table.at(row, feature) + 0.0f, codes.of(feature)[row]);
            std::sort(pairs.begin(), pairs.end());
            bool ascends = pairs[0].second == 0, is_one_each = true;
            for (std::size_t i = 1; i < n; ++i) {
                const auto &last = pairs[i - 1], &next = pairs[i];
                ascends &= last.first == next.first ? last.second == next.second : last.second <= next.second;
                is_one_each &= last.first == next.first || last.second + 1 == next.second;
            }
            CHECK(ascends);
            CHECK(is_one_each == (codes.is_exact[feature] != 0));
        }
        CHECK(codes.is_exact[1]);
        CHECK(codes.is_exact[0] == (n < 200000));
        const Codes taken = codes.take({0, static_cast<std::int32_t>(n - 1)});
        CHECK(taken.of(1)[1] == codes.of(1)[n - 1] && taken.of(0)[0] == codes.of(0)[0]);
    }
}

}  // namespace
}  // namespace lhtree
