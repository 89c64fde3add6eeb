// Sorting the rows of a block by a float key, the most expensive part of Gini cuts.
#pragma once
#include <cstdint>
#include <cstring>
#include <vector>

namespace lhtree {

// A key and its row in one number: comparing numbers sorts by key, then by row.
using KeyedRow = std::uint64_t;

// Maps floats to unsigned integers of the same order; 0 and -0 are one key.
inline KeyedRow keyed_row(float key, std::size_t row) {
    key += 0.0f;
    std::uint32_t bits;
    std::memcpy(&bits, &key, sizeof bits);
    bits ^= (bits >> 31) ? 0xffffffffu : 0x80000000u;
    return KeyedRow{bits} << 32 | row;
}
inline float key_of(KeyedRow entry) {
    auto bits = static_cast<std::uint32_t>(entry >> 32);
    bits ^= (bits >> 31) ? 0x80000000u : 0xffffffffu;
    float key;
    std::memcpy(&key, &bits, sizeof key);
    return key;
}
inline std::size_t row_of(KeyedRow entry) {
    return entry & 0xffffffffu;
}

// Sorts entries whose rows ascend.
class RowSorter {
  public:
    void sort(std::vector<KeyedRow>& entries);
    // Sorts entries whose keys are values of their rows, rounded: by the values, then by row.
    void sort_by(const double* values, std::vector<KeyedRow>& entries);
    // Sorts entries whose keys have 16 bits.
    void sort_short(std::vector<KeyedRow>& entries);

  private:
    std::vector<KeyedRow> other_;
    std::vector<std::uint32_t> counts_;

    template <unsigned digit_bits, unsigned n_digits>
    void sort_digits(std::vector<KeyedRow>& entries);
};

}  // namespace lhtree
