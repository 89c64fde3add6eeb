// Raw scores of boosted models against a slow reference; exp and log.
#include <algorithm>
#include <cmath>
#include <limits>

#include "lhtree/score/staged_scores.hpp"
#include "lhtree/shared/elementary.hpp"
#include "support.hpp"

namespace lhtree {
namespace {

// Gives blocks of a single feature a side for missing values.
void add_sides(Random& random, Forest& forest) {
    for (std::size_t block = 0; block < forest.n_blocks(); ++block) {
        const auto begin = static_cast<std::size_t>(forest.hyperplane_ptr[block]);
        const bool is_single = static_cast<std::size_t>(forest.hyperplane_ptr[block + 1]) == begin + 1;
        if (is_single) forest.hyperplane_weight[begin] = 1.0f;
        forest.missing.push_back(is_single ? static_cast<std::int8_t>(static_cast<int>(random.below(3)) - 1)
                                           : std::int8_t{0});
        forest.low.push_back(-2.0);
        forest.high.push_back(2.0);
    }
}

// Returns the value that a tree adds to the raw score of a row of z, NaN where a value is missing.
double naive_value(const Forest& forest, std::size_t tree, const float* z, std::size_t n_features,
                   float clip) {
    std::vector<float> clipped(n_features);
    for (std::size_t f = 0; f < n_features; ++f)
        clipped[f] = std::isnan(z[f]) ? 0.0f : std::min(std::max(z[f], -clip), clip);
    const auto root = static_cast<std::size_t>(forest.block_ptr[tree]);
    std::size_t block = root;
    while (forest.left[block] >= 0) {
        const auto at = static_cast<std::size_t>(forest.hyperplane_ptr[block]);
        const auto n = static_cast<std::size_t>(forest.hyperplane_ptr[block + 1]) - at;
        double sum =
            naive_lane_sum(&forest.hyperplane_weight[at], &forest.hyperplane_feature[at], n, clipped.data());
        if (n == 1) {
            const float value = z[forest.hyperplane_feature[at]];
            const int side = forest.missing[block];
            const double missing = side == 0 ? 0.0 : side * std::numeric_limits<double>::infinity();
            sum = std::isnan(value) ? missing : static_cast<double>(value);
        }
        block = root + static_cast<std::size_t>(forest.left[block]) + !(sum - forest.offset[block] < 0.0);
    }
    const auto at = forest.membership_ptr[block], end = forest.membership_ptr[block + 1];
    const double sum =
        naive_lane_sum(forest.membership_slope.data() + at, forest.membership_feature.data() + at,
                       static_cast<std::size_t>(end - at), clipped.data());
    return std::min(std::max(forest.intercept[block] + sum, forest.low[block]), forest.high[block]);
}

TEST(raw_scores_match_a_slow_reference) {
    Random random(31);
    Watch watch;
    for (const std::size_t n_features : {1, 2, 3, 7, 8, 20})
        for (const std::size_t n_classes : {2, 3})
            for (const double clip : {0.5, 8.0, 1e30}) {
                const std::size_t n_targets = n_classes == 2 ? 1 : 3, n_rows = 70;
                Forest forest;
                for (std::size_t tree = 0; tree < 4 * n_targets; ++tree)
                    forest.add(
                        static_cast<std::int32_t>(n_classes == 2 ? 1 : tree % 3),
                        random_tree(random, random.below(12), 1 + random.below(n_features), n_features));
                add_sides(random, forest);
                Table table = walking_rows(n_rows, n_features, n_features);
                for (std::size_t i = 0; i < n_rows * n_features; ++i)
                    if (random.below(5) == 0) table.values[i] = std::nanf("");
                std::vector<double> base{0.25, -0.5, 0.125};
                base.resize(n_targets);
                const Scorer scorer(view_of(forest), std::vector<double>(n_features, 0.0),
                                    std::vector<double>(n_features, 1.0),
                                    std::vector<double>(n_classes, 1.0 / static_cast<double>(n_classes)),
                                    Confidence::none, find_link(n_classes == 2 ? "logistic" : "softmax"),
                                    base, clip);
                std::vector<double> expected, raw(n_rows * n_targets), one(n_targets), proba(n_classes);
                std::vector<double> expected_stages(4 * n_rows * n_targets), stages(expected_stages.size());
                for (std::size_t row = 0; row < n_rows; ++row) {
                    const std::size_t begin = expected.size();
                    expected.insert(expected.end(), base.begin(), base.end());
                    for (std::size_t tree = 0; tree < forest.n_trees(); ++tree) {
                        const std::size_t target = tree % n_targets, round = tree / n_targets;
                        expected[begin + target] += naive_value(forest, tree, table.rows()[row], n_features,
                                                                static_cast<float>(clip));
                        expected_stages[(round * n_rows + row) * n_targets + target] =
                            expected[begin + target];
                    }
                }
                StagedScores staged(scorer, {});
                CHECK(staged.begin(strided(table), nullptr, 2, watch));
                staged.next(3, 2, watch, stages.data());
                staged.next(1, 2, watch, &stages[3 * n_rows * n_targets]);
                CHECK(same_bits(stages, expected_stages));
                CHECK(scorer.score(strided(table), Score::raw_score, 2, watch, raw.data()));
                CHECK(same_bits(raw, expected));
                bool is_same = true;
                for (std::size_t row = 0; row < n_rows; ++row) {
                    Strided<float> alone = strided(table);
                    alone.data += row * n_features;
                    alone.n_rows = 1;
                    scorer.score(alone, Score::raw_score, 1, watch, one.data());
                    is_same = is_same && std::equal(one.begin(), one.end(), &expected[row * n_targets]);
                    scorer.score(alone, Score::proba, 1, watch, proba.data());
                    double sum = 0.0;
                    for (const double share : proba) sum += share;
                    is_same = is_same && std::abs(sum - 1.0) < 1e-15;
                }
                CHECK(is_same);
            }
}

TEST(exp_and_log_are_accurate) {
    constexpr double infinity = std::numeric_limits<double>::infinity();
    Random random(32);
    double worst_exp = 0.0, worst_log = 0.0;
    for (int i = 0; i < 20000; ++i) {
        const double x = i % 2 ? random.normal() : 1400.0 * (random.uniform() - 0.5);
        const double power = std::exp(x), logarithm = std::log(power);
        worst_exp = std::max(worst_exp, std::abs(elementary::exp(x) / power - 1.0));
        worst_log = std::max(worst_log, std::abs(elementary::log(power) - logarithm) / std::abs(logarithm));
    }
    CHECK(worst_exp < 3.4e-16);
    CHECK(worst_log < 3.4e-16);
    CHECK(elementary::exp(0.0) == 1.0 && elementary::log(1.0) == 0.0);
    CHECK(elementary::exp(-infinity) == 0.0 && elementary::exp(infinity) == infinity);
    CHECK(elementary::log(0.0) == -infinity && elementary::log(infinity) == infinity);
    CHECK(std::isnan(elementary::exp(std::nan(""))) && std::isnan(elementary::log(-1.0)));
}

}  // namespace
}  // namespace lhtree
