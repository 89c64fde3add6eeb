#include "lhtree/grow/boost/tree.hpp"

#include <algorithm>
#include <cmath>

#include "lhtree/shared/random.hpp"

namespace lhtree::boost {

namespace {

// Above every z: where all values go left, and missing ones right.
constexpr double beyond = 1e31;
constexpr std::size_t most_histogram_bytes = std::size_t{1} << 27;

struct Block {
    Totals totals;
    std::uint64_t key;
    double value;
    std::vector<std::int32_t> way;  // features on the way to it, the nearest block's first
    // Of values that are selected: between what they must stay, and whether they must rise or fall from a
    // left child to the right one.
    Bounds range{};
    int sign = 0;
};

std::vector<std::int32_t> draw(const std::vector<std::int32_t>& from, std::size_t n, std::uint64_t key,
                               Purpose purpose) {
    std::vector<std::int32_t> deck = from;
    n = std::min(n, deck.size());
    Draws draws(key, purpose);
    for (std::size_t i = 0; i < n; ++i) std::swap(deck[i], deck[i + draws.below(deck.size() - i)]);
    deck.resize(n);
    std::sort(deck.begin(), deck.end());
    return deck;
}

class Grower {
  public:
    Grower(Rows& rows, const TreeOptions& options, const Quanta& quanta, bool selects, std::size_t n_threads,
           Watch& watch)
        : rows_(rows),
          bins_(rows.bins()),
          options_(options),
          quanta_(quanta),
          judge_(options.rules, quanta),
          selects_(selects),
          n_threads_(n_threads),
          watch_(watch) {
        for (std::size_t f = 0; f < bins_.n_features(); ++f)
            if (bins_.is_usable(f)) usable_.push_back(static_cast<std::int32_t>(f));
        n_tried_ = static_cast<std::size_t>(options.max_features * static_cast<double>(usable_.size()));
        n_tried_ = std::max<std::size_t>(1, n_tried_);
    }

    Blocks grow(const Sums& root, std::uint64_t key) {
        level_ = {{{root, {}}, key, judge_.value(root, {}), {}}};
        if (selects_) level_[0].value = rows_.select(1)[0];
        for (std::size_t depth = 0; !level_.empty(); ++depth) {
            cuts_.assign(level_.size(), std::nullopt);
            count_rows_ = count_rows();
            if (depth < options_.max_depth && !usable_.empty()) decide();
            finish_level();
        }
        return std::move(blocks_);
    }

  private:
    Rows& rows_;
    const Bins& bins_;
    const TreeOptions& options_;
    Quanta quanta_;
    Judge judge_;
    bool selects_;  // values are selected from residuals
    std::size_t n_threads_;
    Watch& watch_;
    std::vector<std::int32_t> usable_;
    std::size_t n_tried_;
    Blocks blocks_;
    std::vector<Block> level_;
    Later<std::vector<std::int64_t>> count_rows_;  // of the blocks of the level
    std::vector<std::optional<Cut>> cuts_;         // of the blocks of the level
    std::vector<Histogram> histograms_;            // of the blocks of the level; empty: not known

    // Rows of the blocks of the level; where each weighs 1, their sums say it.
    Later<std::vector<std::int64_t>> count_rows() {
        if (!rows_.units().are_ones) return rows_.count_rows(level_.size());
        return [this] {
            std::vector<std::int64_t> counts;
            for (const Block& block : level_) counts.push_back(block.totals.sums.weight);
            return counts;
        };
    }

    bool may_part(std::size_t block) const { return judge_.may_part(level_[block].totals.sums); }

    void decide() {
        std::vector<std::vector<std::int32_t>> tried(level_.size()), drawn(level_.size());
        std::vector<std::size_t> open;
        for (std::size_t block = 0; block < level_.size(); ++block) {
            if (!may_part(block)) continue;
            open.push_back(block);
            tried[block] = draw(usable_, n_tried_, level_[block].key, feature_draws);
            if (options_.n_directed > 1)
                drawn[block] = draw(usable_, options_.n_directed, level_[block].key, direction_draws);
            if (drawn[block].size() < 2) drawn[block].clear();
        }
        if (open.empty()) return;
        const bool is_directed = options_.n_directed > 1;
        const auto measure = is_directed ? rows_.measure(drawn) : Later<std::vector<Moments>>();
        cut_features(open, tried);
        if (is_directed) cut_directions(open, drawn, measure());
    }

