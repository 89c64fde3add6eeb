// Helper functions that several tests share: kernels of all instruction sets, random trees and rows, scorers.
#pragma once
#include <algorithm>
#include <numeric>

#include "check.hpp"
#include "lhtree/grow/boost/kernels.hpp"
#include "lhtree/grow/kernels.hpp"
#include "lhtree/grow/trees/forest.hpp"
#include "lhtree/score/kernels.hpp"
#include "lhtree/score/scorer.hpp"
#include "lhtree/shared/normalise.hpp"

namespace lhtree {

// The kernels of every instruction set, and those in standard C++.
inline const GrowKernels* const all_grow_kernels[] = {&portable::grow_kernels, &standard::grow_kernels,
                                                      &grow_kernels()};
inline const BoostKernels* const all_boost_kernels[] = {&portable::boost_kernels, &standard::boost_kernels,
                                                        &boost_kernels()};
inline const NormaliseKernels* const all_normalise_kernels[] = {
    &portable::normalise_kernels, &standard::normalise_kernels, &normalise_kernels()};
inline const ScoreKernels* const all_score_kernels[] = {&portable::score_kernels, &standard::score_kernels,
                                                        &score_kernels()};

template <class Value>
double naive_lane_sum(const Value* weights, const std::int32_t* features, std::size_t n, const float* z) {
    double lane[8] = {};
    for (std::size_t p = 0; p < n; ++p)
        lane[p % 8] += static_cast<double>(weights[p]) * static_cast<double>(z[features[p]]);
    return ((lane[0] + lane[4]) + (lane[2] + lane[6])) + ((lane[1] + lane[5]) + (lane[3] + lane[7]));
}

inline Scorer plain_scorer(const Forest& forest, std::size_t n_features, std::size_t n_classes,
                           Confidence confidence = Confidence::last) {
    return Scorer(view_of(forest), std::vector<double>(n_features, 0.0), std::vector<double>(n_features, 1.0),
                  std::vector<double>(n_classes, 1.0 / static_cast<double>(n_classes)), confidence);
}

inline Strided<float> strided(const Table& table) {
    return {table.values.data(), table.n_rows, table.n_features,
            static_cast<std::ptrdiff_t>(table.n_features), 1};
}

inline Grown grow_table(const Table& table, const Options& options, bool is_weighted = false) {
    Watch watch;
    return grow({table.rows(), table.is_target.data(), is_weighted ? table.weight.data() : nullptr}, options,
                11, 1 + table.rows().n_rows % 3, watch);
}

inline std::vector<std::int32_t> random_features(Random& random, std::size_t n, std::size_t n_features) {
    std::vector<std::int32_t> deck(n_features);
    std::iota(deck.begin(), deck.end(), 0);
    for (std::size_t i = 0; i < n; ++i) std::swap(deck[i], deck[i + random.below(n_features - i)]);
    deck.resize(n);
    std::sort(deck.begin(), deck.end());
    return deck;
}

// Returns a tree with n_branching branching blocks, of which the first has `most` weights, and leaves with
// any number of slopes.
inline Blocks random_tree(Random& random, std::size_t n_branching, std::size_t most, std::size_t n_features) {
    Blocks blocks;
    const Counts counts{1, 2.0, 1.0};
    for (std::size_t block = 0, n_blocks = 1; block < n_blocks; ++block) {
        const bool must_branch = block + 1 == n_blocks;  // the last one waiting keeps the tree alive
        if (n_branching > 0 && (must_branch || random.below(3) > 0)) {
            Hyperplane hyperplane;
            hyperplane.features =
                random_features(random, block == 0 ? most : 1 + random.below(most), n_features);
            for (std::size_t i = 0; i < hyperplane.features.size(); ++i)
                hyperplane.weights.push_back(static_cast<float>(random.normal()));
            hyperplane.offset = 0.3 * random.normal();
            blocks.add(counts, hyperplane, {}, static_cast<std::int32_t>(n_blocks));
            n_blocks += 2;
            --n_branching;
        } else {
            LinearMembership membership;
            membership.intercept = random.normal();
            membership.features =
                random_features(random, random.below(std::min<std::size_t>(n_features, 20) + 1), n_features);
            for (std::size_t i = 0; i < membership.features.size(); ++i)
                membership.slopes.push_back(random.normal());
            blocks.add(counts, {}, membership, -1);
        }
    }
    return blocks;
}

inline Table walking_rows(std::size_t n_rows, std::size_t n_features, std::uint64_t seed) {
    Table table = random_table(n_rows, n_features, seed);
    for (std::size_t row = 0; row < n_rows; ++row) {
        table.at(row, row % n_features) = row % 2 ? 0.0f : -0.0f;
        if (row % 7 == 3) table.at(row, (row * 5) % n_features) = row % 2 ? 1e30f : -1e30f;
    }
    return table;
}

}  // namespace lhtree
