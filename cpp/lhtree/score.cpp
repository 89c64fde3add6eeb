#include "lhtree/score.hpp"

#include <algorithm>
#include <atomic>
#include <stdexcept>

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
        kernels().walk({forest_, first, n, rows, confidence_, space}, &tile.leaf[slot],
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
    const bool is_binary = n_cls == 2;
    const bool is_final = what == Score::proba;  // which falls back on memberships
    if (tile.leaf_membership.size() < n_rows) tile.leaf_membership.resize(n_rows);
    double* const membership = tile.leaf_membership.data();
    each_tree(tile, [&](std::size_t place, const std::uint32_t* leaf, const double* confidence) {
        const auto target = static_cast<std::size_t>(forest_.trees[place].target);
        // Adds a value for the target and, of two classes, one for the other.
        const auto add = [&](std::vector<double>& sums, const auto& own, const auto& other) {
            double* sum = sums.data() + target;
            if (is_binary)
                for (std::size_t row = 0; row < n_rows; ++row, sum += 2) {
                    sum[0] += own(row);
                    sum[-1] += other(row);
                }
            else
                for (std::size_t row = 0; row < n_rows; ++row, sum += n_cls) *sum += own(row);
        };
        if (what != Score::confidence)
            kernels().memberships(forest_, leaf, {tile.z.data(), n_rows, n_features()}, membership);
        if (what == Score::wolf || is_final)
            add(
                tile.wolf, [&](std::size_t row) { return confidence[row] * membership[row]; },
                [&](std::size_t row) { return confidence[row] * (1.0 - membership[row]); });
        if (what == Score::membership || is_final)
            add(
                tile.membership, [&](std::size_t row) { return membership[row]; },
                [&](std::size_t row) { return 1.0 - membership[row]; });
        if (what == Score::confidence)
            add(
                tile.confidence, [&](std::size_t row) { return confidence[row]; },
                [&](std::size_t row) { return confidence[row]; });
    });
    for (auto* sums : {&tile.wolf, &tile.membership, &tile.confidence})
        for (std::size_t row = 0; row < n_rows; ++row)
            for (std::size_t cls = 0; cls < n_cls; ++cls) (*sums)[row * n_cls + cls] /= n_trees_of_[cls];
}

void Scorer::settle(Tile& tile) const {
    const std::size_t n_cls = n_classes();
    const auto is_zero = [](double value) { return value == 0.0; };
    for (std::size_t row = 0; row < tile.n_rows; ++row) {
        double* wolf = tile.wolf.data() + row * n_cls;
        const double* membership = tile.membership.data() + row * n_cls;
        if (std::all_of(wolf, wolf + n_cls, is_zero)) std::copy(membership, membership + n_cls, wolf);
        if (std::all_of(wolf, wolf + n_cls, is_zero)) std::copy(prior_.begin(), prior_.end(), wolf);
    }
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
        if (what == Score::proba) {
            settle(tile);
            for (double* row = tile.wolf.data(); row < tile.wolf.data() + tile.n_rows * n_cls; row += n_cls) {
                double sum = 0.0;
                for (std::size_t cls = 0; cls < n_cls; ++cls) sum += row[cls];
                for (std::size_t cls = 0; cls < n_cls; ++cls) row[cls] /= sum;
            }
        }
        const auto& from = what == Score::membership   ? tile.membership
                           : what == Score::confidence ? tile.confidence
                                                       : tile.wolf;
        std::copy(from.begin(), from.end(), out + tile.begin * n_cls);
    });
}

template <class Value>
bool Scorer::predict(const Strided<Value>& x, std::size_t n_threads, Watch& watch, std::int64_t* out) const {
    const std::size_t n_cls = n_classes();
    return each_tile(x, n_threads, watch, [&](Tile& tile) {
        sum_trees(tile, Score::proba);
        settle(tile);
        for (std::size_t row = 0; row < tile.n_rows; ++row) {
            const double* wolf = tile.wolf.data() + row * n_cls;
            out[tile.begin + row] = std::max_element(wolf, wolf + n_cls) - wolf;
        }
    });
}

template <class Value>
bool Scorer::apply(const Strided<Value>& x, std::size_t n_threads, Watch& watch, std::int64_t* out) const {
    return each_tile(x, n_threads, watch, [&](Tile& tile) {
        std::size_t tree = 0;
        each_tree(tile, [&](std::size_t, const std::uint32_t* leaf, const double*) {
            for (std::size_t row = 0; row < tile.n_rows; ++row)
                out[(tile.begin + row) * n_trees() + tree] = forest_.leaf_block[leaf[row]];
            ++tree;
        });
    });
}

template bool Scorer::score(const Strided<double>&, Score, std::size_t, Watch&, double*) const;
template bool Scorer::score(const Strided<float>&, Score, std::size_t, Watch&, double*) const;
template bool Scorer::predict(const Strided<double>&, std::size_t, Watch&, std::int64_t*) const;
template bool Scorer::predict(const Strided<float>&, std::size_t, Watch&, std::int64_t*) const;
template bool Scorer::apply(const Strided<double>&, std::size_t, Watch&, std::int64_t*) const;
template bool Scorer::apply(const Strided<float>&, std::size_t, Watch&, std::int64_t*) const;

}  // namespace lhtree
