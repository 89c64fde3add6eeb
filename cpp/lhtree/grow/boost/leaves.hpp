// What a leaf adds to the scores of its rows.
#pragma once
#include <cstdint>
#include <vector>

#include "lhtree/grow/boost/decisions.hpp"
#include "lhtree/shared/blocks.hpp"

namespace lhtree::boost {

// clip(intercept + Σ slope · z, low, high), all of it times the learning rate.
struct Leaf {
    LinearMembership line;
    double low, high;

    static Leaf constant(double value) { return {{value, {}, {}, {}}, value, value}; }
    bool is_constant() const { return line.features.empty(); }
};

// Features of a leaf at most.
constexpr std::size_t most_slopes = 12;

// Features on the way to a child: those of the hyperplane first, then those on the way to its parent.
std::vector<std::int32_t> extend_way(const std::vector<std::int32_t>& of_hyperplane,
                                     const std::vector<std::int32_t>& of_parent);

// The Newton step of a linear model of these features around the value of the leaf, with a ridge of 1;
// constant where there is none.
Leaf fit_leaf(double value, const Bounds& bounds, const LeafMoments& moments,
              const std::vector<std::int32_t>& features, const Rules& rules, const Quanta& quanta,
              double learning_rate);

// What the estimates of a leaf are looked up in: slope × representative by the code of its features' slots.
class LeafTables {
  public:
    LeafTables(const Leaf& leaf, const Bins& bins);

    double estimate(const std::uint8_t* codes) const;

  private:
    const Leaf& leaf_;
    std::vector<std::size_t> slots_;  // of its features
    std::vector<double> tables_;
};

}  // namespace lhtree::boost
