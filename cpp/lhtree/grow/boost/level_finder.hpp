// Split finding of symmetric trees: one cut for all blocks of a level.
#pragma once
#include <array>
#include <cstdint>
#include <optional>
#include <vector>

#include "lhtree/grow/boost/split_finder.hpp"

namespace lhtree::boost {

// A cut, and the sums on its left in every block of the level.
struct LevelCut {
    Cut cut;
    std::vector<Sums> left;
};

// The gain of a cut is the sum of its gains in the blocks. A block with a side that is too light adds
// nothing. A cut that would break a monotonic constraint in any block is refused.
class LevelFinder {
  public:
    LevelFinder(const SplitFinder& finder, const std::vector<Totals>& blocks);

    // Finds a better cut at a feature than `best`. The codes of its slot begin at `first` of every histogram;
    // blocks without rows have none.
    void cut_feature(std::int32_t feature, const Bins& bins, const std::vector<Histogram>& histograms,
                     std::size_t first, std::optional<LevelCut>& best) const;
    // Moments of all blocks in the same features.
    Direction direct(const Moments* moments, const std::vector<std::int32_t>& features) const;
    // `histograms` has one histogram per block.
    void cut_direction(const Direction& direction, const Histogram* histograms,
                       std::optional<LevelCut>& best) const;

  private:
    const SplitFinder& finder_;
    const std::vector<Totals>& blocks_;

    static constexpr std::size_t most_cuts = 256;
    using Gains = std::array<double, most_cuts>;
    // Sums left of the cuts behind each of some bins or steps of a block.
    class Prefixes;
    // Whether a block can change the gain of a cut, or refuse it.
    bool matters(const Totals& totals) const;
    void add_gains(const Totals& totals, const Prefixes& left, int sign, Gains& gains) const;
};

}  // namespace lhtree::boost
