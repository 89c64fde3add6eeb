#include "lhtree/grow/boost/cut_search.hpp"

#include <algorithm>
#include <iterator>
#include <numeric>

#include "lhtree/shared/random.hpp"

namespace lhtree::boost {

static std::vector<std::int32_t> draw(const std::vector<std::int32_t>& from, std::size_t n, std::uint64_t key,
                                      Stream stream) {
    std::vector<std::int32_t> deck = from;
    n = std::min(n, deck.size());
    Draws draws(key, stream);
    for (std::size_t i = 0; i < n; ++i) std::swap(deck[i], deck[i + draws.below(deck.size() - i)]);
    deck.resize(n);
    std::sort(deck.begin(), deck.end());
    return deck;
}

CutSearch::CutSearch(Rows& rows, const TreeOptions& options, const SplitFinder& finder,
                     const std::vector<LevelBlock>& level, std::size_t n_threads, Watch& watch)
    : rows_(rows),
      bins_(rows.bins()),
      options_(options),
      finder_(finder),
      level_(level),
      n_threads_(n_threads),
      watch_(watch) {
    for (std::size_t f = 0; f < bins_.n_features(); ++f)
        if (bins_.is_usable(f)) usable_.push_back(static_cast<std::int32_t>(f));
    for (const Features& group : options.groups) {
        groups_.emplace_back();
        std::set_intersection(group.begin(), group.end(), usable_.begin(), usable_.end(),
                              std::back_inserter(groups_.back()));
    }
}

LevelCuts CutSearch::find() {
    found_ = LevelCuts(level_.size());
    if (!usable_.empty()) is_symmetric() ? cut_level() : cut_blocks();
    return std::move(found_);
}

void CutSearch::pass_histograms(const std::vector<std::optional<Cut>>& cuts) {
    std::vector<Histogram> parents;
    for (std::size_t i = 0; i < cuts.size() && !histograms_.empty(); ++i)
        if (cuts[i]) parents.push_back(std::move(histograms_[i]));
    rows_.give_back(std::move(histograms_));
    histograms_ = std::move(parents);
}

std::vector<std::size_t> CutSearch::all_groups() const {
    std::vector<std::size_t> all(groups_.size());
    std::iota(all.begin(), all.end(), std::size_t{0});
    return all;
}

// Whether the histograms of a block are needed.
bool CutSearch::is_open(std::size_t block) const {
    return is_symmetric() ? level_[block].totals.sums.weight > 0 : may_split(block);
}

// Draws the single features that a block tries: a share of its allowed features.
CutSearch::Features CutSearch::draw_tried(const LevelBlock& block) const {
    std::vector<std::int32_t> united;
    for (const std::size_t group : block.groups)
        united.insert(united.end(), groups_[group].begin(), groups_[group].end());
    std::sort(united.begin(), united.end());
    united.erase(std::unique(united.begin(), united.end()), united.end());
    const Features& allowed = groups_.empty() ? usable_ : united;
    const auto n = static_cast<std::size_t>(options_.max_features * static_cast<double>(allowed.size()));
    return draw(allowed, std::max<std::size_t>(1, n), block.key, Stream::feature_draws);
}

// The features of a hyperplane: of one group, which is drawn, too.
CutSearch::Features CutSearch::draw_directed(const LevelBlock& block, std::uint64_t key) const {
    if (groups_.empty()) return draw(usable_, options_.n_directed, key, Stream::direction_draws);
    if (block.groups.empty()) return {};
    const std::size_t group = Draws(key, Stream::group_draws).below(block.groups.size());
    return draw(groups_[block.groups[group]], options_.n_directed, key, Stream::direction_draws);
}

std::vector<std::size_t> CutSearch::keep_groups(const LevelBlock& block, const Cut& cut) const {
    std::vector<std::size_t> kept;
    for (const std::size_t group : block.groups) {
        const Features &all = groups_[group], &used = cut.direction.features;
        if (std::includes(all.begin(), all.end(), used.begin(), used.end())) kept.push_back(group);
    }
    return kept;
}

void CutSearch::cut_level() {
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
            const bool is_new =
                std::find(request.features.begin(), request.features.end(), drawn) == request.features.end();
            if (drawn.size() > 1 && is_new) request.features.push_back(std::move(drawn));
        }
    const std::vector<Features> drawn = request.features;
    std::vector<Totals> totals;
    for (const LevelBlock& block : level_) totals.push_back(block.totals);
    const LevelFinder finder(finder_, totals);
    std::optional<LevelCut> best;
    const std::vector<Moments> moments = scan_level(finder, draw_tried(level_[0]), std::move(request), best);
    cut_level_directions(finder, drawn, moments, best);
    if (!best) return;
    for (std::size_t block = 0; block < level_.size(); ++block) {
        found_.cuts[block] = best->cut;
        found_.cuts[block]->left = best->left[block];
        found_.cuts[block]->gain = finder_.gain_of(totals[block], best->left[block]);
    }
}

