// Calibrated probabilities: a map of the score of every target, learned from rows that its trees did not see.
#pragma once
#include <cstdint>
#include <vector>

#include "lhtree/shared/options.hpp"

namespace lhtree {

enum class Calibrator : std::uint8_t { none, sigmoid, isotonic };
constexpr Named<Calibrator> calibrator_names[] = {{"sigmoid", Calibrator::sigmoid},
                                                  {"isotonic", Calibrator::isotonic}};

// Of target t the knots ptr[t] to ptr[t + 1] - 1. A sigmoid has one: 1 / (1 + e^-(x·score + y)). Isotonic
// knots are scores x, ascending, and probabilities y, with lines between them and constant beyond them.
struct Calibration {
    Calibrator kind = Calibrator::none;
    std::vector<std::int64_t> ptr;
    std::vector<double> x, y;

    bool is_given() const { return kind != Calibrator::none; }
    // Throws std::invalid_argument if it is not one of so many targets.
    void check(std::size_t n_targets) const;
    // Probabilities (n_rows × n_classes) from the scores of the targets, `stride` numbers from row to row;
    // they may be the columns of the last targets of the same table.
    void apply(const double* scores, std::size_t stride, std::size_t n_classes, std::size_t n_rows,
               double* proba) const;

  private:
    double map(std::size_t target, double score) const;
};

}  // namespace lhtree
