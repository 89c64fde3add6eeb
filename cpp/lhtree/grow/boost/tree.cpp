#include <algorithm>
#include <cmath>
#include <iterator>
#include <numeric>

#include "lhtree/grow/boost/boost.hpp"
#include "lhtree/grow/boost/level_finder.hpp"
#include "lhtree/shared/random.hpp"

namespace lhtree::boost {
namespace {

// An offset above every z: all values go left, and missing ones right.
constexpr double beyond = 1e31;

struct Block {
    Totals totals;
    std::uint64_t key;
    double value;
    std::vector<std::int32_t> path;  // with linear leaves: features of the blocks above it, the parent first
    // With a loss that selects: the bounds of the value, and whether values must rise (1) or fall (-1) to the
    // right.
    Bounds range{};
    int sign = 0;
    std::vector<double> values{};       // of every score, of a tree of all scores with a loss that selects
    std::vector<std::size_t> groups{};  // that have all features of the blocks above it
};

std::vector<std::int32_t> draw(const std::vector<std::int32_t>& from, std::size_t n, std::uint64_t key,
                               Stream stream) {
    std::vector<std::int32_t> deck = from;
    n = std::min(n, deck.size());
    Draws draws(key, stream);
    for (std::size_t i = 0; i < n; ++i) std::swap(deck[i], deck[i + draws.below(deck.size() - i)]);
    deck.resize(n);
    std::sort(deck.begin(), deck.end());
    return deck;
}

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
          bins_(rows.bins()),
          options_(options),
          quanta_(quanta),
          of_scores_(std::move(of_scores)),
          finder_(options.rules, quanta),
          selected_(std::move(selected)),
          n_threads_(n_threads),
          watch_(watch) {
        for (std::size_t f = 0; f < bins_.n_features(); ++f)
            if (bins_.is_usable(f)) usable_.push_back(static_cast<std::int32_t>(f));
        for (const std::vector<std::int32_t>& group : options.groups) {
            groups_.emplace_back();
            std::set_intersection(group.begin(), group.end(), usable_.begin(), usable_.end(),
                                  std::back_inserter(groups_.back()));
        }
    }

    Blocks grow(const Sums& root, std::uint64_t key) {
        level_ = {{{root, {}}, key, finder_.value(root, {}), {}}};
        level_[0].groups.resize(groups_.size());
        std::iota(level_[0].groups.begin(), level_[0].groups.end(), std::size_t{0});
        if (selects()) {
            level_[0].values = rows_.select(1, selected_);
            level_[0].value = level_[0].values[0];
        }
        for (std::size_t depth = 0; !level_.empty(); ++depth) {
            cuts_.assign(level_.size(), std::nullopt);
            n_rows_.clear();
            if (depth < options_.max_depth && !usable_.empty()) decide();
            finish_level();
        }
        if (is_joint() && !selects()) add_values();
        return std::move(blocks_);
    }

  private:
    Rows& rows_;
    const Bins& bins_;
    const TreeOptions& options_;
    Quanta quanta_;
    std::vector<Quanta> of_scores_;
    SplitFinder finder_;
    std::vector<std::size_t> selected_;
    std::size_t n_threads_;
    Watch& watch_;
    std::vector<std::int32_t> usable_;
    std::vector<std::vector<std::int32_t>> groups_;  // usable features of every group
    Blocks blocks_;
    std::vector<std::vector<Sums>> score_sums_;  // of every block of a tree of all scores
    std::vector<Block> level_;
    // One item per block of the level:
    std::vector<std::int64_t> n_rows_;  // empty: not known
    std::vector<std::optional<Cut>> cuts_;
    std::vector<Histogram> histograms_;  // empty: not known

    bool is_joint() const { return !of_scores_.empty(); }

    // Whether values are quantiles of residuals.
    bool selects() const { return !selected_.empty(); }

    bool is_symmetric() const { return options_.growth == Growth::symmetric; }

    bool may_split(std::size_t block) const { return finder_.may_split(level_[block].totals.sums); }

    // Whether the histograms of a block are needed.
    bool is_open(std::size_t block) const {
        return is_symmetric() ? level_[block].totals.sums.weight > 0 : may_split(block);
    }

