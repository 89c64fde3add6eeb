// Growing boosted trees: wide sums, and whole fits of hostile data, which the sanitizers watch.
#pragma once
#include <algorithm>
#include <cmath>
#include <limits>

#include "check.hpp"
#include "lhtree/grow/boost/boost.hpp"

namespace lhtree {

inline void test_wide_sums() {
    constexpr std::int64_t least = std::numeric_limits<std::int64_t>::min(), most = -(least + 1);
    Random random(41);
    std::vector<std::int64_t> values{least, least, most, most, 0, -1, 1, 5};
    for (int i = 0; i < 500; ++i)
        values.push_back((random.uniform() < 0.5 ? 1 : -1) * static_cast<std::int64_t>(random.below(most)));
    WideSum all, first, second, backwards;
    std::int64_t high = 0, low = 0;  // of the halves: 500 of them stay within 64 bits
    for (std::size_t i = 0; i < values.size(); ++i) {
        all.add(values[i]);
        (i % 3 ? first : second).add(values[i]);
        backwards.add(values[values.size() - 1 - i]);
        high += values[i] >> 32;
        low += values[i] & 0xffffffff;
    }
    const double expected = static_cast<double>(high) * 0x1p32 + static_cast<double>(low);
    CHECK_NEAR(all.value(), expected, 1e-15 * std::abs(expected));
    CHECK(backwards.value() == all.value());
    first.add(second);
    CHECK(first.value() == all.value());
    for (const std::int64_t value : values) {  // takes away what it added
        all.add(value == least ? most : -value);
        if (value == least) all.add(1);
    }
    CHECK(all.value() == 0.0);
    all.add(least);
    CHECK(all.value() == -0x1p63);
    all.add(least);
    CHECK(all.value() == -0x1p64);
    all.add(least);
    CHECK(all.value() == -0x1.8p64);
    WideSum positive;
    for (int i = 0; i < 4; ++i) positive.add(std::int64_t{1} << 62);
    CHECK(positive.value() == 0x1p64);
    positive.add(all);
    CHECK(positive.value() == -0x1p63);
    positive.add(most);
    CHECK(positive.value() == -1.0);
}

// Rows in classes of their own, every tenth of them held back, and some of the weights.
struct Boosting {
    std::vector<double> x, weight;
    std::vector<std::int32_t> classes;
    std::vector<std::uint8_t> held;
    std::size_t n_rows, n_features;
    boost::Plan plan;

    Boosting(std::size_t n_rows_, std::size_t n_features_, std::size_t n_classes, std::uint64_t seed)
        : n_rows(n_rows_), n_features(n_features_) {
        Random random(seed);
        for (std::size_t row = 0; row < n_rows; ++row) {
            double sum = random.normal();
            for (std::size_t f = 0; f < n_features; ++f) {
                x.push_back(random.uniform() < 0.05 ? std::nan("") : random.normal());
                sum += std::isnan(x.back()) ? 0.0 : x.back();
            }
            classes.push_back(static_cast<std::int32_t>(sum > 0.0 ? random.below(n_classes) : 0));
            held.push_back(row % 10 == 9);
        }
        plan.loss = n_classes == 2 ? boost::Loss::logistic : boost::Loss::softmax;
        plan.n_classes = n_classes;
        plan.n_rounds = 3;
        plan.patience = 1000;
        plan.tree.rules.min_weight = 2.0;
    }

    boost::Boosted run(std::size_t n_threads) const {
        Watch watch;
        const std::vector<double> centre(n_features, 0.0), scale(n_features, 1.0);
        const boost::Table<double> table{
            {x.data(), n_rows, n_features, static_cast<std::ptrdiff_t>(n_features), 1},
            centre.data(),
            scale.data()};
        const boost::Labels labels{classes.data(), held.data(), n_rows};
        const boost::Weights weights(weight.empty() ? nullptr : weight.data(), labels);
        boost::Bins bins;
        std::vector<std::uint8_t> codes;
        CHECK(boost::make_bins(table, boost::sample_rows(labels, plan.seed),
                               weights.of.empty() ? nullptr : weights.of.data(), 255, n_threads, watch,
                               bins));
        CHECK(boost::encode(table, bins, n_threads, watch, codes));
        return boost::boost(plan, bins, std::move(codes), labels, weights, n_threads, watch);
    }
};

inline bool is_same(const boost::Boosted& a, const boost::Boosted& b) {
    bool is_same = same_bits(a.training_loss, b.training_loss) &&
                   same_bits(a.validation_loss, b.validation_loss) && same_bits(a.first, b.first);
    each_array([&](auto, const auto& get) { is_same = is_same && same_bits(get(a.forest), get(b.forest)); });
    return is_same;
}

inline void test_boosting_on_threads() {
    for (const std::size_t n_classes : {2, 3}) {
        Boosting boosting(70000, 3, n_classes, 42 + n_classes);
        boosting.plan.n_rounds = 1;
        const boost::Boosted expected = boosting.run(1);
        CHECK(expected.forest.n_blocks() > 20);
        CHECK(is_same(boosting.run(2), expected));
        CHECK(is_same(boosting.run(4), expected));
    }
}

inline void test_boosting_of_hostile_rows() {
    for (const double spread : {1.0, 300.0}) {  // powers of ten of the weights
        Boosting boosting(300, 6, 3, 45);
        Random random(46);
        for (std::size_t row = 0; row < boosting.n_rows; ++row) {
            boosting.weight.push_back(std::pow(10.0, spread * (2.0 * random.uniform() - 1.0)));
            boosting.x[row * 6] *= 1e300;
            boosting.x[row * 6 + 1] = std::nan("");
            boosting.x[row * 6 + 2] = 1e-310;
        }
        const boost::Boosted boosted = boosting.run(1);
        CHECK(boosted.forest.n_trees() == 9);
        for (const double value : boosted.forest.intercept) CHECK(std::isfinite(value));
        for (const double gain : boosted.forest.gain) CHECK(std::isfinite(gain) && gain >= 0.0);
        for (const double loss : boosted.validation_loss) CHECK(std::isfinite(loss));
    }
    // Steps without regularisation until derivatives are too small for float32.
    Boosting far(40, 1, 2, 47);
    std::fill(far.classes.begin(), far.classes.end(), 0);
    far.plan.n_rounds = 200;
    far.plan.tree.rules.l2 = 0.0;
    far.plan.tree.learning_rate = 1.0;
    const boost::Boosted boosted = far.run(1);
    double raw = boosted.first[0];
    for (std::size_t tree = 0; tree < boosted.forest.n_trees(); ++tree)
        raw += boosted.forest.intercept[static_cast<std::size_t>(boosted.forest.block_ptr[tree])];
    CHECK(raw < -70.0 && raw > -200.0);
}

inline void test_boost() {
    test_wide_sums();
    test_boosting_on_threads();
    test_boosting_of_hostile_rows();
}

}  // namespace lhtree
