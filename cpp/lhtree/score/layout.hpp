// Rows and trees laid out for scoring.
#pragma once
#include <array>
#include <cstdint>
#include <new>
#include <vector>

#include "lhtree/shared/blocks.hpp"
#include "lhtree/shared/matrix.hpp"

namespace lhtree {

// Rows laid out for blocks. Blocks of several features read clipped values. Blocks of one feature read
// unclipped values and may send missing values to one side. A row is therefore stored as up to four planes
// with all features each; planes that no block reads are left out.

class Planes {
  public:
    // Bound of normalised values. A model may have a lower clip.
    static constexpr double largest = 1e30;

    // `forest` must be valid (see find_fault). Throws std::length_error if rows become too wide.
    Planes(const ForestView& forest, std::size_t n_features, double clip);

    std::size_t n_features() const { return n_features_; }
    std::size_t width() const { return width_; }  // values per row
    // Whether rows are read as normalised, with 0 for missing values.
    bool is_plain() const { return width_ == n_features_ && !is_clipping(); }
    // Bound of the values that blocks of several features read.
    double bound() const { return static_cast<double>(clip_); }
    // Returns the offset of the plane that a block reads.
    std::int32_t begin(const ForestView& forest, std::int64_t block) const;
    // Lays out rows of n_features values, NaN where one is missing.
    void lay(const float* z, std::size_t n_rows, float* rows) const;

  private:
    // Named by the treatment of missing values; only the first has clipped values.
    enum Plane : std::uint8_t { clipped, at_centre, leftmost, rightmost };
    static constexpr std::int32_t unused = -1;

    std::size_t n_features_, stride_, width_;
    float clip_;
    std::array<std::int32_t, 4> begin_{0, unused, unused, unused};

    bool is_clipping() const { return clip_ < static_cast<float>(largest); }
    Plane plane_of(const ForestView& forest, std::int64_t block) const;
};

// A forest laid out for walking: the data of a block are contiguous, leaves are apart.

constexpr std::size_t cache_line = 64;

// Allocates memory aligned to cache lines.
template <class T>
struct LineAllocator {
    using value_type = T;

    LineAllocator() = default;
    template <class Other>
    LineAllocator(const LineAllocator<Other>&) {}

    T* allocate(std::size_t n) {
        return static_cast<T*>(::operator new(n * sizeof(T), std::align_val_t{cache_line}));
    }
    void deallocate(T* p, std::size_t) { ::operator delete(p, std::align_val_t{cache_line}); }
    bool operator==(const LineAllocator&) const { return true; }
    bool operator!=(const LineAllocator&) const { return false; }
};

// The next block of a walk: the number of a leaf, or the position of a block in units of eight bytes.
using Ref = std::uint32_t;
constexpr Ref leaf_bit = Ref{1} << 31;

// A branching block with few weights, padded with zeros; with eight weights it is one cache line.
template <std::size_t size>
struct Narrow {
    double offset;
    Ref child[2];
    std::uint16_t features[size];
    float weights[size];
};
// Any other branching block, followed by the features (unless it is dense, that is, uses all features in
// order) and by n weights, padded with zeros to a multiple of 4.
struct Wide {
    double offset;
    Ref child[2];
    std::uint32_t n;
    std::uint32_t is_dense : 1, rank : 31;  // rank among the branching blocks of its tree
};

struct Leaf {
    double intercept;
    std::uint32_t at, n;  // slopes, padded like weights, and their features
};

struct Range {
    double low, high;
};

struct Share {
    double share;
    std::uint32_t cls;
};
struct Span {
    std::uint32_t at, n;
};

struct PackedTree {
    Ref root;  // its first branching block, if it has one
    std::int32_t target;
    // Largest number of terms of a feature sum: 1, 2, 4 in Narrow<4>, 5 to 8 in Narrow<8>, 12 in Narrow<12>,
    // 16 in Narrow<16>, 0 in Wide.
    std::uint32_t n_terms;
};

// Levels of symmetric trees: all blocks of a level have the same hyperplane, so the leaf of a row is a number
// with a bit per level. Terms are padded with zeros.
constexpr std::size_t most_level_terms = 8;

struct Level {
    double offset;
    // The offset, rounded. In a level of one feature with weight 1, the smallest float32 that is not below
    // the offset, so that the same values are below both.
    float near;
    // A feature sum of float32 that differs from the offset by more has the side of the exact one.
    float margin;
    std::uint32_t n_terms;
    std::uint32_t features[most_level_terms];
    float weights[most_level_terms];

    bool is_step() const { return n_terms == 1 && weights[0] == 1.0f; }
};

struct SymmetricTree {
    std::uint32_t first_level, n_levels, first_leaf;
};

// A level of one feature with weight 1: values of at least `near` add a bit to the number of a tree's leaf.
struct Step {
    float near;
    std::uint32_t tree, bit;
};
// The steps of one value of a row, ascending.
struct StepColumn {
    std::uint32_t column, begin, end;
};
// Four trees whose other levels are computed together, one of each tree at a time.
struct TreeQuad {
    std::uint32_t tree[4];  // n_trees for padding
    std::uint32_t n_levels;
};

struct SymmetricForest {
    std::vector<Level> levels;
    std::vector<SymmetricTree> trees;  // empty: some tree is not symmetric
    // The levels in the order in which one row is scored by all trees.
    std::vector<Step> steps;
    std::vector<StepColumn> columns;
    std::vector<TreeQuad> quads;
    std::size_t n_terms = 1;           // of the levels of quads: 1, 2, 4 or 8
    std::vector<double> quad_offsets;  // four per level
    std::vector<float> quad_bits;      // that a row on the right adds to the numbers of the leaves
    std::vector<float> quad_weights;   // n_terms × 4 per level
    std::vector<std::uint32_t> quad_features;

    bool is_given() const { return !trees.empty(); }
};

struct PackedForest {
    std::vector<PackedTree> trees;     // sorted by n_terms: trees of one layout are walked together
    std::vector<std::uint32_t> place;  // position in `trees` of every tree
    // Blocks of all trees, in units of eight bytes. The first is a sentinel: offset -infinity, no weights.
    std::vector<std::uint64_t, LineAllocator<std::uint64_t>> blocks;
    std::vector<Leaf> leaves;
    std::vector<Range> ranges;             // ranges of the estimates of leaves; empty: 0 to 1
    std::vector<std::int32_t> leaf_block;  // number of every leaf within its tree
    std::vector<std::int32_t> leaf_depth;  // number of blocks above every leaf
    std::int32_t depth = 0;                // largest of them
    std::vector<double> slopes;
    std::vector<std::int32_t> slope_features;
    // Shares of the classes in every leaf, for trees of all classes. Pure leaves of a class have one in
    // common.
    std::vector<Span> leaf_shares;
    std::vector<Share> shares;
    std::vector<double> prior_shares;  // share of the prior in every leaf; empty: 0
    // Values of the classes in every leaf, of boosted trees of all classes.
    std::vector<double> leaf_values;
    SymmetricForest symmetric;  // then there are no blocks

    bool is_joint() const { return !leaf_shares.empty() || !leaf_values.empty(); }
};

// Lays out a valid forest; features become positions in rows laid out in planes. Symmetric trees are laid out
// by levels if the confidence of paths is not needed. Throws std::length_error.
PackedForest pack(const ForestView& forest, const Planes& planes, std::size_t n_classes, bool has_shares,
                  bool takes_levels);

}  // namespace lhtree
