#include "lhtree/grow/compact/solve.hpp"

#include <algorithm>
#include <cmath>
#include <limits>
#include <numeric>

#include "lhtree/grow/kernels/kernels.hpp"

namespace lhtree::compact {

namespace {

constexpr double ln2 = 0x1.62e42fefa39efp-1;
constexpr double nowhere = std::numeric_limits<double>::infinity();

class Solver {
  public:
    Solver(const Problem& problem, Watch& watch) : problem_(problem), watch_(watch) { best_.value = nowhere; }

    const Candidate& best() const { return best_; }

    // The line with its offset, and cut again.
    void try_line(const Line& line, bool keeps_offset) {
        const std::vector<double> sums = sums_of(line, problem_.data(), problem_.rows());
        const Logistic fit = fit_sums(line);
        if (keeps_offset) offer(line, problem_.judge(sums, line.offset), fit.loss);
        offer(line, problem_.cut(sums, near_of(fit)), fit.loss);
    }

    // The features of the line with new weights.
    void try_fit(const Line& line) {
        const Logistic of_sums = fit_sums(line);
        Logistic fit;
        fit.bias = of_sums.bias;
        for (const float weight : line.weights)
            fit.slopes.push_back(of_sums.slopes[0] * static_cast<double>(weight));
        take(judged(line.features, fit));
    }

    void step_forward() {
        const std::size_t n_features = problem_.data().n_features();
        const std::size_t n_most = std::min(problem_.data().options().max_terms, n_features);
        const double rho = ridge * problem_.total();
        std::vector<bool> is_used(n_features, false);
        std::vector<std::int32_t> features;  // in the order in which they came
        std::vector<Column> columns;
        Logistic fit;
        fit.bias = find_bias(problem_);
        fit_logistic(problem_, {}, fit, watch_);
        double best = nowhere;
        for (int n_failures = 0; features.size() < n_most && n_failures < most_failures;) {
            watch_.check();
            double most = 0.0;
            std::size_t chosen = n_features;
            for (std::size_t feature = 0; feature < n_features; ++feature) {
                if (is_used[feature]) continue;
                const auto [slope, bend] = grow_kernels().curve(
                    problem_.clipped(feature), fit.slope_by.data(), fit.curve_by.data(), problem_.n_padded());
                const double promise = slope * slope / (bend + rho);
                if (promise > most * (1.0 + tie)) {
                    most = promise;
                    chosen = feature;
                }
            }
            if (chosen == n_features) return;
            is_used[chosen] = true;
            features.push_back(static_cast<std::int32_t>(chosen));
            columns.push_back(clipped_column(problem_, features.back()));
            std::vector<const Column*> given;
            for (const Column& column : columns) given.push_back(&column);
            fit_logistic(problem_, given, fit, watch_);
            const Candidate candidate = with_line(features, fit);
            n_failures = candidate.value < best - margin() ? 0 : n_failures + 1;
            best = std::min(best, candidate.value);
            take(candidate);
        }
    }

    void step_back() {
        while (best_.line.features.size() > 1) {
            const Line line = best_.line;
            std::vector<double> size;
            for (std::size_t term = 0; term < line.features.size(); ++term)
                size.push_back(std::abs(static_cast<double>(line.weights[term])) *
                               spread_of(clipped_column(problem_, line.features[term])));
            std::vector<std::size_t> order(size.size());
            std::iota(order.begin(), order.end(), std::size_t{0});
            std::stable_sort(order.begin(), order.end(),
                             [&](std::size_t a, std::size_t b) { return size[a] < size[b]; });
            order.resize(std::min(order.size(), n_droppable));
            const double before = best_.value;
            for (const std::size_t dropped : order) {
                Line fewer = line;
                fewer.features.erase(fewer.features.begin() + static_cast<std::ptrdiff_t>(dropped));
                fewer.weights.erase(fewer.weights.begin() + static_cast<std::ptrdiff_t>(dropped));
                try_fit(fewer);
            }
            if (!(best_.value < before)) return;
        }
    }

    void try_polished() {
        if (!best_.line.is_given()) return;
        const Line line = polish(problem_, best_.line, watch_);
        if (!(line == best_.line)) try_line(line, true);
    }

  private:
    const Problem& problem_;
    Watch& watch_;
    Candidate best_;

    double margin() const { return tie * problem_.total(); }

    void take(const Candidate& candidate) {
        if (candidate.value < best_.value - margin() || (best_.value == nowhere && candidate.value < nowhere))
            best_ = candidate;
    }

