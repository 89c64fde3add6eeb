#include "lhtree/score/scorer.hpp"

#include <algorithm>
#include <atomic>
#include <limits>
#include <stdexcept>

#include "lhtree/score/checks.hpp"
#include "lhtree/score/tile.hpp"

namespace lhtree {

Scorer::Scorer(const ForestView& forest, std::vector<double> centre, std::vector<double> scale,
               std::vector<double> prior, Confidence confidence, Link link, std::vector<double> base,
               double clip, Calibration calibration)
    : planes_(checked(forest, {centre.size(), scale.size(), prior.size(), confidence, link, base, clip}),
              centre.size(), clip),
      forest_(pack(forest, planes_, prior.size())),
      n_trees_of_(prior.size(), 0.0),
      centre_(std::move(centre)),
      scale_(std::move(scale)),
      prior_(std::move(prior)),
      units_(forest, scale_),
      confidence_(confidence),
      link_(link),
      calibration_(std::move(calibration)),
      base_(std::move(base)) {
    calibration_.check(n_targets());
    if (calibration_.is_given() && is_regression())
        throw std::invalid_argument("not the arrays of a model: a regression has no calibration");
    if (link_ == Link::mean) base_.assign(1, 0.0);
    if (forest_.is_joint()) {
        n_trees_of_.assign(n_classes(), static_cast<double>(n_trees()));
        return;
    }
    if (!is_regression())
        for (const PackedTree& tree : forest_.trees)
            n_trees_of_[static_cast<std::size_t>(tree.target)] += 1.0;
    if (n_classes() == 2) n_trees_of_[0] = n_trees_of_[1];  // one tree serves both classes
    if (link_ != Link::wolf && forest_.slopes.empty())
        for (std::size_t leaf = 0; leaf < forest_.leaves.size(); ++leaf) {
            const Range range = forest_.ranges.empty() ? Range{0.0, 1.0} : forest_.ranges[leaf];
            leaf_values_.push_back(std::clamp(forest_.leaves[leaf].intercept, range.low, range.high));
        }
}

// As many rows as stay in the second-level cache beside a tree, so that a tree is fetched seldom.
std::size_t Scorer::tile_rows() const {
    const std::size_t bytes = sizeof(float) * planes_.width() + sizeof(double) * n_classes();
    return std::clamp<std::size_t>((std::size_t{1} << 19) / bytes, 32, 8192);
}

Rows Scorer::rows_of(const Tile& tile) const {
    return {tile.z.data(), tile.n_rows, planes_.width()};
}

template <class Use>
void Scorer::each_tree(Tile& tile, const Use& use) const {
    if (units_.is_given()) {
        tile.space(1);
        for (std::size_t tree = 0; tree < n_trees(); ++tree) {
            units_.walk(tree, tile.x.data(), tile.n_rows, n_features(), tile.leaf.data());
            std::fill_n(tile.leaf_confidence.begin(), tile.n_rows, 1.0);
            use(forest_.place[tree], tile.leaf.data(), tile.leaf_confidence.data());
        }
        return;
    }
    const Rows rows = rows_of(tile);
    // A few rows go down many trees at once, and one down more, which it would else walk one by one; of many
    // rows, enough go down one tree at once.
    const std::size_t most_walks = tile.n_rows == 1 ? 16384 : 1024;
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

void Scorer::take_memberships(const Tile& tile, const std::uint32_t* leaf, double* out) const {
    if (units_.has_slopes())
        units_.take_memberships(leaf, tile.x.data(), tile.n_rows, n_features(), out);
    else
        score_kernels().memberships(forest_, leaf, rows_of(tile), out);
}

void Scorer::sum_trees(Tile& tile, Score what) const {
    const std::size_t n_cls = n_classes(), n_rows = tile.n_rows;
    const bool is_final = is_probability(what);
    for (auto* sums : {&tile.wolf, &tile.membership, &tile.confidence}) sums->assign(n_rows * n_cls, 0.0);
    if (tile.leaf_membership.size() < n_rows) tile.leaf_membership.resize(n_rows);
    double* const membership = tile.leaf_membership.data();
    each_tree(tile, [&](std::size_t place, const std::uint32_t* leaf, const double* confidence) {
        if (forest_.is_joint()) return add_shares(tile, what, leaf, confidence);
        const auto add = [&](std::vector<double>& sums, const auto& value) {
            const auto target = static_cast<std::size_t>(forest_.trees[place].target);
            add_tree(membership, n_rows, n_cls, target, value, sums.data());
        };
        if (what != Score::confidence) take_memberships(tile, leaf, membership);
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

void Scorer::sum_values(Tile& tile) const {
    const std::size_t n_rows = tile.n_rows, n_tgt = n_targets();
    const std::size_t first_target = n_classes() == 2 ? 1 : 0;
    tile.raw.resize(n_rows * n_tgt);
    for (std::size_t row = 0; row < n_rows; ++row)
        std::copy(base_.begin(), base_.end(), tile.raw.begin() + static_cast<std::ptrdiff_t>(row * n_tgt));
    if (tile.leaf_membership.size() < n_rows) tile.leaf_membership.resize(n_rows);
    each_tree(tile, [&](std::size_t place, const std::uint32_t* leaf, const double*) {
        const auto target = static_cast<std::size_t>(forest_.trees[place].target);
        double* const sum = tile.raw.data() + (target - first_target);
        if (!leaf_values_.empty()) {
            for (std::size_t row = 0; row < n_rows; ++row) sum[row * n_tgt] += leaf_values_[leaf[row]];
            return;
        }
        double* const value = tile.leaf_membership.data();
        take_memberships(tile, leaf, value);
        for (std::size_t row = 0; row < n_rows; ++row) sum[row * n_tgt] += value[row];
    });
}

void Scorer::link(const double* raw, std::size_t n_rows, double* predictions, bool calibrates) const {
    if (!is_boosted()) throw std::invalid_argument("raw scores are those of boosted models: use settle");
    if (is_regression())
        take_values(raw, link_, n_trees(), n_rows, predictions);
    else if (calibrates && calibration_.is_given())
        calibration_.apply(raw, n_targets(), n_classes(), n_rows, predictions);
    else if (link_ == Link::logistic)
        take_logistic(raw, n_rows, predictions);
    else
        take_softmax(raw, n_classes(), n_rows, predictions);
}

void Scorer::settle(const double* membership, std::size_t n_rows, double* wolf, bool calibrates) const {
    if (link_ != Link::wolf) throw std::invalid_argument("there are no mean memberships to settle: use link");
    lhtree::settle(membership, prior_, n_rows, wolf);
    take_shares(n_classes(), n_rows, wolf);
    if (calibrates && calibration_.is_given())
        calibration_.apply(wolf + (n_classes() - n_targets()), n_classes(), n_classes(), n_rows, wolf);
}

template <class Value>
bool Scorer::lay_rows(const Strided<Value>& x, Tile& tile) const {
    if (units_.is_given()) return fill_gaps(x, centre_.data(), tile.x);
    float* const z = tile.room(x.n_rows * planes_.width());
    // The watch is not heard while the tile is in use: what a signal handler scores would use it, too.
    Watch quiet;
    if (planes_.is_plain()) return normalise(x, centre_.data(), scale_.data(), 1, quiet, z);
    constexpr double missing = std::numeric_limits<double>::quiet_NaN();
    tile.normalised.resize(x.n_rows * n_features());
    if (!normalise(x, centre_.data(), scale_.data(), 1, quiet, tile.normalised.data(), missing)) return false;
    planes_.lay(tile.normalised.data(), x.n_rows, z);
    return true;
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
        const Strided<Value> part{x.data + static_cast<std::ptrdiff_t>(begin) * x.row_stride, n, x.n_features,
                                  x.row_stride, x.feature_stride};
        tile.begin = begin;
        tile.n_rows = n;
        if (lay_rows(part, tile))
            use(tile);
        else
            is_finite = false;
    };
    run((x.n_rows + size - 1) / size, n_threads, watch, work);
    return is_finite;
}

void Scorer::check_score(Score what) const {
    if (what == Score::raw_score) {
        if (!is_boosted()) throw std::invalid_argument("raw scores are those of boosted models: use wolf");
    } else if (is_regression() != (what == Score::value)) {
        throw std::invalid_argument(is_regression() ? "a regression has no classes: use value"
                                                    : "values are those of regressions: use proba");
    } else if (is_boosted() && !is_probability(what) && what != Score::value) {
        throw std::invalid_argument("a boosted model has no memberships or confidences: use raw_score");
    }
}

template <class Value>
bool Scorer::score(const Strided<Value>& x, Score what, std::size_t n_threads, Watch& watch,
                   double* out) const {
    check_score(what);
    const bool is_final = is_probability(what);
    const std::size_t n_values = columns_of(what);
    return each_tile(x, n_threads, watch, [&](Tile& tile) {
        double* const to = out + tile.begin * n_values;
        if (link_ != Link::wolf) {
            sum_values(tile);
            if (what == Score::value)
                take_values(tile.raw.data(), link_, n_trees(), tile.n_rows, to);
            else if (is_final)
                link(tile.raw.data(), tile.n_rows, to, what == Score::proba);
            else
                std::copy(tile.raw.begin(), tile.raw.end(), to);
            return;
        }
        sum_trees(tile, what);
        if (is_final) settle(tile.membership.data(), tile.n_rows, tile.wolf.data(), what == Score::proba);
        const auto& from = what == Score::membership   ? tile.membership
                           : what == Score::confidence ? tile.confidence
                                                       : tile.wolf;
        std::copy(from.begin(), from.end(), to);
    });
}

template <class Value>
bool Scorer::predict(const Strided<Value>& x, std::size_t n_threads, Watch& watch, std::int64_t* out) const {
    check_score(Score::proba);
    return each_tile(x, n_threads, watch, [&](Tile& tile) {
        if (is_boosted()) {
            sum_values(tile);
            if (calibration_.is_given()) {
                tile.wolf.resize(tile.n_rows * n_classes());
                link(tile.raw.data(), tile.n_rows, tile.wolf.data());
                find_largest(tile.wolf.data(), n_classes(), tile.n_rows, out + tile.begin);
            } else if (link_ == Link::logistic)
                std::transform(tile.raw.begin(), tile.raw.end(), out + tile.begin,
                               [](double raw) { return raw > 0.0; });
            else
                find_largest(tile.raw.data(), n_classes(), tile.n_rows, out + tile.begin);
            return;
        }
        sum_trees(tile, Score::proba);
        if (calibration_.is_given())
            settle(tile.membership.data(), tile.n_rows, tile.wolf.data());
        else
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
        if (tile.leaf_membership.size() < tile.n_rows) tile.leaf_membership.resize(tile.n_rows);
        std::size_t to = tile.begin * n_trees();
        each_tree(tile, [&](std::size_t, const std::uint32_t* leaf, const double* leaf_confidence) {
            take_memberships(tile, leaf, tile.leaf_membership.data());
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
        const Rows rows = rows_of(tile);
        for (std::size_t tree = 0; tree < n_trees(); ++tree)
            for (std::size_t row = 0; row < tile.n_rows; ++row) {
                const std::int64_t at = ptr[(tile.begin + row) * n_trees() + tree];
                if (units_.is_given()) {
                    units_.trace(tree, &tile.x[row * n_features()], block + at, value + at);
                    continue;
                }
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
