// Samples of a tree while it grows, partitioned in place: every block is a contiguous range of rows.
#pragma once
#include <cstdint>
#include <vector>

#include "lhtree/grow/rows/samples.hpp"

namespace lhtree {

// Selected rows with their weights (empty: 1 each).
struct Chosen {
    std::vector<std::int32_t> rows;
    std::vector<double> weight;
};

// Rows with labels and weights (nullptr: 1 each). Labels: targets (0 or 1), a numeric response, or classes.
struct Labelled {
    Rows rows;
    const std::uint8_t* is_target;
    const double* weight;
    const Chosen* chosen = nullptr;    // nullptr: all rows
    float* in_place = nullptr;         // the same rows, with slack, if they may be moved instead of copied
    const Codes* codes = nullptr;      // of all rows; nullptr: none
    bool is_last = false;              // whether rows may be left in another order
    bool wants_leaves = true;          // whether the leaf of every row is of use
    const double* response = nullptr;  // instead of is_target
    const std::int32_t* of_class = nullptr;  // class of every row, for a tree of all classes
    std::size_t n_classes = 0;
};

// Memory for rows that are copied aside; kept from block to block.
using Aside = std::vector<std::vector<unsigned char>>;

class PartedRows {
  public:
    explicit PartedRows(const Labelled& given);

    std::size_t size() const { return row_.size(); }
    std::size_t n_rest() const { return n_rest_; }                 // 0 with a numeric response
    const std::vector<std::int32_t>& row() const { return row_; }  // original position of each row
    Samples part(std::size_t begin, std::size_t end, std::size_t n_rest) const {
        return {rows_at(begin, end), n_rest, weight_.empty() ? nullptr : weight_.data() + begin};
    }
    RealSamples real_part(std::size_t begin, std::size_t end) const {
        return {rows_at(begin, end), response_.data() + begin,
                weight_.empty() ? nullptr : weight_.data() + begin};
    }
    ClassedSamples classed_part(std::size_t begin, std::size_t end) const {
        return {rows_at(begin, end), class_.data() + begin,
                weight_.empty() ? nullptr : weight_.data() + begin};
    }
    const Codes* codes() const { return codes_; }  // by original position; nullptr: none

    // Partitions n rows from `begin`: rows with is_left move to the front, all in their order.
    void move(std::size_t begin, const std::uint8_t* is_left, std::size_t n, std::size_t n_threads,
              Aside& aside, Watch& watch);
    // Restores the original order of the rows.
    void restore();

  private:
    Rows rows_;  // in their original order
    std::size_t width_, n_rest_ = 0;
    std::vector<float> copy_;
    float* features_;
    std::vector<std::int32_t> row_;
    std::vector<double> weight_, response_;
    std::vector<std::int32_t> class_;
    Codes own_codes_;
    const Codes* codes_;

    Rows rows_at(std::size_t begin, std::size_t end) const {
        return {features_ + begin * width_, end - begin, rows_.n_features, rows_.levels};
    }
    void move_rows(std::size_t begin, const std::uint8_t* is_left, std::size_t n, std::size_t n_left,
                   std::vector<unsigned char>& aside);
    void swap_rows(std::size_t begin, std::size_t n_first, std::size_t n_second,
                   std::vector<unsigned char>& aside);
};

}  // namespace lhtree
