#include "lhtree/grow/compact/data.hpp"

#include <algorithm>
#include <cmath>

#include "lhtree/shared/elementary.hpp"
#include "lhtree/shared/sort.hpp"

namespace lhtree::compact {

static double on_grid(double cost) {
    return std::nearbyint(cost * cost_grid) / cost_grid;
}

Data::Data(const Rows& z, const double* weight, const Labels& labels, const Options& options,
           std::size_t n_threads, Watch& watch)
    : n_features_(z.n_features), options_(options), labels_(labels), weight_(z.n_rows, 1.0) {
    if (weight) std::copy(weight, weight + z.n_rows, weight_.begin());
    double total = 0.0;
    for (const double one : weight_) {
        total += one;
        has_whole_weights_ &= std::nearbyint(one) == one;
    }
    has_whole_weights_ &= total < 0x1p52;
    lambda_ = options.penalty * penalty_unit * elementary::log(std::max(total, 2.0));
    columns_.resize(n_features_ * z.n_rows);
    codes_.resize(n_features_ * z.n_rows);
    n_codes_.resize(n_features_);
    is_wide_.resize(n_features_);
    run(n_features_, n_threads, watch, [&](std::size_t feature) {
        float* const column = &columns_[feature * z.n_rows];
        for (std::size_t row = 0; row < z.n_rows; ++row) column[row] = z[row][feature];
        is_wide_[feature] =
            std::any_of(column, column + z.n_rows, [](float value) { return std::abs(value) > clip; });
        code_column(feature, total);
    });
}

void Data::code_column(std::size_t feature, double total) {
    const float* const column = this->column(feature);
    std::uint8_t* const codes = &codes_[feature * n_rows()];
    std::vector<KeyedRow> sorted;
    for (std::size_t row = 0; row < n_rows(); ++row) sorted.push_back(keyed_row(column[row], row));
    RowSorter().sort(sorted);
    std::size_t n_distinct = 1;
    for (std::size_t i = 1; i < sorted.size(); ++i) n_distinct += (sorted[i] >> 32) != (sorted[i - 1] >> 32);
    const bool is_few = n_distinct <= most_bins;
    double below = 0.0, met = 0.0;
    std::size_t code = 0, last_bin = 0;
    for (std::size_t i = 0; i < sorted.size(); ++i) {
        if (i > 0 && (sorted[i] >> 32) != (sorted[i - 1] >> 32)) {
            below = met;
            const auto bin = static_cast<std::size_t>(static_cast<double>(most_bins) * below / total);
            if (is_few || bin != last_bin) ++code;
            last_bin = bin;
        }
        met += weight_[row_of(sorted[i])];
        codes[row_of(sorted[i])] = static_cast<std::uint8_t>(std::min(code, most_bins - 1));
    }
    n_codes_[feature] = std::min(code, most_bins - 1) + 1;
}

double Data::weigh(const RowNumbers& rows) const {
    double sum = 0.0;
    for (const std::uint32_t row : rows) sum += weight_[row];
    return sum;
}

Estimate Data::estimate(const RowNumbers& rows) const {
    std::vector<double> counts(std::max<std::size_t>(labels_.n_classes, 1), 0.0);
    if (labels_.classes)
        for (const std::uint32_t row : rows)
            counts[static_cast<std::size_t>(labels_.classes[row])] += weight_[row];
    else
        for (const std::uint32_t row : rows) counts[0] += weight_[row] * labels_.response[row];
    return estimate_from(std::move(counts), weigh(rows));
}

Estimate Data::estimate_from(std::vector<double> counts, double weight) const {
    Estimate leaf;
    leaf.weight = weight;
    if (labels_.classes) {
        double squares = 0.0;
        std::vector<double>& cost = leaf.cost;
        for (std::size_t cls = 0; cls < counts.size(); ++cls) {
            cost.push_back((counts[cls] + labels_.prior[cls]) / (weight + 1.0));
            squares += cost[cls] * cost[cls];
        }
        for (double& share : cost) share = on_grid(1.0 - 2.0 * share + squares);
    } else {
        leaf.mean = counts[0] / (weight + 1.0);
    }
    leaf.counts = std::move(counts);
    return leaf;
}

double Data::cost_of(const Estimate& leaf, const RowNumbers& rows) const {
    double sum = 0.0;
    if (labels_.classes)
        for (std::size_t cls = 0; cls < leaf.counts.size(); ++cls) sum += leaf.counts[cls] * leaf.cost[cls];
    else
        for (const std::uint32_t row : rows) sum += weight_[row] * cost(leaf, row);
    return sum;
}

double Data::number_cost(double error) {
    return on_grid(2.0 * error * error);
}

}  // namespace lhtree::compact
