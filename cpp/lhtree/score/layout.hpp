// Rows and trees laid out for scoring.
#pragma once
#include <array>
#include <cstddef>
#include <cstdint>
#include <new>
#include <vector>

#include "lhtree/shared/blocks.hpp"
#include "lhtree/shared/matrix.hpp"

namespace lhtree {

// Rows as blocks read them. A block of several features reads clipped values, one of a single feature does
// not, and may send missing values to a side of its own: so a row is laid out in planes, one after the other,
// each with all features, of which there are only those that some block reads.

class Planes {
  public:
    // The bound of all normalised values; a clip of its own is below.
    static constexpr double largest = 1e30;

    // forest: arrays in which find_fault finds nothing. Throws std::length_error if rows become too wide.
    Planes(const ForestView& forest, std::size_t n_features, double clip);

    std::size_t n_features() const { return n_features_; }
    std::size_t width() const { return width_; }  // values of a row
    // Whether rows are read as they are normalised, with missing values at the centre.
    bool is_plain() const { return width_ == n_features_ && !is_clipping(); }
    // Where the plane begins that a block reads.
    std::int32_t begin(const ForestView& forest, std::int64_t block) const;
    // Lays out rows of n_features values, NaN where one is missing.
    void lay(const float* z, std::size_t n_rows, float* rows) const;

  private:
    // By what becomes of a missing value, if a plane has unclipped values.
    enum Plane : std::uint8_t { clipped, at_centre, leftmost, rightmost };
    static constexpr std::int32_t unused = -1;

    std::size_t n_features_, stride_, width_;
    float clip_;
    std::array<std::int32_t, 4> begin_{0, unused, unused, unused};

    bool is_clipping() const { return clip_ < static_cast<float>(largest); }
    Plane plane_of(const ForestView& forest, std::int64_t block) const;
};

// A forest laid out for walking: what a block needs lies together, and leaves are apart from branching
// blocks.

constexpr std::size_t cache_line = 64;

// Memory that begins with a cache line.
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

// Where a walk goes next: the number of a leaf, or of the eight bytes at which a block begins.
using Ref = std::uint32_t;
constexpr Ref leaf_bit = Ref{1} << 31;

// A branching block with a few weights, padded with zeros; with eight it is one cache line.
template <std::size_t size>
struct Narrow {
    double offset;
    Ref child[2];
    std::uint16_t features[size];
    float weights[size];
};
// Any other: `n` weights (padded with zeros to a multiple of 4) follow, behind their features unless it is
// dense, which is to use every feature in order.
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
    // Terms of a feature sum, enough for every block of the tree: 1, 2, 4 in Narrow<4>, 5 to 8 in Narrow<8>,
    // 12 in Narrow<12>, 16 in Narrow<16>, 0 in Wide.
    std::uint32_t n_terms;
    Ref begin, end;  // its blocks
};

struct PackedForest {
    std::vector<PackedTree> trees;  // sorted by n_terms, so that trees of one layout can be walked together …
    std::vector<std::uint32_t> place;  // … and where the tree of each number went
    // Of all trees, in units of eight bytes. The first leads nowhere: no weights, its offset infinitely far
    // below.
    std::vector<std::uint64_t, LineAllocator<std::uint64_t>> blocks;
    std::vector<Leaf> leaves;
    std::vector<Range> ranges;             // of the estimates of leaves; empty: 0 to 1
    std::vector<std::int32_t> leaf_block;  // number of every leaf within its tree …
    std::vector<std::int32_t> leaf_depth;  // … and how many blocks are above it
    std::int32_t depth = 0;                // the largest of them
    std::vector<double> slopes;
    std::vector<std::int32_t> slope_features;
    // Of trees of all classes: the shares of every leaf. All pure leaves of a class have one share, so that
    // it stays in the cache.
    std::vector<Span> leaf_shares;
    std::vector<Share> shares;
    std::vector<double> prior_shares;  // of every leaf; its shares are scaled down by it. Empty: 0

    bool is_joint() const { return !leaf_shares.empty(); }
};

// Lays out arrays in which find_fault finds nothing; features become places in rows laid out in planes.
// Throws std::length_error if they are too large.
PackedForest pack(const ForestView& forest, const Planes& planes, std::size_t n_classes);

}  // namespace lhtree
