#include "lhtree/grow/trees/branch.hpp"

#include <algorithm>
#include <limits>
#include <numeric>
#include <type_traits>

#include "lhtree/shared/random.hpp"

namespace lhtree {
namespace {

// Returns samples with some of the features, copied to `to`.
template <class Samples>
Samples take_columns(const Samples& samples, const std::vector<std::int32_t>& features,
                     std::vector<float>& to) {
    to.resize(std::max(to.size(), samples.size() * features.size() + slack));
    float* out = to.data();
    if (samples.rows.levels) {
        for (std::size_t row = 0; row < samples.size(); ++row)
            for (const auto feature : features)
                *out++ = samples.rows.value(row, static_cast<std::size_t>(feature));
        return samples.with({to.data(), samples.size(), features.size()});
    }
    for (std::size_t row = 0; row < samples.size(); ++row) {
        const float* z = samples.rows[row];
        for (const auto feature : features) *out++ = z[feature];
    }
    return samples.with({to.data(), samples.size(), features.size()});
}

// Returns all samples in the form of moments. With many classes the first is separated from the others, which
// does not change the moments of all rows.
template <class Samples>
const Samples& whole(const Samples& samples) {
    return samples;
}
Samples whole(const ClassedSamples& samples) {
    const auto* const end = samples.of_class + samples.size();
    const auto* const first = std::upper_bound(samples.of_class, end, samples.of_class[0]);
    return {samples.rows, static_cast<std::size_t>(first - samples.of_class), samples.weight};
}

// Returns the rows of two classes, ordered by class; copied unless the classes are adjacent.
Samples take_pair(const ClassedSamples& samples, const RunTotals& totals, std::size_t first,
                  std::size_t second, std::vector<float>& columns, std::vector<double>& weight) {
    const std::size_t n_first = totals.end[first] - totals.begin(first);
    if (second == first + 1) {
        const WeightedRows both = samples.run(totals.begin(first), totals.end[second]);
        return {both.rows, n_first, both.weight};
    }
    const std::size_t n = n_first + totals.end[second] - totals.begin(second);
    const std::size_t width = samples.rows.width();
    columns.resize(std::max(columns.size(), n * width + slack));
    weight.resize(samples.weight ? n : 0);
    std::size_t to = 0;
    for (const std::size_t run : {first, second}) {
        const WeightedRows rows = samples.run(totals.begin(run), totals.end[run]);
        std::copy(rows.rows[0], rows.rows[0] + rows.size() * width, &columns[to * width]);
        if (rows.weight) std::copy(rows.weight, rows.weight + rows.size(), &weight[to]);
        to += rows.size();
    }
    return {{columns.data(), n, samples.rows.n_features, samples.rows.levels},
            n_first,
            samples.weight ? weight.data() : nullptr};
}

constexpr double infinity = std::numeric_limits<double>::infinity();

template <class Response>
constexpr bool is_many = std::is_same_v<Response, ManyClassed>;

}  // namespace

Settings::Settings(const Options& options_, double total_weight, std::size_t n_features) : options(options_) {
    if (options.max_features >= n_features) options.max_features = 0;
    gamma = options.gamma.of(total_weight);
    min_samples_split = options.min_samples_split.of(total_weight);
    min_samples_leaf = options.min_samples_leaf.of(total_weight);
}

template <class Response>
Outcome<Response> Brancher<Response>::grow(const Block& block) {
    const Samples samples = Response::samples(rows_, block);
    moments_are_fresh_ = false;
    Outcome<Response> outcome;
    outcome.totals = measure_totals(samples);
    outcome.is_branching = may_branch(block, outcome.totals) &&
                           find_hyperplane(block, outcome.totals, samples, outcome.hyperplane);
    outcome.membership = outcome.is_branching && !options_.branching_membership
                             ? constant_membership(outcome.totals)
                             : find_membership(outcome.totals, samples);
    if (outcome.is_branching) part(block, outcome.hyperplane.offset, outcome.children);
    if (outcome.hyperplane.features.size() == 1)
        share_gain_alone(outcome.totals, outcome.children[0], samples.rows.n_features, outcome.hyperplane);
    return outcome;
}

template <class Response>
bool Brancher<Response>::may_branch(const Block& block, const Totals& totals) const {
    return !totals.is_pure() && totals.weight() >= settings_.min_samples_split &&
           (options_.max_depth < 0 || block.depth < options_.max_depth);
}

// Finds direction and offset; on success sums_ has the feature sums of the rows.
template <class Response>
bool Brancher<Response>::find_hyperplane(const Block& block, const Totals& totals, const Samples& samples,
                                         Hyperplane& hyperplane) {
    Samples view = samples;
    drawn_.clear();
    if (options_.max_features > 0) {
        draw_features(block, samples);
        view = take_columns(samples, drawn_, columns_);
        active_.resize(drawn_.size());
        std::iota(active_.begin(), active_.end(), 0);
    } else {
        find_active(totals, samples);
    }
    const Contrast contrast = contrast_of(block, totals, view);
    if (!moments_are_fresh_) moments_.measure(contrast, false, threads_for(contrast.size()), watch_);
    const bool is_found = orient(block, totals, view, contrast, hyperplane);
    if (is_found && hyperplane.features.size() > 1)
        share_gain(totals, contrast, samples.rows.n_features, hyperplane);
    if (is_found && !drawn_.empty())
        for (auto& feature : hyperplane.features) feature = drawn_[static_cast<std::size_t>(feature)];
    return is_found;
}

// Finds the active features of all rows. If the direction uses all rows, its moments are measured too.
template <class Response>
void Brancher<Response>::find_active(const Totals& totals, const Samples& samples) {
    if constexpr (is_many<Response>) {
        active_.clear();
        for (std::int32_t feature = 0; feature < static_cast<std::int32_t>(samples.rows.n_features);
             ++feature)
            if (is_active(samples, feature)) active_.push_back(feature);
    } else {
        measure_all(samples, needs_squares(totals) && options_.branching_membership);
    }
}

// Returns the rows that the direction separates: all rows, or the rows of two drawn classes.
template <class Response>
typename Response::Contrast Brancher<Response>::contrast_of([[maybe_unused]] const Block& block,
                                                            [[maybe_unused]] const Totals& totals,
                                                            const Samples& view) {
    if constexpr (is_many<Response>) {
        const auto [first, second] = draw_pair(block.key, totals.size());
        return take_pair(view, totals, first, second, contrast_columns_, contrast_weight_);
    } else {
        return view;
    }
}

template <class Response>
void Brancher<Response>::share_gain_alone(const Totals& totals, const Block& left, std::size_t n_features,
                                          Hyperplane& hyperplane) {
    const Totals of_left = measure_totals(Response::samples(rows_, left));
    if constexpr (is_many<Response>)
        lhtree::share_gain_alone(totals, of_left, n_features, hyperplane);
    else
        lhtree::share_gain_alone(moments_, totals, of_left, n_features, hyperplane);
}

template <class Response>
void Brancher<Response>::share_gain([[maybe_unused]] const Totals& all, const Contrast& contrast,
                                    std::size_t n_features, Hyperplane& hyperplane) {
    const auto totals = [&] {
        if constexpr (is_many<Response>)
            return measure_totals(contrast);
        else
            return all;
    }();
    if (!has_scatter_squares_) squares_.assign(padded(contrast.rows.n_features), 0.0);
    if (!has_scatter_squares_ && moments_.has_squares()) {
        for (const auto feature : hyperplane.features) {
            const auto f = static_cast<std::size_t>(feature);
            squares_[f] = moments_.total_squares(f);
        }
    } else if (!has_scatter_squares_) {
        means_.assign(padded(contrast.rows.n_features), 0.0);
        for (std::size_t f = 0; f < contrast.rows.n_features; ++f) means_[f] = moments_.mean(f);
        each_tile(WeightedRows{contrast.rows, contrast.weight}, [&](const WeightedRows& tile) {
            grow_kernels().square_rows(tile, means_.data(), squares_.data());
        });
    }
    lhtree::share_gain(moments_, totals, squares_.data(), n_features, hyperplane);
}

// Returns the codes of a column of the view, or none.
template <class Response>
CodedRows Brancher<Response>::coded(const Block& block, std::int32_t column) {
    const Codes* codes = rows_.codes();
    if (!codes) return {};
    auto feature = static_cast<std::size_t>(column);
    if (!drawn_.empty()) feature = static_cast<std::size_t>(drawn_[feature]);
    const Rows rows = Response::samples(rows_, block).rows;
    if (rows.levels && rows.levels->is_level(feature)) {
        if constexpr (std::is_same_v<Response, RealValued>) return {};  // its few values are not sorted
        // Ranks of the three possible values of a level.
        const float off = rows.levels->off(feature), on = rows.levels->on(feature);
        const auto rank = [&](float z) { return static_cast<Code>((off < z) + (on < z) + (0.0f < z)); };
        level_codes_.resize(std::max(level_codes_.size(), rows.n_rows));
        for (std::size_t row = 0; row < rows.n_rows; ++row)
            level_codes_[row] = rank(rows.value(row, feature));
        return {level_codes_.data(), nullptr, true};
    }
    return {codes->of(feature), rows_.row().data() + block.begin,
            codes->is_exact[codes->column[feature]] != 0};
}

template <class Response>
bool Brancher<Response>::orient(const Block& block, const Totals& totals, const Samples& view,
                                const Contrast& contrast, Hyperplane& hyperplane) {
    const CutContext<Response> context{settings_, view, totals, moments_};
    if constexpr (is_many<Response>) cutter_.start(totals);
    sums_.resize(std::max(sums_.size(), view.size()));
    Cut best;
    has_scatter_squares_ = false;
    keep_features(moments_, active_, options_.beta, kept_);
    if (!kept_.features.empty()) {
        if (options_.direction != Direction::mean_difference) turn_to_fisher(contrast);
        hyperplane.features = kept_.features;
        scale_weights(kept_.relations, hyperplane.weights);
        sum_features(view.rows, hyperplane);
        best = cutter_.cut(context, sums_.data());
    }
    if (options_.direction == Direction::mixed) {
        std::int32_t single = -1;
        std::size_t n_tried = 0;
        for (const auto feature : active_) {
            if (++n_tried % 16 == 0 || view.size() > chunk_rows) watch_.check();
            if (best.exists && best.cost == 0.0) break;  // no cut is purer, and the first of equals is taken
            const Cut cut = cutter_.cut_feature(context, static_cast<std::size_t>(feature),
                                                coded(block, feature), best.exists ? best.cost : infinity);
            if (!cut.exists || (best.exists && cut.cost >= best.cost - Response::rounding(moments_)))
                continue;
            best = cut;
            single = feature;
        }
        if (single >= 0) {
            hyperplane.features = {single};
            hyperplane.weights = {1.0f};
            for (std::size_t row = 0; row < view.size(); ++row)
                sums_[row] = static_cast<double>(view.rows.value(row, static_cast<std::size_t>(single)));
        }
    }
    if (!best.exists) {
        hyperplane = {};
        return false;
    }
    hyperplane.offset = best.offset;
    return true;
}

template <class Response>
void Brancher<Response>::turn_to_fisher(const Contrast& view) {
    const bool is_all = kept_.features.size() == view.rows.n_features;
    const Contrast columns = is_all ? view : take_columns(view, kept_.features, kept_columns_);
    if (!is_all) kept_moments_.measure(columns, false, threads_for(columns.size()), watch_);
    const Moments& moments = is_all ? moments_ : kept_moments_;
    if (Gram::suits(columns.rows)) {
        gram_.measure(columns, moments, watch_);
        lhtree::turn_to_fisher(gram_, columns.rows, moments, options_.shrinkage, watch_, kept_.relations);
    } else {
        scatter_.measure(columns, moments, watch_);
        take_squares(view.rows.n_features);
        lhtree::turn_to_fisher(scatter_, moments, options_.shrinkage, watch_, kept_.relations);
    }
}

// Takes the squares from the diagonal of the scatter matrix, which saves a pass over the rows.
template <class Response>
void Brancher<Response>::take_squares(std::size_t n_features) {
    const std::size_t p = kept_.features.size();
    squares_.assign(n_features, 0.0);
    for (std::size_t i = 0; i < p; ++i) {
        const auto feature = static_cast<std::size_t>(kept_.features[i]);
        squares_[feature] = scatter_.triangle[i * p + i] + moments_.squares_between(feature);
    }
    has_scatter_squares_ = true;
}

template <class Response>
LinearMembership Brancher<Response>::find_membership(const Totals& totals, const Samples& samples) {
    if (!needs_slopes(totals)) return constant_membership(totals);
    if (!moments_are_fresh_ || (!moments_.has_squares() && needs_squares(totals)))
        measure_all(samples, needs_squares(totals));
    if (active_.empty()) return constant_membership(totals);
    if (options_.membership == Membership::marginal) return marginal_membership(moments_, active_);
    const bool is_all = active_.size() == samples.rows.n_features;
    const auto columns = whole(is_all ? samples : take_columns(samples, active_, columns_));
    Moments moments;
    moments.measure(columns, true, 1, watch_);
    if (Gram::suits(columns.rows)) {
        gram_.measure(columns, moments, watch_);
        return least_squares_membership(moments, gram_, columns.rows, active_, options_.shrinkage, watch_);
    }
    Scatter scatter;
    scatter.measure(columns, moments, watch_);
    return least_squares_membership(moments, scatter, active_, options_.shrinkage, watch_);
}

template <class Response>
bool Brancher<Response>::needs_slopes(const Totals& totals) const {
    return options_.membership != Membership::constant && may_slope(totals, settings_.min_samples_leaf);
}

template <class Response>
bool Brancher<Response>::needs_squares(const Totals& totals) const {
    return options_.alpha > 0.0 || (needs_slopes(totals) && options_.membership == Membership::marginal);
}

template <class Response>
void Brancher<Response>::measure_all(const Samples& samples, bool with_squares) {
    moments_.measure(whole(samples), with_squares || options_.alpha > 0.0, threads_for(samples.size()),
                     watch_);
    lhtree::find_active(moments_, options_.alpha, active_);
    moments_are_fresh_ = true;
}

// Number of rows for which starting threads pays.
template <class Response>
std::size_t Brancher<Response>::threads_for(std::size_t n_rows) const {
    return n_rows >= 4 * chunk_rows ? n_threads_ : 1;
}

template <class Response>
void Brancher<Response>::sum_features(const Rows& rows, const Hyperplane& hyperplane) {
    const bool is_dense = hyperplane.features.size() == rows.n_features;
    padded_weights_.assign(padded(hyperplane.weights.size()), 0.0f);
    padded_features_.assign(padded(hyperplane.features.size()), 0);
    std::copy(hyperplane.weights.begin(), hyperplane.weights.end(), padded_weights_.begin());
    std::copy(hyperplane.features.begin(), hyperplane.features.end(), padded_features_.begin());
    const std::size_t n_chunks = (rows.n_rows + chunk_rows - 1) / chunk_rows;
    run(n_chunks, threads_for(rows.n_rows), watch_, [&](std::size_t chunk) {
        const std::size_t begin = chunk * chunk_rows;
        const Rows part = rows.part(begin, std::min(rows.n_rows, begin + chunk_rows));
        each_tile(part, [&](const Rows& tile, std::size_t first) {
            grow_kernels().feature_sums(padded_weights_.data(), is_dense ? nullptr : padded_features_.data(),
                                        padded_weights_.size(), tile, sums_.data() + begin + first);
        });
    });
}

// Draws features until max_features active ones are found; ascending. A feature with one value in a block has
// one value in its children, too: they need not look at it again.
template <class Response>
void Brancher<Response>::draw_features(const Block& block, const Samples& samples) {
    const std::size_t n_features = samples.rows.n_features;
    is_constant_ = block.is_constant;
    deck_.resize(n_features);
    std::iota(deck_.begin(), deck_.end(), 0);
    Draws draws(block.key, Stream::feature_draws);
    for (std::size_t i = 0; i < n_features && drawn_.size() < options_.max_features; ++i) {
        std::swap(deck_[i], deck_[i + draws.below(n_features - i)]);
        const auto feature = static_cast<std::size_t>(deck_[i]);
        if (!is_constant_.empty() && is_constant_[feature]) continue;
        if (is_active(samples, deck_[i])) {
            drawn_.push_back(deck_[i]);
        } else if (options_.alpha == 0.0) {
            is_constant_.resize(n_features);
            is_constant_[feature] = true;
        }
    }
    std::sort(drawn_.begin(), drawn_.end());
}

template <class Response>
bool Brancher<Response>::is_active(const Samples& samples, std::int32_t feature) {
    if (options_.alpha > 0.0) {
        Moments moments;
        std::vector<std::int32_t> active;
        moments.measure(whole(take_columns(samples, {feature}, columns_)), true, 1, watch_);
        lhtree::find_active(moments, options_.alpha, active);
        return !active.empty();
    }
    const Rows rows = samples.rows;
    const auto f = static_cast<std::size_t>(feature);
    const float first = rows.value(0, f);
    for (std::size_t row = 1; row < rows.n_rows; ++row)
        if (rows.value(row, f) != first) return true;
    return false;
}

template <class Response>
void Brancher<Response>::part(const Block& block, double offset, Block (&children)[2]) {
    const std::size_t n = block.size();
    is_left_.resize(std::max(is_left_.size(), n));
    std::size_t n_left[2] = {0, 0};
    for (std::size_t i = 0; i < n; ++i) is_left_[i] = sums_[i] < offset;
    for (std::size_t i = 0; i < block.n_rest; ++i) n_left[0] += is_left_[i];
    for (std::size_t i = block.n_rest; i < n; ++i) n_left[1] += is_left_[i];
    const std::size_t middle = block.begin + n_left[0] + n_left[1];
    rows_.move(block.begin, is_left_.data(), n, threads_for(n), aside_, watch_);
    children[0] = {block.begin, middle, n_left[0], block.depth + 1, derive(block.key, Stream::left_side),
                   is_constant_};
    children[1] = {middle,
                   block.end,
                   block.n_rest - n_left[0],
                   block.depth + 1,
                   derive(block.key, Stream::right_side),
                   is_constant_};
}

template class Brancher<TwoValued>;
template class Brancher<RealValued>;
template class Brancher<ManyClassed>;

}  // namespace lhtree
