#include "lhtree/score/link.hpp"

#include <algorithm>
#include <cmath>

#include "lhtree/shared/elementary.hpp"

namespace lhtree {

void take_means(const std::vector<double>& n_trees_of, std::size_t n_rows, double* sums) {
    const std::size_t n_classes = n_trees_of.size();
    for (std::size_t row = 0; row < n_rows; ++row)
        for (std::size_t cls = 0; cls < n_classes; ++cls) sums[row * n_classes + cls] /= n_trees_of[cls];
}

void settle(const double* membership, const std::vector<double>& prior, std::size_t n_rows, double* wolf) {
    const std::size_t n_classes = prior.size();
    const auto is_zero = [](double value) { return value == 0.0; };
    for (std::size_t row = 0; row < n_rows; ++row, wolf += n_classes, membership += n_classes) {
        if (std::all_of(wolf, wolf + n_classes, is_zero)) std::copy(membership, membership + n_classes, wolf);
        if (std::all_of(wolf, wolf + n_classes, is_zero)) std::copy(prior.begin(), prior.end(), wolf);
    }
}

void take_shares(std::size_t n_classes, std::size_t n_rows, double* scores) {
    for (std::size_t row = 0; row < n_rows; ++row, scores += n_classes) {
        double sum = 0.0;
        for (std::size_t cls = 0; cls < n_classes; ++cls) sum += scores[cls];
        for (std::size_t cls = 0; cls < n_classes; ++cls) scores[cls] /= sum;
    }
}

void find_largest(const double* scores, std::size_t n_classes, std::size_t n_rows, std::int64_t* out) {
    for (std::size_t row = 0; row < n_rows; ++row, scores += n_classes)
        out[row] = std::max_element(scores, scores + n_classes) - scores;
}

void take_logistic(const double* raw, std::size_t n_rows, double* proba) {
    for (std::size_t row = 0; row < n_rows; ++row, proba += 2) {
        const double e = elementary::exp(-std::fabs(raw[row]));
        const bool is_second =
            raw[row] > 0.0;  // the larger; neither is taken from 1, which would round twice
        proba[is_second] = 1.0 / (1.0 + e);
        proba[!is_second] = e / (1.0 + e);
    }
}

void take_softmax(const double* raw, std::size_t n_classes, std::size_t n_rows, double* proba) {
    for (std::size_t row = 0; row < n_rows; ++row, raw += n_classes, proba += n_classes) {
        const double largest = *std::max_element(raw, raw + n_classes);
        for (std::size_t cls = 0; cls < n_classes; ++cls) proba[cls] = elementary::exp(raw[cls] - largest);
        take_shares(n_classes, 1, proba);
    }
}

void take_values(const double* sums, Link link, std::size_t n_trees, std::size_t n_rows, double* values) {
    if (link == Link::mean)
        for (std::size_t row = 0; row < n_rows; ++row) values[row] = sums[row] / static_cast<double>(n_trees);
    else if (link == Link::log)
        for (std::size_t row = 0; row < n_rows; ++row) values[row] = elementary::exp(sums[row]);
    else
        std::copy(sums, sums + n_rows, values);
}

}  // namespace lhtree