// Finds the best cut at the features that the level tries, of a part of their slots at a time if all
// histograms would not fit into memory. Measures the level with the request and returns the moments.
std::vector<Moments> CutSearch::scan_level(const LevelFinder& finder, const Features& tried,
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
            const bool is_pass = is_new && request.slots.size() % 8 == 0 && bytes > rows_.histogram_bytes();
            if (last > first && (is_pass || bytes > most_histogram_bytes)) break;
            if (is_new) request.slots.push_back(slot);
            n_codes += more;
            places.push_back(n_codes - bins_.slots.n_codes(slot));
        }
        const bool measures = !request.features.empty();
        const std::vector<std::size_t> counted = find_counted(blocks);
        request.blocks = counted;
        LevelStatistics measured = rows_.ask(std::move(request));
        if (!measured.n_rows.empty()) found_.n_rows = std::move(measured.n_rows);
        if (measures) moments = std::move(measured.moments);
        complete_level(counted, std::move(measured.histograms));
        std::vector<std::optional<LevelCut>> found(last - first);
        run(found.size(), blocks.size() * n_codes < (1u << 17) ? 1 : n_threads_, watch_, [&](std::size_t i) {
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
bool CutSearch::pays_to_keep(std::size_t n_blocks) const {
    const std::size_t n_slots = bins_.slots.size(), n_sums = n_blocks * bins_.slots.begin(n_slots);
    double weight = 0.0;  // the number of rows, or more
    for (const LevelBlock& block : level_) weight += static_cast<double>(block.totals.sums.weight);
    return n_sums * sizeof(Sums) <= rows_.histogram_bytes() &&
           static_cast<double>(n_sums) < 2.0 * weight * static_cast<double>(n_slots);
}

void CutSearch::drop_histograms() {
    rows_.give_back(std::move(histograms_));
    histograms_.clear();
}

void CutSearch::cut_level_directions(const LevelFinder& finder, const std::vector<Features>& drawn,
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

void CutSearch::cut_blocks() {
    std::vector<Features> tried(level_.size()), drawn(level_.size());
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
std::vector<Moments> CutSearch::cut_features(const std::vector<std::size_t>& open,
                                             const std::vector<Features>& tried, MeasureLevel request) {
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
std::vector<Histogram> CutSearch::measure(const std::vector<std::size_t>& blocks, std::size_t first,
                                          std::size_t last, MeasureLevel request,
                                          std::vector<Moments>& moments) {
    request.blocks = blocks;
    for (std::size_t slot = bins_.slots.of(first); slot <= bins_.slots.of(last - 1); ++slot)
        request.slots.push_back(slot);
    const bool counts_rows = request.counts_rows, measures = !request.features.empty();
    LevelStatistics found = rows_.ask(std::move(request));
    if (counts_rows) found_.n_rows = std::move(found.n_rows);
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
std::vector<std::size_t> CutSearch::find_counted(const std::vector<std::size_t>& open) const {
    if (histograms_.empty()) return open;
    std::vector<std::size_t> counted;
    for (std::size_t left = 0; left < level_.size(); left += 2)
        if (is_open(left) || is_open(left + 1)) counted.push_back(lighter(left));
    return counted;
}

// Derives the histograms of the other children from the parents, which pass_histograms kept.
void CutSearch::complete_level(const std::vector<std::size_t>& counted, std::vector<Histogram> found) {
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

std::size_t CutSearch::lighter(std::size_t left) const {
    const auto weight = [&](std::size_t block) { return level_[block].totals.sums.weight; };
    return weight(left) <= weight(left + 1) ? left : left + 1;
}

void CutSearch::scan(const std::vector<std::size_t>& open, const std::vector<Features>& tried,
                     const std::vector<Histogram>& histograms, std::size_t first, std::size_t last) {
    const std::size_t work = open.size() * (bins_.ptr[last] - bins_.ptr[first]);
    run(open.size(), work < (1u << 19) ? 1 : n_threads_, watch_, [&](std::size_t i) {
        const std::size_t block = open[i];
        for (const std::int32_t feature : tried[block]) {
            const auto f = static_cast<std::size_t>(feature);
            if (f < first || f >= last) continue;
            finder_.cut_feature(level_[block].totals, feature, bins_, histograms[block],
                                bins_.ptr[f] - bins_.ptr[first], found_.cuts[block]);
        }
    });
}

void CutSearch::cut_directions(const std::vector<std::size_t>& open, const std::vector<Features>& drawn,
                               const std::vector<Moments>& moments) {
    std::vector<Direction> directions(level_.size());
    for (const std::size_t block : open)
        if (!drawn[block].empty())
            directions[block] = finder_.direct(moments[block], Centred(moments[block]), drawn[block]);
    std::vector<Histogram> steps = rows_.ask(CountSteps{{}, directions, 0});
    for (const std::size_t block : open)
        if (!directions[block].empty())
            finder_.cut_direction(level_[block].totals, directions[block], steps[block], found_.cuts[block]);
    rows_.give_back(std::move(steps));
}

}  // namespace lhtree::boost
