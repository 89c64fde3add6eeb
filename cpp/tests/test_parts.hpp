// The parts of growing, each against a slow twin: moments, the ridge system, cuts, threads and draws.
#pragma once
#include <atomic>
#include <limits>
#include <set>
#include <stdexcept>

#include "check.hpp"
#include "lhtree/hyperplane.hpp"
#include "lhtree/linear.hpp"
#include "lhtree/random.hpp"

namespace lhtree {

inline void test_moments() {
    const std::size_t n = 3 * chunk_rows + 17, m = 5, n_rest = chunk_rows + 3;
    const Table table = random_table(n, m, 7);
    for (const bool is_weighted : {false, true}) {
        const Samples samples{table.rows(), n_rest, is_weighted ? table.weight.data() : nullptr};
        Watch watch;
        Moments moments;
        moments.measure(samples, true, watch);
        std::vector<double> scatter, mean[2];
        measure_scatter(samples, moments, watch, scatter);
        for (int cls = 0; cls < 2; ++cls) {
            const WeightedRows rows = samples.of(cls);
            mean[cls].resize(m);
            double weight = 0.0;
            for (std::size_t row = 0; row < rows.size(); ++row)
                weight += rows.weight ? rows.weight[row] : 1.0;
            CHECK(weight == moments.of[cls].weight);  // integers: exact in any order
            for (std::size_t f = 0; f < m; ++f) {
                double sum = 0.0, squares = 0.0;
                for (std::size_t row = 0; row < rows.size(); ++row)
                    sum += (rows.weight ? rows.weight[row] : 1.0) * static_cast<double>(rows.rows[row][f]);
                mean[cls][f] = sum / weight;
                for (std::size_t row = 0; row < rows.size(); ++row) {
                    const double distance = static_cast<double>(rows.rows[row][f]) - mean[cls][f];
                    squares += (rows.weight ? rows.weight[row] : 1.0) * distance * distance;
                }
                CHECK_NEAR(moments.of[cls].mean(f), mean[cls][f], 1e-12);
                CHECK_NEAR(moments.of[cls].squares[f], squares, 1e-9 * squares);
            }
            // Chunks measured apart and merged in order are the same bits.
            ClassMoments merged, part;
            merged.reset(m, true);
            merged.add(rows.part(0, std::min(rows.size(), chunk_rows)));
            for (std::size_t begin = chunk_rows; begin < rows.size(); begin += chunk_rows) {
                part.reset(m, true);
                part.add(rows.part(begin, std::min(rows.size(), begin + chunk_rows)));
                merged.merge(part);
            }
            for (std::size_t f = 0; f < m; ++f) {
                CHECK(merged.sum[f] == moments.of[cls].sum[f] &&
                      merged.squares[f] == moments.of[cls].squares[f]);
                CHECK(merged.low[f] == moments.of[cls].low[f] && merged.high[f] == moments.of[cls].high[f]);
            }
        }
        for (std::size_t f = 0; f < m; ++f)
            for (std::size_t g = 0; g <= f; ++g) {
                double sum = 0.0;
                for (std::size_t row = 0; row < n; ++row) {
                    const auto& own = mean[row >= n_rest];
                    const float* z = samples.rows[row];
                    sum += samples.weight_of(row) * (static_cast<double>(z[f]) - own[f]) *
                           (static_cast<double>(z[g]) - own[g]);
                }
                CHECK_NEAR(scatter[f * m + g], sum, 1e-8 * static_cast<double>(n));
            }
    }
}

inline void test_active_and_kept() {
    Table table(4, 3);  // feature 0 constant, 1 small, 2 large and balanced between the classes
    const float values[4][3] = {{5, 0, -9}, {5, 0, 9}, {5, 0.1f, -9}, {5, 0.1f, 9}};
    for (std::size_t row = 0; row < 4; ++row)
        for (std::size_t f = 0; f < 3; ++f) table.at(row, f) = values[row][f];
    Watch watch;
    Moments moments;
    moments.measure({table.rows(), 2, nullptr}, true, watch);
    std::vector<std::int32_t> active;
    find_active(moments, 0.0, active);
    CHECK((active == std::vector<std::int32_t>{1, 2}));
    Kept kept;
    keep_features(moments, active, 0.0, kept);
    CHECK((kept.features == std::vector<std::int32_t>{1}));  // SD of feature 2 is 0
    find_active(moments, 0.01, active);
    CHECK((active == std::vector<std::int32_t>{2}));
    keep_features(moments, active, 0.0, kept);
    CHECK(kept.features.empty());
    std::vector<float> weights;
    scale_weights({-4.0, 2.0, 0.5}, weights);
    CHECK((weights == std::vector<float>{-1.0f, 0.5f, 0.125f}));
}

inline void test_ridge() {
    Random random(8);
    Watch watch;
    for (std::size_t p = 1; p <= 30; ++p) {
        std::vector<double> root(p * p), scatter(p * p), b(p);
        for (double& value : root) value = random.normal();
        for (double& value : b) value = random.normal();
        double trace = 0.0;
        for (std::size_t i = 0; i < p; ++i) {
            for (std::size_t j = 0; j < p; ++j)
                for (std::size_t k = 0; k < p; ++k) scatter[i * p + j] += root[i * p + k] * root[j * p + k];
            trace += scatter[i * p + i];
        }
        std::vector<double> lower = scatter, x = b;
        for (std::size_t i = 0; i < p; ++i)
            for (std::size_t j = i + 1; j < p; ++j) lower[i * p + j] = std::nan("");  // must not be read
        CHECK(solve_ridge(lower, 1e-3, x, watch));
        for (std::size_t i = 0; i < p; ++i) {
            double residual = 1e-3 * trace / static_cast<double>(p) * x[i] - b[i];
            for (std::size_t j = 0; j < p; ++j) residual += scatter[i * p + j] * x[j];
            CHECK_NEAR(residual, 0.0, 1e-8);
        }
    }
    const auto is_refused = [&](std::vector<double> scatter, double shrinkage, std::vector<double> b) {
        const std::vector<double> before = b;
        return !solve_ridge(scatter, shrinkage, b, watch) && same_bits(b, before);
    };
    CHECK(is_refused({0, 0, 0, 0}, 1e-3, {1, 1}));                    // no trace
    CHECK(is_refused({1, 0, 1, 1}, 0.0, {1, 1}));                     // two equal features, no ridge
    CHECK(!is_refused({1, 0, 1, 1}, 1e-3, {1, 1}));                   // … which the ridge mends
    CHECK(is_refused({1, 0, 2, 1}, 1e-3, {1, 1}));                    // indefinite
    CHECK(is_refused({-1, 0, 0, -1}, 1e-3, {1, 1}));                  // negative trace
    CHECK(is_refused({std::nan(""), 0, 0, 1}, 1e-3, {1, 1}));         // not a number
    CHECK(is_refused({1, 0, 0, 1}, 1e-3, {std::nan(""), 1}));         // no finite solution
    CHECK(is_refused({1e-300, 0, 0, 1e-300}, 1e-3, {1e300, 1e300}));  // overflow
}

// Feature sums by class, with unit weights unless given.
struct CutCase {
    std::vector<double> sums, weights;
    std::size_t n_rest;
    Samples samples;
    double total[2];

