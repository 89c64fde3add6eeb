// Steps of the terms of additive models: a small tree over the cells of a curve or of a surface.
#pragma once
#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <vector>

namespace lhtree::boost {

// Sums of the rows of a cell, in units of the loss.
struct CellSums {
    double gradient = 0.0, hessian = 0.0, weight = 0.0;

    CellSums& operator+=(const CellSums& other) {
        gradient += other.gradient;
        hessian += other.hessian;
        weight += other.weight;
        return *this;
    }
    CellSums operator-(const CellSums& other) const {
        return {gradient - other.gradient, hessian - other.hessian, weight - other.weight};
    }
};

// The cells of one column. The last cell is that of missing values.
struct CellAxis {
    std::size_t slot = 0;
    bool is_ordered = true;          // numbers; categories have no order
    std::vector<std::uint8_t> cell;  // of every code of the slot
    std::size_t n_cells = 0;
    int sign = 0;  // 1 if values must not fall with the column, -1 if they must not rise, else 0
};

struct StepOptions {
    double learning_rate = 0.1, l2 = 1.0, min_weight = 5.0;
    // The step of a curve is the mean of all cuts into two ranges, weighted by exp(gain / (2 · dispersion ·
    // smoothing)): sharp where one cut is much better than all others, smooth where many are as good.
    double smoothing = 1.0;
    // Part of itself by which the learning rate grows in every cycle, up to 1: curves that gain for hundreds
    // of cycles need fewer of them.
    double growth = 0.0;
    double level_ridge = 10.0;  // added to the Hessians of categories where they are put in order

    // The options of a cycle.
    StepOptions at(std::size_t cycle) const {
        StepOptions own = *this;
        const double grown = learning_rate * (1.0 + growth * static_cast<double>(cycle));
        own.learning_rate = std::max(learning_rate, std::min(grown, 1.0));
        return own;
    }
};

// Merges of neighbouring cells, the cheapest first: the last cell of the left one of both steps, and the
// total cost, by the parabola of the loss.
struct Merges {
    std::vector<std::int64_t> edge;
    std::vector<double> cost;
};

// Merges all cells, one pair after the other. A cell has `n_parts` weights (one per cell of the other axis)
// and `n_scores` values for each.
Merges find_merges(std::vector<double> values, std::vector<double> weights, std::size_t n_parts,
                   std::size_t n_scores);

// Writes the additions of all cells of a curve. Cells of missing values have a Newton step of their own.
// `dispersion` is Σ g² / Σ h of all rows.
void find_curve_step(const std::vector<CellSums>& cells, const CellAxis& axis, const StepOptions& options,
                     double dispersion, double* additions);

// Writes the additions of all cells of a surface, which are ordered by the first axis: a cut of one axis, and
// a cut of the other one on each of its sides.
void find_surface_step(const std::vector<CellSums>& cells, const CellAxis& first, const CellAxis& second,
                       const StepOptions& options, double* additions);

// The gain of the step of a surface over the best steps of curves of its two axes.
double measure_surface(const std::vector<CellSums>& cells, const CellAxis& first, const CellAxis& second,
                       const StepOptions& options);

}  // namespace lhtree::boost
