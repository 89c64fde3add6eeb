// Scores against a slow reference, and invalid arrays.
#include <algorithm>
#include <functional>
#include <limits>
#include <stdexcept>

#include "support.hpp"

namespace lhtree {
namespace {

// Grows one tree for each of three classes and two values of beta.
Forest grow_three(const Table& table, std::size_t n_threads) {
    std::vector<std::uint8_t> responses(3 * table.n_rows);
    for (std::size_t row = 0; row < table.n_rows; ++row)
        responses[(table.is_target[row] ? 2 : row % 2) * table.n_rows + row] = 1;
    ForestPlan plan{};
    plan.rows = table.rows();
    plan.responses = responses.data();
    plan.targets = {0, 1, 2};
    plan.betas = {0.0, 0.3};
    plan.seed = 5;
    Options options;
    options.max_features = 3;
    Watch watch;
    return grow_forest(plan, options, n_threads, watch);
}

// Algorithm 2, row by row and tree by tree, from the arrays alone.
struct NaiveScores {
    std::vector<double> wolf, membership, confidence;

    NaiveScores(const Forest& forest, const Table& table, std::size_t n_classes, Confidence mode)
        : wolf(table.n_rows * n_classes), membership(wolf), confidence(wolf) {
        const Forest& blocks = forest;
        const bool is_binary = n_classes == 2;
        const double share =
            (is_binary ? 1.0 : static_cast<double>(n_classes)) / static_cast<double>(forest.n_trees());
        for (std::size_t tree = 0; tree < forest.n_trees(); ++tree)
            for (std::size_t row = 0; row < table.n_rows; ++row) {
                const float* z = table.rows()[row];
                const auto root = static_cast<std::size_t>(forest.block_ptr[tree]);
                std::size_t block = root;
                double d = 1.0;
                while (blocks.left[block] >= 0) {
                    const auto at = static_cast<std::size_t>(blocks.hyperplane_ptr[block]);
                    const auto end = static_cast<std::size_t>(blocks.hyperplane_ptr[block + 1]);
                    const double sum = naive_lane_sum(&blocks.hyperplane_weight[at],
                                                      &blocks.hyperplane_feature[at], end - at, z);
                    const double y = sum - blocks.offset[block];
                    if (mode != Confidence::none)
                        d = std::min(std::abs(y), mode == Confidence::path ? d : 1.0);
                    block = root + static_cast<std::size_t>(blocks.left[block]) + !(y < 0.0);
                }
                double mu = blocks.intercept[block];
                for (auto i = static_cast<std::size_t>(blocks.membership_ptr[block]);
                     i < static_cast<std::size_t>(blocks.membership_ptr[block + 1]); ++i)
                    mu += blocks.membership_slope[i] *
                          static_cast<double>(z[static_cast<std::size_t>(blocks.membership_feature[i])]);
                mu = std::min(std::max(mu, 0.0), 1.0);
                const std::size_t at = row * n_classes + static_cast<std::size_t>(forest.target[tree]);
                add(at, d, mu, share);
                if (is_binary) add(at - 1, d, 1.0 - mu, share);
            }
    }