    // Draws the single features that a block tries: a share of its allowed features.
    std::vector<std::int32_t> draw_tried(const Block& block) const {
        std::vector<std::int32_t> united;
        for (const std::size_t group : block.groups)
            united.insert(united.end(), groups_[group].begin(), groups_[group].end());
        std::sort(united.begin(), united.end());
        united.erase(std::unique(united.begin(), united.end()), united.end());
        const std::vector<std::int32_t>& allowed = groups_.empty() ? usable_ : united;
        const auto n = static_cast<std::size_t>(options_.max_features * static_cast<double>(allowed.size()));
        return draw(allowed, std::max<std::size_t>(1, n), block.key, Stream::feature_draws);
    }

    // The features of a hyperplane: of one group, which is drawn, too.
    std::vector<std::int32_t> draw_directed(const Block& block, std::uint64_t key) const {
        if (groups_.empty()) return draw(usable_, options_.n_directed, key, Stream::direction_draws);
        if (block.groups.empty()) return {};
        const std::size_t group = Draws(key, Stream::group_draws).below(block.groups.size());
        return draw(groups_[block.groups[group]], options_.n_directed, key, Stream::direction_draws);
    }

    // The groups of a block that have all features of its cut.
    std::vector<std::size_t> keep_groups(const Block& block, const Cut& cut) const {
        std::vector<std::size_t> kept;
        for (const std::size_t group : block.groups) {
            const std::vector<std::int32_t>& of_group = groups_[group];
            if (std::all_of(cut.direction.features.begin(), cut.direction.features.end(),
                            [&](std::int32_t feature) {
                                return std::binary_search(of_group.begin(), of_group.end(), feature);
                            }))
                kept.push_back(group);
        }
        return kept;
    }

    void decide() { is_symmetric() ? decide_level() : decide_blocks(); }

    // One cut for all blocks.
    void decide_level() {
        const std::uint64_t key = level_[0].key;
        MeasureLevel request;
        for (std::size_t block = 0; block < level_.size(); ++block)
            if (level_[block].totals.sums.weight > 0) request.blocks.push_back(block);
        request.counts_rows = !rows_.units().are_ones;
        request.n_sharing = level_.size();
        if (options_.n_directed > 1)
            for (std::size_t i = 0; i < options_.n_directions; ++i) {
                // The keys of children, which draw no direction of their own in a symmetric tree.
                auto drawn = draw_directed(level_[0], derive(key, Stream::left_side, i));
                // With few features, draws may be equal: so would be their cuts.
                const bool is_new = std::find(request.features.begin(), request.features.end(), drawn) ==
                                    request.features.end();
                if (drawn.size() > 1 && is_new) request.features.push_back(std::move(drawn));
            }
        const std::vector<std::vector<std::int32_t>> drawn = request.features;
        std::vector<Totals> totals;
        for (const Block& block : level_) totals.push_back(block.totals);
        const LevelFinder finder(finder_, totals);
        std::optional<LevelCut> best;
        const std::vector<Moments> moments =
            scan_level(finder, draw_tried(level_[0]), std::move(request), best);
        cut_level_directions(finder, drawn, moments, best);
        if (!best) return;
        for (std::size_t block = 0; block < level_.size(); ++block) {
            cuts_[block] = best->cut;
            cuts_[block]->left = best->left[block];
            cuts_[block]->gain = finder_.gain_of(totals[block], best->left[block]);
        }
    }

