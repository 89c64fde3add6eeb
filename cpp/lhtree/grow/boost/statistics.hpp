// Statistics of the rows of a block. Sums of integers: partitions merge in any order to the same bits.
#pragma once
#include <algorithm>
#include <cstdint>
#include <cstring>
#include <limits>
#include <map>
#include <mutex>
#include <stdexcept>
#include <tuple>
#include <vector>

#include "lhtree/grow/boost/bins.hpp"
#include "lhtree/grow/boost/kernels.hpp"
#include "lhtree/shared/constants.hpp"
#include "lhtree/shared/exact.hpp"

namespace lhtree::boost {

// Statistics of different sizes cannot be merged: they come from a malformed message.
inline void require_same_size(std::size_t one, std::size_t other) {
    if (one != other) throw std::invalid_argument("malformed message: answers differ in size");
}

// Gradients, hessians and weights of some rows, each times the weight.
struct Sums {
    std::int64_t gradient = 0, hessian = 0, weight = 0;

    auto fields() { return std::tie(gradient, hessian, weight); }
    void merge(const Sums& other) { *this += other; }
    Sums& operator+=(const Sums& other) {
        gradient += other.gradient;
        hessian += other.hessian;
        weight += other.weight;
        return *this;
    }
    Sums& operator-=(const Sums& other) { return *this = *this - other; }
    Sums operator-(const Sums& other) const {
        return {gradient - other.gradient, hessian - other.hessian, weight - other.weight};
    }
};

// Sums in 16 bytes, for up to 2^24 rows that weigh 1 each: hessian and weight share a number.
struct LeanSums {
    std::int64_t gradient = 0, both = 0;

    LeanSums& operator+=(const LeanSums& other) {
        gradient += other.gradient;
        both += other.both;
        return *this;
    }
    LeanSums& operator-=(const LeanSums& other) {
        gradient -= other.gradient;
        both -= other.both;
        return *this;
    }
    operator Sums() const { return {gradient, both >> 24, both & 0xffffff}; }
};
constexpr std::size_t most_lean_rows = std::size_t{1} << 24;

// The sums of bins or steps of a block, in the lean form where they fit.
class Histogram {
  public:
    Histogram() = default;
    Histogram(std::size_t size, bool is_lean) : lean_(is_lean ? size : 0), full_(is_lean ? 0 : size) {}

    // Sets the size again, and all sums to 0.
    void reset(std::size_t size, bool is_lean) {
        lean_.resize(is_lean ? size : 0);
        full_.resize(is_lean ? 0 : size);
        clear(lean_);
        clear(full_);
    }
    std::size_t capacity() const { return std::max(lean_.capacity(), full_.capacity()); }
    bool empty() const { return lean_.empty() && full_.empty(); }
    bool is_lean() const { return !lean_.empty(); }
    std::size_t size() const { return is_lean() ? lean_.size() : full_.size(); }
    Sums operator[](std::size_t i) const {
        if (lean_.empty()) return full_[i];
        return lean_[i];
    }
    static Histogram of(std::vector<Sums>&& sums) {
        Histogram histogram;
        histogram.full_ = std::move(sums);
        return histogram;
    }
    // Calls count(sums) with the sums in their form.
    template <class Count>
    void count(const Count& count_into) {
        lean_.empty() ? count_into(full_.data()) : count_into(lean_.data());
    }
    // Calls spread(from, to) with the sums of codes and the sums of bins in their form.
    template <class Spread>
    void spread(const Histogram& codes, const Spread& spread_from) {
        lean_.empty() ? spread_from(codes.full_.data(), full_.data())
                      : spread_from(codes.lean_.data(), lean_.data());
    }
    // Calls use(sums) with the sums in their form.
    template <class Use>
    void read(const Use& use) const {
        lean_.empty() ? use(full_.data()) : use(lean_.data());
    }
    // The sum of n bins or steps.
    Sums total(std::size_t first, std::size_t n) const {
        Sums all;
        read([&](const auto* sums) {
            std::decay_t<decltype(*sums)> own;
            for (std::size_t i = 0; i < n; ++i) own += sums[first + i];
            all = own;
        });
        return all;
    }
    void merge(const Histogram& other);
    void subtract(const Histogram& other);

  private:
    std::vector<LeanSums> lean_;
    std::vector<Sums> full_;

    // Sums are integers: all bits 0 is faster to write than one sum after the other.
    template <class AnySums>
    static void clear(std::vector<AnySums>& sums) {
        if (!sums.empty()) std::memset(static_cast<void*>(sums.data()), 0, sums.size() * sizeof(AnySums));
    }
};

// Histograms whose memory is used again: fresh memory costs more time than counting a few thousand rows.
class SpareHistograms {
  public:
    void give(std::vector<Histogram>&& histograms);
    // Histograms of these sizes, with sums of 0.
    std::vector<Histogram> take(const std::vector<std::size_t>& sizes, bool is_lean);

