#include "lhtree/blocks.hpp"

#include <cmath>

namespace lhtree {

namespace {

template <class T>
void extend(std::vector<T>& to, const std::vector<T>& from) {
    to.insert(to.end(), from.begin(), from.end());
}

// Appends the values that a row of a sparse matrix has.
template <class T>
void extend_row(std::vector<T>& to, const std::vector<T>& from, const std::vector<std::int64_t>& ptr,
                std::size_t row) {
    to.insert(to.end(), from.begin() + ptr[row], from.begin() + ptr[row + 1]);
}

void extend_pointers(std::vector<std::int64_t>& to, const std::vector<std::int64_t>& from) {
    const std::int64_t base = to.back();
    for (std::size_t i = 1; i < from.size(); ++i) to.push_back(base + from[i]);
}

// Rows of a sparse matrix: pointers that rise from 0 to the number of values, features ascending and in
// range.
template <class Value>
std::string find_fault_in_rows(const std::string& name, const std::int64_t* ptr, std::size_t n_blocks,
                               const std::int32_t* feature, const Value* value, std::size_t n_values,
                               std::size_t n_features) {
    if (ptr[0] != 0 || ptr[n_blocks] != static_cast<std::int64_t>(n_values))
        return name + "_ptr does not span its values";
    for (std::size_t block = 0; block < n_blocks; ++block)
        if (ptr[block + 1] < ptr[block]) return name + "_ptr falls";
    for (std::size_t block = 0; block < n_blocks; ++block) {
        std::int32_t last = -1;
        for (std::int64_t i = ptr[block]; i < ptr[block + 1]; ++i) {
            if (feature[i] <= last || static_cast<std::size_t>(feature[i]) >= n_features)
                return name + "_feature is out of order or range";
            if (!std::isfinite(value[i])) return name + " has a value that is not finite";
            last = feature[i];
        }
    }
    return "";
}

}  // namespace

void Blocks::add(std::size_t n_samples_, const double (&weight_)[2], const Hyperplane& hyperplane,
                 const LinearMembership& membership, std::int32_t left_) {
    left.push_back(left_);
    n_samples.push_back(static_cast<std::int32_t>(n_samples_));
    weight.push_back(weight_[0] + weight_[1]);
    n_target.push_back(weight_[1]);
    offset.push_back(hyperplane.offset);
    intercept.push_back(membership.intercept);
    extend(hyperplane_feature, hyperplane.features);
    extend(hyperplane_weight, hyperplane.weights);
    hyperplane_ptr.push_back(static_cast<std::int64_t>(hyperplane_weight.size()));
    extend(membership_feature, membership.features);
    extend(membership_slope, membership.slopes);
    membership_ptr.push_back(static_cast<std::int64_t>(membership_slope.size()));
}

void Blocks::add(const Blocks& other, std::size_t block, std::int32_t left_) {
    left.push_back(left_);
    n_samples.push_back(other.n_samples[block]);
    weight.push_back(other.weight[block]);
    n_target.push_back(other.n_target[block]);
    offset.push_back(other.offset[block]);
    intercept.push_back(other.intercept[block]);
    extend_row(hyperplane_feature, other.hyperplane_feature, other.hyperplane_ptr, block);
    extend_row(hyperplane_weight, other.hyperplane_weight, other.hyperplane_ptr, block);
    hyperplane_ptr.push_back(static_cast<std::int64_t>(hyperplane_weight.size()));
    extend_row(membership_feature, other.membership_feature, other.membership_ptr, block);
    extend_row(membership_slope, other.membership_slope, other.membership_ptr, block);
    membership_ptr.push_back(static_cast<std::int64_t>(membership_slope.size()));
}

void Forest::add(std::int32_t target_, Blocks&& given) {
    const Blocks tree = std::move(given);
    target.push_back(target_);
    block_ptr.push_back(block_ptr.back() + static_cast<std::int64_t>(tree.size()));
    extend(blocks.left, tree.left);
    extend(blocks.n_samples, tree.n_samples);
    extend(blocks.weight, tree.weight);
    extend(blocks.n_target, tree.n_target);
    extend(blocks.offset, tree.offset);
    extend(blocks.intercept, tree.intercept);
    extend_pointers(blocks.hyperplane_ptr, tree.hyperplane_ptr);
    extend(blocks.hyperplane_feature, tree.hyperplane_feature);
    extend(blocks.hyperplane_weight, tree.hyperplane_weight);
    extend_pointers(blocks.membership_ptr, tree.membership_ptr);
    extend(blocks.membership_feature, tree.membership_feature);
    extend(blocks.membership_slope, tree.membership_slope);
}

std::string find_fault(const ForestView& forest, std::size_t n_features, std::size_t n_classes) {
    if (forest.n_trees == 0) return "there is no tree";
    if (forest.block_ptr[0] != 0 ||
        forest.block_ptr[forest.n_trees] != static_cast<std::int64_t>(forest.n_blocks))
        return "block_ptr does not span the blocks";
    for (std::size_t tree = 0; tree < forest.n_trees; ++tree) {
        if (forest.target[tree] < 0 || static_cast<std::size_t>(forest.target[tree]) >= n_classes)
            return "target is out of range";
        if (forest.block_ptr[tree + 1] <= forest.block_ptr[tree]) return "a tree has no blocks";
    }
    for (std::size_t tree = 0; tree < forest.n_trees; ++tree) {
        const std::int64_t begin = forest.block_ptr[tree], n_blocks = forest.block_ptr[tree + 1] - begin;
        std::int64_t next = 1;  // breadth-first: children are numbered in the order of their parents
        for (std::int64_t block = 0; block < n_blocks; ++block) {
            const std::int64_t left = forest.left[begin + block];
            if (left == -1) continue;
            if (left != next || left + 1 >= n_blocks || left <= block)
                return "left is not numbered breadth-first";
            next += 2;
        }
        if (next != n_blocks) return "a tree has blocks without a parent";
    }
    for (std::size_t block = 0; block < forest.n_blocks; ++block) {
        if (!std::isfinite(forest.offset[block])) return "offset has a value that is not finite";
        if (!std::isfinite(forest.intercept[block])) return "intercept has a value that is not finite";
    }
    std::string fault =
        find_fault_in_rows("hyperplane", forest.hyperplane_ptr, forest.n_blocks, forest.hyperplane_feature,
                           forest.hyperplane_weight, forest.n_weights, n_features);
    if (fault.empty())
        fault = find_fault_in_rows("membership", forest.membership_ptr, forest.n_blocks,
                                   forest.membership_feature, forest.membership_slope, forest.n_slopes,
                                   n_features);
    return fault;
}

}  // namespace lhtree
