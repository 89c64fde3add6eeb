// Where among the values of a block the best Gini cut can lie, found without sorting them.
#pragma once
#include <cstdint>
#include <vector>

#include "lhtree/grow/rows/codes.hpp"

namespace lhtree {

// The codes of one feature, where there are any, and the rows of a block among them.
struct CodedRows {
    const Code* code = nullptr;
    const std::int32_t* row = nullptr;
    bool is_exact = false;
};

// Rows of weight 1 fall into bins that ascend with their values. The cost of a cut is a concave function of
// the rows of either class to its left, so inside a bin it is nowhere below its least value at the four
// corners of what the bin can add; where that is above the cost of a cut between bins, the bin need not be
// looked into.
class Narrower {
  public:
    // Bins by code, for n rows of which n_rest are not targets …
    void bin(const CodedRows& coded, std::size_t n, std::size_t n_rest);
    // … or by feature sum.
    void bin(const double* feature_sums, std::size_t n, std::size_t n_rest);
    // Chooses the rows among whose values is the best cut, with its neighbours, if it is cheaper than
    // `limit`; returns how many. Where every bin has one value, one row stands for all with that value.
    std::size_t choose(double limit, double min_samples_leaf);

    const std::uint32_t* chosen() const { return chosen_.data(); }
    std::size_t bin_of(std::size_t row) const { return bin_[row]; }
    bool has_one_value_each() const { return has_one_value_each_; }
    // Rows of either class before a bin.
    double rest_before(std::size_t bin) const { return rest_count_[bin]; }
    double target_before(std::size_t bin) const { return target_count_[bin]; }

  private:
    std::size_t n_ = 0, n_bins_ = 0;
    bool has_one_value_each_ = false;
    std::vector<Code> bin_;
    std::vector<std::uint32_t> rest_count_, target_count_, some_row_;
    std::vector<float> rest_, target_, bound_;
    std::vector<std::uint8_t> is_chosen_;
    std::vector<std::uint32_t> chosen_;

    void start(std::size_t n);
    void count(std::size_t n_rest);
};

}  // namespace lhtree
