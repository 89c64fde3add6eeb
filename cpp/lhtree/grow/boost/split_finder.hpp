// Split finding: cuts, directions and values from merged statistics, in floating point.
#pragma once
#include <cstdint>
#include <limits>
#include <optional>
#include <vector>

#include "lhtree/grow/boost/statistics.hpp"

namespace lhtree::boost {

// The value of a quantum of the sums of a tree; gradients and Hessians are for a weight of 1.
struct Quanta {
    double gradient = 1.0, hessian = 1.0, weight = 1.0;
    double moment = 1.0;  // the weight of moments

    auto fields() { return std::tie(gradient, hessian, weight, moment); }
};

// Moments of one or several blocks about the means of the representatives d = r - mean of the block, weighted
// by the hessian; in quanta.
class Centred {
  public:
    // All moments that are added have n_features features.
    explicit Centred(std::size_t n_features);
    explicit Centred(const Moments& moments) : Centred(moments.hessian_value.size()) { add(moments); }

    void add(const Moments& moments);

    std::size_t n_features() const { return descent_.size(); }
    double hessian() const { return hessian_; }
    // Σ h d_i d_j, i ≥ j, and -Σ g d_i.
    double product(std::size_t i, std::size_t j) const { return product_[i * (i + 1) / 2 + j]; }
    double descent(std::size_t i) const { return descent_[i]; }
    // Features that are not constant, but for rounding.
    std::vector<std::size_t> varying() const;

  private:
    double hessian_ = 0.0;
    std::vector<double> descent_, product_, raw_square_;
};

// Bounds of the values below a block, so that the tree is monotonic.
struct Bounds {
    double low = -std::numeric_limits<double>::infinity(), high = std::numeric_limits<double>::infinity();
};

struct Rules {
    double l2 = 1.0, min_weight = 20.0, ridge = 0.01;
    std::vector<std::int8_t> monotonic;  // of every feature: -1, 0 or 1; empty: no feature is constrained
};

// Calls solve(kept, solution) for the numbers of features that vary, again without those whose solution has
// the wrong sign, until all signs are right. Returns the features kept; none if a call returns false.
template <class Solve>
std::vector<std::size_t> solve_monotonic(const Centred& centred, const std::vector<std::int32_t>& features,
                                         const Rules& rules, std::vector<double>& solution,
                                         const Solve& solve) {
    std::vector<std::size_t> kept = centred.varying();
    while (true) {
        solution.assign(kept.size(), 0.0);
        if (!solve(kept, solution)) return {};
        std::vector<std::size_t> right;
        for (std::size_t i = 0; i < kept.size(); ++i)
            if (rules.monotonic.empty() ||
                solution[i] * rules.monotonic[static_cast<std::size_t>(features[kept[i]])] >= 0.0)
                right.push_back(kept[i]);
        if (right.size() == kept.size()) return kept;
        kept = std::move(right);
    }
}

// The split of a block: rows whose feature sum lies below the offset go left.
struct Cut {
    Direction direction;           // a single feature with weight 1, or several
    std::uint32_t code = 0;        // single: the last code that goes left
    bool is_missing_left = false;  // single: where missing values go
    double sum = 0.0;              // several: the least feature sum that goes right, in units
    double gain = 0.0;             // in units of weight
    Sums left;

    bool is_single() const { return direction.features.size() == 1; }
    // Without what only the split finder needs.
    auto fields() { return std::tie(direction, code, is_missing_left, sum); }
};

// The sums of a block and the bounds of its value.
struct Totals {
    Sums sums;
    Bounds bounds;
};

class SplitFinder {
  public:
    SplitFinder(const Rules& rules, const Quanta& quanta);

    // -G / (H + λ), within bounds.
    double value(const Sums& sums, const Bounds& bounds) const;
    bool may_split(const Sums& sums) const;
    // Finds a better cut at a feature than `best`; its bins begin at `first` of the histogram.
    void cut_feature(const Totals& totals, std::int32_t feature, const Bins& bins, const Histogram& histogram,
                     std::size_t first, std::optional<Cut>& best) const;
    // The direction in which the loss falls fastest, given the moments of all rows, and about the means of
    // the blocks; empty if all features are constant.
    Direction direct(const Moments& moments, const Centred& centred,
                     const std::vector<std::int32_t>& features) const;
    void cut_direction(const Totals& totals, const Direction& direction, const Histogram& sums,
                       std::optional<Cut>& best) const;
    // Twice the reduction of the loss by a block of these sums.
    double reduction(const Sums& sums, const Bounds& bounds) const;
    bool may_be_child(const Sums& sums) const;
    // The gain of a block; 0 if a side is too light.
    double gain_of(const Totals& totals, const Sums& left) const;
    // 1 if the right side of a direction must have the larger value, -1 if the left side must, else 0.
    int sign_of(const Direction& direction) const;
    // Bounds of the children of a block. An empty child has the value of the block.
    void pass_bounds(const Totals& totals, double of_block, const Cut& cut, Bounds& left,
                     Bounds& right) const;

    const Rules& rules() const { return rules_; }
    const Quanta& quanta() const { return quanta_; }
    // In units of weight.
    double l2() const { return l2_; }
    double least_hessian() const { return least_hessian_; }

  private:
    const Rules& rules_;
    Quanta quanta_;
    // In units of weight, as sums are: a power of two, so that no bit depends on the unit, and no weight is
    // so large that its squares leave the range.
    double l2_, least_hessian_;

    bool is_far_worse(const Sums& left, const Sums& right, double least) const;
    bool is_better(const Totals& totals, double unsplit, const Sums& left, int sign, double& gain) const;
};

}  // namespace lhtree::boost
