#include "lhtree/shared/sort.hpp"

#include <algorithm>
#include <utility>

namespace lhtree {
namespace {

constexpr std::size_t rank_limit = 160, short_rank_limit = 64, comparison_limit = 400;  // measured
constexpr unsigned digit_bits = 11, n_digits = 3;  // 33 bits cover the key
constexpr std::size_t n_buckets = std::size_t{1} << digit_bits;

std::size_t digit(KeyedRow entry, unsigned number) {
    return static_cast<std::size_t>(entry >> (32 + number * digit_bits)) & (n_buckets - 1);
}

// Sorts at most rank_limit entries by counting for each how many precede it. All pairs are compared, but
// without branches and several at once, which is faster for few entries.
void rank_each(std::vector<KeyedRow>& entries, std::vector<KeyedRow>& other) {
    const std::size_t n = entries.size();
    std::int32_t key[rank_limit], rank[rank_limit];
    for (std::size_t i = 0; i < n; ++i) {
        key[i] =
            static_cast<std::int32_t>(static_cast<std::int64_t>(entries[i] >> 32) - (std::int64_t{1} << 31));
        std::int32_t own = 0;
        for (std::size_t j = 0; j < i; ++j) {
            const std::int32_t precedes = key[j] <= key[i];
            own += precedes;
            rank[j] += 1 - precedes;
        }
        rank[i] = own;
    }
    other.resize(n);
    for (std::size_t i = 0; i < n; ++i) other[static_cast<std::size_t>(rank[i])] = entries[i];
    entries.swap(other);
}

}  // namespace

void RowSorter::sort(std::vector<KeyedRow>& entries) {
    const std::size_t n = entries.size();
    if (n <= rank_limit) return rank_each(entries, other_);
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
    if (n <= short_rank_limit) return rank_each(entries, other_);
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
