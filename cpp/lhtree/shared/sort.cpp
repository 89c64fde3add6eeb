#include "lhtree/shared/sort.hpp"

#include <algorithm>
#include <utility>

namespace lhtree {
namespace {

constexpr std::size_t insertion_limit = 20, comparison_limit = 400;  // measured
constexpr unsigned digit_bits = 11, n_digits = 3;                    // 33 bits cover the key
constexpr std::size_t n_buckets = std::size_t{1} << digit_bits;

std::size_t digit(KeyedRow entry, unsigned number) {
    return static_cast<std::size_t>(entry >> (32 + number * digit_bits)) & (n_buckets - 1);
}

void insert_each(std::vector<KeyedRow>& entries) {
    for (std::size_t i = 1; i < entries.size(); ++i) {
        const KeyedRow entry = entries[i];
        std::size_t at = i;
        for (; at > 0 && entries[at - 1] > entry; --at) entries[at] = entries[at - 1];
        entries[at] = entry;
    }
}

}  // namespace

void RowSorter::sort(std::vector<KeyedRow>& entries) {
    const std::size_t n = entries.size();
    if (n <= insertion_limit) return insert_each(entries);
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

void RowSorter::sort_short(std::vector<KeyedRow>& entries) {
    constexpr std::size_t n_values = 256;  // of a digit of 8 bits
    const std::size_t n = entries.size();
    if (n <= insertion_limit) return insert_each(entries);
    counts_.assign(2 * n_values, 0);
    std::uint32_t* const low = counts_.data();
    std::uint32_t* const high = low + n_values;
    for (const KeyedRow entry : entries) {
        ++low[entry >> 32 & 0xff];
        ++high[entry >> 40 & 0xff];
    }
    other_.resize(n);
    for (const unsigned shift : {32u, 40u}) {
        std::uint32_t* const next = shift == 32 ? low : high;
        if (next[entries[0] >> shift & 0xff] == n) continue;  // all digits are equal
        std::uint32_t begin = 0;
        for (std::size_t value = 0; value < n_values; ++value) begin += std::exchange(next[value], begin);
        for (const KeyedRow entry : entries) other_[next[entry >> shift & 0xff]++] = entry;
        entries.swap(other_);
    }
}

}  // namespace lhtree
