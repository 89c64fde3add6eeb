// What growing asks of the rows, wherever they are: every answer is made of integers that merge exactly, so
// the model does not depend on how the rows are split.
#pragma once
#include <cstdint>
#include <functional>
#include <limits>
#include <optional>
#include <vector>

#include "lhtree/grow/boost/labels.hpp"
#include "lhtree/grow/boost/leaves.hpp"

namespace lhtree::boost {

// Sums of whole numbers times weights, where a product would leave 64 bits: those of two halves, and the
// weight.
struct SplitSums {
    WideSum high, low, weight;

    void merge(const SplitSums& other) {
        high.add(other.high);
        low.add(other.low);
        weight.add(other.weight);
    }
};

// The range of the responses of rows that are learned from, and of those held back.
struct ResponseSurvey {
    double low[2] = {std::numeric_limits<double>::infinity(), std::numeric_limits<double>::infinity()};
    double high[2] = {-std::numeric_limits<double>::infinity(), -std::numeric_limits<double>::infinity()};
    double largest = 0.0;  // size, of rows that are learned from and weigh something

    void merge(const ResponseSurvey& other);
};

// The largest size of the derivatives of rows that are learned from.
struct Steepness {
    double gradient = 0.0, hessian = 0.0;

    void merge(const Steepness& other);
};

// An answer that is called for before the rows change. What is asked of rows elsewhere travels when the first
// answer is called for, so several questions take one exchange.
template <class Answer>
using Later = std::function<Answer()>;

class Rows {
  public:
    Rows(const Bins& bins, std::size_t n_scores) : bins_(bins), n_scores_(n_scores) {}
    virtual ~Rows() = default;
    Rows(const Rows&) = delete;
    Rows& operator=(const Rows&) = delete;

    const Bins& bins() const { return bins_; }
    std::size_t n_scores() const { return n_scores_; }
    virtual bool has_held() const = 0;
    virtual const WeightUnits& units() const = 0;

    // The weight of every class in the rows that are learned from.
    virtual std::vector<WideSum> weigh_classes() = 0;
    virtual ResponseSurvey survey_responses() = 0;
    // Responses of the rows that are learned from, in units, in halves of 26 bits.
    virtual SplitSums sum_responses(double unit) = 0;
    // Sets the scores of all rows, and the units of losses: of rows that are learned from, and of those held
    // back.
    virtual void begin(const std::vector<double>& first, const double (&loss_unit)[2]) = 0;

    // Begins a round: what all trees of it have in common.
    virtual void begin_round() = 0;
    // Takes the derivatives by one score, and …
    virtual Steepness differentiate(std::size_t score) = 0;
    // … begins its tree with all rows in the root; returns its totals.
    virtual Sums begin_tree(const Sampling& sampling, const Quanta& quanta) = 0;
    // Begins with all rows in the root without derivatives: of those that are learned from, all take part.
    virtual void begin_all(std::size_t score) = 0;

    // Rows that take part in every block of the level.
    virtual Later<std::vector<std::int64_t>> count_rows(std::size_t n_blocks) = 0;
    // Histograms of features first … last - 1 of some blocks of the level.
    Later<std::vector<Histogram>> count_bins(const std::vector<std::size_t>& blocks, std::size_t first,
                                             std::size_t last);
    // Moments of the features drawn for every block; none where none are drawn.
    virtual Later<std::vector<Moments>> measure(const std::vector<std::vector<std::int32_t>>& drawn) = 0;
    // The same for leaves.
    virtual std::vector<LeafMoments> measure_leaves(
        const std::vector<std::vector<std::int32_t>>& features) = 0;
    virtual std::vector<Histogram> count_steps(const std::vector<Direction>& directions) = 0;
    // Parts every block of the level into two of the next, or adds what the leaf says to the scores of its
    // rows.
    virtual void part(const std::vector<std::optional<Cut>>& cuts, const std::vector<Leaf>& leaves) = 0;
    // Of every block of the level, the quantile of the residuals of its rows that the objective asks for.
    virtual std::vector<double> select(std::size_t n_blocks) = 0;
    // Losses in units of the loss unit and quantum, in parts of 16 bits of the weight: of the rows that are
    // held back, or of the others.
    virtual SplitSums sum_losses(bool of_held) = 0;

  protected:
    // Histograms of the codes of slots first … last - 1 of some blocks of the level.
    virtual Later<std::vector<Histogram>> count_codes(const std::vector<std::size_t>& blocks,
                                                      std::size_t first, std::size_t last) = 0;

  private:
    const Bins& bins_;
    std::size_t n_scores_;
};

}  // namespace lhtree::boost
