#include <algorithm>
#include <cmath>
#include <limits>
#include <numeric>

#include "lhtree/grow/compact/problem.hpp"
#include "lhtree/grow/kernels.hpp"

namespace lhtree::compact {
namespace {

constexpr double ln2 = 0x1.62e42fefa39efp-1;
constexpr double nowhere = std::numeric_limits<double>::infinity();

// Largest weight: scaling the largest to 1 would lose smaller ones.
bool is_moderate(float weight) {
    return std::abs(weight) >= 1e-6f && std::abs(weight) <= 1e6f;
}

// Values of a weight at which rows change sides, and the changes of the wrong weight.
struct Turns {
    std::vector<double> at, change;
    Order order;
};

// Returns the best value of one weight, given the sums of the line; the present one if none is better.
float move_weight(const Problem& problem, const std::vector<double>& sums, const float* values, double offset,
                  float present, Turns& turns) {
    const double own = present;
    turns.at.resize(sums.size());
    turns.change.resize(sums.size());
    for (std::size_t i = 0; i < sums.size(); ++i) {
        const double z = values[i];
        turns.at[i] = (offset - (sums[i] - own * z)) / z;
    }
    std::size_t n_turns = 0;
    double now = 0.0;  // wrong weight at the present weight, relative to that far below
    for (std::size_t i = 0; i < sums.size(); ++i) {
        // A row with z > 0 moves from left to right as the weight passes the place.
        const double at = turns.at[i], gain = problem.gain(i), change = values[i] > 0.0f ? -gain : gain;
        const bool is_turn = values[i] != 0.0f && gain != 0.0;
        turns.at[n_turns] = at;
        turns.change[n_turns] = change;
        n_turns += is_turn;
        now += change * static_cast<double>(is_turn & (at < own));  // branchless: half of the rows qualify
    }
    turns.at.resize(n_turns);
    turns.change.resize(n_turns);
    turns.order.fill(turns.at, turns.change, nullptr, present, problem.is_exact());
    const double margin = tie * problem.total();
    double least = now;
    float best = present;
    turns.order.walk(
        0.0,
        [&](const Order::Bucket& bucket, const Reached& before) {
            return before.sum + bucket.falls < now - margin;
        },
        [&](const Reached& reached, double lower, double upper) {
            const double wrong = reached.sum;
            if (wrong > least) return;
            const auto middle = static_cast<float>(lower + (upper - lower) / 2.0);
            if (!(lower < middle && middle < upper) || !is_moderate(middle)) return;
            const bool is_nearer = best != present && std::abs(middle - present) < std::abs(best - present);
            if (wrong < least - margin || (wrong < now - margin && is_nearer)) {
                least = wrong;
                best = middle;
            }
        });
    return best;
}

// Exact coordinate search: sweeps over the weights of a line, with its offset fixed, and moves one at a time
// to the value with the least wrong weight.
Line polish(const Problem& problem, const Line& line, Watch& watch) {
    Line polished = line;
    std::vector<double> sums;
    problem.sum_up(polished, sums);
    Turns turns;
    for (int sweep = 0; sweep < n_sweeps; ++sweep) {
        bool is_moved = false;
        for (std::size_t term = 0; term < polished.features.size(); ++term) {
            watch.check();
            const float* const values = problem.values(polished.features[term]);
            const float present = polished.weights[term];
            const float moved = move_weight(problem, sums, values, polished.offset, present, turns);
            if (moved == present) continue;
            polished.weights[term] = moved;
            problem.sum_up(polished, sums);
            is_moved = true;
        }
        if (!is_moved) break;
    }
    // Rescales the weights.
    float largest = 0.0f;
    for (const float weight : polished.weights) largest = std::max(largest, std::abs(weight));
    if (largest == 1.0f) return polished;
    for (float& weight : polished.weights) weight /= largest;
    polished.offset /= static_cast<double>(largest);
    return polished;
}

class Solver {
  public:
    Solver(const Problem& problem, Watch& watch) : problem_(problem), watch_(watch), fitter_(problem, watch) {
        best_.value = nowhere;
    }

    const Candidate& best() const { return best_; }

    // Tries the present line: with its offset, cut again, and with new weights.
    void try_present(const Line& line, bool keeps_weights) {
        const Logistic fit = fitter_.fit_sums(line);
        if (keeps_weights) try_line(line, fit, true);
        try_fit(line, fit);
    }

    void try_single() {
        const Line line = problem_.find_single();
        if (line.is_given()) try_line(line, fitter_.fit_sums(line), false);
    }

