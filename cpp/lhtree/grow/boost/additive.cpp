#include "lhtree/grow/boost/additive.hpp"

#include <algorithm>
#include <cmath>
#include <memory>

namespace lhtree::boost {
namespace {

// Cycles between comparisons of the losses of bags, and between parts of the rows. Hessians change slowly:
// cells keep their sums for as many cycles.
constexpr std::size_t cycles_per_check = 4;
constexpr std::size_t rows_at_once = 512;

// Labels and weights of some rows, in their order.
struct OrderedRows {
    std::vector<std::int32_t> classes;
    std::vector<double> response, weight;

    OrderedRows() = default;
    OrderedRows(const RowData& rows, const std::vector<std::uint32_t>& order) {
        for (const std::uint32_t row : order) {
            if (rows.labels.classes) classes.push_back(rows.labels.classes[row]);
            if (rows.labels.response) response.push_back(rows.labels.response[row]);
            weight.push_back(rows.weight ? rows.weight[row] : 1.0);
        }
    }
    Scored score(const double* raw, std::size_t begin, std::size_t n_rows, std::size_t n_scores,
                 const double* log_sums) const {
        return {classes.empty() ? nullptr : classes.data() + begin,
                response.empty() ? nullptr : response.data() + begin,
                raw + begin * n_scores,
                n_rows,
                n_scores,
                1,
                log_sums,
                nullptr};
    }
};

// Derivatives of rows, each times its weight. A loss that selects has no second derivative: a parabola above
// it that touches it at the raw score takes its place.
class Differentiator {
  public:
    explicit Differentiator(const Objective& objective)
        : objective_(objective), loss_(objective.loss()), n_scores_(objective.n_scores()) {}

    void begin(const double* raw, std::size_t n_rows) {
        if (!objective_.is_softmax()) return;
        log_sums_.resize(n_rows);
        for (std::size_t row = 0; row < n_rows; ++row)
            log_sums_[row] = Softmax::log_sum(raw + row * n_scores_, n_scores_);
    }
    void find(const OrderedRows& rows, const double* raw, std::size_t n_rows, std::size_t score,
              std::vector<float>& gradient, std::vector<float>& hessian) const {
        gradient.resize(n_rows);
        hessian.resize(n_rows);
        differentiate(objective_, rows.score(raw, 0, n_rows, n_scores_, log_sums_.data()), score,
                      gradient.data(), hessian.data());
        if (selects(loss_)) bound_selection(rows, raw, n_rows, gradient, hessian);
        for (std::size_t row = 0; row < n_rows; ++row) {
            const auto weight = static_cast<float>(rows.weight[row]);
            gradient[row] *= weight;
            hessian[row] *= weight;
        }
    }

  private:
    const Objective& objective_;
    const Loss& loss_;
    std::size_t n_scores_;
    std::vector<double> log_sums_;

    void bound_selection(const OrderedRows& rows, const double* raw, std::size_t n_rows,
                         std::vector<float>& gradient, std::vector<float>& hessian) const {
        double total = 0.0;
        for (std::size_t row = 0; row < n_rows; ++row) total += std::abs(rows.response[row] - raw[row]);
        const double least = std::max(1e-2 * total / static_cast<double>(n_rows), 1e-12);
        const double share = selected_share(loss_);
        const double unit = std::holds_alternative<AbsoluteError>(loss_) ? 2.0 : 1.0;
        for (std::size_t row = 0; row < n_rows; ++row) {
            const double residual = rows.response[row] - raw[row], size = std::abs(residual) + least;
            gradient[row] = static_cast<float>(-unit * (0.5 * residual / size + share - 0.5));
            hessian[row] = static_cast<float>(unit * 0.5 / size);
        }
    }
};

double mean_loss(const Objective& objective, const OrderedRows& rows, const double* raw, std::size_t begin,
                 std::size_t n_rows, std::size_t n_scores) {
    double sum = 0.0, weight = 0.0;
    each_row_loss(
        objective, rows.score(raw, begin, n_rows, n_scores, nullptr), [](std::size_t) { return true; },
        [&](std::size_t row, std::size_t, double value) {
            sum += rows.weight[begin + row] * value;
            weight += rows.weight[begin + row];
        });
    return weight > 0.0 ? sum / weight : 0.0;
}

// Rows in use by part.
std::vector<std::vector<std::uint32_t>> divide_rows(const AdditivePlan& plan, std::size_t n_rows) {
    std::vector<std::vector<std::uint32_t>> parts(plan.n_parts);
    for (std::size_t row = 0; row < n_rows; ++row)
        if (plan.fold[row] >= 0)
            parts[static_cast<std::size_t>(plan.part[row])].push_back(static_cast<std::uint32_t>(row));
    return parts;
}

// The boosting of one bag. Training rows of a part come first, then the held-out rows of part 0.
class Bag {
  public:
    Bag(const AdditivePlan& plan, const RowData& rows, const std::vector<std::vector<std::uint32_t>>& parts,
        std::size_t number, double* values)
        : plan_(plan),
          rows_(rows),
          parts_(parts),
          number_(number),
          is_active_(plan.is_active.data() + number * plan.terms.size()),
          n_scores_(rows.objective.n_scores()),
          objective_(rows.objective),
          differentiator_(objective_),
          values_(values) {
        hessians_.resize(plan.terms.size() * n_scores_);
        cells_.resize(plan.terms.size());
        load(0);
    }

