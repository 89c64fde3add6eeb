// Scores by tree or by some of the trees: leaves, paths, out-of-bag sums, and raw scores after every round.
#include <algorithm>
#include <stdexcept>

#include "lhtree/score/staged_scores.hpp"
#include "lhtree/score/tile.hpp"

namespace lhtree {

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
    const std::size_t n_rows = count_rows(x);
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

StagedScores::StagedScores(const Scorer& scorer, const std::vector<std::int32_t>& n_levels)
    : scorer_(scorer) {
    check_score(scorer.link_, Score::raw_score);
    if (!n_levels.empty()) levels_.emplace(n_levels, scorer.centre_.data(), scorer.scale_.data());
}

bool StagedScores::begin(const InputRows& x, const std::int32_t* codes, std::size_t n_threads, Watch& watch) {
    const double *const centre = scorer_.centre_.data(), *const scale = scorer_.scale_.data();
    const std::size_t n_rows = count_rows(x);
    rows_.reset(new float[n_rows * width()]);  // not initialised
    raw_.clear();
    for (std::size_t row = 0; row < n_rows; ++row)
        raw_.insert(raw_.end(), scorer_.base_.begin(), scorer_.base_.end());
    round_ = 0;
    return std::visit(
        [&](const auto& rows) {
            return levels_ ? normalise(rows, codes, *levels_, centre, scale, n_threads, watch, rows_.get(),
                                       scorer_.missing())
                           : normalise(rows, centre, scale, n_threads, watch, rows_.get(), scorer_.missing());
        },
        x);
}

void StagedScores::lay(Tile& tile) const {
    const Planes& planes = scorer_.planes_;
    const float* rows = rows_.get() + tile.begin * width();
    float* const z = tile.room(tile.n_rows * planes.width());
    if (levels_) {
        tile.normalised.resize(tile.n_rows * planes.n_features());
        for (std::size_t row = 0; row < tile.n_rows; ++row)
            levels_->expand(rows + row * width(), &tile.normalised[row * planes.n_features()],
                            static_cast<float>(scorer_.missing()));
        rows = tile.normalised.data();
    }
    if (planes.is_plain())
        std::copy_n(rows, tile.n_rows * planes.width(), z);
    else
        planes.lay(rows, tile.n_rows, z);
}

void StagedScores::next(std::size_t n_rounds, std::size_t n_threads, Watch& watch, double* out) {
    const std::size_t n_tgt = scorer_.n_targets(), n_each = scorer_.n_trees_each();
    if (n_rounds > scorer_.n_trees() / n_each - round_)
        throw std::invalid_argument("the model has fewer rounds");
    const std::size_t begin = round_ * n_each, end = begin + n_rounds * n_each;
    scorer_.each_tile(n_rows(), n_threads, watch, [&](Tile& tile) {
        const auto first = raw_.begin() + static_cast<std::ptrdiff_t>(tile.begin * n_tgt);
        lay(tile);
        tile.raw.assign(first, first + static_cast<std::ptrdiff_t>(tile.n_rows * n_tgt));
        scorer_.add_values(tile, {begin, end}, [&](std::size_t tree) {
            if ((tree + 1) % n_each == 0)
                std::copy(tile.raw.begin(), tile.raw.end(),
                          out + ((tree - begin) / n_each * n_rows() + tile.begin) * n_tgt);
        });
        std::copy(tile.raw.begin(), tile.raw.end(), first);
    });
    round_ += n_rounds;
}

}  // namespace lhtree
