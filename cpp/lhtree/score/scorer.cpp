#include "lhtree/score/scorer.hpp"

#include <algorithm>
#include <atomic>
#include <stdexcept>

#include "lhtree/score/link.hpp"

namespace lhtree {

// Rows that go through all trees together, so that a tree is fetched once for all of them.
struct Scorer::Tile {
    std::size_t begin = 0, n_rows = 0;
    std::vector<float> z;
    std::vector<double> wolf, membership, confidence;  // n_rows × n_classes
    std::vector<std::uint32_t> leaf;                   // of some trees, tree after tree
    std::vector<double> leaf_confidence, leaf_membership;
    std::vector<Start> starts;
    std::vector<std::uint32_t> row;
    std::vector<Group> groups;

    // Room for the walks of so many rows down so many trees.
    WalkSpace space(std::size_t n_trees) {
        const std::size_t n_walks = n_trees * n_rows;
        if (leaf.size() <= n_walks) {
            leaf.resize(n_walks + 1);
            leaf_confidence.resize(n_walks + 1);
            starts.resize(n_walks + 1);
        }
        if (groups.size() <= n_rows) {
            row.resize(2 * n_rows + 24);
            groups.resize(n_rows + 1);
        }
        return {starts.data(), row.data(), groups.data()};
    }