    // Runs some cycles and returns the loss after the last one.
    double run_cycles(std::size_t first, std::size_t n_cycles, Watch& watch) {
        if (plan_.n_parts > 1 && first > 0) load(first / cycles_per_check);
        for (std::size_t cycle = first; cycle < first + n_cycles; ++cycle) {
            watch.check();
            run_cycle(cycle);
        }
        return loss();
    }
    // The mean loss of the fold, or of the training rows if the fold is empty.
    double loss() const {
        const std::size_t n_held = n_rows_ - n_train_;
        return n_held > 0 ? mean_loss(objective_, labels_, raw_.data(), n_train_, n_held, n_scores_)
                          : mean_loss(objective_, labels_, raw_.data(), 0, n_train_, n_scores_);
    }

  private:
    const AdditivePlan& plan_;
    const RowData& rows_;
    const std::vector<std::vector<std::uint32_t>>& parts_;
    std::size_t number_;
    const std::uint8_t* is_active_;  // of every term
    std::size_t n_scores_, n_train_ = 0, n_rows_ = 0;
    OrderedRows labels_;
    const Objective& objective_;
    Differentiator differentiator_;
    double* values_;
    std::vector<double> raw_;
    std::vector<std::vector<std::uint16_t>> cells_;  // of every active term: the cell of every row
    std::vector<float> gradient_, hessian_, moved_;
    std::vector<std::int64_t> counts_;
    std::vector<std::vector<CellSums>> hessians_;  // by term and score: Hessians and weights

