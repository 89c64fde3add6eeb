// The problem of a block of a compact tree, which a line solves: a hyperplane of few terms.
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

// Returns whether each row goes right.
std::vector<std::uint8_t> sides_of(const Line& line, const Data& data, const RowNumbers& rows);

struct Sides {
    RowNumbers left, right;
};
Sides part(const Line& line, const Data& data, const RowNumbers& rows);

// Input of a problem: rows with a side and the cost of the other side. Equal inputs have equal solutions.
struct Question {
    RowNumbers rows;
    std::vector<double> gain;  // weight of a row times (cost left - cost right); above 0: right

    bool operator==(const Question& other) const { return rows == other.rows && gain == other.gain; }
};

// Columns of n_padded values, padded with zeros.
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
    // |gain| of every row, padded with zeros.
    const std::vector<double>& weight() const { return weight_; }
    // 1 for the rows that belong right, else 0.
    const std::vector<double>& side() const { return side_; }
    // Return the values of a feature in the order of the rows, padded with zeros: z, clip(z), and the latter
    // as doubles. They are gathered on first use, by one thread.
    const float* values(std::int32_t feature) const;
    const float* clipped(std::int32_t feature) const;
    const double* column(std::int32_t feature) const;
    // Writes the feature sums of a line.
    void sum_up(const Line& line, std::vector<double>& sums) const;

    // Returns the cut with the least wrong weight; a cut above `most` may not be found.
    Cut cut(const std::vector<double>& sums, double near, double most) const;
    // Returns the wrong weight of an offset; not found if a side is too light.
    Cut judge(const std::vector<double>& sums, double offset) const;
    // Returns the best single feature, cut between two codes, without an offset; empty if no cut is allowed.
    Line find_single() const;

  private:
    const Data& data_;
    const Question& question_;
    std::size_t n_padded_;
    double wrong_if_right_ = 0.0, wrong_if_left_ = 0.0, row_weight_ = 0.0;
    bool is_exact_;  // sums of gains and of weights do not depend on their order
    std::vector<double> weight_, side_, row_weights_;
    // One allocation each, which the allocator reuses for the next problem; written on first use.
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

    // The fit of b alone, ln(W_right / W_left), and its loss.
    Logistic fit_bias();
    // Fits on columns, starting from given coefficients.
    void fit(const Columns& columns, Logistic& fit);
    // Continues the last fit with another column.
    void add_column(const Columns& columns, Logistic& fit);
    // Fits on the clipped sums of a line, starting from b alone.
    Logistic fit_sums(const Line& line);

    // Derivatives of the last fit by f of every row: w (p - side), padded with zeros, and w p (1 - p).
    const double* slope_by() const { return now_->slope_by.data(); }
    const double* curve_by() const { return now_->curve_by.data(); }

  private:
    struct Derivatives {
        std::vector<double> slope_by, curve_by;
    };

    const Problem& problem_;
    Watch& watch_;
    Logistic bias_;  // without any column; many fits start from it
    Derivatives at_bias_, room_[2];
    const Derivatives* now_ = &at_bias_;
    std::vector<double> ones_, sums_;

    void evaluate(const Columns& columns, Logistic& fit, Derivatives& found) const;
    void improve(const Columns& columns, Logistic& fit);
};

// A line for a block's problem (see rules.hpp), with its value.
struct Candidate {
    Line line;
    double wrong = 0.0;  // weight on the wrong side
    double value = 0.0;  // lower is better
};

// Effort: all candidates; without the forward search; or those needed to split a leaf.
enum class Effort { all, tune, quick };

// Returns an empty line if none has enough weight on both sides.
Candidate solve(const Problem& problem, const Line& present, Effort effort, Watch& watch);

}  // namespace lhtree::compact
