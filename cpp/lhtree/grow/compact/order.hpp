// Keys in ascending order, each with the change of a sum, and the sums between neighbours. Sorting all keys
// would take most of the time of a compact tree: if sums are exact, only keys with low sums are sorted.
#pragma once
#include <limits>

#include "lhtree/shared/sort.hpp"

namespace lhtree::compact {

// Sums of the changes and of the weights of all keys up to a place.
struct Reached {
    double sum, weight;
};

class Order {
  public:
    // Adjacent keys.
    struct Bucket {
        double change = 0.0, falls = 0.0;  // Σ of the changes, and of those below 0
        double weight = 0.0;
        double lowest = std::numeric_limits<double>::infinity();  // key; infinity if the bucket is empty

        bool is_empty() const { return lowest == std::numeric_limits<double>::infinity(); }
    };

    // Keys are not NaN. `weights` may be nullptr. is_exact: sums of changes and of weights do not depend on
    // their order. Buckets near the centre are narrower.
    void fill(const std::vector<double>& keys, const std::vector<double>& changes, const double* weights,
              double centre, bool is_exact);

    // Calls visit(reached) between any two buckets with keys.
    template <class Visit>
    void between_buckets(double start, const Visit& visit) const {
        Reached reached{start, 0.0};
        bool is_behind = false;
        for (const Bucket& bucket : buckets_) {
            if (bucket.is_empty()) continue;
            if (is_behind) visit(reached);
            add(bucket, reached);
            is_behind = true;
        }
    }

    // Calls visit(reached, lower, upper) between neighbouring keys that differ, in ascending order. Buckets
    // for which wants(bucket, reached before it) is false are skipped, if sums are exact and keys many.
    template <class Wants, class Visit>
    void walk(double start, const Wants& wants, const Visit& visit) {
        Reached reached{start, 0.0};
        is_wanted_.assign(buckets_.size(), 1);
        for (std::size_t number = 0; number < buckets_.size() && buckets_.size() > 1; ++number) {
            is_wanted_[number] = !buckets_[number].is_empty() && wants(buckets_[number], reached);
            add(buckets_[number], reached);
        }
        sort_wanted();
        reached = {start, 0.0};
        auto place = sorted_.begin();
        for (std::size_t number = 0; number < buckets_.size(); ++number) {
            if (!is_wanted_[number]) {
                add(buckets_[number], reached);
                continue;
            }
            while (place != sorted_.end() && bucket_of_[*place] == number) {
                const double lower = (*keys_)[*place];
                reached.sum += (*changes_)[*place];
                if (weights_) reached.weight += weights_[*place];
                ++place;
                const bool is_last = place == sorted_.end() || bucket_of_[*place] != number;
                const double upper = is_last ? lowest_behind(number) : (*keys_)[*place];
                // Infinity: no key follows.
                if (lower < upper && upper < std::numeric_limits<double>::infinity())
                    visit(reached, lower, upper);
            }
        }
    }

  private:
    const std::vector<double>*keys_ = nullptr, *changes_ = nullptr;
    const double* weights_ = nullptr;
    std::vector<Bucket> buckets_;
    std::vector<std::uint16_t> bucket_of_;  // of every key
    std::vector<std::uint8_t> is_wanted_;
    std::vector<std::uint32_t> sorted_;  // places of the keys in wanted buckets, by ascending key
    std::vector<KeyedRow> entries_;
    RowSorter sorter_;

    static void add(const Bucket& bucket, Reached& reached) {
        reached.sum += bucket.change;
        reached.weight += bucket.weight;
    }
    double lowest_behind(std::size_t number) const {
        while (++number < buckets_.size())
            if (!buckets_[number].is_empty()) return buckets_[number].lowest;
        return std::numeric_limits<double>::infinity();
    }
    void sort_wanted();
};

}  // namespace lhtree::compact
