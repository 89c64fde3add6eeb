// Rows as growing sees them: requests that change them or ask for statistics, and the answers. Statistics are
// integers that merge exactly, so a model does not depend on how the rows are partitioned, or where they are.
#pragma once
#include <algorithm>
#include <cstdint>
#include <limits>
#include <optional>
#include <tuple>
#include <variant>
#include <vector>

#include "lhtree/grow/boost/labels.hpp"
#include "lhtree/grow/boost/leaves.hpp"
#include "lhtree/grow/boost/selection.hpp"

namespace lhtree::boost {

// A weighted sum of integers. Products would exceed 64 bits, so the high and the low half of the integers (or
// of the weights) are added up separately.
struct SplitSums {
    WideSum high, low, weight;

    auto fields() { return std::tie(high, low, weight); }
    void merge(const SplitSums& other) {
        high.add(other.high);
        low.add(other.low);
        weight.add(other.weight);
    }
};

// The range of the responses: of training rows, and of validation rows.
struct ResponseSurvey {
    double low[2] = {std::numeric_limits<double>::infinity(), std::numeric_limits<double>::infinity()};
    double high[2] = {-std::numeric_limits<double>::infinity(), -std::numeric_limits<double>::infinity()};
    double largest = 0.0;  // absolute value of training rows with a positive weight

    auto fields() { return std::tie(low[0], low[1], high[0], high[1], largest); }
    void merge(const ResponseSurvey& other) {
        for (const int of_held : {0, 1}) {
            low[of_held] = std::min(low[of_held], other.low[of_held]);
            high[of_held] = std::max(high[of_held], other.high[of_held]);
        }
        largest = std::max(largest, other.largest);
    }
};

// The largest absolute derivatives of training rows.
struct Steepness {
    double gradient = 0.0, hessian = 0.0;

