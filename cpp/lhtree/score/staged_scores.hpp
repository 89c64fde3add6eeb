// Raw scores of a boosted model after every round.
#pragma once
#include <cstdint>
#include <memory>
#include <optional>
#include <vector>

#include "lhtree/score/scorer.hpp"

namespace lhtree {

// Normalises rows once, and scores them round by round.
class StagedScores {
  public:
    // `scorer` lives as long as this object. n_levels: of every column, 0 for numbers; empty: no categories.
    StagedScores(const Scorer& scorer, const std::vector<std::int32_t>& n_levels);

    // Takes rows of numbers, and the codes of the other columns. Returns false if a value is infinite.
    bool begin(const InputRows& x, const std::int32_t* codes, std::size_t n_threads, Watch& watch);
    std::size_t n_targets() const { return scorer_.n_targets(); }
    std::size_t n_rows() const { return raw_.size() / scorer_.n_targets(); }
    // Writes the raw scores after each of the next rounds, n_rounds × n_rows × n_targets.
    void next(std::size_t n_rounds, std::size_t n_threads, Watch& watch, double* out);

  private:
    const Scorer& scorer_;
    std::optional<Levels> levels_;
    std::unique_ptr<float[]> rows_;  // a value per column: levels become features tile by tile
    std::vector<double> raw_;        // after the last round, n_rows × n_targets
    std::size_t round_ = 0;

    std::size_t width() const { return levels_ ? levels_->n_columns() : scorer_.n_features(); }
    void lay(Tile& tile) const;
};

}  // namespace lhtree