    void cut_features(const std::vector<std::size_t>& open,
                      const std::vector<std::vector<std::int32_t>>& tried) {
        const std::size_t m = bins_.n_features();
        const bool fits = 2 * level_.size() * bins_.n_bins() * sizeof(Sums) <= most_histogram_bytes;
        if (fits) {
            count_level(open);
            scan(open, tried, histograms_, 0, m);
            return;
        }
        histograms_.clear();
        for (std::size_t first = 0; first < m;) {
            std::size_t last = first + 1;
            const auto bytes = [&](std::size_t end) {
                return open.size() * (bins_.ptr[end] - bins_.ptr[first]) * sizeof(Sums);
            };
            while (last < m && bytes(last + 1) <= most_histogram_bytes) ++last;
            std::vector<Histogram> some(level_.size());
            auto counted = rows_.count_bins(open, first, last)();
            for (std::size_t i = 0; i < open.size(); ++i) some[open[i]] = std::move(counted[i]);
            scan(open, tried, some, first, last);
            first = last;
        }
    }

    // Histograms of the level: of two children, the lighter is counted, the other is what it leaves of the
    // parent's, which finish_level has left in the place of both.
    void count_level(const std::vector<std::size_t>& open) {
        std::vector<std::size_t> counted;
        const bool has_parents = !histograms_.empty();
        if (has_parents) {
            for (std::size_t left = 0; left < level_.size(); left += 2)
                if (may_part(left) || may_part(left + 1)) counted.push_back(lighter(left));
        } else {
            counted = open;
        }
        auto found = rows_.count_bins(counted, 0, bins_.n_features())();
        std::vector<Histogram> histograms(level_.size());
        for (std::size_t i = 0; i < counted.size(); ++i) {
            const std::size_t block = counted[i], other = block ^ 1;
            if (has_parents && may_part(other)) {
                Histogram& parent = histograms_[block / 2];
                parent.subtract(found[i]);
                histograms[other] = std::move(parent);
            }
            if (may_part(block)) histograms[block] = std::move(found[i]);
        }
        histograms_ = std::move(histograms);
    }

    std::size_t lighter(std::size_t left) const {
        const auto weight = [&](std::size_t block) { return level_[block].totals.sums.weight; };
        return weight(left) <= weight(left + 1) ? left : left + 1;
    }

    void scan(const std::vector<std::size_t>& open, const std::vector<std::vector<std::int32_t>>& tried,
              const std::vector<Histogram>& histograms, std::size_t first, std::size_t last) {
        const std::size_t work = open.size() * (bins_.ptr[last] - bins_.ptr[first]);
        run(open.size(), work < (1u << 19) ? 1 : n_threads_, watch_, [&](std::size_t i) {
            const std::size_t block = open[i];
            for (const std::int32_t feature : tried[block]) {
                const auto f = static_cast<std::size_t>(feature);
                if (f < first || f >= last) continue;
                judge_.cut_feature(level_[block].totals, feature, bins_, histograms[block],
                                   bins_.ptr[f] - bins_.ptr[first], cuts_[block]);
            }
        });
    }

    void cut_directions(const std::vector<std::size_t>& open,
                        const std::vector<std::vector<std::int32_t>>& drawn,
                        const std::vector<Moments>& moments) {
        std::vector<Direction> directions(level_.size());
        for (const std::size_t block : open)
            if (!drawn[block].empty()) directions[block] = judge_.direct(moments[block], drawn[block]);
        const std::vector<Histogram> steps = rows_.count_steps(directions);
        for (const std::size_t block : open)
            if (!directions[block].empty())
                judge_.cut_direction(level_[block].totals, directions[block], steps[block], cuts_[block]);
    }

