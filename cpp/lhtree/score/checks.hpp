// What stands between arrays from anywhere and a Scorer.
#pragma once
#include <vector>

#include "lhtree/score/link.hpp"
#include "lhtree/shared/blocks.hpp"
#include "lhtree/shared/options.hpp"

namespace lhtree {

// What a model has beside its trees.
struct Parts {
    std::size_t n_features, n_scales, n_classes;
    Confidence confidence;
    Link link;
    const std::vector<double>& base;
    double clip;
};

// The forest, if it can be scored; throws std::invalid_argument if not.
const ForestView& checked(const ForestView& forest, const Parts& parts);

}  // namespace lhtree