    Candidate judged(const Line& line, const Cut& cut, double loss) const {
        if (!cut.is_found) return {line, 0.0, nowhere};
        Candidate candidate{line, cut.wrong, 0.0};
        candidate.line.offset = cut.offset;
        candidate.value = share_wrong * cut.wrong + share_logistic * (loss / ln2) +
                          problem_.data().lambda() * line.n_terms();
        return candidate;
    }
    void offer(const Line& line, const Cut& cut, double loss) { take(judged(line, cut, loss)); }

    Logistic fit_sums(const Line& line) const {
        const Column sums = clipped_sums(problem_, line);
        Logistic fit;
        fit.bias = find_bias(problem_);
        fit_logistic(problem_, {&sums}, fit, watch_);
        return fit;
    }
    static double near_of(const Logistic& fit) {
        return fit.slopes[0] > 0.0 ? -fit.bias / fit.slopes[0] : 0.0;
    }

    // Fits the features from the coefficients there are.
    Candidate judged(const std::vector<std::int32_t>& features, Logistic& fit) const {
        std::vector<Column> columns;
        std::vector<const Column*> given;
        for (const std::int32_t feature : features) columns.push_back(clipped_column(problem_, feature));
        for (const Column& column : columns) given.push_back(&column);
        fit_logistic(problem_, given, fit, watch_);
        return with_line(features, fit);
    }

    // The line of a fit, cut.
    Candidate with_line(const std::vector<std::int32_t>& features, const Logistic& fit) const {
        double largest = 0.0;
        for (const double slope : fit.slopes) largest = std::max(largest, std::abs(slope));
        if (!(largest > 0.0)) return {{}, 0.0, nowhere};
        std::vector<std::size_t> order(features.size());
        std::iota(order.begin(), order.end(), std::size_t{0});
        std::sort(order.begin(), order.end(),
                  [&](std::size_t a, std::size_t b) { return features[a] < features[b]; });
        Line line;
        for (const std::size_t term : order) {
            const auto weight = static_cast<float>(fit.slopes[term] / largest);
            if (weight == 0.0f) continue;
            line.features.push_back(features[term]);
            line.weights.push_back(weight);
        }
        return judged(line,
                      problem_.cut(sums_of(line, problem_.data(), problem_.rows()), -fit.bias / largest),
                      fit.loss);
    }

    double spread_of(const Column& column) const {
        const std::vector<double>& weight = problem_.weight();
        double sum = 0.0, squares = 0.0;
        for (std::size_t i = 0; i < problem_.rows().size(); ++i) sum += weight[i] * column[i];
        const double mean = sum / problem_.total();
        for (std::size_t i = 0; i < problem_.rows().size(); ++i)
            squares += weight[i] * (column[i] - mean) * (column[i] - mean);
        return std::sqrt(squares / problem_.total());
    }
};

}  // namespace

Column clipped_column(const Problem& problem, std::int32_t feature) {
    const float* const column = problem.clipped(static_cast<std::size_t>(feature));
    return {column, column + problem.n_padded()};
}

Column clipped_sums(const Problem& problem, const Line& line) {
    Column sums(problem.n_padded(), 0.0);
    for (std::size_t term = 0; term < line.features.size(); ++term) {
        const float* const column = problem.clipped(static_cast<std::size_t>(line.features[term]));
        const double weight = line.weights[term];
        for (std::size_t i = 0; i < problem.n_padded(); ++i)
            sums[i] += weight * static_cast<double>(column[i]);
    }
    return sums;
}

Candidate solve(const Problem& problem, const Line& present, Effort effort, Watch& watch) {
    Solver solver(problem, watch);
    if (!problem.has_both_sides()) {
        if (present.is_given()) {
            const std::vector<double> sums = sums_of(present, problem.data(), problem.rows());
            const Cut cut = problem.judge(sums, present.offset);
            if (cut.is_found) return {present, cut.wrong, cut.wrong};
        }
        return {};
    }
    if (present.is_given()) {
        if (effort != Effort::quick) solver.try_line(present, true);
        solver.try_fit(present);
    }
    const Line single = problem.find_single();
    if (single.is_given()) solver.try_line(single, false);
    if (effort != Effort::tune) solver.step_forward();
    if (effort != Effort::quick) {
        solver.step_back();
        solver.try_polished();
    }
    return solver.best();
}

}  // namespace lhtree::compact
