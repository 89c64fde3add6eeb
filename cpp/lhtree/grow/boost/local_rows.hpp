// Rows that this process can read: codes in memory or in a mapped file, in chunks, ordered by block.
#pragma once
#include <cstdint>
#include <vector>

#include "lhtree/grow/boost/losses.hpp"
#include "lhtree/grow/boost/rows.hpp"

namespace lhtree::boost {

// Pointers to rows that the caller keeps alive.
struct RowData {
    const Bins& bins;
    const std::uint8_t* codes;  // a byte for every slot, row after row
    Labels labels;
    const double* weight;  // null: 1 each
    Objective objective;
    std::uint64_t first_row = 0;  // number of the first row in the whole table
};

class LocalRows : public Rows {
  public:
    LocalRows(const RowData& data, const WeightUnits& units, std::size_t n_threads, Watch& watch);

    Answer answer(const Request& request) override;
    std::vector<double> select(std::size_t n_blocks, const std::vector<std::size_t>& scores) override;
    void give_back(std::vector<Histogram>&& histograms) override { spare_.give(std::move(histograms)); }
    // On one thread, histograms stay in the cache until they are read.
    std::size_t histogram_bytes() const override {
        return n_threads_ > 1 ? most_histogram_bytes : std::size_t{1} << 21;
    }
    // The loss of every validation row, the mean of its losses relative to their scales.
    std::vector<double> measure_held(const std::vector<double>& scales) const;
    // Blocks of the level; 0 before a tree begins.
    std::size_t n_blocks() const { return n_blocks_; }
    const Objective& objective() const { return objective_; }
    // Whether trees of the round may be of all scores.
    bool may_be_joint() const {
        return n_scores() > 1 && (!objective_.is_softmax() || !proba_.empty() || labels_.n_rows == 0);
    }

  private:
    // Entries of a chunk that belong to a block: rows in the sample of the tree, then the other rows.
    struct Extent {
        std::uint32_t begin, middle, end;
    };
    struct Chunk {
        std::size_t begin, size;  // rows
        std::vector<Entry> entries;
        std::vector<Extent> blocks;            // of the level
        std::vector<float> gradient, hessian;  // empty: computed where they are needed
    };
    class Sides;
    struct Kept {
        const float *gradient, *hessian;
    };

    const std::uint8_t* codes_;
    Labels labels_;
    Weights weights_;
    Objective objective_;
    std::uint64_t first_row_;
    std::size_t n_threads_;
    Watch& watch_;
    std::vector<Chunk> chunks_;
    std::vector<double> raw_, log_sums_;
    std::vector<float> proba_;  // in rounds of one tree of all scores
    std::size_t score_ = 0;     // of the current tree
    std::vector<double> projection_;
    std::size_t n_blocks_ = 0;
    std::vector<double> loss_units_[2];  // of training rows and validation rows
    SpareHistograms spare_;

    std::vector<WideSum> perform(const WeighClasses& request);
    std::vector<ResponseSurvey> perform(const SurveyResponses& request);
    std::vector<SplitSums> perform(const SumResponses& request);
    Done perform(const Begin& request);
    Done perform(const BeginRound& request);
    std::vector<Steepness> perform(const Differentiate& request);
    Sums perform(const BeginTree& request);
    Done perform(const BeginReplay& request);
    LevelStatistics perform(const MeasureLevel& request);
    std::vector<Histogram> perform(const CountSteps& request);
    std::vector<LeafMoments> perform(const MeasureLeaves& request);
    std::vector<Histogram> perform(const SumScores& request);
    Done perform(const SplitLevel& request);
    std::vector<DigitWeights> perform(const WeighDigits& request);
    std::vector<SplitSums> perform(const SumLosses& request);

    Scored scored(const Chunk& chunk) const;
    BlockRows rows_of(const Chunk& chunk, std::size_t block) const;
    bool is_lean() const { return weights_.of.empty() && labels_.n_rows < most_lean_rows; }
    Kept differentiate(Chunk& chunk, std::vector<float>& aside) const;
    template <class Task>
    void each_chunk(const Task& task);
    // Calls use(row, residual of a score) for the rows of a block that take part.
    template <class Use>
    void each_residual(const Chunk& chunk, std::size_t block, std::size_t score, const Use& use) const;
    // Runs add(statistics, chunk) over all chunks, with one make() per thread.
    template <class Make, class Add>
    auto gather_parts(const Make& make, const Add& add);
    // Runs add over all chunks and merges the statistics.
    template <class Make, class Add>
    auto gather(const Make& make, const Add& add);
    template <class Add>
    std::vector<Histogram> gather_histograms(const std::vector<std::size_t>& sizes, const Add& add);
    template <class AnyMoments>
    std::vector<AnyMoments> gather_moments(const std::vector<std::vector<std::int32_t>>& features,
                                           std::size_t n_sharing);
    void add_leaf(const Chunk& chunk, const Extent& extent, const Leaf& leaf, const TermTables& tables);
    void split_block(Chunk& chunk, const Extent& extent, const Sides& sides, Entry* aside,
                     Extent (&children)[2]) const;
};

}  // namespace lhtree::boost
