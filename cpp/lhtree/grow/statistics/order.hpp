// The rows of a block in the order of their feature sums.
#pragma once
#include <vector>

#include "lhtree/grow/rows/samples.hpp"
#include "lhtree/grow/statistics/narrow.hpp"
#include "lhtree/shared/sort.hpp"

namespace lhtree {

// By place in the order: the sum, and the weight of each class up to there. Where rows weigh 1 each, those
// are left out among whose sums the best cut cannot be.
class ClassOrder {
  public:
    std::size_t size() const { return size_; }
    const double* value() const { return value_.data(); }
    const double* rest() const { return rest_.data(); }
    const double* target() const { return target_.data(); }

    void measure(const Samples& samples, const double* feature_sums, double min_samples_leaf);
    // The same for one feature alone, column `feature` of the samples. Cuts that cost `limit` or more need
    // not be among the places.
    void measure_feature(const Samples& samples, std::size_t feature, const CodedRows& coded, double limit,
                         double min_samples_leaf);

  private:
    std::size_t size_ = 0;
    Narrower narrower_;
    RowSorter sorter_;
    std::vector<KeyedRow> sorted_;
    std::vector<double> value_, rest_, target_;

    // Entries for all rows, or for those that narrower_ has chosen.
    template <class Key>
    void enter(std::size_t n, bool is_narrowed, const Key& key);
    void add_up(const Samples& samples, bool is_narrowed);
};

}  // namespace lhtree
