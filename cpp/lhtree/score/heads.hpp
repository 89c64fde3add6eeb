// Heads: how the outputs of trees become predictions. A link is one object; all of them are in heads.cpp.
//
// Tables have a row per sample and a column per class; raw scores have a column per target. With two classes
// there is one target, otherwise one per class; a regression has one per number to predict.
#pragma once
#include <algorithm>
#include <cstdint>
#include <string>
#include <vector>

#include "lhtree/shared/blocks.hpp"
#include "lhtree/shared/options.hpp"

namespace lhtree {

// Outputs of trees and the way they are combined.
enum class Output : std::uint8_t {
    membership,  // of a class, with a confidence: means over the trees of the class
    estimate,    // of a number: the mean over all trees
    raw_score    // of a target: the sum over its trees and an initial score
};

struct Link {
    const char* name;
    Output output;
    std::size_t least_classes, most_classes;  // 0 for a regression
    // Probabilities or values of n_rows rows, in n_columns columns, from combined outputs. Null for
    // memberships: see settle.
    void (*apply)(const double* combined, std::size_t n_columns, std::size_t n_rows, double* predictions);

    bool is_regression() const { return most_classes == 0; }
    bool is_boosted() const { return output == Output::raw_score; }
};
const std::vector<Link>& all_links();
// Throws std::invalid_argument if there is no such link.
const Link& find_link(const std::string& name);

// Scores of a model. Each has a value per row and class, raw_score and value one per row and target.
// Probabilities are calibrated if the model is; uncalibrated ones never are.
enum class Score : std::uint8_t { wolf, membership, confidence, proba, uncalibrated, raw_score, value };
constexpr bool is_probability(Score score) {
    return score == Score::proba || score == Score::uncalibrated;
}
// Throws std::invalid_argument if models with this link have no such score.
void check_score(const Link& link, Score score);

// Adds value(row, μ) of one tree to the sums of its target. With two classes one tree serves both: the first
// class has the membership 1 - μ.
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

// Replaces rows of zeros in `wolf` by their mean memberships and, if these are zero too, by the prior.
void settle(const double* membership, const std::vector<double>& prior, std::size_t n_rows, double* wolf);

// Divides every row by its sum.
void take_shares(std::size_t n_classes, std::size_t n_rows, double* scores);

// Adds weight · ln μ of every class to raw scores; with two classes, weight · (ln μ of the second - ln μ of
// the first). Memberships below least_membership count as that.
constexpr double least_membership = 1e-6;
void add_log_memberships(const double* membership, std::size_t n_classes, std::size_t n_rows, double weight,
                         double* raw);

// Writes the class with the largest score, the first of equals.
void find_largest(const double* scores, std::size_t n_classes, std::size_t n_rows, std::int64_t* out);

enum class Calibrator : std::uint8_t { none, sigmoid, lines };
constexpr Named<Calibrator> calibrator_names[] = {{"sigmoid", Calibrator::sigmoid},
                                                  {"lines", Calibrator::lines}};

// Calibrated probabilities: a map of the score of every target, learned from rows that its trees did not see.
//
// Target t has the knots ptr[t] to ptr[t + 1] - 1. A sigmoid has one: 1 / (1 + e^-(x·score + y)). Lines join
// knots of ascending scores x and probabilities y; the map is constant beyond them.
struct Calibration {
    Calibrator kind = Calibrator::none;
    std::vector<std::int64_t> ptr;
    std::vector<double> x, y;

    bool is_given() const { return kind != Calibrator::none; }
    // Throws std::invalid_argument unless it is a calibration of n_targets targets.
    void check(std::size_t n_targets) const;
    // Writes probabilities from the scores of the targets, which are `stride` values apart from row to row.
    // The scores may be the columns of the last targets of the same table.
    void apply(const double* scores, std::size_t stride, std::size_t n_classes, std::size_t n_rows,
               double* proba) const;

  private:
    double map(std::size_t target, double score) const;
};

// Properties of a model besides its trees.
struct ModelParts {
    std::size_t n_features, n_scales, n_classes;
    Confidence confidence;
    const Link& link;
    const std::vector<double>& base;
    double clip;

    // Classes, or numbers to predict.
    std::size_t n_outputs() const {
        return link.is_regression() ? std::max<std::size_t>(base.size(), 1) : n_classes;
    }
};
// Returns the forest if it can be scored; throws std::invalid_argument if not.
const ForestView& checked(const ForestView& forest, const ModelParts& parts);

}  // namespace lhtree
