// The rows of boosted trees in memory: chunks of codes, and for the tree at hand the order of their rows by
// block.
#pragma once
#include <cstdint>
#include <optional>
#include <vector>

#include "lhtree/grow/boost/decisions.hpp"
#include "lhtree/grow/boost/loss.hpp"

namespace lhtree::boost {

// The class of every row, and which rows are scored, but not learned from (null: none).
struct Labels {
    const std::int32_t* classes;
    const std::uint8_t* held;
    std::size_t n_rows;

    bool is_held(std::size_t row) const { return held && held[row]; }
};

// Weights as integers: as they are if they are whole numbers, else in units of a power of two.
struct Weights {
    std::vector<std::uint32_t> of;  // empty: 1 each
    double unit = 1.0;              // of the rows that are learned from
    int shift = 0;                  // for moments

    Weights() = default;
    Weights(const double* weight, const Labels& labels);
};

// A keyed choice of rows: each takes part with a probability, wherever it is stored.
struct Sampling {
    std::uint64_t key;
    double share;

    bool takes(std::uint64_t row) const;
};

// Where the rows of a block are among the entries of a chunk: those that take part, then the others.
struct Extent {
    std::uint32_t begin, middle, end;
};

class Rows {
  public:
    Rows(const Bins& bins, std::vector<std::uint8_t>&& codes, const Labels& labels, const Weights& weights,
         Loss loss, std::vector<double> first, std::size_t n_threads, Watch& watch);

    std::size_t n_scores() const { return first_.size(); }
    // Begins a round: what all trees of it have in common.
    void begin_round();
    // Begins a tree of one score with all rows in the root; returns its totals.
    Sums begin_tree(std::size_t score, const Sampling& sampling, Quanta& quanta);
    // Begins a tree that is already grown.
    void begin_replay(std::size_t score);
    // Rows that take part in every block of the level.
    std::vector<std::int64_t> count_rows(std::size_t n_blocks) const;
    // Histograms of features first … last - 1 of some blocks of the level.
    std::vector<Histogram> count_bins(const std::vector<std::size_t>& blocks, std::size_t first,
                                      std::size_t last);
    // Moments of the features drawn for every block; none where none are drawn.
    std::vector<Moments> measure(const std::vector<std::vector<std::int32_t>>& drawn);
    std::vector<Histogram> count_steps(const std::vector<Direction>& directions);
    // Parts every block of the level into two of the next, or adds its value to the scores of its rows.
    void part(const std::vector<std::optional<Cut>>& cuts, const std::vector<double>& values);
    // Mean loss of the rows that are held back, or of the others; NaN without any.
    double mean_loss(bool of_held);

  private:
    struct Chunk {
        std::size_t begin, size;  // rows
        std::vector<Entry> entries;
        std::vector<Extent> blocks;  // of the level
        std::vector<float> gradient, hessian;
    };

    const Bins& bins_;
    std::vector<std::uint8_t> codes_;
    Labels labels_;
    const Weights& weights_;
    Loss loss_;
    std::vector<double> first_;
    std::size_t n_threads_;
    Watch& watch_;
    std::vector<Chunk> chunks_;
    std::vector<double> raw_, log_sums_;
    std::size_t score_ = 0;  // whose tree is grown

    std::int64_t weight_of(std::size_t row) const { return weights_.of.empty() ? 1 : weights_.of[row]; }
    Part part_of(const Chunk& chunk, const Extent& extent) const;
    bool is_lean() const { return weights_.of.empty() && labels_.n_rows < most_lean_rows; }
    template <class Task>
    void each_chunk(const Task& task);
    // Runs add(statistics, chunk) over all chunks, one set of statistics to a thread, and merges them.
    template <class Make, class Add, class Merge>
    auto gather(const Make& make, const Add& add, const Merge& merge);
    template <class Add>
    std::vector<Histogram> gather_sums(const std::vector<std::size_t>& sizes, const Add& add);
    void part_block(Chunk& chunk, const Extent& extent, const Cut& cut, const SumTables& tables,
                    std::vector<Entry>& aside, Extent (&children)[2]) const;
};

}  // namespace lhtree::boost
