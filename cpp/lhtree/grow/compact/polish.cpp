// Exact coordinate search: one weight at a time moves to where the least weight is on the wrong side.
#include <algorithm>
#include <cmath>

#include "lhtree/grow/compact/order.hpp"
#include "lhtree/grow/compact/solve.hpp"

namespace lhtree::compact {

namespace {

// Weights far from 1 would be lost when the largest becomes 1.
bool is_moderate(float weight) {
    return std::abs(weight) >= 1e-6f && std::abs(weight) <= 1e6f;
}

// Where rows change sides as one weight rises, and what the weight on the wrong side changes by there.
struct Turns {
    std::vector<double> at, change;
    Order order;
};

// The best value of one weight, given the sums of the other terms; the present one if none is better.
float move_weight(const Problem& problem, const std::vector<double>& rest, const float* column, double offset,
                  float present, Turns& turns) {
    turns.at.clear();
    turns.change.clear();
    double now = 0.0;  // wrong weight at the present weight, relative to that far below
    for (std::size_t i = 0; i < rest.size(); ++i) {
        const double z = column[problem.rows()[i]];
        if (z == 0.0 || problem.gain(i) == 0.0) continue;
        // As the weight rises past the place, a row with z > 0 goes from left to right.
        turns.at.push_back((offset - rest[i]) / z);
        turns.change.push_back(z > 0.0 ? -problem.gain(i) : problem.gain(i));
        if (turns.at.back() < static_cast<double>(present)) now += turns.change.back();
    }
    const std::vector<KeyedRow>& order = turns.order.sort(turns.at);
    const double margin = tie * problem.total();
    double wrong = 0.0, least = now;
    float best = present;
    for (std::size_t i = 0; i + 1 < order.size(); ++i) {
        wrong += turns.change[row_of(order[i])];
        const double lower = turns.at[row_of(order[i])], upper = turns.at[row_of(order[i + 1])];
        if (!(lower < upper) || wrong > least) continue;
        const auto middle = static_cast<float>(lower + (upper - lower) / 2.0);
        if (!(lower < middle && middle < upper) || !is_moderate(middle)) continue;
        const bool is_nearer = best != present && std::abs(middle - present) < std::abs(best - present);
        if (wrong < least - margin || (wrong < now - margin && is_nearer)) {
            least = wrong;
            best = middle;
        }
    }
    return best;
}

}  // namespace

Line polish(const Problem& problem, const Line& line, Watch& watch) {
    Line polished = line;
    std::vector<double> sums = sums_of(polished, problem.data(), problem.rows()), rest(sums.size());
    Turns turns;
    for (int sweep = 0; sweep < n_sweeps; ++sweep) {
        bool is_moved = false;
        for (std::size_t term = 0; term < polished.features.size(); ++term) {
            watch.check();
            const float* const column =
                problem.data().column(static_cast<std::size_t>(polished.features[term]));
            const float present = polished.weights[term];
            for (std::size_t i = 0; i < rest.size(); ++i)
                rest[i] =
                    sums[i] - static_cast<double>(present) * static_cast<double>(column[problem.rows()[i]]);
            const float moved = move_weight(problem, rest, column, polished.offset, present, turns);
            if (moved == present) continue;
            polished.weights[term] = moved;
            sums = sums_of(polished, problem.data(), problem.rows());
            is_moved = true;
        }
        if (!is_moved) break;
    }
    // Weights may have grown.
    float largest = 0.0f;
    for (const float weight : polished.weights) largest = std::max(largest, std::abs(weight));
    if (largest == 1.0f) return polished;
    for (float& weight : polished.weights) weight /= largest;
    polished.offset /= static_cast<double>(largest);
    return polished;
}

}  // namespace lhtree::compact
