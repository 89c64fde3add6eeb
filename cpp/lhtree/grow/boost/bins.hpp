// The features of boosted trees, cut once into bins: growing sees one byte per cell and nothing else.
#pragma once
#include <cstdint>
#include <vector>

#include "lhtree/grow/boost/slots.hpp"
#include "lhtree/shared/matrix.hpp"
#include "lhtree/shared/threads.hpp"

namespace lhtree::boost {

// Representatives are multiples of 2^-12 up to ±8, weights of a direction multiples of 2^-15 up to ±1.
// Counted in these units both are integers, and a feature sum is one in units of 2^-27.
constexpr double value_unit = 0x1p-12, weight_unit = 0x1p-15, sum_unit = value_unit * weight_unit;
constexpr double clip = 8.0;
constexpr std::size_t most_bins = 255;

// Of every feature, bin after bin: bins are [edge before, edge), and the last code stands for "missing".
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

// What is learned from: rows as the user knows them, and how they become z. With levels, x has the columns of
// numbers and `codes` the levels of the other columns, row after row, below 0 where they are missing.
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

// Bins of the weighted rows (all, or some: ascending row numbers). False if an infinity was met.
template <class Value>
bool make_bins(const Table<Value>& table, const std::vector<std::int64_t>& rows, const std::uint32_t* weight,
               std::size_t max_bins, std::size_t n_threads, Watch& watch, Bins& bins);

// Codes of all rows, a byte for every slot, row after row. False if an infinity was met.
template <class Value>
bool encode(const Table<Value>& table, const Bins& bins, std::size_t n_threads, Watch& watch,
            std::vector<std::uint8_t>& codes);

}  // namespace lhtree::boost
