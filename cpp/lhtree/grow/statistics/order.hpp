// The feature sums of a block in order, and statistics up to each place.
#pragma once
#include <cstdint>
#include <vector>

#include "lhtree/grow/kernels.hpp"
#include "lhtree/shared/sort.hpp"

namespace lhtree {

// Extremes of the sums of each class, and its rows below or above all rows of the other class.
struct Extents {
    double low[2], high[2];
    Side under[2], over[2];
};
Extents measure_extents(const Samples& samples, const double* feature_sums);

// Codes of one feature (or none), and the rows of a block among them (nullptr: all, in order).
struct CodedRows {
    const Code* code = nullptr;
    const std::int32_t* row = nullptr;
    bool is_exact = false;
};

// Rows in bins that ascend with their values.
class Binned {
  public:
    // Fills at most `most` bins by code or by feature sum.
    void bin(const CodedRows& coded, std::size_t n, std::size_t most);
    void bin(const double* feature_sums, std::size_t n, std::size_t most);

    std::size_t size() const { return n_bins_; }
    std::size_t n_rows() const { return n_; }
    Code operator[](std::size_t row) const { return bin_[row]; }
    std::size_t n_single() const { return n_single_; }

  private:
    std::size_t n_ = 0, n_bins_ = 0;
    std::size_t n_single_ = 0;  // of the first bins, with one value each: none, the first or all
    std::vector<Code> bin_;
};

// Rows in bins, and those in which the best cut can lie. If a bin has one value, one row represents it.
class ChosenRows {
  public:
    const std::uint32_t* chosen() const { return chosen_.data(); }
    std::size_t bin_of(std::size_t row) const { return bins_[row]; }
    bool has_one_value(std::size_t bin) const { return bin < bins_.n_single(); }

  protected:
    Binned bins_;

    // Chooses the rows of the bins that may hold the cut, and of the next bin with rows behind each: the cut
    // may lie between the two. Returns the number of rows.
    template <class IsEmpty, class MayHold>
    std::size_t choose_bins(const IsEmpty& is_empty, const MayHold& may_hold) {
        is_chosen_.resize(bins_.size());
        bool is_any = false, precedes = false;
        for (std::size_t b = 0; b < bins_.size(); ++b) {
            const bool has_rows = !is_empty(b), holds = has_rows && may_hold(b);
            is_chosen_[b] = holds || (precedes && has_rows);
            is_any |= holds;
            precedes = holds || (precedes && !has_rows);
        }
        return is_any ? take_rows() : 0;
    }

  private:
    std::vector<std::uint8_t> is_chosen_;
    std::vector<std::uint32_t> some_row_, chosen_;

    std::size_t take_rows();
};

// Narrows the search for the best cut of rows of weight 1. The cost of a cut is a concave function of the
// numbers of rows of each class on its left. A cut inside a bin therefore costs at least as much as the
// cheapest of the four combinations of none or all rows of each class of the bin. If that is above the cost
// of a cut between bins, the bin is skipped.
class Narrower : public ChosenRows {
  public:
    // n rows, of which n_rest are not targets, by codes or feature sums.
    template <class Values>
    void bin(const Values& values, std::size_t n, std::size_t n_rest) {
        bins_.bin(values, n, most_bins(n));
        count(n_rest);
    }
    // Chooses rows around the best cut, if it is cheaper than `limit`; returns their number.
    std::size_t choose(double limit, double min_samples_leaf);

    // Number of rows of each class before a bin.
    std::int32_t rest_before(std::size_t bin) const { return static_cast<std::int32_t>(counts_[bin]); }
    std::int32_t target_before(std::size_t bin) const {
        return static_cast<std::int32_t>(counts_[bin] / one_target);
    }

  private:
    static constexpr std::uint64_t one_target = std::uint64_t{1} << 32;  // both counts are in one number
    std::vector<std::uint64_t> counts_;
    std::vector<float> rest_, target_, bound_;

    static std::size_t most_bins(std::size_t n);
    void count(std::size_t n_rest);
    float bound_behind_first() const;
};

// Rows sorted by a value; ties keep their order.
class SortedRows {
  public:
    std::size_t size() const { return size_; }
    std::size_t row(std::size_t place) const { return row_of(sorted_[place]); }
    const double* value() const { return value_.data(); }

    void clear() { size_ = 0; }
    // Sorts n rows: the first n, or the chosen ones.
    void sort(const double* feature_sums, const std::uint32_t* chosen, std::size_t n);
    void sort(const Rows& rows, std::size_t feature, const std::uint32_t* chosen, std::size_t n);
    // Sorts all rows by codes that differ where the values do.
    void sort(const Rows& rows, std::size_t feature, const CodedRows& coded);

  private:
    std::size_t size_ = 0;
    RowSorter sorter_;
    std::vector<KeyedRow> sorted_;
    std::vector<double> value_;

    template <class Key>
    void enter(const std::uint32_t* chosen, std::size_t n, const Key& key);
};

// Weights of the classes up to each place. If all rows weigh 1, places without the best cut are left out.
class ClassOrder {
  public:
    std::size_t size() const { return sorted_.size(); }
    const double* value() const { return sorted_.value(); }
    const double* rest() const { return rest_.data(); }
    const double* target() const { return target_.data(); }

    void measure(const Samples& samples, const double* feature_sums, double min_samples_leaf);
    // Measures column `feature` of the samples alone. Cuts that cost `limit` or more may be left out.
    void measure_feature(const Samples& samples, std::size_t feature, const CodedRows& coded, double limit,
                         double min_samples_leaf);

  private:
    Narrower narrower_;
    SortedRows sorted_;
    std::vector<double> rest_, target_;

    void add_up(const Samples& samples, bool is_narrowed);
};

// Weight up to each place, and weighted distance of the response from the least one of the block. The sums
// are exact if responses have few digits, so that equal cuts compare equal.
class RealOrder {
  public:
    std::size_t size() const { return is_short_ ? short_value_.size() : sorted_.size(); }
    const double* value() const { return is_short_ ? short_value_.data() : sorted_.value(); }
    double weight(std::size_t place) const { return weight_[place]; }
    double distance(std::size_t place) const { return distance_[place]; }

    void measure(const RealSamples& samples, const double* feature_sums, double lowest);
    void measure_feature(const RealSamples& samples, std::size_t feature, const CodedRows& coded,
                         double lowest);

  private:
    SortedRows sorted_;
    bool is_short_ = false;  // a place per value instead of one per row, without sorting
    std::vector<double> short_value_, column_, weight_, distance_;

    void add_up(const RealSamples& samples, double lowest);
    bool add_up_values(const RealSamples& samples, std::size_t feature, double lowest);
};

}  // namespace lhtree
