// From the values of trees to predictions: sums by class, their means, the fall-back, probabilities and
// classes. All tables are n_rows × n_classes, row after row; raw scores have a column per target.
#pragma once
#include <cstdint>
#include <vector>

#include "lhtree/shared/options.hpp"

namespace lhtree {

// How the sums of trees become predictions. Of classes: WOLF, the paper's, or the raw scores of a boosted
// model, of two classes or of more. Of a number: the mean of the trees' estimates, or the raw score of a
// boosted model, as it is or as a logarithm.
enum class Link : std::uint8_t { wolf, logistic, softmax, mean, identity, log };
constexpr Named<Link> link_names[] = {{"wolf", Link::wolf},         {"logistic", Link::logistic},
                                      {"softmax", Link::softmax},   {"mean", Link::mean},
                                      {"identity", Link::identity}, {"log", Link::log}};
constexpr bool is_regression(Link link) {
    return link == Link::mean || link == Link::identity || link == Link::log;
}
constexpr bool is_boosted(Link link) {
    return link != Link::wolf && link != Link::mean;
}

// Adds value(row, μ) of one tree to the sums of its target. Of two classes one tree serves both: the other
// has the membership 1 - μ.
template <class Value>
void add_tree(const double* membership, std::size_t n_rows, std::size_t n_classes, std::size_t target,
              const Value& value, double* sums) {
    double* sum = sums + target;
    if (n_classes == 2)
        for (std::size_t row = 0; row < n_rows; ++row, sum += 2) {
            sum[0] += value(row, membership[row]);
            sum[-1] += value(row, 1.0 - membership[row]);
        }
    else
        for (std::size_t row = 0; row < n_rows; ++row, sum += n_classes) *sum += value(row, membership[row]);
}

// Divides the sums of every class by the number of its trees.
void take_means(const std::vector<double>& n_trees_of, std::size_t n_rows, double* sums);

// Rows without any score fall back on their mean memberships, and those without these on the prior.
void settle(const double* membership, const std::vector<double>& prior, std::size_t n_rows, double* wolf);

// Settled scores divided by their sum.
void take_shares(std::size_t n_classes, std::size_t n_rows, double* scores);

// The class with the largest score, the first of equals.
void find_largest(const double* scores, std::size_t n_classes, std::size_t n_rows, std::int64_t* out);

// Probabilities of two classes from the raw scores of the second.
void take_logistic(const double* raw, std::size_t n_rows, double* proba);

// Probabilities of more classes from their raw scores.
void take_softmax(const double* raw, std::size_t n_classes, std::size_t n_rows, double* proba);

// Predicted numbers from raw scores or, for the link mean, from sums over n_trees trees.
void take_values(const double* sums, Link link, std::size_t n_trees, std::size_t n_rows, double* values);

}  // namespace lhtree
