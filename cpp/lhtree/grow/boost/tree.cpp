#include <algorithm>
#include <cmath>
#include <numeric>

#include "lhtree/grow/boost/cut_search.hpp"
#include "lhtree/shared/random.hpp"

namespace lhtree::boost {
namespace {

// The features above a child: the hyperplane of its parent first, then the features above the parent.
std::vector<std::int32_t> extend_path(const std::vector<std::int32_t>& of_hyperplane,
                                      const std::vector<std::int32_t>& of_parent) {
    std::vector<std::int32_t> path = of_hyperplane;
    for (const std::int32_t feature : of_parent)
        if (std::find(path.begin(), path.end(), feature) == path.end()) path.push_back(feature);
    if (path.size() > most_slopes) path.resize(most_slopes);
    return path;
}

class Grower {
  public:
    // `of_scores` are the quanta of every score of a tree of all scores; else it is empty. `selected` are the
    // scores whose values are quantiles of residuals.
    Grower(Rows& rows, const TreeOptions& options, const Quanta& quanta, std::vector<Quanta> of_scores,
           std::vector<std::size_t> selected, std::size_t n_threads, Watch& watch)
        : rows_(rows),
          options_(options),
          quanta_(quanta),
          of_scores_(std::move(of_scores)),
          finder_(options.rules, quanta),
          selected_(std::move(selected)),
          search_(rows, options, finder_, level_, n_threads, watch) {}

    Blocks grow(const Sums& root, std::uint64_t key) {
        level_ = {{{root, {}}, key, finder_.value(root, {}), {}}};
        level_[0].groups = search_.all_groups();
        if (selects()) {
            level_[0].values = rows_.select(1, selected_);
            level_[0].value = level_[0].values[0];
        }
        for (std::size_t depth = 0; !level_.empty(); ++depth)
            finish_level(depth < options_.max_depth ? search_.find() : LevelCuts(level_.size()));
        if (is_joint() && !selects()) add_values();
        return std::move(blocks_);
    }

  private:
    using Cuts = std::vector<std::optional<Cut>>;

    Rows& rows_;
    const TreeOptions& options_;
    Quanta quanta_;
    std::vector<Quanta> of_scores_;
    SplitFinder finder_;
    std::vector<std::size_t> selected_;
    std::vector<LevelBlock> level_;
    CutSearch search_;
    Blocks blocks_;
    std::vector<std::vector<Sums>> score_sums_;  // of every block of a tree of all scores

    bool is_joint() const { return !of_scores_.empty(); }

    // Whether values are quantiles of residuals.
    bool selects() const { return !selected_.empty(); }

    // Rows of every block of the level. Where every weight is 1, they are the sums of weights.
    std::vector<std::int64_t> count_rows() {
        if (!rows_.units().are_ones) {
            MeasureLevel request;
            request.counts_rows = true;
            return rows_.ask(std::move(request)).n_rows;
        }
        std::vector<std::int64_t> n_rows;
        for (const LevelBlock& block : level_) n_rows.push_back(block.totals.sums.weight);
        return n_rows;
    }

    // The values of a block with these sums of every score.
    std::vector<double> values_of(const std::vector<Sums>& sums) const {
        std::vector<double> values;
        for (std::size_t k = 0; k < sums.size(); ++k)
            values.push_back(SplitFinder(options_.rules, of_scores_[k]).value(sums[k], {}) *
                             options_.learning_rate);
        return values;
    }

    // The leaves of the level of a tree of all scores, from values that were selected from residuals.
    std::vector<Leaf> take_joint_leaves() {
        if (blocks_.value_ptr.empty()) blocks_.value_ptr = {0};
        std::vector<Leaf> leaves;
        for (const LevelBlock& block : level_) {
            std::vector<double> values;
            for (const double value : block.values) values.push_back(value * options_.learning_rate);
            add_block_values(values);
            leaves.push_back(Leaf::joint(std::move(values)));
        }
        return leaves;
    }

    // The leaves of the level of a tree of all scores, from the sums of every score.
    std::vector<Leaf> fit_joint_leaves(const Cuts& cuts) {
        SumScores request{{}, {}, of_scores_};
        for (std::size_t i = 0; i < level_.size(); ++i)
            if (!cuts[i]) request.blocks.push_back(i);
        const std::size_t first = score_sums_.size();
        score_sums_.resize(first + level_.size(), std::vector<Sums>(of_scores_.size()));
        std::vector<Leaf> leaves(level_.size(), Leaf::constant(0.0));
        if (request.blocks.empty()) return leaves;
        const std::vector<std::size_t> blocks = request.blocks;
        const std::vector<Histogram> found = rows_.ask(std::move(request));
        for (std::size_t i = 0; i < blocks.size(); ++i)
            for (std::size_t k = 0; k < of_scores_.size(); ++k)
                score_sums_[first + blocks[i]][k] = found[i][k];
        for (const std::size_t block : blocks) {
            std::vector<Sums> sums = score_sums_[first + block];
            std::int64_t weight = level_[block].totals.sums.weight;
            // An empty leaf of a symmetric tree has the values of the nearest block above that is not empty.
            // The sums of that block are added up from the leaves below it.
            for (std::size_t size = 2; weight == 0 && size <= level_.size(); size *= 2) {
                std::fill(sums.begin(), sums.end(), Sums{});
                for (std::size_t i = block / size * size; i < block / size * size + size; ++i) {
                    weight += level_[i].totals.sums.weight;
                    add_sums(score_sums_[first + i], sums);
                }
            }
            leaves[block] = Leaf::joint(values_of(sums));
        }
        return leaves;
    }

