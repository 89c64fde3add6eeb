// Training rows of a compact tree: columns of values and codes, and the estimates of leaves.
#pragma once
#include <cstdint>
#include <vector>

#include "lhtree/grow/compact/rules.hpp"
#include "lhtree/shared/matrix.hpp"
#include "lhtree/shared/threads.hpp"

namespace lhtree::compact {

using RowNumbers = std::vector<std::uint32_t>;  // ascending

struct Options {
    double penalty = 1.0, min_samples_leaf = 5.0;
    std::size_t max_leaf_nodes = 16, max_terms = 8, max_passes = 20;
};

// Label of every row: its class, or a number if there are no classes.
struct Labels {
    const std::int32_t* classes = nullptr;
    std::size_t n_classes = 0;
    const double* prior = nullptr;     // of every class
    const double* response = nullptr;  // with mean 0 and standard deviation 1/2
};

struct Estimate {
    std::vector<double> counts;  // of every class; the sum of numbers
    double weight = 0.0;
    std::vector<double> cost;  // of a row of every class
    double mean = 0.0;         // of numbers
};

class Data {
  public:
    // weight: nullptr if every row weighs 1.
    Data(const Rows& z, const double* weight, const Labels& labels, const Options& options,
         std::size_t n_threads, Watch& watch);

    std::size_t n_rows() const { return weight_.size(); }
    std::size_t n_features() const { return n_features_; }
    const Options& options() const { return options_; }
    const Labels& labels() const { return labels_; }
    double lambda() const { return lambda_; }
    double weight(std::size_t row) const { return weight_[row]; }
    const float* column(std::size_t feature) const { return &columns_[feature * n_rows()]; }
    const std::uint8_t* codes(std::size_t feature) const { return &codes_[feature * n_rows()]; }
    std::size_t n_codes(std::size_t feature) const { return n_codes_[feature]; }
    bool is_wide(std::size_t feature) const { return is_wide_[feature]; }  // some values are beyond ±clip
    bool has_whole_weights() const { return has_whole_weights_; }

    double weigh(const RowNumbers& rows) const;
    Estimate estimate(const RowNumbers& rows) const;
    // Returns the estimate for given counts of the classes (or sum of numbers).
    Estimate estimate_from(std::vector<double> counts, double weight) const;
    // Cost of a row of weight 1 in a leaf.
    double cost(const Estimate& leaf, std::size_t row) const {
        return labels_.classes ? leaf.cost[static_cast<std::size_t>(labels_.classes[row])]
                               : number_cost(labels_.response[row] - leaf.mean);
    }
    double cost_of(const Estimate& leaf, const RowNumbers& rows) const;

  private:
    std::size_t n_features_;
    Options options_;
    Labels labels_;
    double lambda_;
    std::vector<double> weight_;
    std::vector<float> columns_;
    std::vector<std::uint8_t> codes_;
    std::vector<std::size_t> n_codes_;
    std::vector<std::uint8_t> is_wide_;
    bool has_whole_weights_ = true;

    static double number_cost(double error);
    void code_column(std::size_t feature, double total);
};

}  // namespace lhtree::compact
