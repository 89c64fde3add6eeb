#include "lhtree/grow/statistics/runs.hpp"

#include <limits>

#include "lhtree/grow/statistics/moments.hpp"

namespace lhtree {
namespace {

constexpr double infinity = std::numeric_limits<double>::infinity();
constexpr std::size_t least_bins = 16;

// Largest cost of scanning the bins, in values per run and row.
bool is_light(std::size_t n_bins, std::size_t n_rows, std::size_t n_runs) {
    return n_bins * std::max<std::size_t>(n_runs, 4) * 2 <= n_rows;
}

}  // namespace

RunTotals measure_totals(const ClassedSamples& samples) {
    RunTotals totals;
    const std::int32_t* const last = samples.of_class + samples.size();
    for (std::size_t begin = 0; begin < samples.size(); begin = totals.end.back()) {
        const std::int32_t cls = samples.of_class[begin];
        const auto* const next = std::upper_bound(samples.of_class + begin, last, cls);
        totals.classes.push_back(cls);
        totals.end.push_back(static_cast<std::size_t>(next - samples.of_class));
        totals.of.push_back(total_weight(samples.run(begin, totals.end.back())));
    }
    return totals;
}

bool RunNarrower::pays(std::size_t n_rows, std::size_t n_runs) {
    return is_light(least_bins, n_rows, n_runs);
}

std::size_t RunNarrower::most_bins(std::size_t n, std::size_t n_runs) {
    std::size_t bins = least_bins;
    while (bins < 4096 && bins * 4 < n && is_light(bins * 2, n, n_runs)) bins *= 2;
    return bins;
}

void RunNarrower::count(const RunTotals& totals) {
    const std::size_t n_bins = bins_.size(), n = bins_.n_rows();
    n_runs_ = totals.size();
    runs_before_.assign((n_bins + 1) * n_runs_, 0);
    for (std::size_t run = 0; run < n_runs_; ++run)
        for (std::size_t row = totals.begin(run); row < totals.end[run]; ++row)
            ++runs_before_[(bins_[row] + 1u) * n_runs_ + run];
    before_.resize(n_bins + 1);
    left_.resize(n_bins + 1);
    right_.resize(n_bins + 1);
    for (std::size_t b = 0; b <= n_bins; ++b) {
        std::uint32_t* const own = &runs_before_[b * n_runs_];
        if (b > 0)
            for (std::size_t run = 0; run < n_runs_; ++run) own[run] += own[run - n_runs_];
        std::uint64_t weight = 0, left = 0, right = 0;
        for (std::size_t run = 0; run < n_runs_; ++run) {
            const std::uint64_t here = own[run], there = totals.end[run] - totals.begin(run) - here;
            weight += here;
            left += here * here;
            right += there * there;
        }
        before_[b] = static_cast<std::uint32_t>(weight);
        left_[b] = impurity(static_cast<double>(weight), static_cast<double>(left));
        right_[b] = impurity(static_cast<double>(n - weight), static_cast<double>(right));
    }
}

std::size_t RunNarrower::choose(double limit, double min_samples_leaf) {
    const auto n = static_cast<double>(bins_.n_rows());
    const auto is_allowed = [&](double left, double right) {
        return left >= min_samples_leaf && right >= min_samples_leaf && left > 0.0 && right > 0.0;
    };
    double least = infinity;
    for (std::size_t b = 1; b < bins_.size(); ++b)
        if (is_allowed(before(b), n - before(b))) least = std::min(least, cost(b));
    const double threshold = std::min(limit, least) + 1e-9 * n;  // above the rounding error
    const auto is_empty = [&](std::size_t b) { return before_[b] == before_[b + 1]; };
    return choose_bins(is_empty, [&](std::size_t b) {
        const bool is_single = before_[b + 1] - before_[b] == 1 || has_one_value(b);
        const double most_right = n - (is_single ? before(b + 1) : before(b));
        const double bound = is_single ? cost(b + 1) : left_[b] + right_[b + 1];
        return is_allowed(before(b + 1), most_right) && bound <= threshold;
    });
}

void RunOrder::start(const RunTotals& totals) {
    run_.resize(std::max(run_.size(), totals.end.back()));
    for (std::size_t run = 0; run < totals.size(); ++run)
        std::fill(run_.begin() + static_cast<std::ptrdiff_t>(totals.begin(run)),
                  run_.begin() + static_cast<std::ptrdiff_t>(totals.end[run]),
                  static_cast<std::uint32_t>(run));
}

void RunOrder::measure(const ClassedSamples& samples, const RunTotals& totals, const double* feature_sums,
                       double min_samples_leaf) {
    std::size_t n = samples.size();
    const bool is_narrowed = !samples.weight && RunNarrower::pays(n, totals.size());
    if (is_narrowed) {
        narrower_.bin(feature_sums, n, totals);
        n = narrower_.choose(infinity, min_samples_leaf);
    }
    sorted_.sort(feature_sums, is_narrowed ? narrower_.chosen() : nullptr, n);
    add_up(samples, totals, is_narrowed);
}

void RunOrder::measure_feature(const ClassedSamples& samples, const RunTotals& totals, std::size_t feature,
                               const CodedRows& coded, double limit, double min_samples_leaf) {
    std::size_t n = samples.size();
    const bool is_narrowed = coded.code && !samples.weight && RunNarrower::pays(n, totals.size());
    if (is_narrowed) {
        narrower_.bin(coded, n, totals);
        n = narrower_.choose(limit, min_samples_leaf);
        if (n == 0) return sorted_.clear();
    }
    sorted_.sort(samples.rows, feature, is_narrowed ? narrower_.chosen() : nullptr, n);
    add_up(samples, totals, is_narrowed);
}

void RunOrder::add_up(const ClassedSamples& samples, const RunTotals& totals, bool is_narrowed) {
    const std::size_t n = sorted_.size(), n_runs = totals.size();
    cost_.resize(std::max(cost_.size(), n));
    left_.resize(std::max(left_.size(), n));
    const double total = totals.weight();
    double left = 0.0, left_squares = 0.0, right_squares = 0.0;
    of_left_.assign(n_runs, 0.0);
    of_right_ = totals.of;
    for (const double weight : totals.of) right_squares += weight * weight;
    for (std::size_t i = 0, bin = 0; i < n; ++i) {
        const std::size_t row = sorted_.row(i);
        if (is_narrowed && narrower_.has_one_value(narrower_.bin_of(row))) {
            bin = narrower_.bin_of(row);
            left_[i] = narrower_.before(bin + 1);
            cost_[i] = narrower_.cost(bin + 1);
            continue;
        }
        if (is_narrowed && (i == 0 || narrower_.bin_of(row) != bin)) {  // rows before it may be missing
            bin = narrower_.bin_of(row);
            left = left_squares = right_squares = 0.0;
            for (std::size_t run = 0; run < n_runs; ++run) {
                of_left_[run] = narrower_.runs_before(bin)[run];
                of_right_[run] = totals.of[run] - of_left_[run];
                left += of_left_[run];
                left_squares += of_left_[run] * of_left_[run];
                right_squares += of_right_[run] * of_right_[run];
            }
        }
        const double weight = samples.weight_of(row);
        double &here = of_left_[run_[row]], &there = of_right_[run_[row]];
        left_squares += weight * (2.0 * here + weight);
        right_squares -= weight * (2.0 * there - weight);
        here += weight;
        there -= weight;
        left += weight;
        left_[i] = left;
        cost_[i] = std::max(impurity(left, left_squares) + impurity(total - left, right_squares), 0.0);
    }
}

}  // namespace lhtree
