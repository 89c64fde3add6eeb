#include "lhtree/score/link.hpp"

#include <algorithm>

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

}  // namespace lhtree
