#include "lhtree/grow/boost/term_steps.hpp"

#include <algorithm>
#include <limits>
#include <numeric>

#include "lhtree/shared/elementary.hpp"

namespace lhtree::boost {
namespace {

constexpr double least_excess = -40.0;  // of the logarithm of the weight of a cut, relative to the best one

double value_of(const CellSums& sums, double l2) {
    return sums.hessian + l2 > 0.0 ? -sums.gradient / (sums.hessian + l2) : 0.0;
}
double reduction_of(const CellSums& sums, double l2) {
    return sums.hessian + l2 > 0.0 ? sums.gradient * sums.gradient / (sums.hessian + l2) : 0.0;
}
// The reduction of two ranges, with a single division.
double reduction_of(const CellSums& left, const CellSums& right, double l2) {
    const double a = left.hessian + l2, b = right.hessian + l2, product = a * b;
    if (!(a > 0.0 && b > 0.0 && product > 0.0)) return reduction_of(left, l2) + reduction_of(right, l2);
    return (left.gradient * left.gradient * b + right.gradient * right.gradient * a) / product;
}

// Whether a gain is larger than another one by more than rounding: equal cuts of both axes are common.
bool is_larger(double gain, double than) {
    return gain > than * (1.0 + 1e-12);
}

// The cells without that of missing values: numbers in their order, categories by their steps.
void order_cells(const CellSums* cells, const CellAxis& axis, const StepOptions& options,
                 std::vector<std::size_t>& order) {
    order.resize(axis.n_cells - 1);
    std::iota(order.begin(), order.end(), std::size_t{0});
    if (axis.is_ordered) return;
    double step[256];
    for (const std::size_t cell : order) step[cell] = value_of(cells[cell], options.level_ridge);
    std::sort(order.begin(), order.end(), [&](std::size_t one, std::size_t other) {
        return step[one] < step[other] || (step[one] == step[other] && one < other);
    });
}

// Two ranges of ordered cells, and the step of missing values.
struct TwoRanges {
    double gain = 0.0;    // over no step at all
    std::size_t end = 0;  // of the first range
    double first = 0.0, second = 0.0, missing = 0.0;
};

class SurfaceFinder {
  public:
    SurfaceFinder(const std::vector<CellSums>& cells, const CellAxis& first, const CellAxis& second,
                  const StepOptions& options)
        : cells_(cells), axes_{&first, &second}, options_(options) {}

    // The gain of the best step.
    double find() {
        for (std::size_t axis = 0; axis < 2; ++axis) try_axis(axis);
        return gain_;
    }
    void write(double* additions) {
        const CellAxis &split = *axes_[axis_], &other = *axes_[1 - axis_];
        std::vector<CellSums> sides[2];
        for (auto& side : sides) side.resize(other.n_cells);
        for (std::size_t a = 0; a < split.n_cells; ++a) add(axis_, a, sides[is_left(a) ? 0 : 1]);
        for (const bool of_left : {true, false}) {
            const TwoRanges ranges = cut(sides[of_left ? 0 : 1], other);
            for (std::size_t a = 0; a < split.n_cells; ++a) {
                if (is_left(a) != of_left) continue;
                for (std::size_t i = 0; i + 1 < other.n_cells; ++i)
                    additions[place(axis_, a, order_[i])] =
                        options_.learning_rate * (i < ranges.end ? ranges.first : ranges.second);
                additions[place(axis_, a, other.n_cells - 1)] = options_.learning_rate * ranges.missing;
            }
        }
    }

    // Cuts the cells of an axis once, if that gains anything, and keeps their order.
    TwoRanges cut(const std::vector<CellSums>& cells, const CellAxis& axis) {
        const double l2 = options_.l2, least = options_.min_weight;
        order_cells(cells.data(), axis, options_, order_);
        CellSums all, left;
        for (const std::size_t cell : order_) all += cells[cell];
        TwoRanges best{reduction_of(all, l2), order_.size(), 0.0, 0.0, 0.0};
        CellSums own = all;  // of the first range
        for (std::size_t i = 0; i + 1 < order_.size(); ++i) {
            left += cells[order_[i]];
            const CellSums right = all - left;
            if (left.weight < least || !(left.weight > 0.0)) continue;
            if (right.weight < least || !(right.weight > 0.0)) break;
            const double gain = reduction_of(left, right, l2);
            if (!is_larger(gain, best.gain)) continue;
            best.gain = gain;
            best.end = i + 1;
            own = left;
        }
        best.first = value_of(own, l2);
        if (best.end < order_.size()) best.second = value_of(all - own, l2);
        const CellSums& missing = cells.back();
        if (missing.weight >= least && missing.weight > 0.0) {
            best.gain += reduction_of(missing, l2);
            best.missing = value_of(missing, l2);
        }
        return best;
    }

