// The offset of a hyperplane: where to cut the feature sums of a block.
#pragma once
#include <vector>

#include "lhtree/matrix.hpp"
#include "lhtree/narrow.hpp"
#include "lhtree/sort.hpp"

namespace lhtree {

struct Cut {
    bool exists = false;
    double offset = 0.0;
    double cost = 0.0;  // Gini only: Σ over the two sides of t·u/(t+u)
};

// What is known of the rows whose sums are cut.
struct CutRows {
    const Samples& samples;
    const double (&weight)[2];  // of all rows, by class
    double min_samples_leaf;    // least weight on each side
};

// The five candidates of the paper (eq. 9), c midway in the empty gap between the sides.
Cut cut_purest(const CutRows& rows, const double* feature_sums, double gamma);

// The cut of the sorted feature sums with the least Gini impurity.
class GiniCutter {
  public:
    Cut cut(const CutRows& rows, const double* feature_sums);
    // The same for one feature alone, column `feature` of the samples; need not be found if it costs `limit`
    // or more.
    Cut cut_feature(const CutRows& rows, std::size_t feature, const CodedRows& coded, double limit);

  private:
    Narrower narrower_;
    RowSorter sorter_;
    std::vector<KeyedRow> sorted_;
    // By place in the order: the sum, the weight of each class up to there, and the cost of cutting behind
    // it.
    std::vector<double> value_, rest_, target_, cost_;

    // Entries for all rows, or for those that narrower_ has chosen.
    template <class Key>
    void enter(std::size_t n, bool is_narrowed, const Key& key);
    void add_up(const CutRows& rows, bool is_narrowed);
    Cut find_best(const CutRows& rows, bool is_narrowed);
};

}  // namespace lhtree
