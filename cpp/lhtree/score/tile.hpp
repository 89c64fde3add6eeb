// Rows on their way through the trees: the templates of Scorer that its files share.
#pragma once
#include <algorithm>
#include <atomic>
#include <cstdint>
#include <vector>

#include "lhtree/score/scorer.hpp"

namespace lhtree {

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

template <class Value>
bool Scorer::lay_rows(const Strided<Value>& x, Tile& tile) const {
    if (units_.is_given()) return fill_gaps(x, centre_.data(), tile.x);
    float* const z = tile.room(x.n_rows * planes_.width());
    // A signal handler may score rows too: it must not run while the tile is in use.
    Watch quiet;
    if (planes_.is_plain()) return normalise(x, centre_.data(), scale_.data(), 1, quiet, z);
    tile.normalised.resize(x.n_rows * n_features());
    if (!normalise(x, centre_.data(), scale_.data(), 1, quiet, tile.normalised.data(), missing()))
        return false;
    planes_.lay(tile.normalised.data(), x.n_rows, z);
    return true;
}

// Cuts n_rows rows into tiles and calls use(tile) for each. A thread pays for ten thousand walks.
template <class Use>
void Scorer::each_tile(std::size_t n_rows, std::size_t n_threads, Watch& watch, const Use& use) const {
    if (n_rows == 0) return;
    constexpr std::size_t walks_per_thread = 16384;
    n_threads = std::min(n_threads, 1 + n_rows * n_trees() / walks_per_thread);
    // Tiles of equal size, at least one for every thread.
    const std::size_t least_tiles = std::max(n_threads, (n_rows + tile_rows() - 1) / tile_rows());
    const std::size_t size = (n_rows + least_tiles - 1) / least_tiles;
    const auto work = [&](std::size_t number) {
        // Keeps its memory for the next call: a row is scored in less time than malloc takes.
        thread_local Tile tile;
        tile.begin = number * size;
        tile.n_rows = std::min(n_rows - tile.begin, size);
        use(tile);
    };
    run((n_rows + size - 1) / size, n_threads, watch, work);
}

// Normalises the rows of each tile before use(tile).
template <class Use>
bool Scorer::each_tile(const InputRows& x, std::size_t n_threads, Watch& watch, const Use& use) const {
    std::atomic<bool> is_finite{true};
    each_tile(count_rows(x), n_threads, watch, [&](Tile& tile) {
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
    });
    return is_finite;
}

}  // namespace lhtree
