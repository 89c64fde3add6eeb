// Steps of the terms of additive models: a small tree over the cells of a curve or of a surface.
#pragma once
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
    double level_ridge = 10.0;  // added to the Hessians of categories where they are put in order
};

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
