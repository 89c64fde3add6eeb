// A hyperplane of few terms.
#pragma once
#include <cstdint>
#include <memory>
#include <vector>

#include "lhtree/grow/compact/data.hpp"
#include "lhtree/grow/compact/order.hpp"

namespace lhtree::compact {

struct Line {
    std::vector<std::int32_t> features;  // ascending
    std::vector<float> weights;          // max |w| = 1
    double offset = 0.0;

    bool is_given() const { return !features.empty(); }
    double n_terms() const { return static_cast<double>(features.size()); }
    bool operator==(const Line& other) const {
        return features == other.features && weights == other.weights && offset == other.offset;
    }
};

// Feature sums of rows.
std::vector<double> sums_of(const Line& line, const Data& data, const RowNumbers& rows);

// Whether each row goes right.
std::vector<std::uint8_t> sides_of(const Line& line, const Data& data, const RowNumbers& rows);

struct Sides {
    RowNumbers left, right;
};
Sides part(const Line& line, const Data& data, const RowNumbers& rows);

// The problem of one block: rows with a side each and what it costs to send them to the other one.

// What a block asks for; two visits that ask the same get the same answer.
struct Question {
    RowNumbers rows;
    std::vector<double> gain;  // of every row: its weight times (cost left - cost right); right if above 0

    bool operator==(const Question& other) const { return rows == other.rows && gain == other.gain; }
};

// Columns of n_padded values, zeros behind the rows.
using Columns = std::vector<const double*>;

struct Cut {
    double offset = 0.0, wrong = 0.0;
    bool is_found = false;
};

class Problem {
  public:
    Problem(const Data& data, const Question& question);

    const Data& data() const { return data_; }
    const RowNumbers& rows() const { return question_.rows; }
    std::size_t n_padded() const { return n_padded_; }
    double total() const { return wrong_if_right_ + wrong_if_left_; }  // Σ w
    double wrong_if_right() const { return wrong_if_right_; }          // Σ w of the rows that belong left
    double wrong_if_left() const { return wrong_if_left_; }
    bool has_both_sides() const { return wrong_if_right_ > 0.0 && wrong_if_left_ > 0.0; }
    bool is_exact() const { return is_exact_; }
    double gain(std::size_t i) const { return question_.gain[i]; }
    bool is_right(std::size_t i) const { return question_.gain[i] > 0.0; }
    // |gain| of every row, and behind them zeros up to n_padded.
    const std::vector<double>& weight() const { return weight_; }
    // 1 for the rows that belong right, else 0.
    const std::vector<double>& side() const { return side_; }
    // Values of a feature, padded with zeros, in the order of the rows: z, clip(z), and the latter as
    // doubles. They are gathered when they are asked for, by one thread.
    const float* values(std::int32_t feature) const;
    const float* clipped(std::int32_t feature) const;
    const double* column(std::int32_t feature) const;
    // Feature sums of a line.
    void sum_up(const Line& line, std::vector<double>& sums) const;

    // The least wrong cut of the sums; one above `most` may not be found.
    Cut cut(const std::vector<double>& sums, double near, double most) const;
    // Weight of the rows that sums below the offset send to the wrong side; not found if a side is too light.
    Cut judge(const std::vector<double>& sums, double offset) const;
    // The best single feature between two codes: a line without an offset; not given if there is none.
    Line find_single() const;

  private:
    const Data& data_;
    const Question& question_;
    std::size_t n_padded_;
    double wrong_if_right_ = 0.0, wrong_if_left_ = 0.0, row_weight_ = 0.0;
    bool is_exact_;  // sums of gains and of weights are the same in any order
    std::vector<double> weight_, side_, row_weights_;
    // One piece of memory, so that the allocator keeps it for the next problem; it is written when it is
    // needed.
    mutable std::unique_ptr<float[]> values_, clipped_;
    mutable std::vector<std::uint8_t> has_values_, has_clipped_;
    mutable std::vector<std::vector<double>> columns_;
    mutable Order order_;
};

// Weighted logistic regression on a few columns of a block's problem.

struct Logistic {
    double bias = 0.0;
    std::vector<double> slopes;
    double loss = 0.0;  // Σ w ln(1 + e^∓f), without the ridge
};

// Fits one regression after the other.
class Fitter {
  public:
    Fitter(const Problem& problem, Watch& watch);

    // b without any column, ln(W_right / W_left), and its loss.
    Logistic fit_bias();
    // The fit on some columns, from the coefficients there are.
    void fit(const Columns& columns, Logistic& fit);
    // The last fit goes on with another column.
    void add_column(const Columns& columns, Logistic& fit);
    // The fit on the clipped sums of a line, from b alone.
    Logistic fit_sums(const Line& line);

    // Of the last fit: d loss / d f of every row, w (p - side), padded with zeros, and its second derivative
    // w p (1 - p).
    const double* slope_by() const { return now_->slope_by.data(); }
    const double* curve_by() const { return now_->curve_by.data(); }

  private:
    struct Derivatives {
        std::vector<double> slope_by, curve_by;
    };

    const Problem& problem_;
    Watch& watch_;
    Logistic bias_;  // without any column: many fits begin with it
    Derivatives at_bias_, room_[2];
    const Derivatives* now_ = &at_bias_;
    std::vector<double> ones_, sums_;

    void evaluate(const Columns& columns, Logistic& fit, Derivatives& found) const;
    void improve(const Columns& columns, Logistic& fit);
};

}  // namespace lhtree::compact
