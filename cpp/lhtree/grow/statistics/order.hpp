// The rows of a block in the order of their feature sums, with what is learned of them up to each place.
#pragma once
#include <vector>

#include "lhtree/grow/rows/samples.hpp"
#include "lhtree/grow/statistics/narrow.hpp"
#include "lhtree/shared/sort.hpp"

namespace lhtree {

// Rows by a value each; of equal ones the first comes first.
class SortedRows {
  public:
    std::size_t size() const { return size_; }
    std::size_t row(std::size_t place) const { return row_of(sorted_[place]); }
    const double* value() const { return value_.data(); }

    void clear() { size_ = 0; }
    // n rows: the first ones, or those chosen.
    void sort(const double* feature_sums, const std::uint32_t* chosen, std::size_t n);
    void sort(const Rows& rows, std::size_t feature, const std::uint32_t* chosen, std::size_t n);

  private:
    std::size_t size_ = 0;
    RowSorter sorter_;
    std::vector<KeyedRow> sorted_;
    std::vector<double> value_;

    template <class Key>
    void enter(const std::uint32_t* chosen, std::size_t n, const Key& key);
};

// The weight of each class up to a place. Where rows weigh 1 each, those are left out among whose sums the
// best cut cannot be.
class ClassOrder {
  public:
    std::size_t size() const { return sorted_.size(); }
    const double* value() const { return sorted_.value(); }
    const double* rest() const { return rest_.data(); }
    const double* target() const { return target_.data(); }

    void measure(const Samples& samples, const double* feature_sums, double min_samples_leaf);
    // The same for one feature alone, column `feature` of the samples. Cuts that cost `limit` or more need
    // not be among the places.
    void measure_feature(const Samples& samples, std::size_t feature, const CodedRows& coded, double limit,
                         double min_samples_leaf);

  private:
    Narrower narrower_;
    SortedRows sorted_;
    std::vector<double> rest_, target_;

    void add_up(const Samples& samples, bool is_narrowed);
};

// The weight, and the weighted distance of the response from the least one of the block, up to a place: exact
// where responses are few-digit numbers, however large, so that equal cuts are equal.
class RealOrder {
  public:
    std::size_t size() const { return sorted_.size(); }
    const double* value() const { return sorted_.value(); }
    double weight(std::size_t place) const { return weight_[place]; }
    double distance(std::size_t place) const { return distance_[place]; }

    void measure(const RealSamples& samples, const double* feature_sums, double lowest);
    void measure_feature(const RealSamples& samples, std::size_t feature, double lowest);

  private:
    SortedRows sorted_;
    std::vector<double> weight_, distance_;

    void add_up(const RealSamples& samples, double lowest);
};

}  // namespace lhtree