    // What the blocks of the level say; lines in leaves, if asked for.
    std::vector<Leaf> settle_leaves() {
        std::vector<Leaf> leaves;
        std::vector<std::vector<std::int32_t>> features(level_.size());
        bool is_any = false;
        for (std::size_t i = 0; i < level_.size(); ++i) {
            leaves.push_back(Leaf::constant(level_[i].value * options_.learning_rate));
            if (!options_.has_linear_leaves || cuts_[i] || level_[i].way.empty()) continue;
            features[i] = level_[i].way;
            std::sort(features[i].begin(), features[i].end());
            is_any = true;
        }
        if (!is_any) return leaves;
        const std::vector<LeafMoments> moments = rows_.measure_leaves(features);
        for (std::size_t i = 0; i < level_.size(); ++i)
            if (!features[i].empty())
                leaves[i] = fit_leaf(level_[i].value, level_[i].totals.bounds, moments[i], features[i],
                                     options_.rules, quanta_, options_.learning_rate);
        return leaves;
    }

    // Notes the blocks of the level, parts their rows, and goes on to their children.
    void finish_level() {
        const std::vector<Leaf> leaves = settle_leaves();
        const std::vector<std::int64_t> n_rows = count_rows_();
        auto left = static_cast<std::int32_t>(blocks_.size() + level_.size());
        std::vector<Block> next;
        std::vector<Histogram> parents;
        for (std::size_t i = 0; i < level_.size(); ++i) {
            const Block& block = level_[i];
            add(block, n_rows[i], cuts_[i], leaves[i], cuts_[i] ? left : -1);
            if (!cuts_[i]) continue;
            left += 2;
            const Sums& sums = block.totals.sums;
            Totals totals[2] = {{cuts_[i]->left, {}}, {sums - cuts_[i]->left, {}}};
            if (!selects_) judge_.pass_bounds(block.totals, *cuts_[i], totals[0].bounds, totals[1].bounds);
            for (const std::uint64_t side : {left_side, right_side})
                next.push_back({totals[side], derive(block.key, side),
                                judge_.value(totals[side].sums, totals[side].bounds),
                                extend_way(cuts_[i]->direction.features, block.way), block.range,
                                judge_.sign_of(cuts_[i]->direction)});
            if (!histograms_.empty()) parents.push_back(std::move(histograms_[i]));
        }
        rows_.part(cuts_, leaves);
        level_ = std::move(next);
        histograms_ = std::move(parents);
        if (selects_) select_values();
    }

    // Derivatives say where to cut, but not how far to go: values are quantiles of residuals, kept in order
    // where a constraint asks for it.
    void select_values() {
        const std::vector<double> found = rows_.select(level_.size());
        for (std::size_t i = 0; i < level_.size(); i += 2) {
            Block &left = level_[i], &right = level_[i + 1];
            const double low = left.range.low, high = left.range.high;
            left.value = std::clamp(found[i], low, high);
            right.value = std::clamp(found[i + 1], low, high);
            if (left.sign == 0) continue;
            const double middle = (left.value + right.value) / 2.0;
            (left.sign > 0 ? left.range.high : left.range.low) = middle;
            (left.sign > 0 ? right.range.low : right.range.high) = middle;
            left.value = std::clamp(left.value, left.range.low, left.range.high);
            right.value = std::clamp(right.value, right.range.low, right.range.high);
        }
    }

    void add(const Block& block, std::int64_t n_rows, const std::optional<Cut>& cut, const Leaf& leaf,
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
        return cut.code + 1 == bins_.n_bins(f) ? beyond : bins_.edge[bins_.ptr[f] + cut.code];
    }
};

// 2^k such that the largest value takes 15 bits; 1 if there is none. 2^-k stays within the range of floats.
double quantum_of(double largest) {
    if (!(largest > 0.0)) return 1.0;
    int exponent;
    std::frexp(largest, &exponent);
    return std::ldexp(1.0, std::max(exponent, -100) - 15);
}

}  // namespace

Blocks grow_tree(Rows& rows, const TreeOptions& options, const Loss& loss, std::size_t score,
                 std::uint64_t round_key, std::uint64_t key, std::size_t n_threads, Watch& watch) {
    const Steepness steepest = rows.differentiate(score);
    const WeightUnits& units = rows.units();
    const Quanta quanta{quantum_of(steepest.gradient), quantum_of(steepest.hessian), units.unit[0],
                        std::ldexp(units.unit[0], units.shift)};
    const Sums root = rows.begin_tree({derive(round_key, row_draws), options.subsample}, quanta);
    return Grower(rows, options, quanta, boost::selects(loss), n_threads, watch).grow(root, key);
}

}  // namespace lhtree::boost
