// Additive models: cyclic boosting of curves of single columns and of surfaces of pairs, in bags of rows.
#pragma once
#include <cstdint>
#include <vector>

#include "lhtree/grow/boost/local_rows.hpp"
#include "lhtree/grow/boost/term_steps.hpp"

namespace lhtree::boost {

// A curve (one axis) or a surface (two axes).
struct AdditiveTerm {
    std::vector<CellAxis> axes;
    std::size_t begin = 0;  // of its cells among the cells of all terms

    std::size_t n_cells() const {
        return axes.size() == 1 ? axes[0].n_cells : axes[0].n_cells * axes[1].n_cells;
    }
    std::size_t cell(const std::uint8_t* codes) const {
        const std::size_t first = axes[0].cell[codes[axes[0].slot]];
        return axes.size() == 1 ? first : first * axes[1].n_cells + axes[1].cell[codes[axes[1].slot]];
    }
};

struct AdditivePlan {
    std::vector<AdditiveTerm> terms;
    std::vector<std::uint8_t> is_active;  // by bag and term; others keep their values
    std::vector<double> base;             // raw scores before all terms
    const std::int32_t* fold;  // of every row; bag b learns from the rows of the other folds; below 0: no use
    // The part of every row. With several parts, a bag learns from another one after every fourth cycle, so
    // that the time of a cycle does not grow with the rows, and its loss is that of part 0 of its fold.
    const std::int32_t* part;
    std::size_t n_bags = 1, n_parts = 1, n_cycles = 1;
    // All bags stop together, after this many cycles in which the mean loss of their folds does not fall,
    // and keep their values after the best cycle: the fold of one bag has too few rows to stop by.
    std::size_t patience = 1;
    StepOptions step;

    std::size_t n_cells() const { return terms.empty() ? 0 : terms.back().begin + terms.back().n_cells(); }
};

// Values of all cells in every bag, by bag, cell and score; the mean loss of the fold of every bag before the
// first cycle and after every fourth; and the number of cycles that the values have.
struct AdditiveBags {
    std::vector<double> values;
    std::vector<std::vector<double>> losses;
    std::size_t n_cycles;
};

// Boosts the active terms in every bag, from these values. Each bag is one task, so the number of threads
// does not matter.
AdditiveBags boost_terms(const AdditivePlan& plan, const RowData& rows, std::vector<double> values,
                         std::size_t n_threads, Watch& watch);

// The raw scores of every row, shape (n, n_scores), from the values of the bag that does not learn from it.
// Other rows have the raw scores of the mean of all bags.
std::vector<double> score_left_out(const AdditivePlan& plan, const RowData& rows,
                                   const std::vector<double>& values, std::size_t n_threads, Watch& watch);

// The gain of a surface for every pair of axes, which have few cells, given raw scores of all rows: pairs (0,
// 1), (0, 2), …, (1, 2), … Rows of the fold `left_out` and of folds below 0 do not count.
std::vector<double> measure_pairs(const std::vector<CellAxis>& axes, const RowData& rows, const double* raw,
                                  const std::int32_t* fold, std::int32_t left_out, const StepOptions& options,
                                  std::size_t n_threads, Watch& watch);

// Sums of weights and of Hessians of the cells of all terms, given raw scores of all rows: the Hessians are
// summed over the scores.
struct CellWeights {
    std::vector<double> weight, hessian;
};
CellWeights weigh_cells(const AdditivePlan& plan, const RowData& rows, const double* raw);

}  // namespace lhtree::boost
