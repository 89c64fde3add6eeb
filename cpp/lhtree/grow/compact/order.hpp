// Sorting rows by numbers: most of the time of a compact tree goes here.
#pragma once
#include <algorithm>

#include "lhtree/shared/sort.hpp"

namespace lhtree::compact {

class Order {
  public:
    // Places 0 … n - 1 by ascending key, equals by ascending place. Keys are not NaN.
    const std::vector<KeyedRow>& sort(const std::vector<double>& keys) {
        entries_.clear();
        for (std::size_t place = 0; place < keys.size(); ++place)
            entries_.push_back(keyed_row(static_cast<float>(keys[place]), place));
        sorter_.sort(entries_);
        // float32 keys tell nearly all apart; the rest is sorted by what they stand for.
        for (std::size_t begin = 0, end = 1; begin < entries_.size(); begin = end++) {
            while (end < entries_.size() && (entries_[end] >> 32) == (entries_[begin] >> 32)) ++end;
            if (end - begin == 1) continue;
            std::sort(entries_.begin() + static_cast<std::ptrdiff_t>(begin),
                      entries_.begin() + static_cast<std::ptrdiff_t>(end), [&](KeyedRow a, KeyedRow b) {
                          const double key_a = keys[row_of(a)], key_b = keys[row_of(b)];
                          return key_a < key_b || (key_a == key_b && a < b);
                      });
        }
        return entries_;
    }

  private:
    std::vector<KeyedRow> entries_;
    RowSorter sorter_;
};

}  // namespace lhtree::compact