  private:
    const std::vector<CellSums>& cells_;
    const CellAxis* axes_[2];
    const StepOptions& options_;
    double gain_ = 0.0;
    std::size_t axis_ = 0, at_ = 0;   // the first cut: its axis, and the last cell of its left side
    std::vector<std::size_t> order_;  // of the cells of the other axis
    std::vector<CellSums> all_, left_, right_;

    // Categories and missing values are alone on the left side.
    bool is_left(std::size_t a) const {
        const CellAxis& split = *axes_[axis_];
        return split.is_ordered && at_ + 1 < split.n_cells ? a <= at_ : a == at_;
    }
    // The cell of a surface at cell a of an axis, and cell b of the other one.
    std::size_t place(std::size_t axis, std::size_t a, std::size_t b) const {
        return axis == 0 ? a * axes_[1]->n_cells + b : b * axes_[1]->n_cells + a;
    }
    void add(std::size_t axis, std::size_t a, std::vector<CellSums>& to) const {
        for (std::size_t b = 0; b < to.size(); ++b) to[b] += cells_[place(axis, a, b)];
    }
    void try_axis(std::size_t axis) {
        const CellAxis &split = *axes_[axis], &other = *axes_[1 - axis];
        all_.assign(other.n_cells, {});
        left_.assign(other.n_cells, {});
        right_.resize(other.n_cells);
        for (std::size_t a = 0; a < split.n_cells; ++a) add(axis, a, all_);
        for (std::size_t a = 0; a < split.n_cells; ++a) {
            if (!split.is_ordered || a + 1 == split.n_cells) left_.assign(other.n_cells, {});
            add(axis, a, left_);
            if (split.is_ordered && a + 2 == split.n_cells) continue;  // all numbers
            CellSums of_left, of_right;                                // without missing values
            for (std::size_t b = 0; b + 1 < all_.size(); ++b) {
                of_left += left_[b];
                of_right += right_[b] = all_[b] - left_[b];
            }
            right_.back() = all_.back() - left_.back();
            if (!is_heavy(of_left.weight + left_.back().weight)) continue;
            if (!is_heavy(of_right.weight + right_.back().weight)) continue;
            const double gain = other.is_ordered ? measure(of_left, of_right)
                                                 : cut(left_, other).gain + cut(right_, other).gain;
            if (!is_larger(gain, gain_)) continue;
            gain_ = gain;
            axis_ = axis;
            at_ = a;
        }
    }
    // The gain of the best cuts of both sides, for an axis of numbers.
    double measure(const CellSums& of_left, const CellSums& of_right) const {
        const double l2 = options_.l2;
        double gain[2] = {reduction_of(of_left, l2), reduction_of(of_right, l2)};
        CellSums low, high;  // numbers up to a cut, of the left and of the right side
        for (std::size_t b = 0; b + 2 < all_.size(); ++b) {
            low += left_[b];
            high += right_[b];
            const CellSums above_low = of_left - low, above_high = of_right - high;
            if (is_heavy(low.weight) && is_heavy(above_low.weight))
                gain[0] = std::max(gain[0], reduction_of(low, above_low, l2));
            if (is_heavy(high.weight) && is_heavy(above_high.weight))
                gain[1] = std::max(gain[1], reduction_of(high, above_high, l2));
        }
        if (is_heavy(left_.back().weight)) gain[0] += reduction_of(left_.back(), l2);
        if (is_heavy(right_.back().weight)) gain[1] += reduction_of(right_.back(), l2);
        return gain[0] + gain[1];
    }
    bool is_heavy(double weight) const { return weight >= options_.min_weight && weight > 0.0; }
};

}  // namespace

void find_curve_step(const std::vector<CellSums>& cells, const CellAxis& axis, const StepOptions& options,
                     double dispersion, double* additions) {
    struct WeighedCut {
        std::size_t end;
        double gain, left, right;
    };
    std::vector<std::size_t> order;
    order_cells(cells.data(), axis, options, order);
    const double l2 = options.l2, least = options.min_weight, rate = options.learning_rate;
    CellSums all, left;
    for (const std::size_t cell : order) all += cells[cell];
    const CellSums& missing = cells.back();
    const bool moves_missing = missing.weight >= least && missing.weight > 0.0;
    std::fill(additions, additions + axis.n_cells, 0.0);
    if (moves_missing) additions[axis.n_cells - 1] = rate * value_of(missing, l2);
    WeighedCut cuts[256];
    std::size_t n_cuts = 0;
    double best = -std::numeric_limits<double>::infinity();
    for (std::size_t i = 0; i + 1 < order.size(); ++i) {
        left += cells[order[i]];
        const CellSums right = all - left;
        if (!(cells[order[i]].weight > 0.0) || left.weight < least) continue;
        if (right.weight < least || !(right.weight > 0.0)) break;
        const WeighedCut cut{i + 1, 0.0, value_of(left, l2), value_of(right, l2)};
        if (axis.sign * (cut.right - cut.left) < 0.0) continue;
        cuts[n_cuts] = cut;
        cuts[n_cuts].gain = -(left.gradient * cut.left + right.gradient * cut.right);
        best = std::max(best, cuts[n_cuts++].gain);
    }
    // Cuts have the weights of their likelihoods, or a power of them; the least ones are left out.
    double total = 0.0;
    std::size_t n_kept = 0;
    const double unit = 1.0 / (2.0 * dispersion * options.smoothing);
    for (std::size_t c = 0; c < n_cuts; ++c) {
        const double excess = (cuts[c].gain - best) * unit;
        if (excess < least_excess) continue;
        cuts[n_kept] = cuts[c];
        total += cuts[n_kept++].gain = cuts[c].gain == best ? 1.0 : elementary::exp(excess);
    }
    double value = n_cuts == 0 ? value_of(all, l2) : 0.0;
    for (std::size_t c = 0; c < n_kept; ++c) {
        cuts[c].gain /= total;
        value += cuts[c].gain * cuts[c].left;
    }
    std::size_t i = 0;
    for (std::size_t c = 0; c < n_kept; ++c) {
        const WeighedCut& cut = cuts[c];
        for (; i < cut.end; ++i) additions[order[i]] = rate * value;
        value += cut.gain * (cut.right - cut.left);  // never against the sign, also when rounded
    }
    for (; i < order.size(); ++i) additions[order[i]] = rate * value;
}

Merges find_merges(std::vector<double> values, std::vector<double> weights, std::size_t n_parts,
                   std::size_t n_scores) {
    const std::size_t n = weights.size() / n_parts, width = n_parts * n_scores;
    std::vector<std::size_t> step(n);  // the first cell of every step, which has its values
    std::iota(step.begin(), step.end(), std::size_t{0});
    const auto measure = [&](std::size_t i) {
        const double *const a = weights.data() + step[i] * n_parts, *const b = weights.data() +
                                                                               step[i + 1] * n_parts;
        const double *const u = values.data() + step[i] * width, *const v =
                                                                     values.data() + step[i + 1] * width;
        double cost = 0.0;
        for (std::size_t part = 0; part < n_parts; ++part) {
            const double both = a[part] + b[part];
            if (!(both > 0.0)) continue;
            double squares = 0.0;
            for (std::size_t k = part * n_scores; k < (part + 1) * n_scores; ++k)
                squares += (u[k] - v[k]) * (u[k] - v[k]);
            cost += 0.5 * (a[part] * b[part] / both) * squares;
        }
        return cost;
    };
    Merges merges;
    std::vector<double> costs;
    for (std::size_t i = 0; i + 1 < n; ++i) costs.push_back(measure(i));
    double total = 0.0;
    while (!costs.empty()) {
        const auto i = static_cast<std::size_t>(std::min_element(costs.begin(), costs.end()) - costs.begin());
        total += costs[i];
        merges.edge.push_back(static_cast<std::int64_t>(step[i + 1]) - 1);
        merges.cost.push_back(total);
        double *const a = weights.data() + step[i] * n_parts, *const b =
                                                                  weights.data() + step[i + 1] * n_parts;
        double *const u = values.data() + step[i] * width, *const v = values.data() + step[i + 1] * width;
        for (std::size_t part = 0; part < n_parts; ++part) {
            const double both = a[part] + b[part], share = both > 0.0 ? a[part] / both : 0.5;
            for (std::size_t k = part * n_scores; k < (part + 1) * n_scores; ++k)
                u[k] = share * u[k] + (1.0 - share) * v[k];
            a[part] = both;
        }
        const auto at = static_cast<std::ptrdiff_t>(i);
        step.erase(step.begin() + at + 1);
        costs.erase(costs.begin() + at);
        if (i > 0) costs[i - 1] = measure(i - 1);
        if (i < costs.size()) costs[i] = measure(i);
    }
    return merges;
}

void find_surface_step(const std::vector<CellSums>& cells, const CellAxis& first, const CellAxis& second,
                       const StepOptions& options, double* additions) {
    std::fill(additions, additions + cells.size(), 0.0);
    SurfaceFinder finder(cells, first, second, options);
    if (finder.find() > 0.0) finder.write(additions);
}

double measure_surface(const std::vector<CellSums>& cells, const CellAxis& first, const CellAxis& second,
                       const StepOptions& options) {
    const double gain = SurfaceFinder(cells, first, second, options).find();
    std::vector<CellSums> of_first(first.n_cells), of_second(second.n_cells);
    for (std::size_t a = 0; a < first.n_cells; ++a)
        for (std::size_t b = 0; b < second.n_cells; ++b) {
            of_first[a] += cells[a * second.n_cells + b];
            of_second[b] += cells[a * second.n_cells + b];
        }
    const auto measure_curve = [&](const std::vector<CellSums>& own, const CellAxis& axis) {
        return SurfaceFinder(own, axis, axis, options).cut(own, axis).gain;
    };
    return gain - std::max(measure_curve(of_first, first), measure_curve(of_second, second));
}

}  // namespace lhtree::boost
