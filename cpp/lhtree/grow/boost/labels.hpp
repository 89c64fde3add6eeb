// Classes, responses and weights of the rows of boosting, and the sampling of rows.
#pragma once
#include <algorithm>
#include <cmath>
#include <cstdint>
#include <tuple>
#include <vector>

#include "lhtree/shared/random.hpp"

namespace lhtree::boost {

// The class or the responses of every row, row after row, and a mask of validation rows, which are scored
// only (null: none).
struct Labels {
    const std::int32_t* classes;
    const double* response;
    const std::uint8_t* held;
    std::size_t n_rows;

    bool is_held(std::size_t row) const { return held && held[row]; }
};

// Properties of weights from which their units follow: of training rows, and of validation rows.
struct WeightSurvey {
    std::uint64_t n_rows = 0;
    bool has_held = false, are_ones = true;
    bool is_whole[2] = {true, true};
    double largest[2] = {0.0, 0.0};

    WeightSurvey() = default;
    WeightSurvey(const double* weight, const Labels& labels);
    void merge(const WeightSurvey& other);
    auto fields() {
        return std::tie(n_rows, has_held, are_ones, is_whole[0], is_whole[1], largest[0], largest[1]);
    }
};

// Weights become integers: as they are if they are whole numbers, else in units of a power of two. Validation
// rows have a unit of their own, so that they do not change the trees.
struct WeightUnits {
    bool are_ones = true;
    double unit[2] = {1.0, 1.0};
    int shift = 0;  // for moments

    WeightUnits() = default;
    explicit WeightUnits(const WeightSurvey& survey);
    auto fields() { return std::tie(are_ones, unit[0], unit[1], shift); }
};

// A unit in which weights up to the largest, and the sum of n_rows of them, are whole numbers within bounds.
double find_weight_unit(double largest, bool is_whole, std::uint64_t n_rows);

struct Weights {
    std::vector<std::uint32_t> of;  // in units; empty: 1 each

    Weights(const double* weight, const Labels& labels, const WeightUnits& units);

    std::int64_t at(std::size_t row) const { return of.empty() ? 1 : of[row]; }
};

// A random sample of rows that depends on the key and their numbers only.
struct Sampling {
    std::uint64_t key;
    double share;

    auto fields() { return std::tie(key, share); }
    // Draws are the 53 high bits of a hash. Those below the limit are taken.
    std::uint64_t limit() const {
        return static_cast<std::uint64_t>(std::ceil(std::min(share, 1.0) * 0x1p53));
    }
    bool takes(std::uint64_t row, std::uint64_t limit) const { return derive(key, row) >> 11 < limit; }
};

}  // namespace lhtree::boost