    // Finds the best cut at the features that the level tries, of a part of their slots at a time if all
    // histograms would not fit into memory. Measures the level with the request and returns the moments.
    std::vector<Moments> scan_level(const LevelFinder& finder, const std::vector<std::int32_t>& tried,
                                    MeasureLevel request, std::optional<LevelCut>& best) {
        std::vector<Moments> moments;
        const std::vector<std::size_t> blocks = request.blocks;
        const bool keeps = tried.size() == usable_.size() && pays_to_keep(blocks.size());
        if (!keeps) drop_histograms();
        for (std::size_t first = 0; first < tried.size();) {
            std::vector<std::size_t> places;  // of the codes of every feature
            std::size_t n_codes = 0, last = first;
            for (; last < tried.size(); ++last) {
                const std::size_t slot = bins_.slots.of(static_cast<std::size_t>(tried[last]));
                const bool is_new = request.slots.empty() || request.slots.back() != slot;
                const std::size_t more = is_new ? bins_.slots.n_codes(slot) : 0;
                const std::size_t bytes = blocks.size() * (n_codes + more) * sizeof(Sums);
                // Eight slots are counted in one pass.
                const bool is_pass =
                    is_new && request.slots.size() % 8 == 0 && bytes > rows_.histogram_bytes();
                if (last > first && (is_pass || bytes > most_histogram_bytes)) break;
                if (is_new) request.slots.push_back(slot);
                n_codes += more;
                places.push_back(n_codes - bins_.slots.n_codes(slot));
            }
            const bool measures = !request.features.empty();
            const std::vector<std::size_t> counted = find_counted(blocks);
            request.blocks = counted;
            LevelStatistics measured = rows_.ask(std::move(request));
            if (!measured.n_rows.empty()) n_rows_ = std::move(measured.n_rows);
            if (measures) moments = std::move(measured.moments);
            complete_level(counted, std::move(measured.histograms));
            std::vector<std::optional<LevelCut>> found(last - first);
            run(found.size(), blocks.size() * n_codes < (1u << 17) ? 1 : n_threads_, watch_,
                [&](std::size_t i) {
                    finder.cut_feature(tried[first + i], bins_, histograms_, places[i], found[i]);
                });
            for (std::optional<LevelCut>& cut : found)
                if (cut && (!best || cut->cut.gain > best->cut.gain)) best = std::move(cut);
            if (!keeps) drop_histograms();
            first = last;
            request = {};
        }
        return moments;
    }

    // Whether the histograms of a level of a symmetric tree are kept for the next: subtracting them is faster
    // than counting rows, unless blocks have few rows.
    bool pays_to_keep(std::size_t n_blocks) const {
        const std::size_t n_slots = bins_.slots.size(), n_sums = n_blocks * bins_.slots.begin(n_slots);
        double weight = 0.0;  // the number of rows, or more
        for (const Block& block : level_) weight += static_cast<double>(block.totals.sums.weight);
        return n_sums * sizeof(Sums) <= rows_.histogram_bytes() &&
               static_cast<double>(n_sums) < 2.0 * weight * static_cast<double>(n_slots);
    }

    void drop_histograms() {
        rows_.give_back(std::move(histograms_));
        histograms_.clear();
    }

    void cut_level_directions(const LevelFinder& finder, const std::vector<std::vector<std::int32_t>>& drawn,
                              const std::vector<Moments>& moments, std::optional<LevelCut>& best) {
        const std::size_t n_blocks = level_.size();
        std::vector<Direction> directions;
        for (std::size_t i = 0; i < drawn.size(); ++i) {
            Direction direction = finder.direct(&moments[i * n_blocks], drawn[i]);
            if (!direction.empty()) directions.push_back(std::move(direction));
        }
        if (directions.empty()) return;
        std::vector<Histogram> steps = rows_.ask(CountSteps{{}, directions, n_blocks});
        for (std::size_t i = 0; i < directions.size(); ++i)
            finder.cut_direction(directions[i], &steps[i * n_blocks], best);
        rows_.give_back(std::move(steps));
    }

    // A cut for each block.
    void decide_blocks() {
        std::vector<std::vector<std::int32_t>> tried(level_.size()), drawn(level_.size());
        std::vector<std::size_t> open;
        for (std::size_t block = 0; block < level_.size(); ++block) {
            if (!may_split(block)) continue;
            open.push_back(block);
            tried[block] = draw_tried(level_[block]);
            if (options_.n_directed > 1) drawn[block] = draw_directed(level_[block], level_[block].key);
            if (drawn[block].size() < 2) drawn[block].clear();
        }
        if (open.empty()) return;
        MeasureLevel request;
        request.counts_rows = !rows_.units().are_ones;
        const bool is_directed = options_.n_directed > 1;
        if (is_directed) request.features = drawn;
        const std::vector<Moments> moments = cut_features(open, tried, std::move(request));
        if (is_directed) cut_directions(open, drawn, moments);
    }

