// Growing boosted trees: wide sums, and whole fits of hostile data, which the sanitizers watch.
#include <algorithm>
#include <cmath>
#include <deque>
#include <limits>

#include "check.hpp"
#include "lhtree/grow/boost/boost.hpp"
#include "lhtree/grow/boost/remote/remote_rows.hpp"

namespace lhtree {
namespace {

TEST(wide_sums_are_exact_in_any_order) {
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
    for (const std::int64_t value : values) {  // subtracts all values again
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
    std::vector<double> x, weight, response;
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
        plan.objective = boost::Objective::make(n_classes == 2 ? "logistic" : "softmax", {0.5}, n_classes, 1);
        plan.n_rounds = 3;
        plan.patience = 1000;
        plan.tree.rules.min_weight = 2.0;
    }

    // Calls use(holding, units) with bins and codes of all rows.
    template <class Use>
    boost::Boosted with_codes(std::size_t n_threads, const Use& use) const {
        Watch watch;
        const std::vector<double> centre(n_features, 0.0), scale(n_features, 1.0);
        const boost::Table<double> table{
            {x.data(), n_rows, n_features, static_cast<std::ptrdiff_t>(n_features), 1},
            centre.data(),
            scale.data()};
        const boost::Labels labels{classes.data(), response.empty() ? nullptr : response.data(), held.data(),
                                   n_rows};
        const double* const of_rows = weight.empty() ? nullptr : weight.data();
        const boost::WeightUnits units{boost::WeightSurvey(of_rows, labels)};
        const boost::Weights weights(of_rows, labels, units);
        std::vector<std::int64_t> learned;
        for (const std::int64_t row : boost::sample_rows(n_rows, plan.seed))
            if (!labels.is_held(static_cast<std::size_t>(row))) learned.push_back(row);
        boost::Bins bins;
        std::vector<std::uint8_t> codes;
        CHECK(boost::make_bins(table, learned, weights.of.empty() ? nullptr : weights.of.data(), 255,
                               n_threads, watch, bins));
        CHECK(boost::encode(table, bins, n_threads, watch, codes));
        return use(boost::RowData{bins, codes.data(), labels, of_rows, plan.objective}, units);
    }

    boost::Boosted run(std::size_t n_threads) const {
        return with_codes(n_threads, [&](const boost::RowData& holding, const boost::WeightUnits& units) {
            Watch watch;
            boost::LocalRows rows(holding, units, n_threads, watch);
            return boost::boost(plan, rows, n_threads, watch);
        });
    }

    // Boosts with partitions of a size. Messages that are truncated or lengthened must be rejected.
    boost::Boosted run_in_partitions(std::size_t size) const {
        return with_codes(1, [&](const boost::RowData& all, const boost::WeightUnits&) {
            std::deque<boost::Partition> partitions;
            for (std::size_t begin = 0; begin < n_rows; begin += size) {
                boost::RowData part = all;
                part.first_row = begin;
                part.codes += begin * n_features;
                part.labels.n_rows = std::min(size, n_rows - begin);
                part.labels.classes += begin;
                part.labels.held += begin;
                if (part.labels.response) part.labels.response += begin * plan.objective.n_responses;
                if (part.weight) part.weight += begin;
                partitions.emplace_back(part, 1);
            }
            const auto answer = [&](const std::string& request) {
                CHECK_THROWS(partitions[0].answer(request.substr(0, request.size() - 1)),
                             boost::MessageError);
                CHECK_THROWS(partitions[0].answer(request + '\0'), boost::MessageError);
                std::vector<std::string> answers;
                for (boost::Partition& partition : partitions) answers.push_back(partition.answer(request));
                CHECK_THROWS(boost::merge_answers({answers[0] + '\0'}), boost::MessageError);
                return boost::merge_answers(answers);
            };
            const boost::Exchange exchange = [&](const std::vector<std::string>& requests) {
                std::vector<std::string> answers;
                for (const std::string& request : requests) answers.push_back(answer(request));
                return std::vector<std::vector<std::string>>{answers};
            };
            Watch watch;
            boost::RemoteRows rows(all.bins, plan.objective, exchange, watch);
            return boost::boost(plan, rows, 1, watch);
        });
    }
};

bool is_same(const boost::Boosted& a, const boost::Boosted& b) {
    bool is_same = same_bits(a.training_loss, b.training_loss) &&
                   same_bits(a.validation_loss, b.validation_loss) && same_bits(a.first, b.first);
    each_array([&](auto, const auto& get) { is_same = is_same && same_bits(get(a.forest), get(b.forest)); });
    return is_same;
}

TEST(boosting_gives_the_same_model_on_any_number_of_threads) {
    for (const std::size_t n_classes : {2, 3}) {
        Boosting boosting(70000, 3, n_classes, 42 + n_classes);
        boosting.plan.n_rounds = 1;
        boosting.plan.tree.has_linear_leaves = n_classes == 3;
        const boost::Boosted expected = boosting.run(1);
        CHECK(expected.forest.n_blocks() > 20);
        CHECK(is_same(boosting.run(2), expected));
        CHECK(is_same(boosting.run(4), expected));
    }
}

TEST(boosting_of_extreme_values_gives_valid_models) {
    for (const double spread : {0.0, 1.0, 300.0, 301.0}) {  // powers of ten of the weights
        Boosting boosting(300, 6, 3, 45);
        boosting.plan.tree.has_linear_leaves = spread != 1.0;
        Random random(46);
        for (std::size_t row = 0; row < boosting.n_rows; ++row) {
            boosting.weight.push_back(std::pow(10.0, spread * (2.0 * random.uniform() - 1.0)));
            boosting.x[row * 6] *= 1e300;
            boosting.x[row * 6 + 1] = std::nan("");
            boosting.x[row * 6 + 2] = 1e-310;
        }
        const boost::Boosted boosted = boosting.run(1);
        CHECK(boosted.forest.n_trees() == 9);
        CHECK(find_fault(view_of(boosted.forest), 6, 3).empty());
        for (const double gain : boosted.forest.gain) CHECK(std::isfinite(gain) && gain >= 0.0);
        for (const double loss : boosted.validation_loss) CHECK(std::isfinite(loss));
    }
    // Slopes that go on where they stopped.
    for (const std::size_t n_classes : {2, 3}) {
        Boosting boosting(400, 5, n_classes, 48);
        boosting.plan.tree.has_linear_leaves = true;
        const boost::Boosted whole = boosting.run(1);
        CHECK(whole.forest.membership_mean.size() > 20);
        CHECK(whole.forest.membership_mean.size() == whole.forest.membership_slope.size());
        boosting.plan.n_rounds = 1;
        const boost::Boosted begun = boosting.run(1);
        const ForestView earlier = view_of(begun.forest);
        boosting.plan.earlier = &earlier;
        boosting.plan.n_rounds = 2;
        const boost::Boosted rest = boosting.run(1);
        CHECK(rest.training_loss.back() == whole.training_loss.back());
        CHECK(rest.validation_loss.back() == whole.validation_loss.back());
        CHECK(rest.forest.intercept.back() == whole.forest.intercept.back());
    }
    // Responses: every loss, whatever the weights.
    boost::each_loss([](const auto& one) {
        if (one.is_of_classes) return;
        Boosting boosting(400, 5, 2, 49);
        boosting.plan.objective = boost::Objective::make(one.name, {0.3}, 0, 1);
        boosting.plan.tree.has_linear_leaves = !one.selects;
        boosting.plan.tree.subsample = 1.0;
        Random random(50);
        for (std::size_t row = 0; row < boosting.n_rows; ++row) {
            boosting.response.push_back(0.5 * random.uniform() + 0.5 * boosting.classes[row]);
            boosting.weight.push_back(std::pow(10.0, 4.0 * random.uniform()));
        }
        const boost::Boosted boosted = boosting.run(1);
        CHECK(boosted.forest.n_trees() == 3);
        CHECK(find_fault(view_of(boosted.forest), 5, 1).empty());
        CHECK(is_same(boosting.run(3), boosted));
        CHECK(is_same(boosting.run_in_partitions(150), boosted));
        for (const double loss : boosted.validation_loss) CHECK(std::isfinite(loss));
        CHECK(boosted.training_loss.back() < boosted.training_loss.front());
    });
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

TEST(boosting_in_partitions_gives_the_same_model) {
    for (const std::size_t n_classes : {2, 3}) {
        Boosting boosting(300, 4, n_classes, 52);
        boosting.plan.tree.has_linear_leaves = n_classes == 3;
        boosting.plan.tree.rules.monotonic =
            n_classes == 2 ? std::vector<std::int8_t>{1, 0, -1, 0} : std::vector<std::int8_t>{};
        const boost::Boosted expected = boosting.run(1);
        for (const std::size_t size : {300, 170, 41})
            CHECK(is_same(boosting.run_in_partitions(size), expected));
    }
}

}  // namespace
}  // namespace lhtree
