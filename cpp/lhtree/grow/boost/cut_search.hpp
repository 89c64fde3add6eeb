// The search for the cuts of a level: draws features, requests statistics of the rows, and finds the best
// cuts.
#pragma once
#include <cstdint>
#include <optional>
#include <vector>

#include "lhtree/grow/boost/boost.hpp"
#include "lhtree/grow/boost/level_finder.hpp"

namespace lhtree::boost {

// A block of the level that is cut next.
struct LevelBlock {
    Totals totals;
    std::uint64_t key;  // of its draws
    double value;
    std::vector<std::int32_t> path;  // with linear leaves: features of the blocks above it, the parent first
    // With a loss that selects: the bounds of the value, and whether values must rise (1) or fall (-1) to the
    // right.
    Bounds range{};
    int sign = 0;
    std::vector<double> values{};       // of every score, of a tree of all scores with a loss that selects
    std::vector<std::size_t> groups{};  // that have all features of the blocks above it
};

// One item per block of the level.
struct LevelCuts {
    std::vector<std::optional<Cut>> cuts;
    std::vector<std::int64_t> n_rows;  // empty: not known

    explicit LevelCuts(std::size_t n_blocks) : cuts(n_blocks) {}
};

class CutSearch {
  public:
    // `level` are the blocks of the current level of the tree.
    CutSearch(Rows& rows, const TreeOptions& options, const SplitFinder& finder,
              const std::vector<LevelBlock>& level, std::size_t n_threads, Watch& watch);

    // The best cut of every block; none where no cut reduces the loss.
    LevelCuts find();
    // Keeps the histograms of the blocks that are cut: histograms of their children are derived from them.
    void pass_histograms(const std::vector<std::optional<Cut>>& cuts);
    // The groups of the root, and the groups of a block that have all features of its cut.
    std::vector<std::size_t> all_groups() const;
    std::vector<std::size_t> keep_groups(const LevelBlock& block, const Cut& cut) const;

  private:
    using Features = std::vector<std::int32_t>;

    Rows& rows_;
    const Bins& bins_;
    const TreeOptions& options_;
    const SplitFinder& finder_;
    const std::vector<LevelBlock>& level_;
    std::size_t n_threads_;
    Watch& watch_;
    Features usable_;
    std::vector<Features> groups_;  // usable features of every group
    LevelCuts found_{0};
    std::vector<Histogram> histograms_;  // of every block of the level, or of its parents; empty: not known

    bool is_symmetric() const { return options_.growth == Growth::symmetric; }
    bool may_split(std::size_t block) const { return finder_.may_split(level_[block].totals.sums); }
    bool is_open(std::size_t block) const;
    Features draw_tried(const LevelBlock& block) const;
    Features draw_directed(const LevelBlock& block, std::uint64_t key) const;

    // A cut for all blocks.
    void cut_level();
    std::vector<Moments> scan_level(const LevelFinder& finder, const Features& tried, MeasureLevel request,
                                    std::optional<LevelCut>& best);
    void cut_level_directions(const LevelFinder& finder, const std::vector<Features>& drawn,
                              const std::vector<Moments>& moments, std::optional<LevelCut>& best);
    bool pays_to_keep(std::size_t n_blocks) const;
    void drop_histograms();

    // A cut for each block.
    void cut_blocks();
    std::vector<Moments> cut_features(const std::vector<std::size_t>& open,
                                      const std::vector<Features>& tried, MeasureLevel request);
    std::vector<Histogram> measure(const std::vector<std::size_t>& blocks, std::size_t first,
                                   std::size_t last, MeasureLevel request, std::vector<Moments>& moments);
    void scan(const std::vector<std::size_t>& open, const std::vector<Features>& tried,
              const std::vector<Histogram>& histograms, std::size_t first, std::size_t last);
    void cut_directions(const std::vector<std::size_t>& open, const std::vector<Features>& drawn,
                        const std::vector<Moments>& moments);

    std::vector<std::size_t> find_counted(const std::vector<std::size_t>& open) const;
    void complete_level(const std::vector<std::size_t>& counted, std::vector<Histogram> found);
    std::size_t lighter(std::size_t left) const;
};

}  // namespace lhtree::boost
