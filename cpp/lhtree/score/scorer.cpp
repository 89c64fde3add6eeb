#include "lhtree/score/scorer.hpp"

#include <algorithm>
#include <atomic>
#include <cmath>
#include <limits>
#include <stdexcept>

namespace lhtree {

constexpr double most_weight = 1e6;  // of a companion

// Rows that go through all trees together, so that a tree is fetched once for all of them.
struct Tile {
    std::size_t begin = 0, n_rows = 0;
    std::vector<float> normalised, z;                  // before and after they are laid out in planes
    std::vector<float> columns;                        // of symmetric trees: the values of z by feature
    std::vector<double> wide;                          // of symmetric trees: the values of one row
    std::vector<double> x;                             // in the user's units, without gaps
    std::vector<double> wolf, membership, confidence;  // n_rows × n_classes
    std::vector<double> raw;                           // n_rows × n_targets
    std::vector<std::uint32_t> leaf;                   // of some trees, tree after tree
    std::vector<double> leaf_confidence, leaf_membership;
    std::vector<Start> starts;
    std::vector<std::uint32_t> row;
    std::vector<Group> groups;

    // Memory for the walks of all rows down n_trees trees.
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

    // Memory for n_values values of z, followed by finite values.
    float* room(std::size_t n_values) {
        if (z.size() < n_values + slack) z.resize(n_values + slack);
        std::fill_n(z.data() + n_values, slack, 0.0f);
        return z.data();
    }
};

Scorer::Scorer(const ForestView& forest, std::vector<double> centre, std::vector<double> scale,
               std::vector<double> prior, Confidence confidence, const Link& link, std::vector<double> base,
               double clip, Calibration calibration, Companion companion)
    : planes_(checked(forest, {centre.size(), scale.size(), prior.size(), confidence, link, base, clip}),
              centre.size(), clip),
      forest_(pack(forest, planes_, link.is_regression() ? base.size() : prior.size(), !link.is_boosted(),
                   confidence == Confidence::none && forest.unit_offset.empty())),
      n_trees_of_(prior.size(), 0.0),
      centre_(std::move(centre)),
      scale_(std::move(scale)),
      prior_(std::move(prior)),
      units_(forest, scale_),
      confidence_(confidence),
      link_(link),
      calibration_(std::move(calibration)),
      companion_(companion),
      base_(std::move(base)) {
    // Kernels skip weights of 0, which is right for finite values alone.
    for (std::size_t f = 0; f < n_features(); ++f)
        if (!std::isfinite(centre_[f]) || !std::isfinite(scale_[f]) || !(scale_[f] > 0.0))
            throw std::invalid_argument(
                "not the arrays of a model: centre or scale is not finite, or scale is not positive");
    calibration_.check(n_targets());
    if (calibration_.is_given() && link_.is_regression())
        throw std::invalid_argument("not the arrays of a model: a regression has no calibration");
    if (companion_.is_given()) {
        const Scorer& forest = *companion_.forest;
        const Output output = link_.is_regression() ? Output::estimate : Output::membership;
        if (!link_.is_boosted() || forest.link_.output != output || forest.companion_.is_given() ||
            forest.n_classes() != n_classes() || forest.n_features() != n_features() ||
            (link_.is_regression() && n_targets() > 1))
            throw std::invalid_argument(
                "not the arrays of a model: a companion is a forest of the same classes and features as a "
                "boosted model");
        if (!(companion_.weight >= 0.0 && companion_.weight <= most_weight))
            throw std::invalid_argument("not the arrays of a model: the weight of a companion is not valid");
    }
    if (link_.output == Output::estimate) base_.assign(1, 0.0);
    if (forest_.is_joint()) {
        n_trees_of_.assign(n_classes(), static_cast<double>(n_trees()));
        return;
    }
    if (!link_.is_regression())
        for (const PackedTree& tree : forest_.trees)
            n_trees_of_[static_cast<std::size_t>(tree.target)] += 1.0;
    if (n_classes() == 2) n_trees_of_[0] = n_trees_of_[1];  // one tree serves both classes
    if (link_.output != Output::membership && forest_.slopes.empty())
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
void Scorer::each_tree(Tile& tile, TreeRange trees, const Use& use) const {
    if (units_.is_given()) {
        tile.space(1);
        for (std::size_t tree = trees.begin; tree < trees.end; ++tree) {
            units_.walk(tree, tile.x.data(), tile.n_rows, n_features(), tile.leaf.data());
            std::fill_n(tile.leaf_confidence.begin(), tile.n_rows, 1.0);
            use(forest_.place[tree], tile.leaf.data(), tile.leaf_confidence.data());
        }
        return;
    }
    if (forest_.symmetric.is_given()) return each_symmetric_tree(tile, trees, use);
    const Rows rows = rows_of(tile);
    // A few rows go down all trees at once, and a single row down more trees, which it would otherwise walk
    // one by one; of many rows, enough go down one tree at once.
    const std::size_t most_walks = tile.n_rows == 1 ? 16384 : 1024;
    const bool is_all = trees.end - trees.begin == n_trees();
    const bool is_at_once = is_all && n_trees() * tile.n_rows <= most_walks;
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
    for (std::size_t tree = trees.begin; tree < trees.end; ++tree) {  // sums depend on this order
        const std::uint32_t place = forest_.place[tree];
        if (!is_at_once) walk(place, 1, 0);
        const std::size_t slot = is_at_once ? place * tile.n_rows : 0;
        use(place, &tile.leaf[slot], &tile.leaf_confidence[slot]);
    }
}

// Whether the rows of a tile are so few that each goes through all symmetric trees at once.
bool Scorer::finds_all_leaves(const Tile& tile) const {
    constexpr std::size_t few_rows = 8;
    return forest_.symmetric.is_given() && tile.n_rows < few_rows;
}

// Writes the leaves of a few rows in all symmetric trees: tile.leaf[tree · n_rows + row].
void Scorer::find_all_leaves(Tile& tile) const {
    const Rows rows = rows_of(tile);
    tile.space(n_trees() + 1);
    tile.wide.resize(planes_.width());
    for (std::size_t row = 0; row < tile.n_rows; ++row)
        score_kernels().find_leaves(forest_.symmetric, rows[row], planes_.width(), tile.wide.data(),
                                    tile.n_rows, &tile.leaf[row]);
}

// All rows pass all levels of a tree, without branches.
template <class Use>
void Scorer::each_symmetric_tree(Tile& tile, TreeRange trees, const Use& use) const {
    const Rows rows = rows_of(tile);
    const bool is_at_once = finds_all_leaves(tile) && trees.end - trees.begin == n_trees();
    const std::size_t n_padded = padded(tile.n_rows), width = planes_.width();
    if (is_at_once) {
        find_all_leaves(tile);
    } else {
        tile.space(8);
        tile.columns.assign(width * n_padded, 0.0f);
        for (std::size_t row = 0; row < tile.n_rows; ++row)
            for (std::size_t i = 0; i < width; ++i) tile.columns[i * n_padded + row] = rows[row][i];
    }
    std::fill_n(tile.leaf_confidence.begin(), tile.n_rows, 1.0);
    for (std::size_t tree = trees.begin; tree < trees.end; ++tree) {
        if (!is_at_once)
            score_kernels().find_leaf(forest_.symmetric, forest_.symmetric.trees[tree], tile.columns.data(),
                                      n_padded, tile.leaf.data());
        use(tree, &tile.leaf[is_at_once ? tree * tile.n_rows : 0], tile.leaf_confidence.data());
    }
}

void Scorer::take_memberships(const Tile& tile, const std::uint32_t* leaf, double* out) const {
    if (units_.has_slopes())
        units_.take_memberships(leaf, tile.x.data(), tile.n_rows, n_features(), out);
    else
        score_kernels().memberships(forest_, leaf, rows_of(tile), out);
}

// The membership of a class in a tree of all classes is its share plus its part of the share of the prior.
// They are added first, so that sums have the bits of trees per class with these memberships.
void Scorer::add_shares(Tile& tile, Sums sums, const std::uint32_t* leaf, const double* confidence) const {
    const std::size_t n_cls = n_classes();
    const Share* const shares = forest_.shares.data();
    const bool has_prior = !forest_.prior_shares.empty();
    std::vector<double> own(has_prior ? n_cls : 0);
    const auto add = [&](std::vector<double>& to, const auto& value) {
        double* sum = to.data();
        for (std::size_t row = 0; row < tile.n_rows; ++row, sum += n_cls) {
            const Span span = forest_.leaf_shares[leaf[row]];
            if (!has_prior) {
                for (std::uint32_t i = span.at; i < span.at + span.n; ++i)
                    sum[shares[i].cls] += value(row, shares[i].share);
                continue;
            }
            const double of_prior = forest_.prior_shares[leaf[row]];
            for (std::size_t cls = 0; cls < n_cls; ++cls) own[cls] = of_prior * prior_[cls];
            for (std::uint32_t i = span.at; i < span.at + span.n; ++i) own[shares[i].cls] += shares[i].share;
            for (std::size_t cls = 0; cls < n_cls; ++cls) sum[cls] += value(row, own[cls]);
        }
    };
    if (sums.wolf) add(tile.wolf, [&](std::size_t row, double mu) { return confidence[row] * mu; });
    if (sums.membership) add(tile.membership, [](std::size_t, double mu) { return mu; });
    if (sums.confidence)
        for (std::size_t row = 0; row < tile.n_rows; ++row)
            for (std::size_t cls = 0; cls < n_cls; ++cls)
                tile.confidence[row * n_cls + cls] += confidence[row];
}

void Scorer::add_memberships(Tile& tile, TreeRange trees, Sums sums) const {
    const std::size_t n_cls = n_classes(), n_rows = tile.n_rows;
    for (auto* to : {&tile.wolf, &tile.membership, &tile.confidence}) to->assign(n_rows * n_cls, 0.0);
    if (tile.leaf_membership.size() < n_rows) tile.leaf_membership.resize(n_rows);
    double* const membership = tile.leaf_membership.data();
    each_tree(tile, trees, [&](std::size_t place, const std::uint32_t* leaf, const double* confidence) {
        if (forest_.is_joint()) return add_shares(tile, sums, leaf, confidence);
        const auto add = [&](std::vector<double>& to, const auto& value) {
            const auto target = static_cast<std::size_t>(forest_.trees[place].target);
            add_tree(membership, n_rows, n_cls, target, value, to.data());
        };
        if (sums.wolf || sums.membership) take_memberships(tile, leaf, membership);
        if (sums.wolf) add(tile.wolf, [&](std::size_t row, double mu) { return confidence[row] * mu; });
        if (sums.membership) add(tile.membership, [](std::size_t, double mu) { return mu; });
        if (sums.confidence) add(tile.confidence, [&](std::size_t row, double) { return confidence[row]; });
    });
}

void Scorer::take_means(Tile& tile, Score score) const {
    const bool is_final = is_probability(score);
    // Without confidences, the sums of shares and of corrected shares are equal.
    const bool needs_both = is_final && (!forest_.is_joint() || confidence_ != Confidence::none);
    add_memberships(tile, {0, n_trees()},
                    {is_final || score == Score::wolf, needs_both || score == Score::membership,
                     score == Score::confidence});
    for (auto* sums : {&tile.wolf, &tile.membership, &tile.confidence})
        for (std::size_t row = 0; row < tile.n_rows; ++row)
            for (std::size_t cls = 0; cls < n_classes(); ++cls)
                (*sums)[row * n_classes() + cls] /= n_trees_of_[cls];
}

// Adds the values of trees to tile.raw and calls done(tree) after each.
template <class Done>
void Scorer::add_values(Tile& tile, TreeRange trees, const Done& done) const {
    const std::size_t n_rows = tile.n_rows, n_tgt = n_targets();
    const std::size_t first_target = n_classes() == 2 ? 1 : 0;
    if (tile.leaf_membership.size() < n_rows) tile.leaf_membership.resize(n_rows);
    std::size_t tree = trees.begin;
    each_tree(tile, trees, [&](std::size_t place, const std::uint32_t* leaf, const double*) {
        if (forest_.is_joint()) {
            double* sum = tile.raw.data();
            for (std::size_t row = 0; row < n_rows; ++row, sum += n_tgt) {
                const double* const value = &forest_.leaf_values[leaf[row] * n_tgt];
                for (std::size_t k = 0; k < n_tgt; ++k) sum[k] += value[k];
            }
            return done(tree++);
        }
        const auto target = static_cast<std::size_t>(forest_.trees[place].target);
        double* const sum = tile.raw.data() + (target - first_target);
        if (!leaf_values_.empty()) {
            for (std::size_t row = 0; row < n_rows; ++row) sum[row * n_tgt] += leaf_values_[leaf[row]];
        } else {
            double* const value = tile.leaf_membership.data();
            take_memberships(tile, leaf, value);
            for (std::size_t row = 0; row < n_rows; ++row) sum[row * n_tgt] += value[row];
        }
        done(tree++);
    });
}

// Adds the values of a few rows in all symmetric trees, whose leaves have constant values.
void Scorer::add_all_values(Tile& tile) const {
    find_all_leaves(tile);
    const std::size_t n_tgt = n_targets(), first_target = n_classes() == 2 ? 1 : 0;
    for (std::size_t row = 0; row < tile.n_rows; ++row) {
        double* const sum = &tile.raw[row * n_tgt];
        const std::uint32_t* leaf = &tile.leaf[row];
        if (n_tgt == 1) {
            double total = *sum;
            for (std::size_t tree = 0; tree < n_trees(); ++tree, leaf += tile.n_rows)
                total += leaf_values_[*leaf];
            *sum = total;
            continue;
        }
        for (std::size_t tree = 0; tree < n_trees(); ++tree, leaf += tile.n_rows)
            sum[static_cast<std::size_t>(forest_.trees[tree].target) - first_target] += leaf_values_[*leaf];
    }
}

void Scorer::combine_values(Tile& tile) const {
    const std::size_t n_tgt = n_targets();
    tile.raw.resize(tile.n_rows * n_tgt);
    for (std::size_t row = 0; row < tile.n_rows; ++row)
        std::copy(base_.begin(), base_.end(), tile.raw.begin() + static_cast<std::ptrdiff_t>(row * n_tgt));
    if (finds_all_leaves(tile) && !leaf_values_.empty())
        add_all_values(tile);
    else
        add_values(tile, {0, n_trees()}, [](std::size_t) {});
    if (link_.output == Output::estimate)
        for (double& sum : tile.raw) sum /= static_cast<double>(n_trees());
}

void Scorer::apply_link(const double* raw, std::size_t n_rows, double* predictions, bool calibrates) const {
    if (!link_.is_boosted())
        throw std::invalid_argument("raw scores are those of boosted models: use settle");
    if (calibrates && calibration_.is_given())
        calibration_.apply(raw, n_targets(), n_classes(), n_rows, predictions);
    else
        link_.apply(raw, link_.is_regression() ? n_targets() : n_classes(), n_rows, predictions);
}

void Scorer::settle(const double* membership, std::size_t n_rows, double* wolf, bool calibrates) const {
    if (link_.output != Output::membership)
        throw std::invalid_argument("there are no mean memberships to settle: use link");
    lhtree::settle(membership, prior_, n_rows, wolf);
    take_shares(n_classes(), n_rows, wolf);
    if (calibrates && calibration_.is_given())
        calibration_.apply(wolf + (n_classes() - n_targets()), n_classes(), n_classes(), n_rows, wolf);
}

template <class Value>
bool Scorer::lay_rows(const Strided<Value>& x, Tile& tile) const {
    if (units_.is_given()) return fill_gaps(x, centre_.data(), tile.x);
    float* const z = tile.room(x.n_rows * planes_.width());
    // A signal handler may score rows too: it must not run while the tile is in use.
    Watch quiet;
    if (planes_.is_plain()) return normalise(x, centre_.data(), scale_.data(), 1, quiet, z);
    constexpr double missing = std::numeric_limits<double>::quiet_NaN();
    tile.normalised.resize(x.n_rows * n_features());
    if (!normalise(x, centre_.data(), scale_.data(), 1, quiet, tile.normalised.data(), missing)) return false;
    planes_.lay(tile.normalised.data(), x.n_rows, z);
    return true;
}

// Cuts the rows into tiles, normalises each and calls use(tile). A thread pays for ten thousand walks.
template <class Use>
bool Scorer::each_tile(const InputRows& x, std::size_t n_threads, Watch& watch, const Use& use) const {
    const std::size_t n_rows = std::visit([](const auto& rows) { return rows.n_rows; }, x);
    if (n_rows == 0) return true;
    constexpr std::size_t walks_per_thread = 16384;
    n_threads = std::min(n_threads, 1 + n_rows * n_trees() / walks_per_thread);
    // Tiles of equal size, at least one for every thread.
    const std::size_t least_tiles = std::max(n_threads, (n_rows + tile_rows() - 1) / tile_rows());
    const std::size_t size = (n_rows + least_tiles - 1) / least_tiles;
    std::atomic<bool> is_finite{true};
    const auto work = [&](std::size_t number) {
        // Keeps its memory for the next call: a row is scored in less time than malloc takes.
        thread_local Tile tile;
        tile.begin = number * size;
        tile.n_rows = std::min(n_rows - tile.begin, size);
        const bool is_laid = std::visit(
            [&](auto rows) {
                rows.data += static_cast<std::ptrdiff_t>(tile.begin) * rows.row_stride;
                rows.n_rows = tile.n_rows;
                return lay_rows(rows, tile);
            },
            x);
        if (is_laid)
            use(tile);
        else
            is_finite = false;
    };
    run((n_rows + size - 1) / size, n_threads, watch, work);
    return is_finite;
}

bool Scorer::pool(const InputRows& x, std::size_t n_threads, Watch& watch, std::vector<double>& raw) const {
    const std::size_t n_rows = std::visit([](const auto& rows) { return rows.n_rows; }, x);
    const Score part = link_.is_regression() ? Score::value : Score::membership;
    raw.resize(n_rows * n_targets());
    std::vector<double> of_forest(n_rows * companion_.forest->columns_of(part));
    if (!score_own(x, Score::raw_score, n_threads, watch, raw.data()) ||
        !companion_.forest->score(x, part, n_threads, watch, of_forest.data()))
        return false;
    if (link_.is_regression())
        for (std::size_t row = 0; row < n_rows; ++row) raw[row] += companion_.weight * of_forest[row];
    else
        add_log_memberships(of_forest.data(), n_classes(), n_rows, companion_.weight, raw.data());
    return true;
}

bool Scorer::score(const InputRows& x, Score score, std::size_t n_threads, Watch& watch, double* out) const {
    check_score(link_, score);
    if (!companion_.is_given()) return score_own(x, score, n_threads, watch, out);
    std::vector<double> raw;
    if (!pool(x, n_threads, watch, raw)) return false;
    if (is_probability(score))
        apply_link(raw.data(), raw.size() / n_targets(), out, score == Score::proba);
    else if (score == Score::value)
        link_.apply(raw.data(), n_targets(), raw.size() / n_targets(), out);
    else
        std::copy(raw.begin(), raw.end(), out);
    return true;
}

bool Scorer::score_own(const InputRows& x, Score score, std::size_t n_threads, Watch& watch,
                       double* out) const {
    const bool is_final = is_probability(score);
    const std::size_t n_values = columns_of(score);
    return each_tile(x, n_threads, watch, [&](Tile& tile) {
        double* const to = out + tile.begin * n_values;
        if (link_.output != Output::membership) {
            combine_values(tile);
            if (score == Score::value)
                link_.apply(tile.raw.data(), n_targets(), tile.n_rows, to);
            else if (is_final)
                apply_link(tile.raw.data(), tile.n_rows, to, score == Score::proba);
            else
                std::copy(tile.raw.begin(), tile.raw.end(), to);
            return;
        }
        take_means(tile, score);
        if (is_final) settle(tile.membership.data(), tile.n_rows, tile.wolf.data(), score == Score::proba);
        const auto& from = score == Score::membership   ? tile.membership
                           : score == Score::confidence ? tile.confidence
                                                        : tile.wolf;
        std::copy(from.begin(), from.end(), to);
    });
}

bool Scorer::predict(const InputRows& x, std::size_t n_threads, Watch& watch, std::int64_t* out) const {
    check_score(link_, Score::proba);
    if (companion_.is_given()) {
        std::vector<double> raw;
        if (!pool(x, n_threads, watch, raw)) return false;
        find_classes(raw, raw.size() / n_targets(), out);
        return true;
    }
    return each_tile(x, n_threads, watch, [&](Tile& tile) {
        std::int64_t* const to = out + tile.begin;
        if (link_.output == Output::membership) {
            take_means(tile, Score::proba);
            if (calibration_.is_given())
                settle(tile.membership.data(), tile.n_rows, tile.wolf.data());
            else
                lhtree::settle(tile.membership.data(), prior_, tile.n_rows, tile.wolf.data());
            return find_largest(tile.wolf.data(), n_classes(), tile.n_rows, to);
        }
        combine_values(tile);
        find_classes(tile.raw, tile.n_rows, to);
    });
}

void Scorer::find_classes(const std::vector<double>& raw, std::size_t n_rows, std::int64_t* out) const {
    if (calibration_.is_given()) {
        std::vector<double> proba(n_rows * n_classes());
        apply_link(raw.data(), n_rows, proba.data());
        find_largest(proba.data(), n_classes(), n_rows, out);
    } else if (n_targets() == 1) {
        std::transform(raw.begin(), raw.end(), out, [](double score) { return score > 0.0; });
    } else {
        find_largest(raw.data(), n_classes(), n_rows, out);
    }
}

bool Scorer::apply(const InputRows& x, std::size_t n_threads, Watch& watch, std::int64_t* out) const {
    return each_tile(x, n_threads, watch, [&](Tile& tile) {
        std::int64_t* to = out + tile.begin * n_trees();
        each_tree(tile, {0, n_trees()}, [&](std::size_t, const std::uint32_t* leaf, const double*) {
            for (std::size_t row = 0; row < tile.n_rows; ++row)
                to[row * n_trees()] = forest_.leaf_block[leaf[row]];
            ++to;
        });
    });
}

bool Scorer::per_tree(const InputRows& x, std::size_t n_threads, Watch& watch, double* membership,
                      double* confidence) const {
    return each_tile(x, n_threads, watch, [&](Tile& tile) {
        if (tile.leaf_membership.size() < tile.n_rows) tile.leaf_membership.resize(tile.n_rows);
        std::size_t to = tile.begin * n_trees();
        each_tree(tile, {0, n_trees()},
                  [&](std::size_t, const std::uint32_t* leaf, const double* leaf_confidence) {
                      take_memberships(tile, leaf, tile.leaf_membership.data());
                      for (std::size_t row = 0; row < tile.n_rows; ++row) {
                          membership[to + row * n_trees()] = tile.leaf_membership[row];
                          confidence[to + row * n_trees()] = leaf_confidence[row];
                      }
                      ++to;
                  });
    });
}

bool Scorer::staged_raw_score(const InputRows& x, std::size_t first_round, std::size_t n_rounds,
                              const double* before, std::size_t n_threads, Watch& watch, double* out) const {
    check_score(link_, Score::raw_score);
    const std::size_t n_tgt = n_targets(), n_each = n_trees_each();
    const std::size_t begin = first_round * n_each, end = begin + n_rounds * n_each;
    const std::size_t n_rows = std::visit([](const auto& rows) { return rows.n_rows; }, x);
    if (end > n_trees()) throw std::invalid_argument("the model has fewer rounds");
    return each_tile(x, n_threads, watch, [&](Tile& tile) {
        const std::size_t first = tile.begin * n_tgt;
        tile.raw.assign(before + first, before + first + tile.n_rows * n_tgt);
        add_values(tile, {begin, end}, [&](std::size_t tree) {
            if ((tree + 1) % n_each == 0)
                std::copy(tile.raw.begin(), tile.raw.end(),
                          out + (tree - begin) / n_each * n_rows * n_tgt + first);
        });
    });
}

bool Scorer::sum_left_out(const InputRows& x, const LeftOut& left_out, double mean, double unit,
                          std::size_t n_threads, Watch& watch, double* first, double* second) const {
    if (link_.is_boosted()) throw std::invalid_argument("rounds of a boosted model leave no rows out");
    const std::size_t n_each = n_trees_each(), n_columns = std::max<std::size_t>(n_classes(), 1);
    for (std::size_t i = 0; i < left_out.n; ++i)
        if (left_out.estimator[i] < 0 ||
            static_cast<std::size_t>(left_out.estimator[i]) >= n_trees() / n_each)
            throw std::invalid_argument("an estimator is out of range");
    return each_tile(x, n_threads, watch, [&](Tile& tile) {
        thread_local Tile part;
        thread_local std::vector<std::size_t> rows;
        const std::size_t begin = tile.begin * n_columns, size = tile.n_rows * n_columns;
        std::fill_n(first + begin, size, 0.0);
        std::fill_n(second + begin, size, 0.0);
        for (std::size_t i = 0; i < left_out.n; ++i) {
            rows.clear();
            for (std::size_t row = 0; row < tile.n_rows; ++row)
                if (left_out.has(i, tile.begin + row)) rows.push_back(row);
            if (rows.empty()) continue;
            part.n_rows = rows.size();
            const auto gather = [&](const auto& from, std::size_t width, auto* to) {
                for (const std::size_t row : rows) to = std::copy_n(from.data() + row * width, width, to);
            };
            if (units_.is_given()) {
                part.x.resize(rows.size() * n_features());
                gather(tile.x, n_features(), part.x.data());
            } else {
                gather(tile.z, planes_.width(), part.room(rows.size() * planes_.width()));
            }
            const std::size_t tree = static_cast<std::size_t>(left_out.estimator[i]) * n_each;
            const TreeRange trees{tree, tree + n_each};
            if (link_.is_regression()) {
                part.raw.assign(rows.size(), 0.0);
                add_values(part, trees, [](std::size_t) {});
                for (std::size_t at = 0; at < rows.size(); ++at) {
                    const double distance = (part.raw[at] - mean) / unit;
                    first[begin + rows[at]] += part.raw[at];
                    second[begin + rows[at]] += distance * distance;
                }
                continue;
            }
            add_memberships(part, trees, {true, true, false});
            for (std::size_t at = 0; at < rows.size(); ++at)
                for (std::size_t cls = 0; cls < n_columns; ++cls) {
                    first[begin + rows[at] * n_columns + cls] += part.wolf[at * n_columns + cls];
                    second[begin + rows[at] * n_columns + cls] += part.membership[at * n_columns + cls];
                }
        }
    });
}

bool Scorer::measure_paths(const InputRows& x, std::size_t n_threads, Watch& watch, std::int64_t* ptr) const {
    const bool is_finite = each_tile(x, n_threads, watch, [&](Tile& tile) {
        std::int64_t* to = ptr + 1 + tile.begin * n_trees();
        each_tree(tile, {0, n_trees()}, [&](std::size_t, const std::uint32_t* leaf, const double*) {
            for (std::size_t row = 0; row < tile.n_rows; ++row)
                to[row * n_trees()] = 1 + forest_.leaf_depth[leaf[row]];
            ++to;
        });
    });
    ptr[0] = 0;
    const std::size_t n_rows = std::visit([](const auto& rows) { return rows.n_rows; }, x);
    if (is_finite)
        for (std::size_t path = 0; path < n_rows * n_trees(); ++path) ptr[path + 1] += ptr[path];
    return is_finite;
}

bool Scorer::trace(const InputRows& x, std::size_t n_threads, Watch& watch, const std::int64_t* ptr,
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

}  // namespace lhtree
