// Scorer: computes the scores of rows with the trees of a model.
#pragma once
#include <cstdint>
#include <limits>
#include <variant>
#include <vector>

#include "lhtree/score/heads.hpp"
#include "lhtree/score/kernels.hpp"
#include "lhtree/score/units.hpp"
#include "lhtree/shared/normalise.hpp"

namespace lhtree {

// Rows of features in the user's units.
using InputRows = std::variant<Strided<double>, Strided<float>>;
inline std::size_t count_rows(const InputRows& x) {
    return std::visit([](const auto& rows) { return rows.n_rows; }, x);
}

struct TreeRange {
    std::size_t begin, end;
};

// Samples that some estimators did not see. The scored rows are consecutive samples.
struct LeftOut {
    const std::int64_t* estimator;  // n numbers
    std::size_t n;
    const std::uint8_t* bits;  // n rows of n_bytes: a bit per sample, as numpy.packbits writes them
    std::size_t n_bytes, first_row;

    bool has(std::size_t i, std::size_t row) const {
        const std::size_t sample = first_row + row;
        return bits[i * n_bytes + sample / 8] >> (7 - sample % 8) & 1;
    }
};

struct Tile;
class Scorer;

// A forest that is part of the raw scores of a boosted model: its memberships (see add_log_memberships) or,
// in a regression, its weighted predictions.
struct Companion {
    const Scorer* forest = nullptr;  // lives as long as the model
    double weight = 0.0;

    bool is_given() const { return forest != nullptr; }
};

// Scores rows. Methods that take rows return false if a value is infinite.
class Scorer {
  public:
    // Copies the arrays. Throws std::invalid_argument if a model cannot have them.
    Scorer(const ForestView& forest, std::vector<double> centre, std::vector<double> scale,
           std::vector<double> prior, Confidence confidence, const Link& link = find_link("wolf"),
           std::vector<double> base = {}, double clip = Planes::largest, Calibration calibration = {},
           Companion companion = {});

    const Link& head() const { return link_; }
    std::size_t n_features() const { return centre_.size(); }
    std::size_t n_classes() const { return prior_.size(); }
    std::size_t n_targets() const {
        return link_.is_regression() ? base_.size() : n_classes() == 2 ? 1 : n_classes();
    }
    std::size_t n_trees() const { return forest_.trees.size(); }
    // Trees of one estimator (of one round, if boosted): one of all classes or outputs, or one per target.
    std::size_t n_trees_each() const { return forest_.is_joint() ? 1 : n_targets(); }
    std::size_t columns_of(Score score) const {
        return score == Score::raw_score || score == Score::value ? n_targets() : n_classes();
    }

    // out: n_rows × columns. Throws std::invalid_argument if models of this link have no such score.
    bool score(const InputRows& x, Score score, std::size_t n_threads, Watch& watch, double* out) const;
    // out: the class of every row.
    bool predict(const InputRows& x, std::size_t n_threads, Watch& watch, std::int64_t* out) const;
    // out: n_rows × n_trees, the leaf of every row, numbered within its tree.
    bool apply(const InputRows& x, std::size_t n_threads, Watch& watch, std::int64_t* out) const;
    // membership, confidence: n_rows × n_trees, μ and d of every tree; the value and 1 with boosted models.
    bool per_tree(const InputRows& x, std::size_t n_threads, Watch& watch, double* membership,
                  double* confidence) const;
    // Sums over the estimators that did not see a row, in their order. Classes: of d·μ and of μ, n_rows ×
    // n_classes each. Regression: of the estimates and of ((estimate - mean) / unit)², n_rows each.
    bool sum_left_out(const InputRows& x, const LeftOut& left_out, double mean, double unit,
                      std::size_t n_threads, Watch& watch, double* first, double* second) const;
    // ptr: n_rows × n_trees + 1, the start of the path of every row down every tree.
    bool measure_paths(const InputRows& x, std::size_t n_threads, Watch& watch, std::int64_t* ptr) const;
    // Writes the paths from the root to the leaf: blocks numbered within their tree; the feature sum of every
    // branching block, and the estimate of the leaf before it is clipped.
    bool trace(const InputRows& x, std::size_t n_threads, Watch& watch, const std::int64_t* ptr,
               std::int32_t* block, double* value) const;
    // Replaces mean corrected memberships (n_rows × n_classes) by probabilities, given mean memberships.
    void settle(const double* membership, std::size_t n_rows, double* wolf, bool calibrates = true) const;
    // Writes probabilities (n_rows × n_classes), or the values of a regression, from raw scores.
    void apply_link(const double* raw, std::size_t n_rows, double* predictions, bool calibrates = true) const;

  private:
    friend class StagedScores;

    Planes planes_;
    PackedForest forest_;
    std::vector<double> n_trees_of_;  // trees per class
    std::vector<double> centre_, scale_, prior_;
    UnitForest units_;  // of trees that are evaluated in the user's units
    Confidence confidence_;
    const Link& link_;
    Calibration calibration_;
    Companion companion_;
    std::vector<double> base_;         // of every target before the first tree: its raw score, or 0
    std::vector<double> leaf_values_;  // of a model that adds up the values of leaves, if all are constant

    // Adds the outputs of trees to the sums of a tile.
    struct Sums {
        bool wolf, membership, confidence;
    };
    void add_memberships(Tile& tile, TreeRange trees, Sums sums) const;
    void add_shares(Tile& tile, Sums sums, const std::uint32_t* leaf, const double* confidence) const;
    template <class Done>
    void add_values(Tile& tile, TreeRange trees, const Done& done) const;
    // The means of the sums over all trees.
    void take_means(Tile& tile, Score score) const;
    bool score_own(const InputRows& x, Score score, std::size_t n_threads, Watch& watch, double* out) const;
    // Computes raw scores, the companion's included.
    bool pool(const InputRows& x, std::size_t n_threads, Watch& watch, std::vector<double>& raw) const;
    // Writes the class with the largest raw score.
    void find_classes(const std::vector<double>& raw, std::size_t n_rows, std::int64_t* out) const;
    // Combined outputs: raw scores, or means of estimates.
    void combine_values(Tile& tile) const;
    void take_memberships(const Tile& tile, const std::uint32_t* leaf, double* out) const;
    Rows rows_of(const Tile& tile) const;
    std::size_t tile_rows() const;

    // Walks the rows of a tile down trees and calls use(place, leaf, confidence) for each, in order.
    template <class Use>
    void each_tree(Tile& tile, TreeRange trees, const Use& use) const;
    template <class Use>
    void each_symmetric_tree(Tile& tile, TreeRange trees, const Use& use) const;
    bool finds_all_leaves(const Tile& tile) const;
    void find_all_leaves(Tile& tile) const;
    void add_all_values(Tile& tile) const;
    // Normalises rows and lays them out in a tile. Returns false if they have an infinity.
    template <class Value>
    bool lay_rows(const Strided<Value>& x, Tile& tile) const;
    // The normalised value of a missing one.
    double missing() const { return planes_.is_plain() ? 0.0 : std::numeric_limits<double>::quiet_NaN(); }
    template <class Use>
    void each_tile(std::size_t n_rows, std::size_t n_threads, Watch& watch, const Use& use) const;
    template <class Use>
    bool each_tile(const InputRows& x, std::size_t n_threads, Watch& watch, const Use& use) const;
};

}  // namespace lhtree
