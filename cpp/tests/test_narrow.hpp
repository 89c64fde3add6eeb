// Cuts that are found by looking at few of the rows, and the codes that tell which.
#pragma once
#include <algorithm>
#include <cmath>

#include "test_cuts.hpp"

namespace lhtree {

// Rows of weight 1, many enough that bins are made and most of them left out.
inline void test_narrowed_cuts() {
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

// Where classes are apart, few rows are looked at; where no cut can be cheap enough, none.
inline void test_few_are_chosen() {
    constexpr std::size_t n = 5000;
    std::vector<double> sums(n);
    for (std::size_t i = 0; i < n; ++i) sums[i] = static_cast<double>(i);
    Narrower narrower;
    narrower.bin(sums.data(), n, n / 2);
    const std::size_t n_chosen = narrower.choose(1e9, 1.0);
    CHECK(n_chosen >= 2 && n_chosen <= n / 20);
    CHECK(narrower.choose(-1.0, 1.0) == 0);
}

// Codes ascend with the values, in steps of one where there are few, and nowhere for equal values.
inline void test_codes() {
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

inline void test_narrow() {
    test_narrowed_cuts();
    test_few_are_chosen();
    test_codes();
}

}  // namespace lhtree