    void reset(std::size_t begin_, std::size_t n_rows_, std::size_t n_classes) {
        begin = begin_;
        n_rows = n_rows_;
        for (auto* sums : {&wolf, &membership, &confidence}) sums->assign(n_rows * n_classes, 0.0);
    }
};

namespace {

// Checks before anything is laid out.
const ForestView& checked(const ForestView& forest, std::size_t n_features, std::size_t n_scales,
                          std::size_t n_classes) {
    std::string fault = find_fault(forest, n_features, n_classes);
    if (fault.empty() && n_scales != n_features) fault = "centre and scale differ in length";
    if (fault.empty() && n_features == 0) fault = "there are no features";
    if (fault.empty() && n_classes < 2) fault = "fewer than two classes";
    if (!fault.empty()) throw std::invalid_argument("not the arrays of a model: " + fault);
    for (std::size_t tree = 0; tree < forest.n_trees(); ++tree)
        if (forest.target[tree] < 0)
            throw std::invalid_argument(
                "target is -1: trees of all classes cannot be scored by this version");
    for (std::size_t block = 0; block < forest.missing.size(); ++block)
        if (forest.missing[block] != 0)
            throw std::invalid_argument(
                "missing is not 0: missing values cannot be sent to a side by this version");
    return forest;
}

}  // namespace

Scorer::Scorer(const ForestView& forest, std::vector<double> centre, std::vector<double> scale,
               std::vector<double> prior, Confidence confidence)
    : forest_(pack(checked(forest, centre.size(), scale.size(), prior.size()), centre.size())),
      n_trees_of_(prior.size(), 0.0),
      centre_(std::move(centre)),
      scale_(std::move(scale)),
      prior_(std::move(prior)),
      confidence_(confidence) {
    for (const PackedTree& tree : forest_.trees) n_trees_of_[static_cast<std::size_t>(tree.target)] += 1.0;
    if (n_classes() == 2) {  // one tree serves both classes
        if (n_trees_of_[0] > 0.0)
            throw std::invalid_argument("not the arrays of a model: two classes need target 1");
        n_trees_of_[0] = n_trees_of_[1];
    }
    for (const double n : n_trees_of_)
        if (n == 0.0) throw std::invalid_argument("not the arrays of a model: a class has no tree");
}

// As many rows as stay in the second-level cache beside a tree, so that a tree is fetched seldom.
std::size_t Scorer::tile_rows() const {
    const std::size_t bytes = sizeof(float) * n_features() + sizeof(double) * n_classes();
    return std::clamp<std::size_t>((std::size_t{1} << 19) / bytes, 32, 8192);
}

template <class Use>
void Scorer::each_tree(Tile& tile, const Use& use) const {
    const Rows rows{tile.z.data(), tile.n_rows, n_features()};
    // A few rows go down many trees at once; of many rows, enough go down one tree at once.
    constexpr std::size_t most_walks = 1024;
    const bool is_at_once = n_trees() * tile.n_rows <= most_walks;
    const WalkSpace space = tile.space(is_at_once ? n_trees() : 1);
    const auto walk = [&](std::size_t first, std::size_t n, std::size_t slot) {
        score_kernels().walk({forest_, first, n, rows, confidence_, space}, &tile.leaf[slot],
                             &tile.leaf_confidence[slot]);
    };
    if (is_at_once)
        for (std::size_t first = 0, last = 0; first < n_trees(); first = last) {
            while (last < n_trees() && forest_.trees[last].n_terms == forest_.trees[first].n_terms) ++last;
            walk(first, last - first, first * tile.n_rows);
        }
    for (const std::uint32_t place : forest_.place) {  // in the order of the trees, which the sums keep
        if (!is_at_once) walk(place, 1, 0);
        const std::size_t slot = is_at_once ? place * tile.n_rows : 0;
        use(place, &tile.leaf[slot], &tile.leaf_confidence[slot]);
    }
}

void Scorer::sum_trees(Tile& tile, Score what) const {
    const std::size_t n_cls = n_classes(), n_rows = tile.n_rows;
    const bool is_final = what == Score::proba;  // which falls back on memberships
    if (tile.leaf_membership.size() < n_rows) tile.leaf_membership.resize(n_rows);
    double* const membership = tile.leaf_membership.data();
    each_tree(tile, [&](std::size_t place, const std::uint32_t* leaf, const double* confidence) {
        const auto add = [&](std::vector<double>& sums, const auto& value) {
            const auto target = static_cast<std::size_t>(forest_.trees[place].target);
            add_tree(membership, n_rows, n_cls, target, value, sums.data());
        };
        if (what != Score::confidence)
            score_kernels().memberships(forest_, leaf, {tile.z.data(), n_rows, n_features()}, membership);
        if (what == Score::wolf || is_final)
            add(tile.wolf, [&](std::size_t row, double mu) { return confidence[row] * mu; });
        if (what == Score::membership || is_final)
            add(tile.membership, [](std::size_t, double mu) { return mu; });
        if (what == Score::confidence)
            add(tile.confidence, [&](std::size_t row, double) { return confidence[row]; });
    });
    for (auto* sums : {&tile.wolf, &tile.membership, &tile.confidence})
        take_means(n_trees_of_, n_rows, sums->data());
}

void Scorer::settle(const double* membership, std::size_t n_rows, double* wolf) const {
    lhtree::settle(membership, prior_, n_rows, wolf);
    take_shares(n_classes(), n_rows, wolf);
}

// Cuts the rows into tiles, normalises each and hands it to `use`. A thread is worth starting for some ten
// thousand walks.
template <class Value, class Use>
bool Scorer::each_tile(const Strided<Value>& x, std::size_t n_threads, Watch& watch, const Use& use) const {
    if (x.n_rows == 0) return true;
    constexpr std::size_t walks_per_thread = 16384;
    n_threads = std::min(n_threads, 1 + x.n_rows * n_trees() / walks_per_thread);
    // Tiles of equal size, at least one for every thread.
    const std::size_t least_tiles = std::max(n_threads, (x.n_rows + tile_rows() - 1) / tile_rows());
    const std::size_t size = (x.n_rows + least_tiles - 1) / least_tiles;
    std::atomic<bool> is_finite{true};
    const auto work = [&](std::size_t number) {
        // Keeps its memory for the next call: a row is scored in less time than malloc takes.
        thread_local Tile tile;
        const std::size_t begin = number * size, n = std::min(x.n_rows - begin, size);
        if (tile.z.size() < n * n_features() + slack) tile.z.resize(n * n_features() + slack);
        const Strided<Value> part{x.data + static_cast<std::ptrdiff_t>(begin) * x.row_stride, n, x.n_features,
                                  x.row_stride, x.feature_stride};
        // The watch is not heard while the tile is in use: what a signal handler scores would use it, too.
        Watch quiet;
        if (!normalise(part, centre_.data(), scale_.data(), 1, quiet, tile.z.data())) {
            is_finite = false;
            return;
        }
        tile.reset(begin, n, n_classes());
        use(tile);
    };
    run((x.n_rows + size - 1) / size, n_threads, watch, work);
    return is_finite;
}

template <class Value>
bool Scorer::score(const Strided<Value>& x, Score what, std::size_t n_threads, Watch& watch,
                   double* out) const {
    const std::size_t n_cls = n_classes();
    return each_tile(x, n_threads, watch, [&](Tile& tile) {
        sum_trees(tile, what);
        if (what == Score::proba) settle(tile.membership.data(), tile.n_rows, tile.wolf.data());
        const auto& from = what == Score::membership   ? tile.membership
                           : what == Score::confidence ? tile.confidence
                                                       : tile.wolf;
        std::copy(from.begin(), from.end(), out + tile.begin * n_cls);
    });
}

template <class Value>
bool Scorer::predict(const Strided<Value>& x, std::size_t n_threads, Watch& watch, std::int64_t* out) const {
    return each_tile(x, n_threads, watch, [&](Tile& tile) {
        sum_trees(tile, Score::proba);
        lhtree::settle(tile.membership.data(), prior_, tile.n_rows, tile.wolf.data());
        find_largest(tile.wolf.data(), n_classes(), tile.n_rows, out + tile.begin);
    });
}

template <class Value>
bool Scorer::apply(const Strided<Value>& x, std::size_t n_threads, Watch& watch, std::int64_t* out) const {
    return each_tile(x, n_threads, watch, [&](Tile& tile) {
        std::int64_t* to = out + tile.begin * n_trees();
        each_tree(tile, [&](std::size_t, const std::uint32_t* leaf, const double*) {
            for (std::size_t row = 0; row < tile.n_rows; ++row)
                to[row * n_trees()] = forest_.leaf_block[leaf[row]];
            ++to;
        });
    });
}

template <class Value>
bool Scorer::per_tree(const Strided<Value>& x, std::size_t n_threads, Watch& watch, double* membership,
                      double* confidence) const {
    return each_tile(x, n_threads, watch, [&](Tile& tile) {
        const Rows rows{tile.z.data(), tile.n_rows, n_features()};
        if (tile.leaf_membership.size() < tile.n_rows) tile.leaf_membership.resize(tile.n_rows);
        std::size_t to = tile.begin * n_trees();
        each_tree(tile, [&](std::size_t, const std::uint32_t* leaf, const double* leaf_confidence) {
            score_kernels().memberships(forest_, leaf, rows, tile.leaf_membership.data());
            for (std::size_t row = 0; row < tile.n_rows; ++row) {
                membership[to + row * n_trees()] = tile.leaf_membership[row];
                confidence[to + row * n_trees()] = leaf_confidence[row];
            }
            ++to;
        });
    });
}

template <class Value>
bool Scorer::measure_ways(const Strided<Value>& x, std::size_t n_threads, Watch& watch,
                          std::int64_t* ptr) const {
    const bool is_finite = each_tile(x, n_threads, watch, [&](Tile& tile) {
        std::int64_t* to = ptr + 1 + tile.begin * n_trees();
        each_tree(tile, [&](std::size_t, const std::uint32_t* leaf, const double*) {
            for (std::size_t row = 0; row < tile.n_rows; ++row)
                to[row * n_trees()] = 1 + forest_.leaf_depth[leaf[row]];
            ++to;
        });
    });
    ptr[0] = 0;
    if (is_finite)
        for (std::size_t way = 0; way < x.n_rows * n_trees(); ++way) ptr[way + 1] += ptr[way];
    return is_finite;
}

template <class Value>
bool Scorer::trace(const Strided<Value>& x, std::size_t n_threads, Watch& watch, const std::int64_t* ptr,
                   std::int32_t* block, double* value) const {
    return each_tile(x, n_threads, watch, [&](Tile& tile) {
        const Rows rows{tile.z.data(), tile.n_rows, n_features()};
        for (std::size_t tree = 0; tree < n_trees(); ++tree)
            for (std::size_t row = 0; row < tile.n_rows; ++row) {
                const std::int64_t at = ptr[(tile.begin + row) * n_trees() + tree];
                score_kernels().trace(forest_, forest_.place[tree], rows[row], block + at, value + at);
            }
    });
}

#define LHTREE_SCORES(Value)                                                                             \
    template bool Scorer::score(const Strided<Value>&, Score, std::size_t, Watch&, double*) const;       \
    template bool Scorer::predict(const Strided<Value>&, std::size_t, Watch&, std::int64_t*) const;      \
    template bool Scorer::apply(const Strided<Value>&, std::size_t, Watch&, std::int64_t*) const;        \
    template bool Scorer::per_tree(const Strided<Value>&, std::size_t, Watch&, double*, double*) const;  \
    template bool Scorer::measure_ways(const Strided<Value>&, std::size_t, Watch&, std::int64_t*) const; \
    template bool Scorer::trace(const Strided<Value>&, std::size_t, Watch&, const std::int64_t*,         \
                                std::int32_t*, double*) const
LHTREE_SCORES(double);
LHTREE_SCORES(float);
#undef LHTREE_SCORES

}  // namespace lhtree