  private:
    std::mutex mutex_;
    std::multimap<std::size_t, Histogram> by_capacity_;
};

// Adds rows to the sums of the codes of some slots.
template <class AnySums>
void count_codes(const BlockRows& rows, const Slots& slots, const std::vector<std::size_t>& counted,
                 AnySums* sums);

// Adds the sums of codes, from the slot of feature `first` on, to the sums of the bins of features
// first … last - 1. The rows without a level are all rows but those with the level, or with a missing value.
template <class AnySums>
void spread_codes(const Bins& bins, std::size_t first, std::size_t last, const AnySums* codes, AnySums* sums);

// A direction over a few features, in units (see bins.hpp), and the steps by which its sums are counted.
struct Direction {
    std::vector<std::int32_t> features;  // ascending; empty: no direction
    std::vector<std::int32_t> weights;
    std::vector<double> spreads;   // standard deviations of the features in the block
    double low = 0.0, step = 1.0;  // whole numbers

    // A single feature with weight 1.
    static Direction single(std::int32_t feature) {
        return {{feature}, {static_cast<std::int32_t>(1.0 / weight_unit)}, {1.0}};
    }
    bool empty() const { return features.empty(); }
    auto fields() { return std::tie(features, weights, low, step); }
};
constexpr std::size_t n_steps = 255;

// Tables of weight × representative, by the code of the slot of every feature.
class TermTables {
  public:
    // Representatives are multiplied by `unit` before the weights.
    template <class Weight>
    TermTables(const Bins& bins, const std::vector<std::int32_t>& features,
               const std::vector<Weight>& weights, double unit);

    // Adds the terms of a row to a sum. `n`: the number of features, 0 if unknown. Feature sums are exact:
    // whole numbers below 2^53.
    template <std::size_t n>
    double add(double sum, const std::uint8_t* codes) const {
        const std::size_t size = n ? n : slots_.size();
        for (std::size_t i = 0; i < size; ++i) sum += tables_[i * 256 + codes[slots_[i]]];
        return sum;
    }
    // Calls use(size) with the number of features as a constant, so that loops over them are unrolled.
    template <class Use>
    void with_size(const Use& use) const {
        with_constant<2, 4>(slots_.size(), use);
    }

  private:
    std::vector<std::size_t> slots_;  // of the features
    std::vector<double> tables_;
};

// Adds rows to the sums of the n_steps steps of a direction.
template <class AnySums>
void count_steps(const BlockRows& rows, const Direction& direction, const TermTables& tables, AnySums* sums);

// Sums of products of representatives r with gradients and hessians: 1, r_i and r_i · r_j.
struct Moments {
    WideSum hessian, gradient;
    std::vector<WideSum> hessian_value, gradient_value;
    std::vector<WideSum> products;  // of pairs i ≥ j, row after row of the lower triangle

    explicit Moments(std::size_t n_features = 0)
        : hessian_value(n_features),
          gradient_value(n_features),
          products(n_features * (n_features + 1) / 2) {}
    // The mean of a feature, weighted by the hessian.
    double mean(std::size_t i) const { return hessian_value[i].value() / hessian.value(); }
    void merge(const Moments& other);
    auto fields() { return std::tie(hessian, gradient, hessian_value, gradient_value, products); }
};

// Moments of a leaf, and the least and the largest -g / h of its rows, in quanta.
struct LeafMoments : Moments {
    using Moments::Moments;
    double least = std::numeric_limits<double>::infinity(), largest = -least;

    void merge(const LeafMoments& other);
    auto fields() { return std::tuple_cat(Moments::fields(), std::tie(least, largest)); }
};

// The slots of some features, and tables of their representatives by code.
class ValueTables {
  public:
    ValueTables(const Bins& bins, const std::vector<std::int32_t>& features);
    ValueTables(ValueTables&&) = default;

    std::size_t size() const { return slots_.size(); }
    std::size_t slot(std::size_t i) const { return slots_[i]; }
    const std::int32_t* values(std::size_t i) const { return tables_[i]; }
    // The features, up to four, and others with the value 0.
    FourFeatures four() const;

  private:
    std::vector<std::size_t> slots_;
    std::vector<const std::int32_t*> tables_;
    std::vector<std::int32_t> made_;  // of levels
};

// Adds rows; weights count as weight >> shift, so that no product leaves 64 bits.
void add_moments(const BlockRows& rows, const ValueTables& features, int shift, Moments& moments);
void add_moments(const BlockRows& rows, const ValueTables& features, int shift, LeafMoments& moments);
constexpr int most_moment_bits = 17;  // of a weight

}  // namespace lhtree::boost
