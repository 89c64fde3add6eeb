#include "lhtree/shared/sort.hpp"

#include <algorithm>

namespace lhtree {
namespace {

constexpr std::size_t insertion_limit = 20, comparison_limit = 400;  // measured
constexpr unsigned digit_bits = 11, n_digits = 3;                    // 33 bits cover the key
constexpr std::size_t n_buckets = std::size_t{1} << digit_bits;

std::size_t digit(KeyedRow entry, unsigned number) {
    return static_cast<std::size_t>(entry >> (32 + number * digit_bits)) & (n_buckets - 1);
}

}  // namespace

void RowSorter::sort(std::vector<KeyedRow>& entries) {
    const std::size_t n = entries.size();
    if (n <= insertion_limit) {
        for (std::size_t i = 1; i < n; ++i) {
            const KeyedRow entry = entries[i];
            std::size_t at = i;
            for (; at > 0 && entries[at - 1] > entry; --at) entries[at] = entries[at - 1];
            entries[at] = entry;
        }
        return;
    }
    if (n <= comparison_limit) {
        std::sort(entries.begin(), entries.end());
        return;
    }
    // Radix sort from the lowest digit of the key; rows ascend already, and every pass is stable.
    counts_.assign(n_digits * n_buckets, 0);
    for (const KeyedRow entry : entries)
        for (unsigned number = 0; number < n_digits; ++number)
            ++counts_[number * n_buckets + digit(entry, number)];
    other_.resize(n);
    for (unsigned number = 0; number < n_digits; ++number) {
        std::uint32_t* next = &counts_[number * n_buckets];
        if (next[digit(entries[0], number)] == n) continue;  // all digits are equal
        std::uint32_t begin = 0;
        for (std::size_t bucket = 0; bucket < n_buckets; ++bucket) {
            const std::uint32_t count = next[bucket];
            next[bucket] = begin;
            begin += count;
        }
        for (const KeyedRow entry : entries) other_[next[digit(entry, number)]++] = entry;
        entries.swap(other_);
    }
}

}  // namespace lhtree
