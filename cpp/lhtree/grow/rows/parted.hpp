// The samples of a tree while it grows, parted physically: every block is a contiguous run of rows.
#pragma once
#include <cstdint>
#include <vector>

#include "lhtree/grow/rows/samples.hpp"
#include "lhtree/shared/threads.hpp"

namespace lhtree {

// A choice of rows with weights of their own (empty: 1 each).
struct Chosen {
    std::vector<std::int32_t> rows;
    std::vector<double> weight;
};

// Rows with what is to be learned of them: is a row a target (0 or 1), and what does it weigh (nullptr: 1)?
// Or, instead of targets, a response that is any number, or classes.
struct Labelled {
    Rows rows;
    const std::uint8_t* is_target;
    const double* weight;
    const Chosen* chosen = nullptr;    // nullptr: all rows
    float* in_place = nullptr;         // the rows themselves, with slack, if they may be moved: saves a copy
    const Codes* codes = nullptr;      // of all rows, if they were made
    bool is_last = false;              // whether rows that were moved may stay where they are
    const double* response = nullptr;  // instead of is_target
    const std::int32_t* of_class = nullptr;  // instead of both: the class of every row, one of n_classes …
    std::size_t n_classes = 0;               // … for a tree of all classes
};

// Room for rows that wait while others move; kept from block to block.
using Aside = std::vector<std::vector<unsigned char>>;

class PartedRows {
  public:
    explicit PartedRows(const Labelled& given);

    std::size_t size() const { return row_.size(); }
    std::size_t n_rest() const { return n_rest_; }                 // 0 where the response is any number
    const std::vector<std::int32_t>& row() const { return row_; }  // where each row was given
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
    const Codes* codes() const { return codes_; }  // by where a row was given; nullptr: there are none

    // Of n rows from `begin`, those with a 1 in is_left move to the front; both sides keep their order.
    void move(std::size_t begin, const std::uint8_t* is_left, std::size_t n, std::size_t n_threads,
              Aside& aside, Watch& watch);
    // Brings the rows back to the order they were given in.
    void restore();

  private:
    Rows rows_;  // as they were given
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
