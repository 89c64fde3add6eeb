// The blocks of one or many trees in flat arrays: all that is left of growing, and all that scoring needs.
#pragma once
#include <cstdint>
#include <string>
#include <vector>

#include "lhtree/hyperplane.hpp"
#include "lhtree/membership.hpp"

namespace lhtree {

// Blocks of a tree are numbered breadth-first; the children of a block are neighbours: right = left + 1.
struct Blocks {
    std::vector<std::int32_t> left;  // number of the left child within the tree; -1 in a leaf
    std::vector<std::int32_t> n_samples;
    std::vector<double> weight, n_target;
    std::vector<double> offset, intercept;
    // Weights of the hyperplane and slopes of the membership, as rows of sparse matrices (CSR).
    std::vector<std::int64_t> hyperplane_ptr{0}, membership_ptr{0};
    std::vector<std::int32_t> hyperplane_feature, membership_feature;
    std::vector<float> hyperplane_weight;
    std::vector<double> membership_slope;

    std::size_t size() const { return left.size(); }
    void add(std::size_t n_samples_, const double (&weight_)[2], const Hyperplane& hyperplane,
             const LinearMembership& membership, std::int32_t left_);
    void add(const Blocks& other, std::size_t block, std::int32_t left_);
};

// All trees of a model.
struct Forest {
    std::vector<std::int32_t> target;        // of every tree
    std::vector<std::int64_t> block_ptr{0};  // first block of every tree
    Blocks blocks;

    std::size_t n_trees() const { return target.size(); }
    void add(std::int32_t target_, Blocks&& tree);
};

// Read-only view of a forest's arrays, wherever they live.
struct ForestView {
    const std::int32_t* target;
    const std::int64_t* block_ptr;
    std::size_t n_trees;
    const std::int32_t* left;
    const double* offset;
    const double* intercept;
    std::size_t n_blocks;
    const std::int64_t* hyperplane_ptr;
    const std::int32_t* hyperplane_feature;
    const float* hyperplane_weight;
    std::size_t n_weights;
    const std::int64_t* membership_ptr;
    const std::int32_t* membership_feature;
    const double* membership_slope;
    std::size_t n_slopes;
};

// What is wrong with the arrays ("" if nothing): scoring them reads nothing out of bounds and ends.
std::string find_fault(const ForestView& forest, std::size_t n_features, std::size_t n_classes);

}  // namespace lhtree