    CutCase(const std::vector<double>& rest, const std::vector<double>& target,
            std::vector<double> weights_ = {})
        : sums(rest), weights(std::move(weights_)), n_rest(rest.size()) {
        sums.insert(sums.end(), target.begin(), target.end());
        if (weights.empty()) weights.assign(sums.size(), 1.0);
        samples = {{nullptr, sums.size(), 0}, n_rest, weights.data()};
        total[0] = total[1] = 0.0;
        for (std::size_t row = 0; row < sums.size(); ++row) total[row >= n_rest] += weights[row];
    }
    Cut purest(double gamma, double min_samples_leaf = 1.0) const {
        return cut_purest({sums.data(), samples, total}, gamma, min_samples_leaf);
    }
    Cut gini(double min_samples_leaf = 1.0) const {
        GiniCutter cutter;
        return cutter({sums.data(), samples, total}, min_samples_leaf);
    }
};

inline void test_purity_cuts() {
    CHECK(CutCase({0, 1, 2}, {3, 4, 5}).purest(1).offset == 2.5);
    CHECK(CutCase({0, 1, 2}, {3, 4, 5}).purest(9).offset == 2.5);           // e = 2.5
    CHECK(CutCase({0, 1, 2, 3}, {2, 3, 4, 4}).purest(1).offset == 3.5);     // a tie of weight and gap: N2
    CHECK(CutCase({0, 0.5, 2, 3}, {2, 3, 4, 4}).purest(1).offset == 1.25);  // a tie of weight: the wider gap
    CHECK(CutCase({0, 1, 1, 2, 3}, {2, 3, 4, 4}).purest(1).offset == 1.5);  // the larger set
    CHECK(CutCase({4, 4, 3, 2}, {3, 2, 1, 0}).purest(1).offset == 1.5);  // N1 and N4, where 2 and 3 are empty
    CHECK(CutCase({0, 2}, {1, 1}).purest(9).offset == 0.5);              // rows exactly on e = 1 go right
    CHECK(!CutCase({1, 1}, {1, 1}).purest(1).exists);                    // nothing lies apart
    CHECK(!CutCase({1, 1}, {1, 1}).purest(9).exists);
    CHECK(!CutCase({0, 1}, {2, 3}).purest(1, 3.0).exists);  // sides of 2 with 3 asked for
    CHECK(CutCase({0, 1}, {2, 3}, {1, 2, 3, 4}).purest(1, 3.0).exists);
    CHECK(CutCase({0, 1, 2}, {1, 2, 3}, {5, 1, 1, 1, 1, 1}).purest(5).offset == 0.5);  // weight, not rows
    const double next = std::nextafter(1.0, 2.0);
    CHECK(CutCase({1.0}, {next}).purest(1).offset == next);  // nothing between: the upper end
}

// Every cut of the sorted sums, looked at one by one.
inline Cut naive_gini(const CutCase& data, double min_samples_leaf) {
    Cut best;
    double best_gap = 0.0, best_imbalance = 0.0;
    const std::set<double> distinct(data.sums.begin(), data.sums.end());
    for (auto high = distinct.begin(); high != distinct.end(); ++high) {
        if (high == distinct.begin()) continue;
        const double low = *std::prev(high);
        double side[2][2] = {};
        for (std::size_t row = 0; row < data.sums.size(); ++row)
            side[data.sums[row] >= *high][row >= data.n_rest] += data.weights[row];
        double cost = 0.0, weight[2];
        for (int i = 0; i < 2; ++i) {
            weight[i] = side[i][0] + side[i][1];
            cost += side[i][0] * side[i][1] / weight[i];
        }
        if (weight[0] < min_samples_leaf || weight[1] < min_samples_leaf) continue;
        const double gap = *high - low, imbalance = std::abs(weight[0] - weight[1]);
        const bool is_better =
            !best.exists || cost < best.cost ||
            (cost == best.cost && (gap > best_gap || (gap == best_gap && imbalance < best_imbalance)));
        if (!is_better) continue;
        best = {true, low + gap / 2.0, cost};
        best_gap = gap;
        best_imbalance = imbalance;
    }
    return best;
}

inline void test_gini_cuts() {
    CHECK(CutCase({0, 1, 2}, {3, 4, 5}).gini().offset == 2.5 &&
          CutCase({0, 1, 2}, {3, 4, 5}).gini().cost == 0.0);
    CHECK(!CutCase({1, 1}, {1}).gini().exists);
    CHECK(!CutCase({0, 1}, {2}).gini(2.0).exists);
    CHECK(CutCase({0, 8}, {2, 3, 5}).gini().offset == 6.5);  // equal cost at both ends: the wider gap
    Random random(9);
    for (int i = 0; i < 3000; ++i) {
        std::vector<double> rest(1 + random.below(8)), target(1 + random.below(8)), weights;
        for (auto* sums : {&rest, &target})
            for (double& sum : *sums) sum = static_cast<double>(random.below(7));
        for (std::size_t row = 0; row < rest.size() + target.size(); ++row)
            weights.push_back(static_cast<double>(1 + random.below(3)));
        const CutCase data(rest, target, weights);
        const double min_samples_leaf = static_cast<double>(1 + random.below(4));
        const Cut cut = data.gini(min_samples_leaf), naive = naive_gini(data, min_samples_leaf);
        CHECK(cut.exists == naive.exists);
        CHECK(!cut.exists || (cut.offset == naive.offset && cut.cost == naive.cost));
    }
}

inline void test_run() {
    for (const std::size_t n_tasks : {0, 1, 5, 1000})
        for (const std::size_t n_threads : {0, 1, 2, 8}) {
            std::vector<std::atomic<int>> n_done(n_tasks);
            Watch watch;
            run(n_tasks, n_threads, watch, [&](std::size_t task) { ++n_done[task]; });
            bool is_once = true;
            for (const auto& n : n_done) is_once = is_once && n == 1;
            CHECK(is_once);
        }
    for (const std::size_t n_threads : {1, 2, 8}) {
        std::atomic<int> n_done{0};
        Watch watch;
        CHECK_THROWS(run(100000, n_threads, watch,
                         [&](std::size_t task) {
                             ++n_done;
                             if (task == 7) throw std::runtime_error("task 7");
                             watch.check();
                         }),
                     std::runtime_error);
        CHECK(n_done < 100000);
        Watch asked([](std::size_t) { return false; });
        CHECK_THROWS(run(64, n_threads, asked,
                         [&](std::size_t) {
                             for (;;) asked.check();  // ends by the stop alone
                         }),
                     Stopped);
        // The calling thread has done its task, and still asks while the others work.
        if (n_threads == 1) continue;
        Watch waiting([](std::size_t) { return false; });
        std::atomic<std::size_t> n_started{0};
        const auto owner = std::this_thread::get_id();
        CHECK_THROWS(run(n_threads, n_threads, waiting,
                         [&](std::size_t) {
                             ++n_started;
                             if (std::this_thread::get_id() == owner)
                                 while (n_started < n_threads) std::this_thread::yield();
                             else
                                 for (;;) waiting.check();
                         }),
                     Stopped);
    }
}

inline void test_draws() {
    CHECK(derive(0, 0) == 0xe220a8397b1dcdafu);  // SplitMix64 from 0, as published
    CHECK(derive(0, 1) == 0x6e789e6aa1b965f4u);
    CHECK(derive(0, 2) == 0x06c45d188009454fu);
    for (std::size_t size = 1; size <= 300; ++size) {
        Draws draws(size, feature_draws);
        std::vector<int> n_seen(size);
        bool is_below = true;
        for (std::size_t i = 0; i < 40 * size; ++i) {
            const std::size_t draw = draws.below(size);
            is_below = is_below && draw < size;
            if (draw < size) ++n_seen[draw];
        }
        CHECK(is_below);
        int least = n_seen[0];
        for (const int n : n_seen) least = std::min(least, n);
        CHECK(least > 5);  // 40 expected
    }
    const std::uint64_t key = derive(42, row_draws);
    Draws bits(42, row_draws), large(42, row_draws);
    for (std::uint64_t i = 0; i < 50; ++i) {
        CHECK(bits.below(256) == derive(key, i) >> 56);
        CHECK(large.below(std::size_t{1} << 31) == derive(key, i) >> 33);
    }
}

inline void test_parts() {
    test_moments();
    test_active_and_kept();
    test_ridge();
    test_purity_cuts();
    test_gini_cuts();
    test_run();
    test_draws();
}

}  // namespace lhtree
