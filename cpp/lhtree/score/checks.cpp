#include "lhtree/score/checks.hpp"

#include <algorithm>
#include <cmath>
#include <stdexcept>
#include <string>

namespace lhtree {

namespace {

// Of trees of all classes, every leaf has shares, and there are no other trees.
std::string find_fault_in_joint(const ForestView& forest, std::size_t n_joint, std::size_t n_classes) {
    if (n_joint != forest.n_trees()) return "some trees are of all classes and others are not";
    if (n_classes < 3) return "trees of all classes need three classes";
    if (forest.value_ptr.empty()) return "trees of all classes need values";
    for (std::size_t block = 0; block < forest.n_blocks(); ++block)
        if (forest.value_ptr[block] == forest.value_ptr[block + 1]) return "a block has no values";
    for (std::size_t i = 0; i < forest.value.size(); ++i)
        if (!(forest.value[i] >= 0.0 && forest.value[i] <= 1.0)) return "value is not between 0 and 1";
    for (std::size_t block = 0; block < forest.prior_share.size(); ++block)
        if (!(forest.prior_share[block] >= 0.0 && forest.prior_share[block] <= 1.0))
            return "prior_share is not between 0 and 1";
    return "";
}

std::string find_fault_in_targets(const ForestView& forest, std::size_t n_classes) {
    std::vector<bool> has_tree(n_classes, false);
    const std::int32_t* const target = forest.target.data();
    const auto n_joint = std::count(target, target + forest.n_trees(), -1);
    if (n_joint > 0) return find_fault_in_joint(forest, static_cast<std::size_t>(n_joint), n_classes);
    for (std::size_t tree = 0; tree < forest.n_trees(); ++tree) {
        has_tree[static_cast<std::size_t>(forest.target[tree])] = true;
    }
    if (n_classes == 2) {  // one tree serves both classes
        if (has_tree[0]) return "two classes need target 1";
        has_tree[0] = true;
    }
    return std::find(has_tree.begin(), has_tree.end(), false) == has_tree.end() ? "" : "a class has no tree";
}

std::string find_fault_in_link(const ForestView& forest, const Parts& parts) {
    const std::int8_t* const missing = forest.missing.data();
    const bool has_sides =
        std::any_of(missing, missing + forest.missing.size(), [](std::int8_t side) { return side != 0; });
    if (!(parts.clip > 0.0 && std::isfinite(parts.clip))) return "clip is not a positive number";
    if (has_sides && parts.confidence != Confidence::none)
        return "missing is not 0, which leaves no distances for a confidence";
    if (!forest.unit_offset.empty()) {
        if (has_sides || parts.confidence != Confidence::none || is_boosted(parts.link))
            return "trees in the user's units have no confidence, no sides for missing values and no raw "
                   "scores";
    }
    if (!is_boosted(parts.link) && !parts.base.empty()) return "base needs another link than wolf and mean";
    if (parts.link == Link::wolf) return "";
    if (parts.confidence != Confidence::none) return "only the link wolf has a confidence";
    if (forest.target[0] < 0) return "trees of all classes need the link wolf";
    if (parts.link == Link::mean) return "";
    const bool has_one_target = parts.n_classes == 2 || is_regression(parts.link);
    if (!is_regression(parts.link) && has_one_target != (parts.link == Link::logistic))
        return "the link of two classes is logistic, that of more is softmax";
    if (parts.base.size() != (has_one_target ? 1 : parts.n_classes)) return "base needs a value per target";
    for (const double score : parts.base)
        if (!std::isfinite(score)) return "base has a value that is not finite";
    return "";
}

}  // namespace

const ForestView& checked(const ForestView& forest, const Parts& parts) {
    const bool has_classes = !is_regression(parts.link);
    std::string fault = find_fault(forest, parts.n_features, has_classes ? parts.n_classes : 1);
    if (fault.empty() && parts.n_scales != parts.n_features) fault = "centre and scale differ in length";
    if (fault.empty() && parts.n_features == 0) fault = "there are no features";
    if (fault.empty() && has_classes && parts.n_classes < 2) fault = "fewer than two classes";
    if (fault.empty() && !has_classes && parts.n_classes > 0) fault = "a regression has no classes";
    if (fault.empty()) fault = find_fault_in_targets(forest, has_classes ? parts.n_classes : 1);
    if (fault.empty()) fault = find_fault_in_link(forest, parts);
    if (!fault.empty()) throw std::invalid_argument("not the arrays of a model: " + fault);
    return forest;
}

}  // namespace lhtree
