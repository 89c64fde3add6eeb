// Kernels of all instruction sets give the same bits, in the specified order of summation.
#include <algorithm>
#include <cmath>
#include <cstring>
#include <limits>
#include <numeric>

#include "lhtree/shared/elementary.hpp"
#include "support.hpp"

namespace lhtree {
namespace {

TEST(feature_sums_add_lanes_in_the_specified_order) {
    Random random(1);
    for (std::size_t m = 1; m <= 40; ++m)
        for (const std::size_t n : {1, 2, 3, 7, 8, 33}) {
            const Table table = random_table(n, m, m * 100 + n);
            for (const bool is_dense : {true, false}) {
                std::vector<std::int32_t> features;
                for (std::size_t f = 0; f < m; ++f)
                    if (is_dense || random.below(2) == 0) features.push_back(static_cast<std::int32_t>(f));
                if (features.empty()) features.push_back(0);
                const std::size_t n_kept = features.size();
                std::vector<float> weights(n_kept);
                for (float& weight : weights) weight = static_cast<float>(random.normal());
                std::vector<double> naive(n);
                for (std::size_t row = 0; row < n; ++row)
                    naive[row] = naive_lane_sum(weights.data(), features.data(), n_kept, table.rows()[row]);
                // Growing pads to a multiple of 8, scoring to a multiple of 4; the sums are equal.
                for (const std::size_t size : {(n_kept + 3) / 4 * 4, padded(n_kept)}) {
                    weights.resize(size);
                    features.resize(size);
                    for (const GrowKernels* kernel : all_grow_kernels) {
                        std::vector<double> sums(n);
                        kernel->feature_sums(weights.data(), is_dense ? nullptr : features.data(), size,
                                             table.rows(), sums.data());
                        CHECK(same_bits(sums, naive));
                    }
                }
            }
        }
}

struct RowSums {
    std::vector<double> sum, squares, scatter;
    std::vector<float> low, high;
};

RowSums sum_all(const GrowKernels& kernel, const WeightedRows& rows) {
    const std::size_t m = rows.rows.n_features, room = padded(m);
    RowSums sums{std::vector<double>(room), std::vector<double>(room), std::vector<double>(m * m),
                 std::vector<float>(room, 1e9f), std::vector<float>(room, -1e9f)};
    const std::vector<double> mean(room, 0.25);
    kernel.sum_rows(rows, sums.sum.data(), sums.low.data(), sums.high.data());
    kernel.square_rows(rows, mean.data(), sums.squares.data());
    std::vector<double> distances(scatter_room(m));
    kernel.scatter_rows(rows, mean.data(), sums.scatter.data(), distances.data());
    for (auto* values : {&sums.sum, &sums.squares}) values->resize(m);  // values behind them are unspecified
    for (auto* values : {&sums.low, &sums.high}) values->resize(m);
    return sums;
}

// Products added row by row: the order that fixes the bits.
std::vector<double> scatter_slowly(const WeightedRows& rows) {
    const std::size_t m = rows.rows.n_features;
    std::vector<double> scatter(m * m), distance(m);
    for (std::size_t row = 0; row < rows.size(); ++row) {
        for (std::size_t f = 0; f < m; ++f) distance[f] = static_cast<double>(rows.rows[row][f]) - 0.25;
        for (std::size_t f = 0; f < m; ++f)
            for (std::size_t g = 0; g <= f; ++g)
                scatter[f * m + g] += (rows.weight ? rows.weight[row] : 1.0) * distance[f] * distance[g];
    }
    return scatter;
}

TEST(row_sums_agree_on_all_instruction_sets) {
    for (std::size_t m = 1; m <= 40; ++m)
        for (const std::size_t n : {1, 2, 5, 64, 131}) {
            Table table = random_table(n, m, m * 1000 + n);
            for (const bool is_weighted : {false, true}) {
                const WeightedRows rows{table.rows(), is_weighted ? table.weight.data() : nullptr};
                const RowSums a = sum_all(portable::grow_kernels, rows);
                CHECK(same_bits(a.scatter, scatter_slowly(rows)));
                for (const GrowKernels* kernel : all_grow_kernels) {
                    const RowSums b = sum_all(*kernel, rows);
                    CHECK(same_bits(a.sum, b.sum) && same_bits(a.squares, b.squares));
                    CHECK(same_bits(a.scatter, b.scatter));
                    CHECK(same_bits(a.low, b.low) && same_bits(a.high, b.high));
                }
                for (std::size_t f = 0; f < m; ++f) {
                    double sum = 0.0, squares = 0.0;
                    float low = 1e9f, high = -1e9f;
                    for (std::size_t row = 0; row < n; ++row) {
                        const double weight = is_weighted ? table.weight[row] : 1.0, z = table.at(row, f);
                        sum += weight * z;
                        squares += weight * (z - 0.25) * (z - 0.25);
                        low = std::min(low, table.at(row, f));
                        high = std::max(high, table.at(row, f));
                    }
                    CHECK_NEAR(a.sum[f], sum, 1e-9);
                    CHECK_NEAR(a.squares[f], squares, 1e-9);
                    CHECK(a.low[f] == low && a.high[f] == high);
                }
            }
        }
}

TEST(integer_products_add_up_exactly) {
    Random random(7);
    for (std::size_t stride = 4; stride <= 16; stride += 4)
        for (const std::size_t n : {0, 1, 2, 63, 64}) {
            const auto draw = [&](std::int64_t most) {
                return static_cast<std::int64_t>(random.below(static_cast<std::size_t>(2 * most + 1))) - most;
            };
            std::vector<std::int64_t> values(n * stride), first(n), second(n);
            for (auto& value : values) value = draw(32768);
            for (auto& value : first) value = 32767 + draw(32767);
            for (auto& value : second) value = draw(32767);
            std::vector<std::int64_t> by_first(stride, 5), by_second(stride, -5),
                products(stride * stride, 9);
            for (std::size_t row = 0; row < n; ++row)
                for (std::size_t i = 0; i < stride; ++i) {
                    const std::int64_t own = values[row * stride + i];
                    by_first[i] += first[row] * own;
                    by_second[i] += second[row] * own;
                    for (std::size_t j = 0; j < stride; ++j)
                        products[i * stride + j] += first[row] * own * values[row * stride + j];
                }
            for (const BoostKernels* kernel : all_boost_kernels) {
                std::vector<std::int64_t> a(stride, 5), b(stride, -5), both(stride * stride, 9),
                    room(n * stride);
                kernel->add_integers({values.data(), n, stride, first.data(), second.data()}, a.data(),
                                     b.data(), both.data(), room.data());
                CHECK(a == by_first && b == by_second);
                bool is_same = true;
                for (std::size_t i = 0; i < stride; ++i)
                    for (std::size_t j = 0; j <= i; ++j)
                        is_same = is_same && both[i * stride + j] == products[i * stride + j];
                CHECK(is_same);
            }
        }
}

TEST(moments_of_four_features_add_up_exactly) {
    Random random(8);
    const std::size_t n_rows = 300, n_slots = 6;
    std::vector<std::uint8_t> codes(n_rows * n_slots);
    for (auto& code : codes) code = static_cast<std::uint8_t>(random.below(256));
    std::vector<std::int32_t> values(4 * 256);
    for (auto& value : values) value = static_cast<std::int32_t>(random.below(65537)) - 32768;
    boost::FourFeatures features{};
    for (std::size_t i = 0; i < 4; ++i) {
        features.slot[i] = random.below(n_slots);
        features.value[i] = &values[256 * i];
    }
    std::vector<boost::Entry> entries(200);
    for (auto& entry : entries)
        entry = {static_cast<std::uint32_t>(random.below(n_rows)),
                 static_cast<std::int16_t>(static_cast<int>(random.below(65535)) - 32767),
                 static_cast<std::uint16_t>(random.below(65536))};
    boost::FourMoments slow;
    for (const boost::Entry& entry : entries) {
        slow.hessian += entry.hessian;
        slow.gradient += entry.gradient;
        const auto value = [&](std::size_t i) {
            return std::int64_t{features.value[i][codes[entry.row * n_slots + features.slot[i]]]};
        };
        for (std::size_t i = 0; i < 4; ++i) {
            slow.hessian_value[i] += entry.hessian * value(i);
            slow.gradient_value[i] += entry.gradient * value(i);
            for (std::size_t shift = 0; shift < 3; ++shift)
                slow.products[shift][i] += entry.hessian * value(i) * value((i + shift) % 4);
        }
    }
    for (const BoostKernels* kernel : all_boost_kernels) {
        boost::FourMoments sums;
        kernel->add_four({entries.data(), entries.size(), codes.data(), n_slots, nullptr}, features, sums);
        CHECK(std::memcmp(&sums, &slow, sizeof slow) == 0);
    }
}

TEST(gains_are_those_of_the_formula) {
    Random random(9);
    for (const std::size_t n : {4, 8, 256}) {
        std::vector<std::int64_t> gradient(n), both(n);
        std::vector<double> as_double[3], slow(n, 0.25);
        for (auto& values : as_double) values.resize(n);
        const boost::GainTerms terms{-7e9, 4e9, 300.0, 0x1p-15, 0x1p-16, 1.0, 20.0, 1e6, 3.5};
        for (std::size_t i = 0; i < n; ++i) {
            const auto h = static_cast<std::int64_t>(random.below(4000000000)),
                       w = static_cast<std::int64_t>(random.below(300));
            gradient[i] = static_cast<std::int64_t>(random.below(20000000000)) - 10000000000;
            both[i] = h << 24 | w;
            as_double[0][i] = static_cast<double>(gradient[i]);
            as_double[1][i] = static_cast<double>(h);
            as_double[2][i] = static_cast<double>(w);
            const auto reduce = [&](double g, double hessian) {
                return g * g * 0x1p-30 / (hessian * 0x1p-16 + 1.0);
            };
            const double g = as_double[0][i], hessian = as_double[1][i];
            if (w >= 20 && 300 - w >= 20 && h >= 1000000 && 4000000000 - h >= 1000000)
                slow[i] += reduce(g, hessian) + reduce(-7e9 - g, 4e9 - hessian) - 3.5;
        }
        for (const BoostKernels* kernel : all_boost_kernels) {
            std::vector<double> gains(n, 0.25), lean(n, 0.25);
            kernel->add_gains(as_double[0].data(), as_double[1].data(), as_double[2].data(), n, terms,
                              gains.data());
            kernel->add_lean_gains(gradient.data(), both.data(), n, terms, lean.data());
            CHECK(same_bits(gains, slow));
            CHECK(same_bits(lean, slow));
        }
    }
}

TEST(log_losses_and_their_derivatives_are_those_of_the_formula) {
    Random random(10);
    for (const std::size_t n : {0, 1, 63, 64, 200}) {
        std::vector<double> raw(n);
        std::vector<std::int32_t> classes(n);
        std::vector<float> gradient(n), hessian(n);
        std::vector<double> losses(n);
        for (std::size_t i = 0; i < n; ++i) {
            raw[i] = i % 10 == 0 ? 1e3 * random.normal() : random.normal();
            classes[i] = static_cast<std::int32_t>(random.below(2));
            const double p = raw[i] < 0.0 ? elementary::exp(raw[i]) / (1.0 + elementary::exp(raw[i]))
                                          : 1.0 / (1.0 + elementary::exp(-raw[i]));
            gradient[i] = static_cast<float>(p - classes[i]);
            hessian[i] = static_cast<float>(p * (1.0 - p));
            const double away = classes[i] == 1 ? -raw[i] : raw[i];
            losses[i] = std::max(away, 0.0) + elementary::log(1.0 + elementary::exp(-std::abs(away)));
        }
        float largest = 0.0f;
        for (const float value : gradient) largest = std::max(largest, std::abs(value));
        for (const BoostKernels* kernel : all_boost_kernels) {
            std::vector<float> g(n), h(n);
            std::vector<double> measured(n);
            kernel->measure_logistic(raw.data(), classes.data(), n, measured.data());
            CHECK(same_bits(measured, losses));
            kernel->differentiate_logistic(raw.data(), classes.data(), n, g.data(), h.data());
            CHECK(g == gradient && h == hessian);
            CHECK(kernel->find_largest(g.data(), n) == largest);
        }
    }
}

TEST(extremes_are_the_least_and_the_largest_value) {
    Random random(3);
    for (std::size_t n = 0; n <= 20; ++n) {
        std::vector<double> values(n);
        for (double& value : values) value = random.normal();
        double low = std::numeric_limits<double>::infinity(), high = -low;
        for (const double value : values) low = std::min(low, value), high = std::max(high, value);
        for (const GrowKernels* kernel : all_grow_kernels) {
            double least = 0.0, most = 0.0;
            kernel->extremes(values.data(), n, least, most);
            CHECK(least == low && most == high);
        }
    }
}

bool normalise_by(const NormaliseKernels& kernel, const double* x, const double* centre, const double* scale,
                  std::size_t n, float* z) {
    return kernel.float64(x, centre, scale, n, 0.0, z);
}
bool normalise_by(const NormaliseKernels& kernel, const float* x, const double* centre, const double* scale,
                  std::size_t n, float* z) {
    return kernel.float32(x, centre, scale, n, 0.0, z);
}

template <class Value>
void check_normalise() {
    constexpr double infinity = std::numeric_limits<double>::infinity();
    const std::size_t n = 150, m = 11;
    Random random(5);
    std::vector<Value> rows(n * m), columns(n * m);
    std::vector<double> centre(m), scale(m);
    for (std::size_t f = 0; f < m; ++f) centre[f] = random.normal(), scale[f] = 0.5 + random.uniform();
    scale[3] = 1e-300;  // quotients overflow and are clipped
    for (std::size_t row = 0; row < n; ++row)
        for (std::size_t f = 0; f < m; ++f) {
            rows[row * m + f] = static_cast<Value>(random.below(9) == 0 ? std::nan("") : random.normal());
            columns[f * n + row] = rows[row * m + f];
        }
    std::vector<float> expected(n * m);
    for (std::size_t i = 0; i < n * m; ++i) {
        const double x = static_cast<double>(rows[i]), quotient = (x - centre[i % m]) / scale[i % m];
        expected[i] = std::isnan(x) ? 0.0f : static_cast<float>(std::min(std::max(quotient, -1e30), 1e30));
    }
    const auto stride = static_cast<std::ptrdiff_t>(m), column = static_cast<std::ptrdiff_t>(n);
    const Strided<Value> in_rows{rows.data(), n, m, stride, 1}, in_columns{columns.data(), n, m, 1, column};
    Watch watch;
    for (const auto& x : {in_rows, in_columns})
        for (const std::size_t n_threads : {1, 3}) {
            std::vector<float> z(n * m);
            CHECK(normalise(x, centre.data(), scale.data(), n_threads, watch, z.data()));
            CHECK(same_bits(z, expected));
        }
    for (const NormaliseKernels* kernel : all_normalise_kernels) {
        std::vector<float> found(n * m);
        for (std::size_t row = 0; row < n; ++row)
            CHECK(normalise_by(*kernel, &rows[row * m], centre.data(), scale.data(), m, &found[row * m]));
        CHECK(same_bits(found, expected));
    }
    std::vector<float> z(n * m), reversed(n * m);
    const Strided<Value> backwards{rows.data() + (n - 1) * m, n, m, -stride, 1};
    CHECK(normalise(backwards, centre.data(), scale.data(), 1, watch, z.data()));
    for (std::size_t row = 0; row < n; ++row)
        std::copy(&expected[row * m], &expected[row * m] + m, &reversed[(n - 1 - row) * m]);
    CHECK(same_bits(z, reversed));
    for (const double bad : {infinity, -infinity}) {
        std::vector<Value> broken = rows;
        broken[77] = static_cast<Value>(bad);
        CHECK(!normalise(Strided<Value>{broken.data(), n, m, stride, 1}, centre.data(), scale.data(), 1,
                         watch, z.data()));
    }
    const Strided<Value> none{rows.data(), 0, m, stride, 1};
    CHECK(normalise(none, centre.data(), scale.data(), 2, watch, z.data()));
}

TEST(normalise_matches_a_slow_reference) {
    check_normalise<double>();
    check_normalise<float>();
}

TEST(regression_kernels_match_a_slow_reference) {
    Random random(4);
    for (const std::size_t n : {8, 64, 264, 1000})
        for (std::size_t p = 1; p <= 10; ++p) {
            std::vector<std::vector<double>> values(p, std::vector<double>(n));
            std::vector<const double*> columns;
            for (std::vector<double>& column : values) {
                for (double& value : column) value = random.normal() * (random.below(9) ? 1.0 : 500.0);
                columns.push_back(column.data());
            }
            std::vector<double> weight(n), side(n), slopes(p), naive(p * p), weighted(n);
            for (double& one : weight) one = random.uniform();
            for (double& one : side) one = static_cast<double>(random.below(2));
            for (double& one : slopes) one = random.normal();
            const GrowKernels& first = *all_grow_kernels[0];
            for (std::size_t a = 0; a < p; ++a)
                for (std::size_t b = 0; b <= a; ++b) {
                    for (std::size_t i = 0; i < n; ++i) weighted[i] = weight[i] * columns[a][i];
                    naive[a * p + b] = first.dot(weighted.data(), columns[b], n);
                }
            std::vector<double> slope_by(n), curve_by(n);
            double sum = 0.0;
            for (std::size_t i = 0; i < n; ++i) {
                double f = 0.5;
                for (std::size_t term = 0; term < p; ++term) f += slopes[term] * columns[term][i];
                const double e = elementary::exp(-std::abs(f)), inverse = 1.0 / (1.0 + e), low = e * inverse;
                slope_by[i] = weight[i] * ((f < 0.0 ? low : inverse) - side[i]);
                curve_by[i] = weight[i] * (low * inverse);
                sum += weight[i] * (std::max(f, 0.0) - side[i] * f + std::log1p(e));
            }
            double loss = 0.0;
            for (const GrowKernels* kernel : all_grow_kernels) {
                std::vector<double> products(p * p), room(8 * p * p), slope(n), curve(n);
                kernel->weighted_products(columns.data(), p, weight.data(), n, products.data(), room.data());
                CHECK(same_bits(products, naive));
                const double own = kernel->logistic({columns.data(), slopes.data(), p, 0.5}, weight.data(),
                                                    side.data(), n, slope.data(), curve.data());
                CHECK(same_bits(slope, slope_by) && same_bits(curve, curve_by));
                CHECK_NEAR(own, sum, 1e-9 * sum);
                CHECK(kernel == &first || own == loss);
                loss = own;
            }
        }
}

}  // namespace
}  // namespace lhtree
