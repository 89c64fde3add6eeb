// Boosted hyperplane trees: rounds of small trees, each a Newton step on what the rounds before it leave.
#pragma once
#include <cstdint>
#include <optional>
#include <vector>

#include "lhtree/grow/boost/tree.hpp"

namespace lhtree::boost {

struct Plan {
    Loss loss;
    std::size_t n_rounds = 400;
    std::uint64_t seed = 0;
    TreeOptions tree;
    // Early stopping: rounds in which the loss of the rows held back (if there are none, of the others) does
    // not fall by more than tol in all; 0: no losses are taken. Of a response, tol is a share of the loss
    // before the first round.
    std::size_t patience = 0;
    double tol = 1e-7;
    // Trees of an earlier fit, and the scores before them.
    const ForestView* earlier = nullptr;
    std::vector<double> first;  // empty: the best constants
};

struct Boosted {
    Forest forest;  // of the new rounds
    std::vector<double> first;
    std::vector<double> training_loss, validation_loss;  // before the first of the new rounds, and after each
};

// Row numbers that bins and scales are learned from: all, or a keyed sample of so many of them.
constexpr std::size_t most_sampled = 200000;
std::vector<std::int64_t> sample_rows(std::size_t n_rows, std::uint64_t seed,
                                      std::size_t most = most_sampled);

Boosted boost(const Plan& plan, Rows& rows, std::size_t n_threads, Watch& watch);

}  // namespace lhtree::boost
