#include <algorithm>
#include <cmath>
#include <stdexcept>

#include "lhtree/score/tile.hpp"

namespace lhtree {

constexpr double most_weight = 1e6;  // of a companion

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

bool Scorer::pool(const InputRows& x, std::size_t n_threads, Watch& watch, std::vector<double>& raw) const {
    const std::size_t n_rows = count_rows(x);
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

}  // namespace lhtree
