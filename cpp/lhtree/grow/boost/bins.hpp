// Bins of the features of boosted trees, and the codes of rows: growing reads one byte per slot and row.
#pragma once
#include <cstdint>
#include <vector>

#include "lhtree/shared/matrix.hpp"
#include "lhtree/shared/threads.hpp"

namespace lhtree::boost {

// Representatives are multiples of 2^-12 up to ±8, weights of a direction multiples of 2^-15 up to ±1.
// Counted in these units both are integers, and a feature sum is one in units of 2^-27.
constexpr double value_unit = 0x1p-12, weight_unit = 0x1p-15, sum_unit = value_unit * weight_unit;
constexpr double clip = 8.0;
constexpr std::size_t most_bins = 255;

// A slot is a byte of every row: the bin of a feature, or the level of a column of categories. The last two
// codes of such a column stand for the levels of its other slots, if it has several, and for missing.
class Slots {
  public:
    static constexpr std::size_t most_levels = 254;

    Slots() = default;
    // A slot per feature, or per column of levels. `bins` is the number of bins of every feature, that of
    // missing values included; off and on are the bins of a level that a row does not have, or has.
    Slots(const std::vector<std::size_t>& bins, const Levels* levels, const std::vector<std::uint8_t>& off,
          const std::vector<std::uint8_t>& on);

    struct Slot {
        std::size_t first, last;  // features
        bool is_coded;
        std::size_t begin;  // of its codes among the codes of all slots

        // The code of a level, below 0 if it is missing, of the column whose features begin at `column`.
        std::uint8_t code(std::size_t column, std::int32_t level) const {
            if (level < 0) return missing();
            const std::size_t feature = column + static_cast<std::size_t>(level);
            const bool is_here = feature >= first && feature < last;
            return is_here ? static_cast<std::uint8_t>(feature - first) : other();
        }
        std::uint8_t other() const { return static_cast<std::uint8_t>(last - first); }
        std::uint8_t missing() const { return static_cast<std::uint8_t>(last - first + 1); }
    };

    std::size_t size() const { return slots_.size(); }
    bool any_coded() const { return any_coded_; }
    const Slot& operator[](std::size_t slot) const { return slots_[slot]; }
    std::size_t of(std::size_t feature) const { return slot_of_[feature]; }
    // First code of a slot among the codes of all slots; for the slot after the last, the number of codes.
    std::size_t begin(std::size_t slot) const { return slot < slots_.size() ? slots_[slot].begin : n_codes_; }
    std::size_t n_codes(std::size_t slot) const { return begin(slot + 1) - begin(slot); }
    // The bin of a feature in the rows with this code in its slot.
    std::size_t bin(std::size_t feature, std::size_t code) const {
        const Slot& slot = slots_[slot_of_[feature]];
        if (!slot.is_coded) return code;
        if (code == slot.missing()) return missing_[feature];
        return slot.first + code == feature ? on_[feature] : off_[feature];
    }

  private:
    std::vector<Slot> slots_;
    std::vector<std::size_t> slot_of_, missing_;  // by feature
    std::vector<std::uint8_t> off_, on_;
    std::size_t n_codes_ = 0;
    bool any_coded_ = false;
};

// The bins of all features, feature by feature. A bin is [edge before, edge); the last code means missing.
struct Bins {
    std::vector<std::uint32_t> ptr{0};  // first bin of every feature, missing ones included
    std::vector<double> edge;           // upper edge of a bin, as z; unused of the last and of missing
    std::vector<std::int32_t> value;    // representative, in value_unit; 0 of missing

    std::size_t n_features() const { return ptr.size() - 1; }
    std::size_t n_bins() const { return ptr.back(); }  // of all features
    std::size_t n_bins(std::size_t feature) const { return ptr[feature + 1] - ptr[feature] - 1; }
    std::uint8_t missing(std::size_t feature) const { return static_cast<std::uint8_t>(n_bins(feature)); }
    // Whether a cut of the feature could part any rows.
    bool is_usable(std::size_t feature) const { return n_bins(feature) > 1 || has_missing[feature]; }

    std::vector<std::uint8_t> has_missing;  // whether values were missing where bins were made, others not
    Slots slots;                            // where the codes of rows are

    void add(const std::vector<double>& edges, const std::vector<std::int32_t>& values, bool any_missing);
    // Lays out the codes of rows, once all features are added.
    void place(const Levels* levels);
    // The representative of a feature in the rows with this code in its slot.
    std::int32_t value_of(std::size_t feature, std::size_t code) const {
        return value[ptr[feature] + slots.bin(feature, code)];
    }
};

// Rows in the units of the user, and how they are normalised. With levels, x has the columns of numbers and
// `codes` the levels of the other columns, row after row, below 0 where they are missing.
template <class Value>
struct Table {
    Strided<Value> x;
    const double* centre;
    const double* scale;
    const std::int32_t* codes = nullptr;
    const Levels* levels = nullptr;

    std::size_t n_features() const { return levels ? levels->n_features() : x.n_features; }
    std::size_t n_coded() const { return levels ? levels->n_columns() - x.n_features : 0; }
};

// Bins of the weighted rows (all, or some: ascending row numbers). Returns false if an infinity was found.
template <class Value>
bool make_bins(const Table<Value>& table, const std::vector<std::int64_t>& rows, const std::uint32_t* weight,
               std::size_t max_bins, std::size_t n_threads, Watch& watch, Bins& bins);

// Codes of all rows, a byte for every slot, row after row. Returns false if an infinity was found.
template <class Value>
bool encode(const Table<Value>& table, const Bins& bins, std::size_t n_threads, Watch& watch,
            std::vector<std::uint8_t>& codes);

}  // namespace lhtree::boost
