#include "lhtree/grow/boost/term_steps.hpp"

#include <algorithm>
#include <limits>
#include <numeric>

#include "lhtree/shared/elementary.hpp"

namespace lhtree::boost {
namespace {

double value_of(const CellSums& sums, double l2) {
    return sums.hessian + l2 > 0.0 ? -sums.gradient / (sums.hessian + l2) : 0.0;
}
double reduction_of(const CellSums& sums, double l2) {
    return sums.hessian + l2 > 0.0 ? sums.gradient * sums.gradient / (sums.hessian + l2) : 0.0;
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
        TwoRanges best{reduction_of(all, l2), order_.size(), value_of(all, l2), 0.0, 0.0};
        for (std::size_t i = 0; i + 1 < order_.size(); ++i) {
            left += cells[order_[i]];
            const CellSums right = all - left;
            if (left.weight < least || !(left.weight > 0.0)) continue;
            if (right.weight < least || !(right.weight > 0.0)) break;
            const double gain = reduction_of(left, l2) + reduction_of(right, l2);
            if (is_larger(gain, best.gain))
                best = {gain, i + 1, value_of(left, l2), value_of(right, l2), 0.0};
        }
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
        std::vector<CellSums> all(other.n_cells), left(other.n_cells), right(other.n_cells);
        for (std::size_t a = 0; a < split.n_cells; ++a) add(axis, a, all);
        for (std::size_t a = 0; a < split.n_cells; ++a) {
            if (!split.is_ordered || a + 1 == split.n_cells) left.assign(other.n_cells, {});
            add(axis, a, left);
            if (split.is_ordered && a + 2 == split.n_cells) continue;  // all numbers
            for (std::size_t b = 0; b < all.size(); ++b) right[b] = all[b] - left[b];
            if (!is_heavy(left) || !is_heavy(right)) continue;
            const double gain = cut(left, other).gain + cut(right, other).gain;
            if (!is_larger(gain, gain_)) continue;
            gain_ = gain;
            axis_ = axis;
            at_ = a;
        }
    }
    bool is_heavy(const std::vector<CellSums>& side) const {
        double weight = 0.0;
        for (const CellSums& one : side) weight += one.weight;
        return weight >= options_.min_weight && weight > 0.0;
    }
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
    std::vector<WeighedCut> cuts;
    double best = -std::numeric_limits<double>::infinity();
    for (std::size_t i = 0; i + 1 < order.size(); ++i) {
        left += cells[order[i]];
        const CellSums right = all - left;
        if (!(cells[order[i]].weight > 0.0) || left.weight < least) continue;
        if (right.weight < least || !(right.weight > 0.0)) break;
        const WeighedCut cut{i + 1, reduction_of(left, l2) + reduction_of(right, l2), value_of(left, l2),
                             value_of(right, l2)};
        if (axis.sign * (cut.right - cut.left) < 0.0) continue;
        cuts.push_back(cut);
        best = std::max(best, cut.gain);
    }
    // Cuts have the weights of their likelihoods, or a power of them.
    double total = 0.0;
    for (WeighedCut& cut : cuts) {
        const double excess = (cut.gain - best) / (2.0 * dispersion * options.smoothing);
        total += cut.gain = cut.gain == best ? 1.0 : elementary::exp(std::max(excess, -700.0));
    }
    double value = cuts.empty() ? value_of(all, l2) : 0.0;
    for (const WeighedCut& cut : cuts) value += cut.gain / total * cut.left;
    std::size_t i = 0;
    for (const WeighedCut& cut : cuts) {
        for (; i < cut.end; ++i) additions[order[i]] = rate * value;
        value += cut.gain / total * (cut.right - cut.left);  // never against the sign, also when rounded
    }
    for (; i < order.size(); ++i) additions[order[i]] = rate * value;
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
