// Rows that go through all trees together, so that a tree is fetched once for all of them.
#pragma once
#include <algorithm>
#include <vector>

#include "lhtree/score/kernels.hpp"

namespace lhtree {

struct Tile {
    std::size_t begin = 0, n_rows = 0;
    std::vector<float> normalised, z;                  // before they are laid out in planes, and after
    std::vector<double> x;                             // in the user's units, without gaps
    std::vector<double> wolf, membership, confidence;  // n_rows × n_classes
    std::vector<double> raw;                           // n_rows × n_targets
    std::vector<std::uint32_t> leaf;                   // of some trees, tree after tree
    std::vector<double> leaf_confidence, leaf_membership;
    std::vector<Start> starts;
    std::vector<std::uint32_t> row;
    std::vector<Group> groups;

    // Room for the walks of so many rows down so many trees.
    WalkSpace space(std::size_t n_trees) {
        const std::size_t n_walks = n_trees * n_rows;
        if (leaf.size() <= n_walks) {
            leaf.resize(n_walks + 1);
            leaf_confidence.resize(n_walks + 1);
            starts.resize(n_walks + 1);
        }
        if (groups.size() <= n_rows) {
            row.resize(2 * n_rows + 24);
            groups.resize(n_rows + 1);
        }
        return {starts.data(), row.data(), groups.data()};
    }

    // Room for so many values of z; those behind them are finite.
    float* room(std::size_t n_values) {
        if (z.size() < n_values + slack) z.resize(n_values + slack);
        std::fill_n(z.data() + n_values, slack, 0.0f);
        return z.data();
    }
};

}  // namespace lhtree