    auto fields() { return std::tie(gradient, hessian); }
    void merge(const Steepness& other) {
        gradient = std::max(gradient, other.gradient);
        hessian = std::max(hessian, other.hessian);
    }
};

struct LevelStatistics {
    std::vector<std::int64_t> n_rows;   // of every block
    std::vector<Histogram> histograms;  // of some blocks, by the codes of slots
    std::vector<Moments> moments;       // of every block
    auto fields() { return std::tie(n_rows, histograms, moments); }
};

struct Done {};

// Requests. A partition that replaces another has to repeat all requests that change rows, in their order.
// fields() are the members that messages contain.
template <class OneAnswer>
struct Question {
    using Answer = OneAnswer;
    static constexpr bool changes_rows = false;
};
template <class OneAnswer>
struct Change {
    using Answer = OneAnswer;
    static constexpr bool changes_rows = true;
};
struct SurveyWeights : Question<WeightSurvey> {};
// Converts the weights to integers. All requests below need it.
struct SetWeightUnits : Change<Done> {
    WeightUnits units;
    auto fields() { return std::tie(units); }
};
// The weight of every class in the training rows.
struct WeighClasses : Question<std::vector<WideSum>> {};
// The range of every response.
struct SurveyResponses : Question<std::vector<ResponseSurvey>> {};
// Adds up every response of training rows, in its unit, in halves of 26 bits.
struct SumResponses : Question<std::vector<SplitSums>> {
    std::vector<double> units;
    auto fields() { return std::tie(units); }
};
// Sets the scores of all rows, and the units of every loss of training rows and of validation rows.
struct Begin : Change<Done> {
    std::vector<double> scores;
    std::vector<double> loss_units[2];
    auto fields() { return std::tie(scores, loss_units[0], loss_units[1]); }
};
// Computes values that all trees of a round need: the normalisation of softmax, or the probabilities if one
// tree has all scores.
struct BeginRound : Change<Done> {
    bool is_joint = false;
    auto fields() { return std::tie(is_joint); }
};
// Computes the derivatives by one score or, for a tree of all scores, along a projection of them. The answer
// is the steepness of the tree, followed by that of every score of a tree of all scores.
struct Differentiate : Change<std::vector<Steepness>> {
    std::size_t score = 0;
    std::vector<double> projection;  // empty: one score
    auto fields() { return std::tie(score, projection); }
};
// Begins a tree of that score: puts all rows into the root, draws the sample and returns its sums.
struct BeginTree : Change<Sums> {
    Sampling sampling;
    Quanta quanta;
    auto fields() { return std::tie(sampling, quanta); }
};
// Puts all rows into the root of a tree that needs no derivatives.
struct BeginReplay : Change<Done> {
    std::size_t score = 0;
    auto fields() { return std::tie(score); }
};
// A level of oblique cuts needs two answers, one after the other: directions follow from the merged moments
// of MeasureLevel, and the cut follows from the steps of CountSteps along them. SplitLevel has no answer: it
// is sent together with the next request, whose moments depend on the cut. Single features need one answer.

// Statistics of the blocks of the level. Here and below, n_sharing is the number of blocks of the level if
// they share every list of features, direction or cut (symmetric trees), and 0 if each block has its own.
// Answers to shared items are ordered by item, then by block.
struct MeasureLevel : Question<LevelStatistics> {
    bool counts_rows = false;
    std::vector<std::size_t> blocks, slots;           // blocks that need histograms of these slots
    std::vector<std::vector<std::int32_t>> features;  // of moments; empty: no moments
    std::size_t n_sharing = 0;
    auto fields() { return std::tie(counts_rows, blocks, slots, features, n_sharing); }
};
// Counts the rows of every block by steps along directions.
struct CountSteps : Question<std::vector<Histogram>> {
    std::vector<Direction> directions;
    std::size_t n_sharing = 0;
    auto fields() { return std::tie(directions, n_sharing); }
};
// Moments of the features of every block that becomes a linear leaf.
struct MeasureLeaves : Question<std::vector<LeafMoments>> {
    std::vector<std::vector<std::int32_t>> features;
    auto fields() { return std::tie(features); }
};
// Sums of the derivatives of every score, in quanta of the score, of some blocks of a tree of all scores.
struct SumScores : Question<std::vector<Histogram>> {
    std::vector<std::size_t> blocks;
    std::vector<Quanta> quanta;
    auto fields() { return std::tie(blocks, quanta); }
};
// Splits every block of the level into two of the next, or adds its leaf to the scores of its rows.
struct SplitLevel : Change<Done> {
    std::vector<std::optional<Cut>> cuts;
    std::vector<Leaf> leaves;  // of every block; unused where blocks share a cut
    std::size_t n_sharing = 0;
    auto fields() { return std::tie(cuts, leaves, n_sharing); }
};
// The weights of the residuals of some scores of every block by the digit that follows the known ones; the
// digits are ordered by block, then by score.
struct WeighDigits : Question<std::vector<DigitWeights>> {
    std::vector<std::size_t> scores;
    std::vector<Digits> digits;
    auto fields() { return std::tie(scores, digits); }
};
// Adds up every loss in quanta of its unit, in parts of 16 bits of the weight.
struct SumLosses : Question<std::vector<SplitSums>> {
    bool of_held = false;
    auto fields() { return std::tie(of_held); }
};

using Request = std::variant<SurveyWeights, SetWeightUnits, WeighClasses, SurveyResponses, SumResponses,
                             Begin, BeginRound, Differentiate, BeginTree, BeginReplay, MeasureLevel,
                             CountSteps, MeasureLeaves, SumScores, SplitLevel, WeighDigits, SumLosses>;
using Answer = std::variant<Done, WeightSurvey, std::vector<WideSum>, std::vector<ResponseSurvey>,
                            std::vector<SplitSums>, std::vector<Steepness>, Sums, LevelStatistics,
                            std::vector<Histogram>, std::vector<LeafMoments>, std::vector<DigitWeights>>;

// Adds the statistics of other rows, which must have the same sizes.
inline void merge(Done&, const Done&) {}
inline void merge(std::int64_t& all, std::int64_t own) {
    all += own;
}
inline void merge(WideSum& all, const WideSum& own) {
    all.add(own);
}
template <class Statistics>
void merge(Statistics& all, const Statistics& own) {
    all.merge(own);
}
template <class Item>
void merge(std::vector<Item>& all, const std::vector<Item>& own) {
    require_same_size(all.size(), own.size());
    for (std::size_t i = 0; i < all.size(); ++i) merge(all[i], own[i]);
}
inline void merge(LevelStatistics& all, const LevelStatistics& own) {
    merge(all.n_rows, own.n_rows);
    merge(all.histograms, own.histograms);
    merge(all.moments, own.moments);
}

constexpr std::size_t most_histogram_bytes = std::size_t{1} << 27;

class Rows {
  public:
    Rows(const Bins& bins, std::size_t n_scores) : bins_(bins), n_scores_(n_scores) {}
    virtual ~Rows() = default;
    Rows(const Rows&) = delete;
    Rows& operator=(const Rows&) = delete;

    const Bins& bins() const { return bins_; }
    std::size_t n_scores() const { return n_scores_; }
    bool has_held() const { return has_held_; }  // validation rows
    const WeightUnits& units() const { return units_; }
    // Takes histograms that are not needed any more.
    virtual void give_back(std::vector<Histogram>&&) {}
    // Size of histograms that are counted at once, if features can be counted one after the other.
    virtual std::size_t histogram_bytes() const { return most_histogram_bytes; }

    template <class OneRequest>
    typename OneRequest::Answer ask(OneRequest request) {
        return std::get<typename OneRequest::Answer>(answer(Request(std::move(request))));
    }
    virtual Answer answer(const Request& request) = 0;
    // The quantiles of the residuals that the losses of some scores select, of every block of the level:
    // ordered by block, then by score.
    virtual std::vector<double> select(std::size_t n_blocks, const std::vector<std::size_t>& scores) = 0;

  protected:
    bool has_held_ = false;
    WeightUnits units_;

  private:
    const Bins& bins_;
    std::size_t n_scores_;
};

}  // namespace lhtree::boost
