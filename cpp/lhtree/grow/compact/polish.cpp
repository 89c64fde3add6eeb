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

// The best value of one weight of a line, given its sums; the present one if none is better.
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
        // As the weight rises past the place, a row with z > 0 goes from left to right.
        const double at = turns.at[i], gain = problem.gain(i), change = values[i] > 0.0f ? -gain : gain;
        const bool is_turn = values[i] != 0.0f && gain != 0.0;
        turns.at[n_turns] = at;
        turns.change[n_turns] = change;
        n_turns += is_turn;
        now += change * static_cast<double>(is_turn & (at < own));  // half of all: a branch would be missed
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

}  // namespace

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
    // Weights may have grown.
    float largest = 0.0f;
    for (const float weight : polished.weights) largest = std::max(largest, std::abs(weight));
    if (largest == 1.0f) return polished;
    for (float& weight : polished.weights) weight /= largest;
    polished.offset /= static_cast<double>(largest);
    return polished;
}

}  // namespace lhtree::compact
