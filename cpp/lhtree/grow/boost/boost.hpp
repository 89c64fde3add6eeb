// Boosted hyperplane trees: rounds of small trees, each a Newton step on what the rounds before it leave.
#pragma once
#include <cstdint>
#include <optional>
#include <vector>

#include "lhtree/grow/boost/tree.hpp"

namespace lhtree::boost {

struct Plan {
    Loss loss = Loss::logistic;
    std::size_t n_classes = 2;
    std::size_t n_rounds = 400;
    std::uint64_t seed = 0;
    TreeOptions tree;
    // Early stopping: rounds in which the loss of the rows held back (if there are none, of the others) does
    // not fall by more than tol in all; 0: no losses are taken.
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

// Row numbers that bins are made from: all that are learned from, or a keyed sample of 200,000 of them.
std::vector<std::int64_t> sample_rows(const Labels& labels, std::uint64_t seed);

Boosted boost(const Plan& plan, const Bins& bins, std::vector<std::uint8_t>&& codes, const Labels& labels,
              const Weights& weights, std::size_t n_threads, Watch& watch);

}  // namespace lhtree::boost
