#include "lhtree/shared/blocks.hpp"

#include <algorithm>
#include <cmath>
#include <limits>

namespace lhtree {
namespace {

template <class T>
void extend(std::vector<T>& to, const std::vector<T>& from) {
    to.insert(to.end(), from.begin(), from.end());
}

// Returns the pointers of the sparse matrix whose entries have this axis.
template <Axis axis, class Arrays>
auto& rows_of(Arrays& arrays) {
    if constexpr (axis == Axis::weight)
        return arrays.hyperplane_ptr;
    else if constexpr (axis == Axis::slope)
        return arrays.membership_ptr;
    else
        return arrays.value_ptr;
}

std::string find_fault_in_lengths(const ForestView& forest) {
    std::string fault;
    each_array([&](auto info, const auto& get) {
        const std::size_t size = get(forest).size(), n_trees = forest.n_trees(), n_blocks = forest.n_blocks();
        if (!fault.empty() || (info.need != Need::scoring && size == 0)) return;
        const std::string name = info.name;
        if constexpr (info.axis == Axis::tree_ptr) {
            if (size != n_trees + 1) fault = name + " needs a value per tree and one more";
        } else if constexpr (info.axis == Axis::block) {
            if (size != n_blocks) fault = name + " needs a value per block";
        } else if constexpr (info.axis == Axis::block_ptr) {
            if (size != n_blocks + 1) fault = name + " needs a value per block and one more";
        }
    });
    if (!fault.empty()) return fault;
    if (forest.hyperplane_feature.size() != forest.hyperplane_weight.size())
        return "hyperplane_feature and hyperplane_weight differ in length";
    if (forest.membership_feature.size() != forest.membership_slope.size())
        return "membership_feature and membership_slope differ in length";
    if (forest.value_class.size() != forest.value.size()) return "value_class and value differ in length";
    if (forest.low.size() != forest.high.size()) return "low and high differ in length";
    if (forest.value_ptr.empty() && !forest.value.empty()) return "value needs value_ptr";
    return "";
}

// Rows of a sparse matrix: pointers that rise from 0 to the number of values, columns ascending and in range.
template <class Value>
std::string find_fault_in_rows(const std::string& name, const std::string& column_name,
                               const View<std::int64_t>& ptr, const View<std::int32_t>& column,
                               const View<Value>& value, std::size_t n_columns) {
    const std::size_t n_blocks = ptr.size() - 1;
    if (ptr[0] != 0 || ptr[n_blocks] != static_cast<std::int64_t>(value.size()))
        return name + "_ptr does not span its values";
    for (std::size_t block = 0; block < n_blocks; ++block)
        if (ptr[block + 1] < ptr[block]) return name + "_ptr falls";
    for (std::size_t block = 0; block < n_blocks; ++block) {
        std::int32_t last = -1;
        for (std::int64_t i = ptr[block]; i < ptr[block + 1]; ++i) {
            if (column[i] <= last || static_cast<std::size_t>(column[i]) >= n_columns)
                return column_name + " is out of order or range";
            if (!std::isfinite(value[i])) return name + " has a value that is not finite";
            last = column[i];
        }
    }
    return "";
}

std::string find_fault_in_trees(const ForestView& forest, std::size_t n_classes) {
    const std::size_t n_trees = forest.n_trees();
    if (n_trees == 0) return "there is no tree";
    if (forest.block_ptr[0] != 0 || forest.block_ptr[n_trees] != static_cast<std::int64_t>(forest.n_blocks()))
        return "block_ptr does not span the blocks";
    for (std::size_t tree = 0; tree < n_trees; ++tree) {
        if (forest.target[tree] < -1 || forest.target[tree] >= static_cast<std::int64_t>(n_classes))
            return "target is out of range";
        if (forest.block_ptr[tree + 1] <= forest.block_ptr[tree]) return "a tree has no blocks";
    }
    for (std::size_t tree = 0; tree < n_trees; ++tree) {
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
    return "";
}

std::string find_fault_in_values(const ForestView& forest) {
    for (std::size_t block = 0; block < forest.n_blocks(); ++block) {
        if (!std::isfinite(forest.offset[block])) return "offset has a value that is not finite";
        if (!std::isfinite(forest.intercept[block])) return "intercept has a value that is not finite";
    }
    for (std::size_t block = 0; block < forest.low.size(); ++block) {
        if (!std::isfinite(forest.low[block])) return "low has a value that is not finite";
        if (!std::isfinite(forest.high[block])) return "high has a value that is not finite";
        if (forest.low[block] > forest.high[block]) return "low is above high";
    }
    for (std::size_t block = 0; block < forest.missing.size(); ++block)
        if (forest.missing[block] < -1 || forest.missing[block] > 1) return "missing is not -1, 0 or 1";
    return "";
}

// Either all arrays in the user's units are given, or none.
std::string find_fault_in_units(const ForestView& forest) {
    if (forest.unit_offset.empty())
        return forest.unit_weight.empty() && forest.unit_slope.empty() && forest.unit_intercept.empty()
                   ? ""
                   : "unit_weight, unit_slope and unit_intercept need unit_offset";
    if (forest.unit_weight.size() != forest.hyperplane_weight.size())
        return "unit_weight and hyperplane_weight differ in length";
    if (forest.unit_slope.size() != forest.membership_slope.size())
        return "unit_slope and membership_slope differ in length";
    if (forest.unit_intercept.empty() && !forest.unit_slope.empty()) return "unit_slope needs unit_intercept";
    // With values up to 1e100, no sum overflows.
    const auto is_within = [](const View<double>& values, double most) {
        return std::all_of(values.data(), values.data() + values.size(),
                           [most](double value) { return std::abs(value) <= most; });
    };
    constexpr double most = std::numeric_limits<double>::max(), most_weight = 1e200;
    if (!is_within(forest.unit_offset, most) || !is_within(forest.unit_intercept, most) ||
        !is_within(forest.unit_weight, most_weight) || !is_within(forest.unit_slope, most_weight))
        return "an array in the user's units has a value that is out of range";
    return "";
}

// Only blocks of a single feature can have a side for missing values.
std::string find_fault_in_sides(const ForestView& forest) {
    for (std::size_t block = 0; block < forest.missing.size(); ++block) {
        if (forest.missing[block] == 0) continue;
        const std::int64_t begin = forest.hyperplane_ptr[block];
        if (forest.hyperplane_ptr[block + 1] - begin != 1)
            return "missing is not 0 in a block that does not use a single feature";
        if (!(forest.hyperplane_weight[begin] > 0.0f))
            return "missing is not 0 in a block whose weight is not positive";
    }
    return "";
}

}  // namespace

void Blocks::add(const Counts& counts, const Hyperplane& hyperplane, const LinearMembership& membership,
                 std::int32_t left_) {
    left.push_back(left_);
    n_samples.push_back(static_cast<std::int32_t>(counts.n_samples));
    weight.push_back(counts.weight);
    n_target.push_back(counts.n_target);
    offset.push_back(hyperplane.offset);
    intercept.push_back(membership.intercept);
    extend(hyperplane_feature, hyperplane.features);
    extend(hyperplane_weight, hyperplane.weights);
    extend(hyperplane_share, hyperplane.shares);
    hyperplane_ptr.push_back(static_cast<std::int64_t>(hyperplane_weight.size()));
    extend(membership_feature, membership.features);
    extend(membership_slope, membership.slopes);
    extend(membership_mean, membership.means);
    membership_ptr.push_back(static_cast<std::int64_t>(membership_slope.size()));
}

void Blocks::add(const Blocks& other, std::size_t block, std::int32_t left_) {
    each_block_array([&](auto info, const auto& get) {
        auto& to = get(*this);
        const auto& from = get(other);
        if (from.empty()) return;
        if constexpr (info.axis == Axis::block) {
            to.push_back(from[block]);
        } else if constexpr (info.axis == Axis::block_ptr) {
            if (to.empty()) to.push_back(0);
            to.push_back(to.back() + from[block + 1] - from[block]);
        } else {
            const auto& rows = rows_of<info.axis>(other);
            to.insert(to.end(), from.begin() + rows[block], from.begin() + rows[block + 1]);
        }
    });
    left.back() = left_;
}

void Forest::add(std::int32_t target_, Blocks&& given) {
    const Blocks tree = std::move(given);
    target.push_back(target_);
    block_ptr.push_back(block_ptr.back() + static_cast<std::int64_t>(tree.size()));
    each_block_array([&](auto info, const auto& get) {
        auto& to = get(*this);
        const auto& from = get(tree);
        if constexpr (info.axis == Axis::block_ptr) {
            if (from.empty()) return;
            if (to.empty()) to.push_back(0);
            const std::int64_t base = to.back();
            for (std::size_t i = 1; i < from.size(); ++i) to.push_back(base + from[i]);
        } else {
            extend(to, from);
        }
    });
}

ForestView view_of(const Forest& forest) {
    ForestView view;
    each_array([&](auto, const auto& get) { get(view) = {get(forest).data(), get(forest).size()}; });
    return view;
}

std::string find_fault(const ForestView& forest, std::size_t n_features, std::size_t n_classes) {
    std::string fault = find_fault_in_lengths(forest);
    if (fault.empty()) fault = find_fault_in_trees(forest, n_classes);
    if (fault.empty()) fault = find_fault_in_values(forest);
    if (fault.empty())
        fault = find_fault_in_rows("hyperplane", "hyperplane_feature", forest.hyperplane_ptr,
                                   forest.hyperplane_feature, forest.hyperplane_weight, n_features);
    if (fault.empty()) fault = find_fault_in_sides(forest);
    if (fault.empty()) fault = find_fault_in_units(forest);
    if (fault.empty())
        fault = find_fault_in_rows("membership", "membership_feature", forest.membership_ptr,
                                   forest.membership_feature, forest.membership_slope, n_features);
    if (fault.empty() && !forest.value_ptr.empty())
        fault = find_fault_in_rows("value", "value_class", forest.value_ptr, forest.value_class, forest.value,
                                   n_classes);
    return fault;
}

}  // namespace lhtree
