#include "lhtree/grow/compact/problem.hpp"

#include <algorithm>
#include <array>
#include <cmath>
#include <limits>

#include "lhtree/grow/decisions/linear.hpp"
#include "lhtree/grow/kernels.hpp"
#include "lhtree/shared/elementary.hpp"

namespace lhtree::compact {

std::vector<std::uint8_t> sides_of(const Line& line, const Data& data, const RowNumbers& rows) {
    std::vector<double> sums(rows.size(), 0.0);
    for (std::size_t term = 0; term < line.features.size(); ++term) {
        const float* const column = data.column(static_cast<std::size_t>(line.features[term]));
        const double weight = line.weights[term];
        for (std::size_t i = 0; i < rows.size(); ++i)
            sums[i] += weight * static_cast<double>(column[rows[i]]);
    }
    std::vector<std::uint8_t> sides(rows.size());
    for (std::size_t i = 0; i < rows.size(); ++i) sides[i] = !(sums[i] < line.offset);
    return sides;
}

Sides part(const Line& line, const Data& data, const RowNumbers& rows) {
    const std::vector<std::uint8_t> sides = sides_of(line, data, rows);
    Sides parted;
    for (std::size_t i = 0; i < rows.size(); ++i) (sides[i] ? parted.right : parted.left).push_back(rows[i]);
    return parted;
}

// Whether sums of such multiples of the cost grid are exact in doubles.
static bool is_on_grid(double value) {
    constexpr double rounder = 0x1.8p52;
    const double scaled = value * cost_grid;
    return (scaled + rounder) - rounder == scaled;
}

Problem::Problem(const Data& data, const Question& question)
    : data_(data),
      question_(question),
      n_padded_(padded(question.rows.size())),
      is_exact_(data.has_whole_weights()),
      weight_(n_padded_, 0.0),
      side_(n_padded_, 0.0),
      row_weights_(question.rows.size()),
      values_(new float[n_padded_ * data.n_features()]),
      has_values_(data.n_features(), 0),
      has_clipped_(data.n_features(), 0),
      columns_(data.n_features()) {
    for (std::size_t i = 0; i < rows().size(); ++i) {
        weight_[i] = std::abs(gain(i));
        side_[i] = is_right(i);
        row_weights_[i] = data.weight(rows()[i]);
        (is_right(i) ? wrong_if_left_ : wrong_if_right_) += weight_[i];
        row_weight_ += row_weights_[i];
        is_exact_ &= is_on_grid(gain(i));
    }
    is_exact_ &= total() < 0x1p26;
}

const float* Problem::values(std::int32_t feature) const {
    const auto number = static_cast<std::size_t>(feature);
    float* const values = &values_[number * n_padded_];
    if (!has_values_[number]) {
        const float* const column = data_.column(number);
        for (std::size_t i = 0; i < rows().size(); ++i) values[i] = column[rows()[i]];
        std::fill(values + rows().size(), values + n_padded_, 0.0f);
        has_values_[number] = 1;
    }
    return values;
}

const float* Problem::clipped(std::int32_t feature) const {
    const auto number = static_cast<std::size_t>(feature);
    const float* const values = this->values(feature);
    if (!data_.is_wide(number)) return values;
    if (!clipped_) clipped_.reset(new float[n_padded_ * data_.n_features()]);
    float* const clipped = &clipped_[number * n_padded_];
    if (!has_clipped_[number]) {
        constexpr auto bound = static_cast<float>(clip);
        for (std::size_t i = 0; i < n_padded_; ++i) clipped[i] = std::min(std::max(values[i], -bound), bound);
        has_clipped_[number] = 1;
    }
    return clipped;
}

const double* Problem::column(std::int32_t feature) const {
    std::vector<double>& column = columns_[static_cast<std::size_t>(feature)];
    if (column.empty()) {
        const float* const clipped = this->clipped(feature);
        column.assign(clipped, clipped + n_padded_);
    }
    return column.data();
}

void Problem::sum_up(const Line& line, std::vector<double>& sums) const {
    sums.assign(rows().size(), 0.0);
    for (std::size_t term = 0; term < line.features.size(); ++term) {
        const float* const values = this->values(line.features[term]);
        const double weight = line.weights[term];
        for (std::size_t i = 0; i < sums.size(); ++i) sums[i] += weight * static_cast<double>(values[i]);
    }
}

Cut Problem::cut(const std::vector<double>& sums, double near, double most) const {
    const double least = data_.options().min_samples_leaf;
    const auto may_cut = [&](double left) { return left >= least && row_weight_ - left >= least; };
    order_.fill(sums, question_.gain, row_weights_.data(), near, is_exact_);
    double bound = most;  // of the wrong weight of the best cut
    order_.between_buckets(wrong_if_right_, [&](const Reached& reached) {
        if (may_cut(reached.weight)) bound = std::min(bound, reached.sum);
    });
    Cut best;
    best.wrong = std::numeric_limits<double>::infinity();
    order_.walk(
        wrong_if_right_,
        [&](const Order::Bucket& bucket, const Reached& before) {
            return before.sum + bucket.falls <= bound && before.weight + bucket.weight >= least &&
                   row_weight_ - before.weight >= least;
        },
        [&](const Reached& reached, double lower, double upper) {
            if (!may_cut(reached.weight) || reached.sum > best.wrong) return;
            double offset = lower + (upper - lower) / 2.0;
            if (!(offset > lower)) offset = upper;
            if (reached.sum < best.wrong || std::abs(offset - near) < std::abs(best.offset - near))
                best = {offset, reached.sum, true};
        });
    return best;
}

Cut Problem::judge(const std::vector<double>& sums, double offset) const {
    const double least = data_.options().min_samples_leaf;
    double wrong = wrong_if_right_, left = 0.0;
    for (std::size_t i = 0; i < rows().size(); ++i)
        if (sums[i] < offset) {
            wrong += gain(i);
            left += data_.weight(rows()[i]);
        }
    return {offset, wrong, left >= least && row_weight_ - left >= least};
}

Line Problem::find_single() const {
    const double least = data_.options().min_samples_leaf;
    double best = std::numeric_limits<double>::infinity();
    Line line;
    struct Bin {
        double gain, weight;
    };
    std::array<Bin, most_bins> bins;
    std::vector<Bin> given(rows().size());
    for (std::size_t i = 0; i < given.size(); ++i) given[i] = {gain(i), row_weights_[i]};
    for (std::size_t feature = 0; feature < data_.n_features(); ++feature) {
        const std::size_t n_codes = data_.n_codes(feature);
        const std::uint8_t* const codes = data_.codes(feature);
        std::fill_n(bins.begin(), n_codes, Bin{0.0, 0.0});
        for (std::size_t i = 0; i < rows().size(); ++i) {
            Bin& bin = bins[codes[rows()[i]]];
            bin.gain += given[i].gain;
            bin.weight += given[i].weight;
        }
        for (const float sign : {1.0f, -1.0f}) {
            double wrong = sign > 0.0f ? wrong_if_right_ : wrong_if_left_, below = 0.0;
            for (std::size_t code = 0; code + 1 < n_codes; ++code) {
                wrong += sign > 0.0f ? bins[code].gain : -bins[code].gain;
                below += bins[code].weight;
                if (bins[code].weight == 0.0 || below < least || row_weight_ - below < least) continue;
                if (wrong < best - tie * total()) {
                    best = wrong;
                    line.features = {static_cast<std::int32_t>(feature)};
                    line.weights = {sign};
                }
            }
        }
    }
    return line;
}

static double ridged(const Logistic& fit, double rho) {
    double squares = 0.0;
    for (const double slope : fit.slopes) squares += slope * slope;
    return fit.loss + 0.5 * rho * squares;
}

Fitter::Fitter(const Problem& problem, Watch& watch)
    : problem_(problem), watch_(watch), ones_(problem.n_padded(), 1.0), sums_(problem.n_padded()) {
    for (Derivatives* one : {&at_bias_, &room_[0], &room_[1]}) {
        one->slope_by.resize(problem.n_padded());
        one->curve_by.resize(problem.n_padded());
    }
    bias_.bias = elementary::log(problem_.wrong_if_left() / problem_.wrong_if_right());
    evaluate({}, bias_, at_bias_);
}

// Computes the loss and the derivatives by f of every row.
void Fitter::evaluate(const Columns& columns, Logistic& fit, Derivatives& found) const {
    fit.loss = grow_kernels().logistic({columns.data(), fit.slopes.data(), fit.slopes.size(), fit.bias},
                                       problem_.weight().data(), problem_.side().data(), problem_.n_padded(),
                                       found.slope_by.data(), found.curve_by.data());
}

Logistic Fitter::fit_bias() {
    now_ = &at_bias_;
    return bias_;
}

void Fitter::fit(const Columns& columns, Logistic& fit) {
    evaluate(columns, fit, room_[0]);
    now_ = &room_[0];
    improve(columns, fit);
}

void Fitter::add_column(const Columns& columns, Logistic& fit) {
    fit.slopes.push_back(0.0);  // the derivatives of the last fit remain valid
    improve(columns, fit);
}

Logistic Fitter::fit_sums(const Line& line) {
    sums_.assign(sums_.size(), 0.0);
    for (std::size_t term = 0; term < line.features.size(); ++term) {
        const double *const column = problem_.column(line.features[term]), weight = line.weights[term];
        for (std::size_t i = 0; i < sums_.size(); ++i) sums_[i] += weight * column[i];
    }
    Logistic fit = fit_bias();
    add_column({sums_.data()}, fit);
    return fit;
}

void Fitter::improve(const Columns& columns, Logistic& fit) {
    const std::size_t p = columns.size(), size = p + 1, n_padded = problem_.n_padded();
    const double total = problem_.total(), rho = ridge * total;
    double value = ridged(fit, rho);
    Columns all = columns;  // the bias is the last column
    all.push_back(ones_.data());
    std::vector<double> curve(size * size), down(size), room(8 * size * size);
    Logistic next = fit;
    for (int step = 0; step < most_newton_steps; ++step) {
        grow_kernels().weighted_products(all.data(), size, curve_by(), n_padded, curve.data(), room.data());
        for (std::size_t a = 0; a < size; ++a) {
            down[a] = -grow_kernels().dot(slope_by(), all[a], n_padded);
            if (a < p) down[a] -= rho * fit.slopes[a];
            curve[a * size + a] += a < p ? rho : bias_ridge * total;
        }
        if (!solve_with_ridge(curve, 0.0, down, watch_)) return;
        Derivatives& found = room_[now_ == &room_[0]];
        double factor = 1.0, reached = value;
        for (int halving = 0; halving <= most_halvings; ++halving, factor *= 0.5) {
            for (std::size_t a = 0; a < p; ++a) next.slopes[a] = fit.slopes[a] + factor * down[a];
            next.bias = fit.bias + factor * down[p];
            evaluate(columns, next, found);
            reached = ridged(next, rho);
            if (reached < value) break;
        }
        if (!(reached < value)) return;
        const bool is_done = value - reached <= newton_tolerance * total;
        fit = next;
        now_ = &found;
        value = reached;
        if (is_done) return;
    }
}

}  // namespace lhtree::compact
