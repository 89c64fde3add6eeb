// Scoring rows with the trees of a model: Algorithm 2, corrected memberships, WOLF; the raw scores of boosted
// models.
#pragma once
#include <cstdint>
#include <vector>

#include "lhtree/score/calibration.hpp"
#include "lhtree/score/kernels.hpp"
#include "lhtree/score/link.hpp"
#include "lhtree/score/planes.hpp"
#include "lhtree/score/units.hpp"
#include "lhtree/shared/blocks.hpp"
#include "lhtree/shared/normalise.hpp"

namespace lhtree {

// What a score is asked for; each is a value per row and class, raw scores per row and target, the value of a
// regression per row. Probabilities are calibrated if the model is, uncalibrated ones never.
enum class Score : std::uint8_t { wolf, membership, confidence, proba, uncalibrated, raw_score, value };

// Probabilities fall back on memberships.
constexpr bool is_probability(Score what) {
    return what == Score::proba || what == Score::uncalibrated;
}

struct Tile;

class Scorer {
  public:
    // Copies what it needs. Throws std::invalid_argument if the arrays are not those of a model.
    Scorer(const ForestView& forest, std::vector<double> centre, std::vector<double> scale,
           std::vector<double> prior, Confidence confidence, Link link = Link::wolf,
           std::vector<double> base = {}, double clip = Planes::largest, Calibration calibration = {});

    std::size_t n_features() const { return centre_.size(); }
    std::size_t n_classes() const { return prior_.size(); }
    std::size_t n_targets() const { return n_classes() == 2 || is_regression() ? 1 : n_classes(); }
    std::size_t n_trees() const { return forest_.trees.size(); }
    bool is_regression() const { return lhtree::is_regression(link_); }  // there are no classes
    bool is_boosted() const { return lhtree::is_boosted(link_); }
    std::size_t columns_of(Score what) const {
        return what == Score::raw_score || what == Score::value ? n_targets() : n_classes();
    }

    // x: rows of features as the user knows them. out: n_rows × columns. False if an infinity was met. Throws
    // std::invalid_argument if models of this link have no such score.
    template <class Value>
    bool score(const Strided<Value>& x, Score what, std::size_t n_threads, Watch& watch, double* out) const;
    // out: the class of every row.
    template <class Value>
    bool predict(const Strided<Value>& x, std::size_t n_threads, Watch& watch, std::int64_t* out) const;
    // out: n_rows × n_trees, the leaf of every row, numbered within its tree.
    template <class Value>
    bool apply(const Strided<Value>& x, std::size_t n_threads, Watch& watch, std::int64_t* out) const;
    // membership, confidence: n_rows × n_trees, μ and d of every tree; its value and 1 if it is boosted.
    template <class Value>
    bool per_tree(const Strided<Value>& x, std::size_t n_threads, Watch& watch, double* membership,
                  double* confidence) const;
    // ptr: n_rows × n_trees + 1, where the way of every row down every tree begins …
    template <class Value>
    bool measure_ways(const Strided<Value>& x, std::size_t n_threads, Watch& watch, std::int64_t* ptr) const;
    // … and those ways, from the root to the leaf: blocks numbered within their tree; the feature sum of
    // each, for the leaf its estimate before it is clipped.
    template <class Value>
    bool trace(const Strided<Value>& x, std::size_t n_threads, Watch& watch, const std::int64_t* ptr,
               std::int32_t* block, double* value) const;
    // Probabilities from mean corrected memberships (n_rows × n_classes), which they replace, and mean
    // memberships.
    void settle(const double* membership, std::size_t n_rows, double* wolf, bool calibrates = true) const;
    // Probabilities (n_rows × n_classes), or the values of a regression, from raw scores (n_rows ×
    // n_targets).
    void link(const double* raw, std::size_t n_rows, double* predictions, bool calibrates = true) const;

  private:
    Planes planes_;
    PackedForest forest_;
    std::vector<double> n_trees_of_;  // trees per class
    std::vector<double> centre_, scale_, prior_;
    UnitForest units_;  // of trees that are evaluated in the user's units
    Confidence confidence_;
    Link link_;
    Calibration calibration_;
    std::vector<double> base_;         // of every target before the first tree: its raw score, or 0
    std::vector<double> leaf_values_;  // of a model that adds up the values of leaves, if all are constant

    // Whether models of this link have such a score; throws std::invalid_argument if not.
    void check_score(Score what) const;
    void sum_trees(Tile& tile, Score what) const;
    void add_shares(Tile& tile, Score what, const std::uint32_t* leaf, const double* confidence) const;
    // What the leaves of a tree say of the rows.
    void take_memberships(const Tile& tile, const std::uint32_t* leaf, double* out) const;
    // What the trees of every target add to its base, in their order.
    void sum_values(Tile& tile) const;
    Rows rows_of(const Tile& tile) const;
    std::size_t tile_rows() const;

    // Walks the rows of a tile down all trees and calls use(place, leaf, confidence) for each, in the order
    // of the trees.
    template <class Use>
    void each_tree(Tile& tile, const Use& use) const;
    // Normalises the rows of a tile and lays them out. False if an infinity was met.
    template <class Value>
    bool lay_rows(const Strided<Value>& x, Tile& tile) const;
    template <class Value, class Use>
    bool each_tile(const Strided<Value>& x, std::size_t n_threads, Watch& watch, const Use& use) const;
};

}  // namespace lhtree