  private:
    void add(std::size_t at, double d, double mu, double share) {
        wolf[at] += d * mu * share;
        membership[at] += mu * share;
        confidence[at] += d * share;
    }
};

void check_scores(const Forest& forest, const Table& table, std::size_t n_classes, Confidence mode) {
    const NaiveScores naive(forest, table, n_classes, mode);
    const Scorer scorer = plain_scorer(forest, table.n_features, n_classes, mode);
    const std::pair<Score, const std::vector<double>*> asked[] = {{Score::wolf, &naive.wolf},
                                                                  {Score::membership, &naive.membership},
                                                                  {Score::confidence, &naive.confidence}};
    Watch watch;
    for (const auto& [what, expected] : asked)
        for (const std::size_t n_threads : {1, 3}) {
            std::vector<double> out(expected->size());
            CHECK(scorer.score(strided(table), what, n_threads, watch, out.data()));
            double worst = 0.0;
            for (std::size_t i = 0; i < out.size(); ++i)
                worst = std::max(worst, std::abs(out[i] - (*expected)[i]));
            CHECK_NEAR(worst, 0.0, 1e-11);
        }
}

TEST(scores_of_trees_of_any_width_match_a_slow_reference) {
    for (std::size_t m = 1; m <= 40; ++m)
        for (const double beta : {0.0, 0.6}) {
            Options options;
            options.beta = beta;
            options.gamma = options.min_samples_split = {2.0, false};
            options.membership = m % 2 ? Membership::marginal : Membership::least_squares;
            const Table table = random_table(70, m, m + 50);
            Forest forest;
            forest.add(1, grow_table(table, options).blocks);
            for (const auto mode : {Confidence::none, Confidence::last, Confidence::path})
                check_scores(forest, table, 2, mode);
        }
}

TEST(scores_of_three_classes_match_a_slow_reference) {
    const Table table = random_table(700, 5, 14);
    const Forest forest = grow_three(table, 1), parallel = grow_three(table, 4);
    CHECK(forest.target == parallel.target && forest.block_ptr == parallel.block_ptr);
    CHECK(same_bits(forest.offset, parallel.offset));
    CHECK(same_bits(forest.hyperplane_weight, parallel.hyperplane_weight));
    CHECK(same_bits(forest.membership_slope, parallel.membership_slope));
    for (const auto mode : {Confidence::none, Confidence::last, Confidence::path})
        check_scores(forest, table, 3, mode);

    const std::size_t n = table.n_rows;
    const Scorer scorer = plain_scorer(forest, 5, 3);
    Watch watch;
    std::vector<double> proba(n * 3);
    std::vector<std::int64_t> predicted(n);
    CHECK(scorer.score(strided(table), Score::proba, 1, watch, proba.data()));
    CHECK(scorer.predict(strided(table), 1, watch, predicted.data()));
    bool is_proba = true, is_largest = true;
    for (std::size_t row = 0; row < n; ++row) {
        const double* p = &proba[row * 3];
        is_proba = is_proba && std::abs(p[0] + p[1] + p[2] - 1.0) < 1e-12;
        is_largest = is_largest && std::max_element(p, p + 3) - p == predicted[row];
    }
    CHECK(is_proba);
    CHECK(is_largest);

    Table broken = table;
    broken.at(333, 2) = std::numeric_limits<float>::infinity();
    CHECK(!scorer.score(strided(broken), Score::wolf, 2, watch, proba.data()));
    CHECK(!scorer.predict(strided(broken), 2, watch, predicted.data()));
    std::vector<double> mu(n * forest.n_trees()), d(mu);
    std::vector<std::int64_t> ptr(mu.size() + 1);
    CHECK(!scorer.per_tree(strided(broken), 2, watch, mu.data(), d.data()));
    CHECK(!scorer.measure_paths(strided(broken), 2, watch, ptr.data()));

    // Scores as they are, then memberships, then the prior.
    const double memberships[] = {1, 1, 2, 0, 3, 1, 0, 0, 0};
    std::vector<double> settled{1, 0, 3, 0, 0, 0, 0, -0.0, 0};
    scorer.settle(memberships, 3, settled.data());
    for (const std::size_t at : {6, 7, 8}) settled[at] -= 1.0 / 3;
    CHECK((settled == std::vector<double>{0.25, 0, 0.75, 0, 0.75, 0.25, 0, 0, 0}));
}

TEST(faulty_models_are_rejected) {
    const Table table = random_table(300, 4, 15);
    const Forest sound = grow_three(table, 1);
    CHECK(find_fault(view_of(sound), 4, 3).empty());
    constexpr double infinity = std::numeric_limits<double>::infinity();

    const auto is_found = [&](const char* fault, const std::function<void(Forest&)>& harm) {
        Forest forest = sound;
        harm(forest);
        const std::string found = find_fault(view_of(forest), 4, 3);
        CHECK_THROWS(plain_scorer(forest, 4, 3), std::invalid_argument);
        if (found.find(fault) == std::string::npos)
            std::printf("expected '%s', found '%s'\n", fault, found.c_str());
        return found.find(fault) != std::string::npos;
    };
    using F = Forest&;
    CHECK(is_found("there is no tree", [](F f) { f.target.clear(), f.block_ptr = {0}; }));
    CHECK(is_found("block_ptr needs a value per tree", [](F f) { f.target.pop_back(); }));
    CHECK(is_found("offset needs a value per block", [](F f) { f.offset.pop_back(); }));
    CHECK(is_found("n_samples needs a value per block", [](F f) { f.n_samples.pop_back(); }));
    CHECK(is_found("membership_ptr needs a value per block", [](F f) { f.membership_ptr.push_back(0); }));
    CHECK(is_found("hyperplane_feature and hyperplane_weight", [](F f) { f.hyperplane_weight.pop_back(); }));
    CHECK(is_found("membership_feature and membership_slope", [](F f) { f.membership_slope.pop_back(); }));
    CHECK(is_found("block_ptr does not span", [](F f) { f.block_ptr[0] = 1; }));
    CHECK(is_found("block_ptr does not span", [](F f) { ++f.block_ptr.back(); }));
    CHECK(is_found("target is out of range", [](F f) { f.target[0] = -2; }));
    CHECK(is_found("target is out of range", [](F f) { f.target[1] = 3; }));
    CHECK(is_found("a tree has no blocks", [](F f) { f.block_ptr[1] = 0; }));
    CHECK(is_found("a tree has no blocks", [](F f) { f.block_ptr[2] = -5; }));
    CHECK(is_found("a tree has no blocks", [](F f) { f.block_ptr[1] = 1 << 30; }));
    for (const std::int32_t left : {0, 2, 3, -2, 1 << 30, std::numeric_limits<std::int32_t>::min()})
        CHECK(is_found("left is not numbered breadth-first", [&](F f) { f.left[0] = left; }));
    CHECK(is_found("blocks without a parent", [](F f) { std::fill(f.left.begin(), f.left.end(), -1); }));
    const auto is_tree = [&](const std::vector<std::int32_t>& left) {  // without weights or slopes
        Forest forest;
        forest.target = {1};
        forest.left = left;
        forest.block_ptr = {0, static_cast<std::int64_t>(left.size())};
        forest.hyperplane_ptr = forest.membership_ptr = std::vector<std::int64_t>(left.size() + 1);
        forest.offset = forest.intercept = std::vector<double>(left.size());
        return find_fault(view_of(forest), 1, 2).empty();
    };
    CHECK(is_tree({-1}) && is_tree({1, -1, -1}) && is_tree({1, -1, 3, -1, -1}));
    CHECK(!is_tree({-1, 1, -1}));  // a block that is its own child
    CHECK(!is_tree({1, -1}));      // no right child
    CHECK(!is_tree({1, 1, -1}));   // two parents
    CHECK(!is_tree({1, 3, 3, -1, -1}));
    CHECK(!is_tree({3, -1, -1, 1, -1}));  // not in order
    CHECK(is_found("offset has a value", [&](F f) { f.offset[0] = infinity; }));
    CHECK(is_found("intercept has a value", [](F f) { f.intercept[1] = std::nan(""); }));
    const auto set_ranges = [](F f, double low, double high) {
        f.low.assign(f.n_blocks(), low);
        f.high.assign(f.n_blocks(), high);
    };
    CHECK(is_found("low is above high", [&](F f) { set_ranges(f, 0.5, 0.25); }));
    CHECK(is_found("low has a value", [&](F f) { set_ranges(f, -infinity, 0.0); }));
    CHECK(is_found("high has a value", [&](F f) { set_ranges(f, 0.0, std::nan("")); }));
    CHECK(is_found("low and high differ", [&](F f) { f.low.assign(f.n_blocks(), 0.0); }));
    CHECK(is_found("high needs a value per block", [&](F f) { set_ranges(f, 0, 1), f.high.pop_back(); }));
    CHECK(is_found("missing is not", [](F f) { f.missing.assign(f.n_blocks(), 2); }));
    const auto set_values = [](F f, std::int32_t cls, double value) {
        f.value_ptr.assign(f.n_blocks() + 1, 1);
        f.value_ptr[0] = 0;
        f.value_class = {cls};
        f.value = {value};
    };
    CHECK(is_found("value_class is out", [&](F f) { set_values(f, 3, 0.0); }));
    CHECK(is_found("value has a value", [&](F f) { set_values(f, 2, infinity); }));
    CHECK(is_found("value needs value_ptr", [&](F f) { set_values(f, 0, 0.0), f.value_ptr.clear(); }));
    CHECK(is_found("value_class and value", [&](F f) { set_values(f, 0, 0.0), f.value.clear(); }));
    CHECK(is_found("not use a single feature", [](F f) { f.missing.assign(f.n_blocks(), 1); }));
    Forest mixed = sound;  // some trees of all classes, without values
    mixed.target[0] = -1;
    CHECK(find_fault(view_of(mixed), 4, 3).empty());
    CHECK_THROWS(plain_scorer(mixed, 4, 3), std::invalid_argument);
    CHECK(is_found("hyperplane_ptr does not span", [](F f) { f.hyperplane_ptr[0] = 1; }));
    CHECK(is_found("hyperplane_ptr does not span", [](F f) { ++f.hyperplane_ptr.back(); }));
    CHECK(is_found("hyperplane_ptr falls", [](F f) { f.hyperplane_ptr[1] = 1 << 30; }));
    CHECK(is_found("hyperplane_ptr falls", [](F f) { f.hyperplane_ptr[1] = -1; }));
    CHECK(is_found("hyperplane_feature is out", [](F f) { f.hyperplane_feature[0] = -1; }));
    CHECK(is_found("hyperplane_feature is out", [](F f) { f.hyperplane_feature[0] = 4; }));
    CHECK(is_found("hyperplane_feature is out",
                   [](F f) { f.hyperplane_feature[1] = f.hyperplane_feature[0]; }));
    CHECK(is_found("hyperplane has a value", [](F f) { f.hyperplane_weight[0] = std::nanf(""); }));
    CHECK(is_found("membership_ptr does not span", [](F f) { ++f.membership_ptr.back(); }));
    CHECK(is_found("membership_ptr falls", [](F f) { f.membership_ptr[1] = 1 << 30; }));
    CHECK(is_found("membership_feature is out", [](F f) { f.membership_feature[0] = 4; }));
    CHECK(is_found("membership has a value", [&](F f) { f.membership_slope[0] = -infinity; }));

    const std::vector<double> four(4, 1.0), three(3, 1.0 / 3);
    CHECK_THROWS(Scorer(view_of(sound), four, three, three, Confidence::last), std::invalid_argument);
    CHECK_THROWS(Scorer(view_of(sound), four, four, {}, Confidence::last), std::invalid_argument);
    CHECK_THROWS(Scorer(view_of(sound), four, four, {1.0}, Confidence::last), std::invalid_argument);
    Forest stump;  // a tree that is a leaf and asks for no feature
    stump.add(1, [] {
        Blocks blocks;
        blocks.add({1, 1.0, 1.0}, {}, {}, -1);
        return blocks;
    }());
    CHECK_THROWS(plain_scorer(stump, 0, 2), std::invalid_argument);
    Forest lone;
    lone.add(0, grow_table(table, Options{}).blocks);
    CHECK_THROWS(plain_scorer(lone, 4, 2), std::invalid_argument);  // two classes: the tree's target is 1
    CHECK_THROWS(plain_scorer(lone, 4, 1), std::invalid_argument);
    CHECK_THROWS(plain_scorer(lone, 4, 3), std::invalid_argument);  // classes 1 and 2 have no tree
}

}  // namespace
}  // namespace lhtree