    static void add_sums(const std::vector<Sums>& of_block, std::vector<Sums>& to) {
        for (std::size_t k = 0; k < to.size(); ++k) to[k] += of_block[k];
    }

    // Stores the values of all blocks of a tree of all scores. Sums of branching blocks are added up from
    // their children; an empty block has the values of its parent.
    void add_values() {
        const std::size_t n = blocks_.size(), n_scores = of_scores_.size();
        std::vector<std::size_t> parent(n, 0);
        for (std::size_t block = n; block-- > 0;) {
            if (blocks_.left[block] < 0) continue;
            const auto left = static_cast<std::size_t>(blocks_.left[block]);
            for (const std::size_t child : {left, left + 1}) {
                add_sums(score_sums_[child], score_sums_[block]);
                parent[child] = block;
            }
        }
        blocks_.value_ptr = {0};
        for (std::size_t block = 0; block < n; ++block) {
            std::vector<double> values = values_of(score_sums_[block]);
            if (block > 0 && !(blocks_.weight[block] > 0.0)) {
                const auto first = blocks_.value.begin() + blocks_.value_ptr[parent[block]];
                values.assign(first, first + static_cast<std::ptrdiff_t>(n_scores));
            }
            add_block_values(values);
        }
    }

    void add_block_values(const std::vector<double>& values) {
        for (std::size_t k = 0; k < values.size(); ++k) {
            blocks_.value_class.push_back(static_cast<std::int32_t>(k));
            blocks_.value.push_back(values[k]);
        }
        blocks_.value_ptr.push_back(static_cast<std::int64_t>(blocks_.value.size()));
    }

    // The leaves that the blocks of the level would be; linear ones if the options say so.
    std::vector<Leaf> fit_leaves(const Cuts& cuts) {
        if (is_joint()) return selects() ? take_joint_leaves() : fit_joint_leaves(cuts);
        std::vector<Leaf> leaves;
        std::vector<std::vector<std::int32_t>> features(level_.size());
        bool is_any = false;
        for (std::size_t i = 0; i < level_.size(); ++i) {
            leaves.push_back(Leaf::constant(level_[i].value * options_.learning_rate));
            if (!options_.has_linear_leaves || cuts[i] || level_[i].path.empty()) continue;
            features[i] = level_[i].path;
            std::sort(features[i].begin(), features[i].end());
            is_any = true;
        }
        if (!is_any) return leaves;
        const std::vector<LeafMoments> moments = rows_.ask(MeasureLeaves{{}, features});
        for (std::size_t i = 0; i < level_.size(); ++i)
            if (!features[i].empty())
                leaves[i] = fit_leaf(level_[i].value, level_[i].totals.bounds, moments[i], features[i],
                                     options_.rules, quanta_, options_.learning_rate);
        return leaves;
    }

    // Stores the blocks of the level, splits their rows, and makes their children the next level.
    void finish_level(const LevelCuts& found) {
        const Cuts& cuts = found.cuts;
        const std::vector<Leaf> leaves = fit_leaves(cuts);
        const std::vector<std::int64_t> n_rows = found.n_rows.empty() ? count_rows() : found.n_rows;
        auto left = static_cast<std::int32_t>(blocks_.size() + level_.size());
        std::vector<LevelBlock> next;
        for (std::size_t i = 0; i < level_.size(); ++i) {
            const LevelBlock& block = level_[i];
            add(block, n_rows[i], cuts[i], leaves[i], cuts[i] ? left : -1);
            if (!cuts[i]) continue;
            left += 2;
            const Sums& sums = block.totals.sums;
            Totals totals[2] = {{cuts[i]->left, {}}, {sums - cuts[i]->left, {}}};
            if (!selects())
                finder_.pass_bounds(block.totals, block.value, *cuts[i], totals[0].bounds, totals[1].bounds);
            for (const std::size_t side : {0, 1})
                next.push_back({totals[side], derive(block.key, Stream::left_side, side),
                                value_of(totals[side], block.value),
                                options_.has_linear_leaves
                                    ? extend_path(cuts[i]->direction.features, block.path)
                                    : std::vector<std::int32_t>{},
                                block.range, finder_.sign_of(cuts[i]->direction), block.values,
                                search_.keep_groups(block, *cuts[i])});
        }
        search_.pass_histograms(cuts);
        if (options_.growth == Growth::symmetric && cuts[0])
            rows_.ask(SplitLevel{{}, {cuts[0]}, {}, level_.size()});
        else
            rows_.ask(SplitLevel{{}, cuts, leaves, 0});
        level_ = std::move(next);
        if (selects()) select_values();
    }