    // Cuts at single features. Measures the level with the request and returns the moments.
    std::vector<Moments> cut_features(const std::vector<std::size_t>& open,
                                      const std::vector<std::vector<std::int32_t>>& tried,
                                      MeasureLevel request) {
        const std::size_t m = bins_.n_features();
        std::vector<Moments> moments;
        const bool fits = 2 * level_.size() * bins_.n_bins() * sizeof(Sums) <= most_histogram_bytes;
        if (fits) {
            const std::vector<std::size_t> counted = find_counted(open);
            auto found = measure(counted, 0, m, std::move(request), moments);
            complete_level(counted, std::move(found));
            scan(open, tried, histograms_, 0, m);
            return moments;
        }
        histograms_.clear();
        for (std::size_t first = 0; first < m;) {
            std::size_t last = first + 1;
            const auto bytes = [&](std::size_t end) {
                return open.size() * (bins_.ptr[end] - bins_.ptr[first]) * sizeof(Sums);
            };
            while (last < m && bytes(last + 1) <= most_histogram_bytes) ++last;
            std::vector<Histogram> some(level_.size());
            auto counted = measure(open, first, last, std::move(request), moments);
            for (std::size_t i = 0; i < open.size(); ++i) some[open[i]] = std::move(counted[i]);
            scan(open, tried, some, first, last);
            rows_.give_back(std::move(some));
            first = last;
            request = {};
        }
        return moments;
    }

    // Histograms of features first … last - 1 of some blocks. Row counts and moments are set on request.
    std::vector<Histogram> measure(const std::vector<std::size_t>& blocks, std::size_t first,
                                   std::size_t last, MeasureLevel request, std::vector<Moments>& moments) {
        request.blocks = blocks;
        for (std::size_t slot = bins_.slots.of(first); slot <= bins_.slots.of(last - 1); ++slot)
            request.slots.push_back(slot);
        const bool counts_rows = request.counts_rows, measures = !request.features.empty();
        LevelStatistics found = rows_.ask(std::move(request));
        if (counts_rows) n_rows_ = std::move(found.n_rows);
        if (measures) moments = std::move(found.moments);
        if (!bins_.slots.any_coded()) return std::move(found.histograms);
        std::vector<Histogram> histograms;
        for (const Histogram& codes : found.histograms) {
            histograms.emplace_back(bins_.ptr[last] - bins_.ptr[first], codes.is_lean());
            histograms.back().spread(
                codes, [&](const auto* from, auto* to) { spread_codes(bins_, first, last, from, to); });
        }
        rows_.give_back(std::move(found.histograms));
        return histograms;
    }

    // Blocks whose histograms are counted: the lighter of two children. The other has the difference to the
    // parent.
    std::vector<std::size_t> find_counted(const std::vector<std::size_t>& open) const {
        if (histograms_.empty()) return open;
        std::vector<std::size_t> counted;
        for (std::size_t left = 0; left < level_.size(); left += 2)
            if (is_open(left) || is_open(left + 1)) counted.push_back(lighter(left));
        return counted;
    }

