// Leaves: the values that they add to the scores of their rows.
#pragma once
#include <cstdint>
#include <vector>

#include "lhtree/grow/boost/split_finder.hpp"
#include "lhtree/shared/blocks.hpp"

namespace lhtree::boost {

// clip(intercept + Σ slope · z, low, high), all of it times the learning rate.
struct Leaf {
    LinearMembership line;
    double low, high;
    std::vector<double> values{};  // of every score, of a tree of all scores; else empty

    static Leaf constant(double value) { return {{value, {}, {}, {}}, value, value, {}}; }
    static Leaf joint(std::vector<double> values) { return {{}, 0.0, 0.0, std::move(values)}; }
    bool is_joint() const { return !values.empty(); }
    auto fields() { return std::tie(line.intercept, line.features, line.slopes, low, high, values); }
};

// Features of a leaf at most.
constexpr std::size_t most_slopes = 12;

// The Newton step of a linear model of these features around the value of the leaf, with a ridge of 1; a
// constant leaf if the system has no solution.
Leaf fit_leaf(double value, const Bounds& bounds, const LeafMoments& moments,
              const std::vector<std::int32_t>& features, const Rules& rules, const Quanta& quanta,
              double learning_rate);

}  // namespace lhtree::boost
