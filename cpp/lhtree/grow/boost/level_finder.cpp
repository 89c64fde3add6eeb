#include "lhtree/grow/boost/level_finder.hpp"

#include <algorithm>
#include <limits>

namespace lhtree::boost {

// In quanta. Places behind the last cut, up to a multiple of 4, have sums of 0.
class LevelFinder::Prefixes {
  public:
    // Adds up n bins or steps, beginning with `start`, the sums left of every cut.
    void fill(const Histogram& histogram, std::size_t first, std::size_t n, const Sums& start) {
        n_ = n;
        is_lean_ = histogram.is_lean();
        histogram.read([&](const auto* sums) { add_up(sums + first, start); });
        for (std::size_t i = n; i % 4 != 0; ++i)
            is_lean_ ? void(gradient_[i] = both_[i] = 0)
                     : void(full_[0][i] = full_[1][i] = full_[2][i] = 0.0);
    }
    std::size_t size() const { return n_; }
    Sums operator[](std::size_t i) const {
        if (is_lean_) return LeanSums{gradient_[i], both_[i]};
        return {static_cast<std::int64_t>(full_[0][i]), static_cast<std::int64_t>(full_[1][i]),
                static_cast<std::int64_t>(full_[2][i])};
    }
    void add_gains(const GainTerms& terms, double* gains) const {
        const std::size_t n = (n_ + 3) / 4 * 4;
        if (is_lean_) return boost_kernels().add_lean_gains(gradient_.data(), both_.data(), n, terms, gains);
        boost_kernels().add_gains(full_[0].data(), full_[1].data(), full_[2].data(), n, terms, gains);
    }

  private:
    std::size_t n_ = 0;
    bool is_lean_ = false;
    std::array<std::int64_t, most_cuts> gradient_, both_;  // lean
    std::array<double, most_cuts> full_[3];                // else: gradient, hessian, weight; whole numbers

