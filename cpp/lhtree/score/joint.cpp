// Trees of all classes.
#include "lhtree/score/scorer.hpp"
#include "lhtree/score/tile.hpp"

namespace lhtree {

// Adds the leaves of a tree of all classes. The membership of a class is its share, and its part of the
// prior's; the two are added first, so that sums are those of trees per class with these memberships.
void Scorer::add_shares(Tile& tile, Score what, const std::uint32_t* leaf, const double* confidence) const {
    const std::size_t n_cls = n_classes();
    const Share* const shares = forest_.shares.data();
    const bool has_prior = !forest_.prior_shares.empty();
    std::vector<double> own(has_prior ? n_cls : 0);
    const auto add = [&](std::vector<double>& sums, const auto& value) {
        double* sum = sums.data();
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
    // Without confidences, the two are the same.
    const bool is_final = is_probability(what), has_confidence = confidence_ != Confidence::none;
    if (what == Score::wolf || is_final)
        add(tile.wolf, [&](std::size_t row, double mu) { return confidence[row] * mu; });
    if (what == Score::membership || (is_final && has_confidence))
        add(tile.membership, [](std::size_t, double mu) { return mu; });
    if (what == Score::confidence)
        for (std::size_t row = 0; row < tile.n_rows; ++row)
            for (std::size_t cls = 0; cls < n_cls; ++cls)
                tile.confidence[row * n_cls + cls] += confidence[row];
}

}  // namespace lhtree
