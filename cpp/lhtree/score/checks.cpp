#include "lhtree/score/checks.hpp"

#include <algorithm>
#include <cmath>
#include <stdexcept>
#include <string>

namespace lhtree {

namespace {

std::string find_fault_in_targets(const ForestView& forest, std::size_t n_classes) {
    std::vector<bool> has_tree(n_classes, false);
    for (std::size_t tree = 0; tree < forest.n_trees(); ++tree) {
        if (forest.target[tree] < 0)
            throw std::invalid_argument(
                "target is -1: trees of all classes cannot be scored by this version");
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
    if (parts.link == Link::wolf) return parts.base.empty() ? "" : "base needs another link than wolf";
    if (parts.confidence != Confidence::none) return "a boosted model has no confidence";
    const bool is_binary = parts.n_classes == 2;
    if (is_binary != (parts.link == Link::logistic))
        return "the link of two classes is logistic, that of more is softmax";
    if (parts.base.size() != (is_binary ? 1 : parts.n_classes)) return "base needs a value per target";
    for (const double score : parts.base)
        if (!std::isfinite(score)) return "base has a value that is not finite";
    return "";
}

}  // namespace

const ForestView& checked(const ForestView& forest, const Parts& parts) {
    std::string fault = find_fault(forest, parts.n_features, parts.n_classes);
    if (fault.empty() && parts.n_scales != parts.n_features) fault = "centre and scale differ in length";
    if (fault.empty() && parts.n_features == 0) fault = "there are no features";
    if (fault.empty() && parts.n_classes < 2) fault = "fewer than two classes";
    if (fault.empty()) fault = find_fault_in_targets(forest, parts.n_classes);
    if (fault.empty()) fault = find_fault_in_link(forest, parts);
    if (!fault.empty()) throw std::invalid_argument("not the arrays of a model: " + fault);
    return forest;
}

}  // namespace lhtree
