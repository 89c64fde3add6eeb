// Branching of one block: the steps of Algorithm 1.
#pragma once
#include <cstdint>
#include <vector>

#include "lhtree/grow/decisions/linear.hpp"
#include "lhtree/grow/trees/response.hpp"

namespace lhtree {

template <class Response>
struct Outcome {
    typename Response::Totals totals;
    bool is_branching = false;
    Hyperplane hyperplane;
    LinearMembership membership;
    Block children[2];
};

// Workspace of a thread that grows block after block. In a large block, n_threads share the passes over all
// rows; sums do not depend on their number.
template <class Response>
class Brancher {
  public:
    using Samples = typename Response::Samples;
    using Totals = typename Response::Totals;
    using Moments = typename Response::Moments;
    using Contrast = typename Response::Contrast;

    Brancher(const Settings& settings, PartedRows& rows, std::size_t n_threads, Watch& watch)
        : settings_(settings),
          options_(settings.options),
          rows_(rows),
          n_threads_(n_threads),
          watch_(watch) {}

    Outcome<Response> grow(const Block& block);

  private:
    const Settings& settings_;
    const Options& options_;
    PartedRows& rows_;
    std::size_t n_threads_;
    Watch& watch_;
    // State of the current block.
    std::vector<double> sums_;  // its feature sums
    std::vector<std::uint8_t> is_left_;
    Moments moments_;  // of all features of its rows, where moments_are_fresh_; else of its contrast
    bool moments_are_fresh_ = false;
    std::vector<std::int32_t> drawn_;  // features of the columns of its view; empty: all
    std::vector<bool> is_constant_;    // as in Block, with what its own draws found
    std::vector<std::int32_t> deck_;
    std::vector<std::int32_t> active_;
    std::vector<float> columns_, kept_columns_, contrast_columns_, padded_weights_;
    std::vector<double> contrast_weight_;
    std::vector<std::int32_t> padded_features_;
    std::vector<Code> level_codes_;
    Kept kept_;
    Moments kept_moments_;
    Scatter scatter_;
    Gram gram_;
    std::vector<double> means_, squares_;  // of the features of its view
    bool has_scatter_squares_ = false;     // whether squares_ are known from the scatter
    typename Response::Cutter cutter_;
    Aside aside_;

    bool may_branch(const Block& block, const Totals& totals) const;
    bool find_hyperplane(const Block& block, const Totals& totals, const Samples& samples,
                         Hyperplane& hyperplane);
    Contrast contrast_of(const Block& block, const Totals& totals, const Samples& view);
    bool orient(const Block& block, const Totals& totals, const Samples& view, const Contrast& contrast,
                Hyperplane& hyperplane);
    void share_gain(const Totals& totals, const Contrast& contrast, std::size_t n_features,
                    Hyperplane& hyperplane);
    void share_gain_alone(const Totals& totals, const Block& left, std::size_t n_features,
                          Hyperplane& hyperplane);
    CodedRows coded(const Block& block, std::int32_t column);
    void turn_to_fisher(const Contrast& contrast);
    void take_squares(std::size_t n_features);
    LinearMembership find_membership(const Totals& totals, const Samples& samples);
    void part(const Block& block, double offset, Block (&children)[2]);

    bool needs_slopes(const Totals& totals) const;
    bool needs_squares(const Totals& totals) const;
    void measure_all(const Samples& samples, bool with_squares);
    void find_active(const Totals& totals, const Samples& samples);
    void sum_features(const Rows& rows, const Hyperplane& hyperplane);
    void draw_features(const Block& block, const Samples& samples);
    bool is_active(const Samples& samples, std::int32_t feature);
    std::size_t threads_for(std::size_t n_rows) const;
};

}  // namespace lhtree