    // Derives the histograms of the other children from the parents, which finish_level left in histograms_.
    void complete_level(const std::vector<std::size_t>& counted, std::vector<Histogram> found) {
        const bool has_parents = !histograms_.empty();
        std::vector<Histogram> histograms(level_.size());
        for (std::size_t i = 0; i < counted.size(); ++i) {
            const std::size_t block = counted[i], other = block ^ 1;
            if (has_parents && is_open(other)) {
                Histogram& parent = histograms_[block / 2];
                parent.subtract(found[i]);
                histograms[other] = std::move(parent);
            }
            if (is_open(block)) histograms[block] = std::move(found[i]);
        }
        rows_.give_back(std::move(histograms_));
        rows_.give_back(std::move(found));
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
                finder_.cut_feature(level_[block].totals, feature, bins_, histograms[block],
                                    bins_.ptr[f] - bins_.ptr[first], cuts_[block]);
            }
        });
    }

    void cut_directions(const std::vector<std::size_t>& open,
                        const std::vector<std::vector<std::int32_t>>& drawn,
                        const std::vector<Moments>& moments) {
        std::vector<Direction> directions(level_.size());
        for (const std::size_t block : open)
            if (!drawn[block].empty())
                directions[block] = finder_.direct(moments[block], Centred(moments[block]), drawn[block]);
        std::vector<Histogram> steps = rows_.ask(CountSteps{{}, directions, 0});
        for (const std::size_t block : open)
            if (!directions[block].empty())
                finder_.cut_direction(level_[block].totals, directions[block], steps[block], cuts_[block]);
        rows_.give_back(std::move(steps));
    }

    // Rows of every block, if they are not known yet. Where every weight is 1, they are the sums of weights.
    void count_rows() {
        if (rows_.units().are_ones) {
            for (const Block& block : level_) n_rows_.push_back(block.totals.sums.weight);
        } else if (n_rows_.empty()) {
            MeasureLevel request;
            request.counts_rows = true;
            n_rows_ = rows_.ask(std::move(request)).n_rows;
        }
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
        for (const Block& block : level_) {
            std::vector<double> values;
            for (const double value : block.values) values.push_back(value * options_.learning_rate);
            add_block_values(values);
            leaves.push_back(Leaf::joint(std::move(values)));
        }
        return leaves;
    }

    // The leaves of the level of a tree of all scores, from the sums of every score.
    std::vector<Leaf> fit_joint_leaves() {
        SumScores request{{}, {}, of_scores_};
        for (std::size_t i = 0; i < level_.size(); ++i)
            if (!cuts_[i]) request.blocks.push_back(i);
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
    std::vector<Leaf> fit_leaves() {
        if (is_joint()) return selects() ? take_joint_leaves() : fit_joint_leaves();
        std::vector<Leaf> leaves;
        std::vector<std::vector<std::int32_t>> features(level_.size());
        bool is_any = false;
        for (std::size_t i = 0; i < level_.size(); ++i) {
            leaves.push_back(Leaf::constant(level_[i].value * options_.learning_rate));
            if (!options_.has_linear_leaves || cuts_[i] || level_[i].path.empty()) continue;
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
    void finish_level() {
        const std::vector<Leaf> leaves = fit_leaves();
        count_rows();
        auto left = static_cast<std::int32_t>(blocks_.size() + level_.size());
        std::vector<Block> next;
        std::vector<Histogram> parents;
        for (std::size_t i = 0; i < level_.size(); ++i) {
            const Block& block = level_[i];
            add(block, n_rows_[i], cuts_[i], leaves[i], cuts_[i] ? left : -1);
            if (!cuts_[i]) continue;
            left += 2;
            const Sums& sums = block.totals.sums;
            Totals totals[2] = {{cuts_[i]->left, {}}, {sums - cuts_[i]->left, {}}};
            if (!selects())
                finder_.pass_bounds(block.totals, block.value, *cuts_[i], totals[0].bounds, totals[1].bounds);
            for (const std::size_t side : {0, 1})
                next.push_back({totals[side], derive(block.key, Stream::left_side, side),
                                value_of(totals[side], block.value),
                                options_.has_linear_leaves
                                    ? extend_path(cuts_[i]->direction.features, block.path)
                                    : std::vector<std::int32_t>{},
                                block.range, finder_.sign_of(cuts_[i]->direction), block.values,
                                keep_groups(block, *cuts_[i])});
            if (!histograms_.empty()) parents.push_back(std::move(histograms_[i]));
        }
        if (is_symmetric() && cuts_[0])
            rows_.ask(SplitLevel{{}, {cuts_[0]}, {}, level_.size()});
        else
            rows_.ask(SplitLevel{{}, cuts_, leaves, 0});
        level_ = std::move(next);
        rows_.give_back(std::move(histograms_));
        histograms_ = std::move(parents);
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
            Block &left = level_[i], &right = level_[i + 1];
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
