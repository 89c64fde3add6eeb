// Parts of growing against slow references: moments, ridge systems, threads and draws.
#include <atomic>
#include <stdexcept>

#include "check.hpp"
#include "lhtree/grow/decisions/linear.hpp"
#include "lhtree/grow/trees/forest.hpp"
#include "lhtree/shared/random.hpp"

namespace lhtree {
namespace {

TEST(moments_match_a_slow_reference_and_merge_exactly) {
    const std::size_t n = 3 * chunk_rows + 17, m = 5, n_rest = chunk_rows + 3;
    const Table table = random_table(n, m, 7);
    for (const bool is_weighted : {false, true}) {
        const Samples samples{table.rows(), n_rest, is_weighted ? table.weight.data() : nullptr};
        Watch watch;
        Moments moments;
        moments.measure(samples, true, 1 + samples.size() % 3, watch);
        std::vector<double> mean[2];
        Scatter scatter;
        scatter.measure(samples, moments, watch);
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
            // Chunks measured separately and merged in order give the same bits.
            FeatureMoments merged, part;
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
                CHECK_NEAR(scatter.triangle[f * m + g], sum, 1e-8 * static_cast<double>(n));
            }
    }
}

TEST(constant_and_weak_features_are_dropped) {
    Table table(4, 3);  // feature 0 constant, 1 small, 2 large and balanced between the classes
    const float values[4][3] = {{5, 0, -9}, {5, 0, 9}, {5, 0.1f, -9}, {5, 0.1f, 9}};
    for (std::size_t row = 0; row < 4; ++row)
        for (std::size_t f = 0; f < 3; ++f) table.at(row, f) = values[row][f];
    Watch watch;
    Moments moments;
    moments.measure({table.rows(), 2, nullptr}, true, 1, watch);
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

// The decomposition row by row, one product after the other: the order that fixes the bits.
std::vector<double> solve_slowly(std::vector<double> scatter, double ridge, std::vector<double> x) {
    const std::size_t p = x.size();
    for (std::size_t i = 0; i < p; ++i) {
        scatter[i * p + i] += ridge;
        for (std::size_t j = 0; j <= i; ++j) {
            double sum = scatter[i * p + j];
            for (std::size_t k = 0; k < j; ++k) sum -= scatter[i * p + k] * scatter[j * p + k];
            scatter[i * p + j] = i == j ? std::sqrt(sum) : sum / scatter[j * p + j];
        }
    }
    for (std::size_t i = 0; i < p; ++i) {
        for (std::size_t j = 0; j < i; ++j) x[i] -= scatter[i * p + j] * x[j];
        x[i] /= scatter[i * p + i];
    }
    for (std::size_t i = p; i-- > 0;) {
        for (std::size_t j = i + 1; j < p; ++j) x[i] -= scatter[j * p + i] * x[j];
        x[i] /= scatter[i * p + i];
    }
    return x;
}

TEST(ridge_solver_solves_and_refuses_singular_systems) {
    Random random(8);
    Watch watch;
    for (std::size_t p = 1; p <= 70; ++p) {
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
        CHECK(same_bits(x, solve_slowly(scatter, 1e-3 * (trace / static_cast<double>(p)), b)));
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
    CHECK(!is_refused({1, 0, 1, 1}, 1e-3, {1, 1}));                   // solvable with the ridge
    CHECK(is_refused({1, 0, 2, 1}, 1e-3, {1, 1}));                    // indefinite
    CHECK(is_refused({-1, 0, 0, -1}, 1e-3, {1, 1}));                  // negative trace
    CHECK(is_refused({std::nan(""), 0, 0, 1}, 1e-3, {1, 1}));         // not a number
    CHECK(is_refused({1, 0, 0, 1}, 1e-3, {std::nan(""), 1}));         // no finite solution
    CHECK(is_refused({1e-300, 0, 0, 1e-300}, 1e-3, {1e300, 1e300}));  // overflow
}

TEST(gram_matrix_gives_the_same_direction_as_the_scatter_matrix) {
    const std::size_t n = 13, m = 70, n_rest = 6;
    const Table table = random_table(n, m, 9);
    const Samples samples{table.rows(), n_rest, table.weight.data()};
    CHECK(!Gram::suits(samples.rows));
    CHECK(Gram::suits({nullptr, 512, 513}) && !Gram::suits({nullptr, 513, 513}));
    Watch watch;
    Moments moments;
    Scatter scatter;
    Gram gram;
    std::vector<std::int32_t> active(m);
    std::vector<double> direct(m), by_rows(m);
    std::vector<float> direct_weights, weights;
    moments.measure(samples, true, 1, watch);
    for (std::size_t f = 0; f < m; ++f) {
        active[f] = static_cast<std::int32_t>(f);
        direct[f] = by_rows[f] = moments.mean_difference(f);
    }
    scatter.measure(samples, moments, watch);
    gram.measure(samples, moments, watch);
    const Gram fresh = gram;
    turn_to_fisher(scatter, moments, 1e-3, watch, direct);
    turn_to_fisher(gram, samples.rows, moments, 1e-3, watch, by_rows);
    scale_weights(direct, direct_weights);
    scale_weights(by_rows, weights);
    for (std::size_t f = 0; f < m; ++f)
        CHECK_NEAR(static_cast<double>(weights[f]), static_cast<double>(direct_weights[f]), 1e-6);

    scatter.measure(samples, moments, watch);
    for (const double shrinkage : {1e-3, 0.0}) {  // with no ridge there is no solution: marginal slopes
        gram = fresh;
        Scatter again = scatter;
        const auto expected = least_squares_membership(moments, again, active, shrinkage, watch);
        const auto found = least_squares_membership(moments, gram, samples.rows, active, shrinkage, watch);
        CHECK_NEAR(found.intercept, expected.intercept, 1e-9);
        for (std::size_t f = 0; f < m; ++f) CHECK_NEAR(found.slopes[f], expected.slopes[f], 1e-9);
    }
}

TEST(row_draws_match_a_slow_reference) {
    const std::size_t n = 500;
    std::vector<std::int32_t> stratum(n);
    std::vector<std::size_t> size(3);
    for (std::size_t row = 0; row < n; ++row) {
        stratum[row] = row % 50 == 0 ? 2 : static_cast<std::int32_t>(row % 2);
        ++size[static_cast<std::size_t>(stratum[row])];
    }
    for (const bool bootstrap : {false, true})
        for (const std::vector<std::size_t>& counts : {std::vector<std::size_t>{100, 1, 10}, size}) {
            const Sampling sampling{stratum.data(), n, counts, bootstrap};
            const Drawn drawn = draw_rows(sampling, 3, 7), again = draw_rows(sampling, 3, 7);
            CHECK(drawn.rows == again.rows && drawn.times == again.times);
            CHECK(counts == size || drawn.rows != draw_rows(sampling, 3, 8).rows);
            CHECK(drawn.times.size() == (bootstrap ? drawn.rows.size() : 0));
            std::vector<std::size_t> n_drawn(3);
            bool ascends = true;
            for (std::size_t i = 0; i < drawn.rows.size(); ++i) {
                ascends = ascends && (i == 0 || drawn.rows[i] > drawn.rows[i - 1]);
                n_drawn[static_cast<std::size_t>(stratum[static_cast<std::size_t>(drawn.rows[i])])] +=
                    bootstrap ? static_cast<std::size_t>(drawn.times[i]) : 1;
            }
            CHECK(ascends);
            CHECK(n_drawn == counts);
            // One stream of draws serves all strata in order.
            const std::uint64_t key = derive(derive(3, 7), Stream::row_draws);
            std::vector<std::int32_t> times(n), naive_rows, naive_times;
            std::uint64_t n_taken = 0;
            for (std::size_t s = 0; s < 3; ++s) {
                std::vector<std::size_t> left;
                for (std::size_t row = 0; row < n; ++row)
                    if (static_cast<std::size_t>(stratum[row]) == s) left.push_back(row);
                for (std::size_t i = 0; i < counts[s]; ++i) {
                    const std::uint64_t draw = derive(key, n_taken++);
                    std::size_t at = 0;  // draw · size / 2^64, rounded down, bit by bit
                    for (int bit = 0; bit < 64; ++bit) at = (at + (draw >> bit & 1) * left.size()) / 2;
                    ++times[left[at]];
                    if (bootstrap) continue;
                    // The first remaining row replaces the drawn one.
                    left[at] = left[0];
                    left.erase(left.begin());
                }
            }
            for (std::size_t row = 0; row < n; ++row) {
                if (times[row] == 0) continue;
                naive_rows.push_back(static_cast<std::int32_t>(row));
                if (bootstrap) naive_times.push_back(times[row]);
            }
            CHECK(drawn.rows == naive_rows && drawn.times == naive_times);
        }
}

TEST(run_executes_every_task_once_and_stops_on_errors) {
    for (const std::size_t n_tasks : {0, 1, 5, 1000})
        for (const std::size_t n_threads : {0, 1, 2, 8}) {
            std::vector<std::atomic<int>> n_done(n_tasks);
            Watch watch;
            run(n_tasks, n_threads, watch, [&](std::size_t task) {
                ++n_done[task];  // leaves time for other threads
                if (task < 20) std::this_thread::sleep_for(std::chrono::milliseconds(1));
            });
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
                             while (task > 7) watch.check();  // ends by that exception alone
                         }),
                     std::runtime_error);
        CHECK(n_done <= 7 + static_cast<int>(n_threads));
        Watch asked([](std::size_t) { return false; });
        CHECK_THROWS(run(64, n_threads, asked,
                         [&](std::size_t) {
                             for (;;) asked.check();  // ends by the stop alone
                         }),
                     Stopped);
        // The calling thread has finished its task and still polls while others work.
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

TEST(draws_match_splitmix64) {
    CHECK(derive(0, 0) == 0xe220a8397b1dcdafu);  // SplitMix64 from 0, as published
    CHECK(derive(0, 1) == 0x6e789e6aa1b965f4u);
    CHECK(derive(0, 2) == 0x06c45d188009454fu);
    for (std::size_t size = 1; size <= 300; ++size) {
        Draws draws(size, Stream::feature_draws);
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
    const std::uint64_t key = derive(42, Stream::row_draws);
    Draws bits(42, Stream::row_draws), large(42, Stream::row_draws);
    for (std::uint64_t i = 0; i < 50; ++i) {
        CHECK(bits.below(256) == derive(key, i) >> 56);
        CHECK(large.below(std::size_t{1} << 31) == derive(key, i) >> 33);
    }
}

}  // namespace
}  // namespace lhtree
