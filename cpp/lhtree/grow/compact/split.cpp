#include <algorithm>
#include <cmath>
#include <limits>
#include <numeric>

#include "lhtree/grow/compact/block.hpp"

namespace lhtree::compact {

namespace {

using Pair = std::pair<Estimate, Estimate>;  // what the left and the right side say

class Splitter {
  public:
    Splitter(const Data& data, const RowNumbers& rows, const Estimate& estimate, Watch& watch)
        : data_(data), rows_(rows), own_(estimate), watch_(watch) {}

    Split find() {
        const std::size_t n_classes = data_.labels().n_classes;
        if (own_.weight < 2.0 * data_.options().min_samples_leaf) return best_;
        Pair sides;
        if (start_from_cut(sides)) alternate(sides);
        if (n_classes > 2) {
            std::vector<std::size_t> order(n_classes);
            std::iota(order.begin(), order.end(), std::size_t{0});
            std::stable_sort(order.begin(), order.end(),
                             [&](std::size_t a, std::size_t b) { return own_.counts[a] > own_.counts[b]; });
            order.resize(std::min(n_classes, n_class_starts));
            for (const std::size_t cls : order)
                if (own_.counts[cls] > 0.0 && own_.counts[cls] < own_.weight)
                    alternate(start_from_class(cls));
        }
        return best_;
    }

  private:
    const Data& data_;
    const RowNumbers& rows_;
    const Estimate& own_;
    Watch& watch_;
    Split best_;

    Pair start_from_class(std::size_t cls) const {
        std::vector<double> others = own_.counts, alone(own_.counts.size(), 0.0);
        std::swap(others[cls], alone[cls]);
        return {data_.estimate_from(others, own_.weight - own_.counts[cls]),
                data_.estimate_from(alone, own_.counts[cls])};
    }

    // What sums of squares explain: Σ n_k² / n of counts, (Σ r)² / n of numbers.
    static double explained(const double* counts, std::size_t n, double weight) {
        double squares = 0.0;
        for (std::size_t k = 0; k < n; ++k) squares += counts[k] * counts[k];
        return squares / weight;
    }

    // The purest cut of a single feature between two codes.
    bool start_from_cut(Pair& sides) const {
        const Labels& labels = data_.labels();
        const std::size_t n = own_.counts.size();
        const double least = data_.options().min_samples_leaf;
        double best = -std::numeric_limits<double>::infinity(), best_weight = 0.0;
        std::vector<double> sums(most_bins * n), weights(most_bins), below(n), above(n), best_below;
        for (std::size_t feature = 0; feature < data_.n_features(); ++feature) {
            const std::uint8_t* const codes = data_.codes(feature);
            const std::size_t n_codes = data_.n_codes(feature);
            std::fill_n(sums.begin(), n_codes * n, 0.0);
            std::fill_n(weights.begin(), n_codes, 0.0);
            for (const std::uint32_t row : rows_) {
                const double weight = data_.weight(row);
                weights[codes[row]] += weight;
                if (labels.classes)
                    sums[codes[row] * n + static_cast<std::size_t>(labels.classes[row])] += weight;
                else
                    sums[codes[row]] += weight * labels.response[row];
            }
            std::fill(below.begin(), below.end(), 0.0);
            double weight = 0.0;
            for (std::size_t code = 0; code + 1 < n_codes; ++code) {
                if (weights[code] == 0.0) continue;
                weight += weights[code];
                for (std::size_t k = 0; k < n; ++k) {
                    below[k] += sums[code * n + k];
                    above[k] = own_.counts[k] - below[k];
                }
                if (weight < least || own_.weight - weight < least) continue;
                const double value =
                    explained(below.data(), n, weight) + explained(above.data(), n, own_.weight - weight);
                if (value > best + tie * own_.weight) {
                    best = value;
                    best_below = below;
                    best_weight = weight;
                }
            }
        }
        if (best_below.empty()) return false;
        std::vector<double> rest(n);
        for (std::size_t k = 0; k < n; ++k) rest[k] = own_.counts[k] - best_below[k];
        sides = {data_.estimate_from(best_below, best_weight),
                 data_.estimate_from(rest, own_.weight - best_weight)};
        return true;
    }

    // Sides → costs → line → sides, as long as the objective falls.
    void alternate(Pair sides) {
        const double before = data_.cost_of(own_, rows_) + data_.lambda();
        double last = std::numeric_limits<double>::infinity();
        Line line;
        for (int time = 0; time < most_alternations; ++time) {
            Question question{rows_, {}};
            for (const std::uint32_t row : rows_)
                question.gain.push_back(data_.weight(row) *
                                        (data_.cost(sides.first, row) - data_.cost(sides.second, row)));
            const Candidate found = solve(Problem(data_, question), line, Effort::quick, watch_);
            if (!found.line.is_given()) return;
            const Sides parted = part(found.line, data_, rows_);
            sides = {data_.estimate(parted.left), data_.estimate(parted.right)};
            const double value = data_.cost_of(sides.first, parted.left) +
                                 data_.cost_of(sides.second, parted.right) +
                                 data_.lambda() * (found.line.n_terms() + 2.0);
            if (!(value < last - tie * own_.weight)) return;
            last = value;
            line = found.line;
            if (before - value > best_.gain + tie * own_.weight) best_ = {line, before - value};
        }
    }
};

}  // namespace

Split find_split(const Data& data, const RowNumbers& rows, const Estimate& estimate, Watch& watch) {
    return Splitter(data, rows, estimate, watch).find();
}

}  // namespace lhtree::compact
