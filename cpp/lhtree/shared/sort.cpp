#include "lhtree/shared/sort.hpp"

#include <algorithm>
#include <utility>

namespace lhtree {
namespace {

constexpr std::size_t rank_limit = 160, short_rank_limit = 64, comparison_limit = 400;  // measured

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

// Radix sort from the lowest digit of the key; rows ascend already, and every pass is stable.
template <unsigned digit_bits, unsigned n_digits>
void RowSorter::sort_digits(std::vector<KeyedRow>& entries) {
    constexpr std::size_t n_buckets = std::size_t{1} << digit_bits;
    const auto digit = [](KeyedRow entry, unsigned number) {
        return static_cast<std::size_t>(entry >> (32 + number * digit_bits)) & (n_buckets - 1);
    };
    const std::size_t n = entries.size();
    counts_.assign(n_digits * n_buckets, 0);
    for (const KeyedRow entry : entries)
        for (unsigned number = 0; number < n_digits; ++number)
            ++counts_[number * n_buckets + digit(entry, number)];
    other_.resize(n);
    for (unsigned number = 0; number < n_digits; ++number) {
        std::uint32_t* const next = &counts_[number * n_buckets];
        if (next[digit(entries[0], number)] == n) continue;  // all digits are equal
        std::uint32_t begin = 0;
        for (std::size_t bucket = 0; bucket < n_buckets; ++bucket)
            begin += std::exchange(next[bucket], begin);
        for (const KeyedRow entry : entries) other_[next[digit(entry, number)]++] = entry;
        entries.swap(other_);
    }
}

void RowSorter::sort(std::vector<KeyedRow>& entries) {
    if (entries.size() <= rank_limit) return rank_each(entries, other_);
    if (entries.size() <= comparison_limit) return std::sort(entries.begin(), entries.end());
    sort_digits<11, 3>(entries);  // 33 bits cover the key
}

void RowSorter::sort_by(const double* values, std::vector<KeyedRow>& entries) {
    sort(entries);
    // Values that differ as doubles but not as floats, which are few, are still in row order.
    const auto is_less = [values](KeyedRow a, KeyedRow b) { return values[row_of(a)] < values[row_of(b)]; };
    for (auto first = entries.begin(), last = first; first != entries.end(); first = last) {
        for (last = first + 1; last != entries.end() && *last >> 32 == *first >> 32;) ++last;
        if (!std::is_sorted(first, last, is_less)) std::stable_sort(first, last, is_less);
    }
}

void RowSorter::sort_short(std::vector<KeyedRow>& entries) {
    if (entries.size() <= short_rank_limit) return rank_each(entries, other_);
    sort_digits<8, 2>(entries);
}

}  // namespace lhtree