    void add_up(const LeanSums* sums, const Sums& start) {
        LeanSums left{start.gradient, start.hessian << 24 | start.weight};
        for (std::size_t i = 0; i < n_; ++i) {
            left += sums[i];
            gradient_[i] = left.gradient;
            both_[i] = left.both;
        }
    }
    void add_up(const Sums* sums, const Sums& start) {
        Sums left = start;
        for (std::size_t i = 0; i < n_; ++i) {
            left += sums[i];
            full_[0][i] = static_cast<double>(left.gradient);
            full_[1][i] = static_cast<double>(left.hessian);
            full_[2][i] = static_cast<double>(left.weight);
        }
    }
};

LevelFinder::LevelFinder(const SplitFinder& finder, const std::vector<Totals>& blocks)
    : finder_(finder), blocks_(blocks) {}

bool LevelFinder::matters(const Totals& totals) const {
    if (!finder_.rules().monotonic.empty()) return totals.sums.weight > 0;
    // Each side needs the least hessian; half a quantum keeps rounding off the border.
    const double hessian = (static_cast<double>(totals.sums.hessian) + 0.5) * finder_.quanta().hessian;
    return finder_.may_split(totals.sums) && hessian >= 2.0 * finder_.least_hessian();
}

void LevelFinder::add_gains(const Totals& totals, const Prefixes& left, int sign, Gains& gains) const {
    const Rules& rules = finder_.rules();
    const Quanta& quanta = finder_.quanta();
    if (rules.monotonic.empty()) {
        const GainTerms terms{static_cast<double>(totals.sums.gradient),
                              static_cast<double>(totals.sums.hessian),
                              static_cast<double>(totals.sums.weight),
                              quanta.gradient,
                              quanta.hessian,
                              finder_.l2(),
                              std::max(rules.min_weight / quanta.weight, 1.0),
                              finder_.least_hessian() / quanta.hessian,
                              finder_.reduction(totals.sums, totals.bounds)};
        return left.add_gains(terms, gains.data());
    }
    const double unsplit = finder_.reduction(totals.sums, totals.bounds);
    for (std::size_t i = 0; i < left.size(); ++i) {
        const Sums low = left[i], high = totals.sums - low;
        if (low.weight == 0 || high.weight == 0) continue;
        const double step = finder_.value(high, totals.bounds) - finder_.value(low, totals.bounds);
        if (sign * step < 0.0) gains[i] = -std::numeric_limits<double>::infinity();
        if (finder_.may_be_child(low) && finder_.may_be_child(high))
            gains[i] +=
                finder_.reduction(low, totals.bounds) + finder_.reduction(high, totals.bounds) - unsplit;
    }
}

void LevelFinder::cut_feature(std::int32_t feature, const Bins& bins,
                              const std::vector<Histogram>& histograms, std::size_t first,
                              std::optional<LevelCut>& best) const {
    const auto f = static_cast<std::size_t>(feature);
    const std::size_t n_bins = bins.n_bins(f);
    const Rules& rules = finder_.rules();
    const int sign = rules.monotonic.empty() ? 0 : rules.monotonic[f];
    // Sums of the bins of a block. The bins of a level of a category come from the codes of its slot.
    const bool is_coded = bins.slots[bins.slots.of(f)].is_coded;
    Histogram spread;
    const auto read_block = [&](std::size_t block, const auto& use) {
        if (!is_coded) return use(histograms[block], first);
        spread.reset(n_bins + 1, histograms[block].is_lean());
        spread.spread(histograms[block],
                      [&](const auto* codes, auto* to) { spread_codes(bins, f, f + 1, codes + first, to); });
        use(spread, std::size_t{0});
    };
    const std::size_t missing = is_coded ? bins.slots[bins.slots.of(f)].missing() : n_bins;
    bool any_missing = false;
    for (const Histogram& histogram : histograms)
        any_missing = any_missing || (!histogram.empty() && histogram[first + missing].weight > 0);
    // Missing values go right, or left. Without any, the last bin has nothing on its right.
    const std::size_t n_cuts[2] = {any_missing ? n_bins : n_bins - 1, any_missing ? n_bins - 1 : 0};
    Gains gains[2] = {};
    Prefixes left;
    for (std::size_t block = 0; block < blocks_.size(); ++block) {
        if (histograms[block].empty() || !matters(blocks_[block])) continue;
        read_block(block, [&](const Histogram& sums, std::size_t begin) {
            for (const int side : {0, 1}) {
                if (n_cuts[side] == 0) continue;
                left.fill(sums, begin, n_cuts[side], side == 0 ? Sums{} : sums[begin + n_bins]);
                add_gains(blocks_[block], left, sign, gains[side]);
            }
        });
    }
    double gain = best ? best->cut.gain : 0.0;
    int found_side = -1;
    std::size_t found = 0;
    for (std::size_t bin = 0; bin < n_bins; ++bin)
        for (const int side : {0, 1})
            if (bin < n_cuts[side] && gains[side][bin] > gain) {
                gain = gains[side][bin];
                found = bin;
                found_side = side;
            }
    if (found_side < 0) return;
    LevelCut cut;
    Sums all, all_left;
    cut.left.resize(blocks_.size());
    for (std::size_t block = 0; block < blocks_.size(); ++block) {
        all += blocks_[block].sums;
        if (histograms[block].empty()) continue;
        read_block(block, [&](const Histogram& sums, std::size_t begin) {
            cut.left[block] = sums.total(begin, found + 1);
            if (found_side == 1) cut.left[block] += sums[begin + n_bins];
        });
        all_left += cut.left[block];
    }
    cut.cut.code = static_cast<std::uint32_t>(found);
    cut.cut.is_missing_left = any_missing ? found_side == 1 : 2 * all_left.weight >= all.weight;
    cut.cut.direction = Direction::single(feature);
    cut.cut.gain = gain;
    best = std::move(cut);
}

Direction LevelFinder::direct(const Moments* moments, const std::vector<std::int32_t>& features) const {
    Moments overall(features.size());
    Centred centred(features.size());
    for (std::size_t block = 0; block < blocks_.size(); ++block) {
        overall.merge(moments[block]);
        centred.add(moments[block]);
    }
    return finder_.direct(overall, centred, features);
}

void LevelFinder::cut_direction(const Direction& direction, const Histogram* histograms,
                                std::optional<LevelCut>& best) const {
    const int sign = finder_.sign_of(direction);
    Gains gains{};
    constexpr std::size_t n_cuts = n_steps - 1;
    Prefixes left;
    for (std::size_t block = 0; block < blocks_.size(); ++block) {
        if (!matters(blocks_[block])) continue;
        left.fill(histograms[block], 0, n_cuts, {});
        add_gains(blocks_[block], left, sign, gains);
    }
    const auto largest = std::max_element(gains.begin(), gains.begin() + n_cuts);
    if (!(*largest > (best ? best->cut.gain : 0.0))) return;
    const auto found = static_cast<std::size_t>(largest - gains.begin());
    LevelCut cut;
    for (std::size_t block = 0; block < blocks_.size(); ++block) {
        cut.left.push_back(histograms[block].total(0, found + 1));
    }
    cut.cut.direction = direction;
    cut.cut.sum = direction.low + static_cast<double>(found + 1) * direction.step;
    cut.cut.gain = *largest;
    best = std::move(cut);
}

}  // namespace lhtree::boost