    // An empty block of a symmetric tree has the value of its parent.
    double value_of(const Totals& totals, double of_parent) const {
        if (totals.sums.weight > 0) return finder_.value(totals.sums, totals.bounds);
        return std::clamp(of_parent, totals.bounds.low, totals.bounds.high);
    }

    // Values are quantiles of residuals, kept in order where a feature is monotonic. Cuts follow derivatives.
    void select_values() {
        const std::vector<double> found = rows_.select(level_.size(), selected_);
        if (is_joint()) {
            const std::size_t n = selected_.size();
            for (std::size_t i = 0; i < level_.size(); ++i)  // empty blocks have the values of their parent
                if (level_[i].totals.sums.weight > 0) std::copy_n(&found[i * n], n, level_[i].values.begin());
            return;
        }
        for (std::size_t i = 0; i < level_.size(); i += 2) {
            LevelBlock &left = level_[i], &right = level_[i + 1];
            const double low = left.range.low, high = left.range.high;
            // Empty blocks have the value of their parent.
            if (left.totals.sums.weight > 0) left.value = std::clamp(found[i], low, high);
            if (right.totals.sums.weight > 0) right.value = std::clamp(found[i + 1], low, high);
            if (left.sign == 0) continue;
            const double middle = (left.value + right.value) / 2.0;
            (left.sign > 0 ? left.range.high : left.range.low) = middle;
            (left.sign > 0 ? right.range.low : right.range.high) = middle;
            left.value = std::clamp(left.value, left.range.low, left.range.high);
            right.value = std::clamp(right.value, right.range.low, right.range.high);
        }
    }

    void add(const LevelBlock& block, std::int64_t n_rows, const std::optional<Cut>& cut, const Leaf& leaf,
             std::int32_t left) {
        const Sums& sums = block.totals.sums;
        const Counts counts{static_cast<std::size_t>(n_rows),
                            static_cast<double>(sums.weight) * quanta_.weight,
                            -static_cast<double>(sums.gradient) * quanta_.gradient * quanta_.weight};
        Hyperplane hyperplane;
        if (cut) {
            const Direction& direction = cut->direction;
            hyperplane.features = direction.features;
            double total = 0.0;
            for (std::size_t i = 0; i < direction.features.size(); ++i) {
                hyperplane.weights.push_back(static_cast<float>(direction.weights[i] * weight_unit));
                total += std::abs(direction.weights[i]) * direction.spreads[i];
            }
            for (std::size_t i = 0; i < direction.features.size(); ++i)
                hyperplane.shares.push_back(
                    static_cast<float>(std::abs(direction.weights[i]) * direction.spreads[i] / total));
            hyperplane.offset = offset_of(*cut);
        }
        blocks_.add(counts, hyperplane, leaf.line, left);
        blocks_.low.push_back(leaf.low);
        blocks_.high.push_back(leaf.high);
        blocks_.missing.push_back(!cut || !cut->is_single() ? 0 : cut->is_missing_left ? -1 : 1);
        blocks_.gain.push_back(cut ? cut->gain * quanta_.weight : 0.0);
    }

    double offset_of(const Cut& cut) const {
        if (!cut.is_single()) return cut.sum * sum_unit;
        const auto f = static_cast<std::size_t>(cut.direction.features[0]);
        return cut.code + 1 == rows_.bins().n_bins(f) ? beyond
                                                      : rows_.bins().edge[rows_.bins().ptr[f] + cut.code];
    }
};

// 2^k such that the largest value takes 15 bits; 1 for 0. 2^-k stays within the range of floats.
double quantum_of(double largest) {
    if (!(largest > 0.0)) return 1.0;
    int exponent;
    std::frexp(largest, &exponent);
    return std::ldexp(1.0, std::max(exponent, -100) - 15);
}

}  // namespace

Blocks grow_tree(Rows& rows, const TreeOptions& options, bool selects, const TreeScores& scores,
                 std::uint64_t round_key, std::uint64_t key, std::size_t n_threads, Watch& watch) {
    const WeightUnits& units = rows.units();
    std::vector<Quanta> quanta;  // of the tree, then of every score of a tree of all scores
    for (const Steepness& steepest : rows.ask(Differentiate{{}, scores.score, scores.projection}))
        quanta.push_back({quantum_of(steepest.gradient), quantum_of(steepest.hessian), units.unit[0],
                          std::ldexp(units.unit[0], units.shift)});
    const Sums root =
        rows.ask(BeginTree{{}, {derive(round_key, Stream::row_draws), options.subsample}, quanta[0]});
    std::vector<std::size_t> selected;
    if (selects) selected = {scores.score};
    if (selects && scores.is_joint()) {
        selected.resize(rows.n_scores());
        std::iota(selected.begin(), selected.end(), std::size_t{0});
    }
    return Grower(rows, options, quanta[0], {quanta.begin() + 1, quanta.end()}, std::move(selected),
                  n_threads, watch)
        .grow(root, key);
}

}  // namespace lhtree::boost