    void step_forward() {
        const std::size_t n_features = problem_.data().n_features();
        const std::size_t n_most = std::min(problem_.data().options().max_terms, n_features);
        const double rho = ridge * problem_.total();
        std::vector<bool> is_used(n_features, false);
        std::vector<std::int32_t> features;  // in the order of their addition
        Columns columns;
        Logistic fit = fitter_.fit_bias();
        double best = nowhere;
        for (int n_failures = 0; features.size() < n_most && n_failures < most_failures;) {
            watch_.check();
            double most = 0.0;
            std::size_t chosen = n_features;
            for (std::size_t feature = 0; feature < n_features; ++feature) {
                if (is_used[feature]) continue;
                const auto [slope, bend] =
                    grow_kernels().curve(problem_.clipped(static_cast<std::int32_t>(feature)),
                                         fitter_.slope_by(), fitter_.curve_by(), problem_.n_padded());
                const double promise = slope * slope / (bend + rho);
                if (promise > most * (1.0 + tie)) {
                    most = promise;
                    chosen = feature;
                }
            }
            if (chosen == n_features) return;
            is_used[chosen] = true;
            features.push_back(static_cast<std::int32_t>(chosen));
            columns.push_back(problem_.column(features.back()));
            fitter_.add_column(columns, fit);
            const Candidate candidate = with_line(features, fit, std::max(best, best_.value));
            n_failures = candidate.value < best - margin() ? 0 : n_failures + 1;
            best = std::min(best, candidate.value);
            take(candidate);
        }
    }

    void step_back() {
        std::vector<double> spread(problem_.data().n_features(), -1.0);  // -1: unknown
        while (best_.line.features.size() > 1) {
            const Line line = best_.line;
            std::vector<double> size;
            for (std::size_t term = 0; term < line.features.size(); ++term) {
                double& own = spread[static_cast<std::size_t>(line.features[term])];
                if (own < 0.0) own = spread_of(problem_.column(line.features[term]));
                size.push_back(std::abs(static_cast<double>(line.weights[term])) * own);
            }
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
                try_fit(fewer, fitter_.fit_sums(fewer));
            }
            if (!(best_.value < before)) return;
        }
    }

    void try_polished() {
        if (!best_.line.is_given()) return;
        const Line line = polish(problem_, best_.line, watch_);
        if (!(line == best_.line)) try_line(line, fitter_.fit_sums(line), true);
    }

  private:
    const Problem& problem_;
    Watch& watch_;
    Fitter fitter_;
    std::vector<double> sums_;
    Candidate best_;

    double margin() const { return tie * problem_.total(); }

    void take(const Candidate& candidate) {
        if (candidate.value < best_.value - margin() || (best_.value == nowhere && candidate.value < nowhere))
            best_ = candidate;
    }

    // Cost of a line without its wrong weight.
    double cost_of(const Line& line, double loss) const {
        return share_logistic * (loss / ln2) + problem_.data().lambda() * line.n_terms();
    }
    Candidate judged(const Line& line, const Cut& cut, double loss) const {
        if (!cut.is_found) return {line, 0.0, nowhere};
        Candidate candidate{line, cut.wrong, 0.0};
        candidate.line.offset = cut.offset;
        candidate.value = share_wrong * cut.wrong + share_logistic * (loss / ln2) +
                          problem_.data().lambda() * line.n_terms();
        return candidate;
    }
    // Cuts the line by sums_, unless its value would be `limit` or more.
    Candidate cut(const Line& line, double near, double loss, double limit) {
        // Allows for rounding.
        const double most = (limit - cost_of(line, loss)) / share_wrong + tie * (problem_.total() + limit);
        return judged(line, problem_.cut(sums_, near, most), loss);
    }

    // Judges the line, with or without an offset, by the fit of its sums.
    void try_line(const Line& line, const Logistic& fit, bool keeps_offset) {
        problem_.sum_up(line, sums_);
        if (keeps_offset) take(judged(line, problem_.judge(sums_, line.offset), fit.loss));
        const double near = fit.slopes[0] > 0.0 ? -fit.bias / fit.slopes[0] : 0.0;
        take(cut(line, near, fit.loss, best_.value));
    }

    // Fits new weights, starting from the fit of the sums.
    void try_fit(const Line& line, const Logistic& of_sums) {
        Logistic fit;
        fit.bias = of_sums.bias;
        Columns columns;
        for (std::size_t term = 0; term < line.features.size(); ++term) {
            fit.slopes.push_back(of_sums.slopes[0] * static_cast<double>(line.weights[term]));
            columns.push_back(problem_.column(line.features[term]));
        }
        fitter_.fit(columns, fit);
        take(with_line(line.features, fit, best_.value));
    }

    // Cuts the line of a fit.
    Candidate with_line(const std::vector<std::int32_t>& features, const Logistic& fit, double limit) {
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
        if (cost_of(line, fit.loss) >= limit + tie * (problem_.total() + limit)) return {line, 0.0, nowhere};
        problem_.sum_up(line, sums_);
        return cut(line, -fit.bias / largest, fit.loss, limit);
    }

    double spread_of(const double* column) const {
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

Candidate solve(const Problem& problem, const Line& present, Effort effort, Watch& watch) {
    if (!problem.has_both_sides()) {
        if (present.is_given()) {
            std::vector<double> sums;
            problem.sum_up(present, sums);
            const Cut cut = problem.judge(sums, present.offset);
            if (cut.is_found) return {present, cut.wrong, cut.wrong};
        }
        return {};
    }
    Solver solver(problem, watch);
    if (present.is_given()) solver.try_present(present, effort != Effort::quick);
    solver.try_single();
    if (effort != Effort::tune) solver.step_forward();
    if (effort != Effort::quick) {
        solver.step_back();
        solver.try_polished();
    }
    return solver.best();
}

}  // namespace lhtree::compact