    // Takes the rows of the next part; bags begin with different ones.
    void load(std::size_t turn) {
        std::vector<std::uint32_t> order;
        const auto own = static_cast<std::int32_t>(number_);
        for (const std::uint32_t row : parts_[(turn + number_) % plan_.n_parts])
            if (plan_.fold[row] != own) order.push_back(row);
        n_train_ = order.size();
        for (const std::uint32_t row : parts_[0])
            if (plan_.fold[row] == own) order.push_back(row);
        labels_ = OrderedRows(rows_, order);
        n_rows_ = order.size();
        raw_.resize(n_rows_ * n_scores_);
        for (std::size_t t = 0; t < plan_.terms.size(); ++t)
            if (is_active_[t]) cells_[t].resize(n_rows_);
        const std::size_t n_slots = rows_.bins.slots.size();
        for (std::size_t i = 0; i < n_rows_; ++i) {
            const std::uint8_t* const codes = rows_.codes + order[i] * n_slots;
            for (std::size_t k = 0; k < n_scores_; ++k) raw_[i * n_scores_ + k] = plan_.base[k];
            for (std::size_t t = 0; t < plan_.terms.size(); ++t) {
                const AdditiveTerm& term = plan_.terms[t];
                const std::size_t cell = term.cell(codes);
                if (is_active_[t]) cells_[t][i] = static_cast<std::uint16_t>(cell);
                for (std::size_t k = 0; k < n_scores_; ++k)
                    raw_[i * n_scores_ + k] += values_[(term.begin + cell) * n_scores_ + k];
            }
        }
    }
    void run_cycle(std::size_t cycle) {
        differentiator_.begin(raw_.data(), n_train_);
        for (std::size_t k = 0; k < n_scores_; ++k) run_score(cycle, k);
    }
    // Within a cycle the loss is a parabola of the score of every row: gradients move with the steps of the
    // terms, Hessians stay.
    void run_score(std::size_t cycle, std::size_t k) {
        differentiator_.find(labels_, raw_.data(), n_train_, k, gradient_, hessian_);
        std::vector<double> changes(plan_.n_cells());
        moved_.assign(n_train_, 0.0f);
        double squares = 0.0, hessians = 0.0;
        float steepest = 0.0f;
        for (std::size_t i = 0; i < n_train_; ++i) {
            const auto g = static_cast<double>(gradient_[i]);
            squares += labels_.weight[i] > 0.0 ? g * g / labels_.weight[i] : 0.0;
            hessians += static_cast<double>(hessian_[i]);
            steepest = std::max(steepest, std::abs(gradient_[i]));
        }
        if (!(steepest > 0.0f) || !(hessians > 0.0)) return;
        const double dispersion = squares / hessians;
        int exponent;
        std::frexp(steepest, &exponent);
        const double quantum = std::ldexp(1.0, exponent - 26);
        const bool is_new = cycle % cycles_per_check == 0;
        const std::uint16_t* before = nullptr;  // cells of the term with the last step
        std::vector<float> step;
        std::vector<CellSums> cells;
        const StepOptions options = plan_.step.at(cycle);
        for (std::size_t t = 0; t < plan_.terms.size(); ++t) {
            const AdditiveTerm& term = plan_.terms[t];
            if (!is_active_[t]) continue;
            std::vector<CellSums>& known = hessians_[t * n_scores_ + k];
            if (is_new) sum_hessians(t, known);
            cells = known;
            sum_gradients(t, before, step, static_cast<float>(1.0 / quantum), quantum, cells);
            double* const additions = changes.data() + term.begin;
            if (term.axes.size() == 1)
                find_curve_step(cells, term.axes[0], options, dispersion, additions);
            else
                find_surface_step(cells, term.axes[0], term.axes[1], options, additions);
            before = cells_[t].data();
            step.assign(additions, additions + term.n_cells());
        }
        apply(changes, before, step, k);
    }
    void sum_hessians(std::size_t t, std::vector<CellSums>& sums) const {
        sums.assign(plan_.terms[t].n_cells(), {});
        const std::uint16_t* const cells = cells_[t].data();
        for (std::size_t i = 0; i < n_train_; ++i) {
            sums[cells[i]].hessian += static_cast<double>(hessian_[i]);
            sums[cells[i]].weight += labels_.weight[i];
        }
    }
    // Adds up the gradients of a term in quanta, after the step of the term before it.
    void sum_gradients(std::size_t t, const std::uint16_t* before, const std::vector<float>& step,
                       float per_gradient, double quantum, std::vector<CellSums>& sums) {
        // Two counts per cell: additions to the same cell wait for each other.
        counts_.assign(2 * sums.size(), 0);
        std::int64_t *const even = counts_.data(), *const odd = even + sums.size();
        const std::uint16_t* const cells = cells_[t].data();
        std::int32_t quanta[rows_at_once];
        for (std::size_t begin = 0; begin < n_train_; begin += rows_at_once) {
            const std::size_t n = std::min(rows_at_once, n_train_ - begin);
            float* const moved = moved_.data() + begin;
            if (before)
                for (std::size_t i = 0; i < n; ++i) moved[i] += step[before[begin + i]];
            for (std::size_t i = 0; i < n; ++i) {
                const float now = (gradient_[begin + i] + hessian_[begin + i] * moved[i]) * per_gradient;
                quanta[i] = static_cast<std::int32_t>(std::clamp(now, -2e9f, 2e9f));
            }
            const std::uint16_t* const own = cells + begin;
            std::size_t i = 0;
            for (; i + 1 < n; i += 2) {
                even[own[i]] += quanta[i];
                odd[own[i + 1]] += quanta[i + 1];
            }
            if (i < n) even[own[i]] += quanta[i];
        }
        for (std::size_t cell = 0; cell < sums.size(); ++cell)
            sums[cell].gradient = static_cast<double>(even[cell] + odd[cell]) * quantum;
    }
    // Adds the changes of a cycle to the values and to the scores.
    void apply(const std::vector<double>& changes, const std::uint16_t* before,
               const std::vector<float>& step, std::size_t k) {
        for (std::size_t i = 0; i < n_train_; ++i) {
            const float last = before ? step[before[i]] : 0.0f;
            raw_[i * n_scores_ + k] += static_cast<double>(moved_[i] + last);
        }
        for (std::size_t t = 0; t < plan_.terms.size(); ++t) {
            const AdditiveTerm& term = plan_.terms[t];
            if (!is_active_[t]) continue;
            const double* const own = changes.data() + term.begin;
            for (std::size_t cell = 0; cell < term.n_cells(); ++cell)
                values_[(term.begin + cell) * n_scores_ + k] += own[cell];
            for (std::size_t i = n_train_; i < n_rows_; ++i) raw_[i * n_scores_ + k] += own[cells_[t][i]];
        }
    }
};

}  // namespace

AdditiveBags boost_terms(const AdditivePlan& plan, const RowData& rows, std::vector<double> values,
                         std::size_t n_threads, Watch& watch) {
    AdditiveBags found{values, std::vector<std::vector<double>>(plan.n_bags), 0};
    const std::size_t size = plan.n_cells() * rows.objective.n_scores();
    const std::vector<std::vector<std::uint32_t>> parts = divide_rows(plan, rows.labels.n_rows);
    std::vector<std::unique_ptr<Bag>> bags(plan.n_bags);
    const auto find_mean = [&] {
        double total = 0.0;
        for (const std::vector<double>& losses : found.losses) total += losses.back();
        return total / static_cast<double>(plan.n_bags);
    };
    run(plan.n_bags, n_threads, watch, [&](std::size_t number) {
        bags[number] = std::make_unique<Bag>(plan, rows, parts, number, values.data() + number * size);
        found.losses[number].push_back(bags[number]->loss());
    });
    double least = find_mean();
    for (std::size_t cycle = 0; cycle < plan.n_cycles && cycle < found.n_cycles + plan.patience;) {
        const std::size_t n_more = std::min(cycles_per_check, plan.n_cycles - cycle);
        run(plan.n_bags, n_threads, watch, [&](std::size_t number) {
            found.losses[number].push_back(bags[number]->run_cycles(cycle, n_more, watch));
        });
        cycle += n_more;
        const double mean = find_mean();
        if (!(mean < least)) continue;
        least = mean;
        found.n_cycles = cycle;
        found.values = values;
    }
    return found;
}

std::vector<double> score_left_out(const AdditivePlan& plan, const RowData& rows,
                                   const std::vector<double>& values, std::size_t n_threads, Watch& watch) {
    const std::size_t n_scores = rows.objective.n_scores(), n_slots = rows.bins.slots.size(),
                      n_rows = rows.labels.n_rows;
    const std::size_t size = plan.n_cells() * n_scores;
    std::vector<double> mean(size);
    for (std::size_t bag = 0; bag < plan.n_bags; ++bag)
        for (std::size_t i = 0; i < size; ++i)
            mean[i] += values[bag * size + i] / static_cast<double>(plan.n_bags);
    std::vector<double> raw(n_rows * n_scores);
    constexpr std::size_t at_once = 4096;
    run((n_rows + at_once - 1) / at_once, n_threads, watch, [&](std::size_t part) {
        for (std::size_t row = part * at_once; row < std::min(n_rows, (part + 1) * at_once); ++row) {
            const auto bag = static_cast<std::size_t>(plan.fold[row]);
            const double* const own = bag < plan.n_bags ? values.data() + bag * size : mean.data();
            double* const to = raw.data() + row * n_scores;
            std::copy(plan.base.begin(), plan.base.end(), to);
            for (const AdditiveTerm& term : plan.terms) {
                const std::size_t cell = term.begin + term.cell(rows.codes + row * n_slots);
                for (std::size_t k = 0; k < n_scores; ++k) to[k] += own[cell * n_scores + k];
            }
        }
    });
    return raw;
}

CellWeights weigh_cells(const AdditivePlan& plan, const RowData& rows, const double* raw) {
    const std::size_t n_rows = rows.labels.n_rows, n_slots = rows.bins.slots.size(),
                      n_scores = rows.objective.n_scores();
    std::vector<std::uint32_t> order(n_rows);
    for (std::size_t row = 0; row < n_rows; ++row) order[row] = static_cast<std::uint32_t>(row);
    const OrderedRows labels(rows, order);
    Differentiator differentiator(rows.objective);
    differentiator.begin(raw, n_rows);
    std::vector<double> hessians(n_rows);
    std::vector<float> gradient, hessian;
    for (std::size_t k = 0; k < n_scores; ++k) {
        differentiator.find(labels, raw, n_rows, k, gradient, hessian);
        for (std::size_t row = 0; row < n_rows; ++row) hessians[row] += static_cast<double>(hessian[row]);
    }
    CellWeights weights{std::vector<double>(plan.n_cells()), std::vector<double>(plan.n_cells())};
    for (std::size_t row = 0; row < n_rows; ++row)
        for (const AdditiveTerm& term : plan.terms) {
            const std::size_t cell = term.begin + term.cell(rows.codes + row * n_slots);
            weights.weight[cell] += labels.weight[row];
            weights.hessian[cell] += hessians[row];
        }
    return weights;
}

std::vector<double> measure_pairs(const std::vector<CellAxis>& axes, const RowData& rows, const double* raw,
                                  const std::int32_t* fold, std::int32_t left_out, const StepOptions& options,
                                  std::size_t n_threads, Watch& watch) {
    const std::size_t n_slots = rows.bins.slots.size(), n_scores = rows.objective.n_scores();
    std::vector<std::uint32_t> order;
    std::vector<double> scores;
    for (std::size_t row = 0; row < rows.labels.n_rows; ++row) {
        if (fold[row] < 0 || fold[row] == left_out) continue;
        order.push_back(static_cast<std::uint32_t>(row));
        scores.insert(scores.end(), raw + row * n_scores, raw + (row + 1) * n_scores);
    }
    const std::size_t n_rows = order.size();
    const OrderedRows labels(rows, order);
    Differentiator differentiator(rows.objective);
    differentiator.begin(scores.data(), n_rows);
    std::vector<std::vector<float>> gradient(n_scores), hessian(n_scores);
    for (std::size_t k = 0; k < n_scores; ++k)
        differentiator.find(labels, scores.data(), n_rows, k, gradient[k], hessian[k]);
    std::vector<std::vector<std::uint8_t>> cells(axes.size(), std::vector<std::uint8_t>(n_rows));
    for (std::size_t axis = 0; axis < axes.size(); ++axis)
        for (std::size_t row = 0; row < n_rows; ++row)
            cells[axis][row] = axes[axis].cell[rows.codes[order[row] * n_slots + axes[axis].slot]];
    std::vector<std::pair<std::size_t, std::size_t>> pairs;
    for (std::size_t a = 0; a < axes.size(); ++a)
        for (std::size_t b = a + 1; b < axes.size(); ++b) pairs.emplace_back(a, b);
    std::vector<double> gains(pairs.size());
    run(pairs.size(), n_threads, watch, [&](std::size_t pair) {
        const auto [a, b] = pairs[pair];
        const std::size_t n_second = axes[b].n_cells;
        for (std::size_t k = 0; k < n_scores; ++k) {
            std::vector<CellSums> sums(axes[a].n_cells * n_second);
            for (std::size_t row = 0; row < n_rows; ++row) {
                CellSums& to = sums[cells[a][row] * n_second + cells[b][row]];
                to.gradient += static_cast<double>(gradient[k][row]);
                to.hessian += static_cast<double>(hessian[k][row]);
                to.weight += labels.weight[row];
            }
            gains[pair] += measure_surface(sums, axes[a], axes[b], options);
        }
    });
    return gains;
}

}  // namespace lhtree::boost
