// Contributions of features: the changes of the outcome on the paths of rows, divided among features.
#pragma once
#include <cstddef>
#include <cstdint>

#include "lhtree/shared/blocks.hpp"

namespace lhtree {

// Leaves of rows, from which paths lead up to the roots. Blocks are numbered over all trees. Arrays of rows
// have a value per row and tree.
struct LeafPaths {
    ForestView forest;
    const std::int64_t* parent;  // of every block; below 0 for roots
    const double* outcome;       // n_outcomes values per block
    std::size_t n_outcomes;      // number of classes in trees of all classes, otherwise 1
    const double* parts;         // part of every weight in a change of value; null: by the pulls of the terms
    double clip;                 // limit of normalised values in the terms of slopes of values
    const std::int64_t* target;  // of every tree
    const std::int64_t* leaf;    // within the tree
    const double* membership;    // null if there are no slopes, or parts
    const float* z;              // n_features values per row
    std::size_t n_rows, n_features;
};

// Sums over all trees, by row and target. A row of `features` has n_features values per target.
struct ContributionSums {
    double* features;
    std::ptrdiff_t row_step, target_step;
    double* clipped;  // changes by the ranges of leaves that have values
    std::size_t n_targets;
};

void add_contributions(const LeafPaths& paths, const ContributionSums& out);

}  // namespace lhtree
