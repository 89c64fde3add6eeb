// Rows that this process can read: chunks of codes, in memory or in a mapped file, and for the tree at hand
// the order of their rows by block.
#pragma once
#include <algorithm>
#include <atomic>
#include <cstdint>
#include <mutex>
#include <optional>
#include <vector>

#include "lhtree/grow/boost/losses.hpp"
#include "lhtree/grow/boost/rows.hpp"
#include "lhtree/grow/boost/selection.hpp"

namespace lhtree::boost {

// Rows as they are given, to be kept alive by the caller.
struct Holding {
    const Bins& bins;
    const std::uint8_t* codes;  // a byte for every slot, row after row
    Labels labels;
    const double* weight;  // null: 1 each
    Loss loss;
    std::size_t n_classes = 0;
    std::uint64_t first_row = 0;  // number of the first row in the whole table

    std::size_t n_scores() const { return n_classes > 2 ? n_classes : 1; }
};

// Where the rows of a block are among the entries of a chunk: those that take part, then the others.
struct Extent {
    std::uint32_t begin, middle, end;
};

class LocalRows : public Rows {
  public:
    LocalRows(const Holding& holding, const WeightUnits& units, std::size_t n_threads, Watch& watch);

    bool has_held() const override { return labels_.held != nullptr; }
    const WeightUnits& units() const override { return units_; }
    std::vector<WideSum> weigh_classes() override;
    ResponseSurvey survey_responses() override;
    SplitSums sum_responses(double unit) override;
    void begin(const std::vector<double>& first, const double (&loss_unit)[2]) override;
    void begin_round() override;
    Steepness differentiate(std::size_t score) override;
    Sums begin_tree(const Sampling& sampling, const Quanta& quanta) override;
    void begin_all(std::size_t score) override;
    Later<std::vector<std::int64_t>> count_rows(std::size_t n_blocks) override;
    Later<std::vector<Moments>> measure(const std::vector<std::vector<std::int32_t>>& drawn) override;
    std::vector<LeafMoments> measure_leaves(const std::vector<std::vector<std::int32_t>>& features) override;
    std::vector<Histogram> count_steps(const std::vector<Direction>& directions) override;
    void part(const std::vector<std::optional<Cut>>& cuts, const std::vector<Leaf>& leaves) override;
    std::vector<double> select(std::size_t n_blocks) override;
    SplitSums sum_losses(bool of_held) override;
    Later<std::vector<Histogram>> count_codes(const std::vector<std::size_t>& blocks, std::size_t first,
                                              std::size_t last) override;

    // Of every block of the level, the weight of its residuals by the digit that follows these digits.
    std::vector<DigitWeights> weigh_digits(const std::vector<Digits>& digits);
    // Blocks of the level; 0 where no tree is begun.
    std::size_t n_blocks() const { return n_blocks_; }

  private:
    struct Chunk {
        std::size_t begin, size;  // rows
        std::vector<Entry> entries;
        std::vector<Extent> blocks;            // of the level
        std::vector<float> gradient, hessian;  // empty: taken again where they are needed
    };
    struct Kept {
        const float *gradient, *hessian;
    };

    const std::uint8_t* codes_;
    Labels labels_;
    WeightUnits units_;
    Weights weights_;
    Loss loss_;
    std::size_t n_classes_;
    std::uint64_t first_row_;
    std::size_t n_threads_;
    Watch& watch_;
    std::vector<Chunk> chunks_;
    std::vector<double> raw_, log_sums_;
    std::size_t score_ = 0;  // whose tree is grown
    std::size_t n_blocks_ = 0;
    double loss_unit_[2] = {1.0, 1.0};  // of rows that are learned from, and of those held back

    Scored scored(const Chunk& chunk) const;
    Part part_of(const Chunk& chunk, const Extent& extent) const;
    bool is_lean() const { return weights_.of.empty() && labels_.n_rows < most_lean_rows; }
    Kept differentiate(Chunk& chunk, std::vector<float>& aside) const;
    template <class Task>
    void each_chunk(const Task& task);
    // Runs add(statistics, chunk) over all chunks, one set of statistics to a thread, and merges them.
    template <class Make, class Add, class Merge>
    auto gather(const Make& make, const Add& add, const Merge& merge);
    template <class Statistics, class Add>
    Statistics gather_one(const Add& add);
    template <class Add>
    std::vector<Histogram> gather_sums(const std::vector<std::size_t>& sizes, const Add& add);
    template <class AnyMoments>
    std::vector<AnyMoments> gather_moments(const std::vector<std::vector<std::int32_t>>& features);
    void add_leaf(const Chunk& chunk, const Extent& extent, const Leaf& leaf, const LeafTables& tables);
    void part_block(Chunk& chunk, const Extent& extent, const Cut& cut, const SumTables& tables,
                    std::vector<Entry>& aside, Extent (&children)[2]) const;
};

template <class Task>
void LocalRows::each_chunk(const Task& task) {
    run(chunks_.size(), n_threads_, watch_, [&](std::size_t i) { task(chunks_[i]); });
}

template <class Make, class Add, class Merge>
auto LocalRows::gather(const Make& make, const Add& add, const Merge& merge) {
    std::atomic<std::size_t> next{0};
    std::mutex mutex;
    std::optional<decltype(make())> all;
    const std::size_t n_workers = std::min(n_threads_, chunks_.size());
    run(n_workers, n_workers, watch_, [&](std::size_t) {
        auto own = make();
        for (std::size_t i = next++; i < chunks_.size(); i = next++) {
            watch_.check();
            add(own, chunks_[i]);
        }
        const std::lock_guard<std::mutex> lock(mutex);
        if (all)
            merge(*all, own);
        else
            all = std::move(own);
    });
    return all ? std::move(*all) : make();  // a part of the rows may be empty
}

template <class Statistics, class Add>
Statistics LocalRows::gather_one(const Add& add) {
    return gather([] { return Statistics{}; }, add,
                  [](Statistics& all, const Statistics& own) { all.merge(own); });
}

}  // namespace lhtree::boost
