// Committed hashes of models and scores, equal on every machine and with every compiler. A change that is
// meant to change models replaces them by the printed hashes.
#include <limits>
#include <string>

#include "check.hpp"
#include "lhtree/grow/boost/boost.hpp"
#include "lhtree/grow/boost/local_rows.hpp"
#include "lhtree/grow/compact/block.hpp"
#include "lhtree/grow/trees/forest.hpp"
#include "lhtree/score/scorer.hpp"

namespace lhtree {
namespace {

// FNV-1a of the bytes of arrays.
class Hash {
  public:
    template <class T>
    void add(const std::vector<T>& values) {
        for (const T& value : values) {
            unsigned char bytes[sizeof(T)];
            std::memcpy(bytes, &value, sizeof(T));
            for (const unsigned char byte : bytes) hash_ = (hash_ ^ byte) * 0x100000001b3u;
        }
        hash_ = (hash_ ^ values.size()) * 0x100000001b3u;
    }
    void add(const Forest& forest) {
        each_array([&](auto, const auto& get) { add(get(forest)); });
    }
    std::uint64_t value() const { return hash_; }

  private:
    std::uint64_t hash_ = 0xcbf29ce484222325u;
};

// Rows in three classes, and a number above 0 that depends on them. Some features have few levels.
struct Sample {
    static constexpr std::size_t n_rows = 5000, n_features = 9, n_classes = 3;
    std::vector<double> x, weight, response;
    std::vector<std::int32_t> classes;

    Sample() {
        Random random(71);
        for (std::size_t row = 0; row < n_rows; ++row) {
            double sum[n_classes] = {};
            for (std::size_t f = 0; f < n_features; ++f) {
                double value = random.uniform() - 0.5;  // one draw a line: their order is fixed
                value += random.uniform() - 0.5;
                if (f % 4 == 3) value = static_cast<double>(static_cast<int>(4.0 * value));
                x.push_back(value);
                sum[f % n_classes] += value;
                if (f == 0) sum[2] += value * value;
            }
            for (double& value : sum) value += 0.5 * random.uniform();
            const bool is_first = sum[0] > sum[1];
            const std::size_t best = sum[2] > sum[is_first ? 0 : 1] ? 2 : is_first ? 0 : 1;
            classes.push_back(static_cast<std::int32_t>(best));
            response.push_back(0.25 + sum[0] * sum[0] + (sum[1] > 0.3 ? 1.0 : 0.0));
            weight.push_back(0.5 + random.uniform());
        }
    }

    Strided<double> table() const {
        return {x.data(), n_rows, n_features, static_cast<std::ptrdiff_t>(n_features), 1};
    }
};

void check_hash(const std::string& name, const Hash& hash, std::uint64_t expected) {
    std::printf("%-55s 0x%016llxu\n", name.c_str(), static_cast<unsigned long long>(hash.value()));
    count_check(hash.value() == expected, name.c_str(), __FILE__, __LINE__);
}

void hash_scores(const Scorer& scorer, const Sample& sample, Score what, Hash& hash) {
    Watch watch;
    std::vector<double> scores(Sample::n_rows * scorer.columns_of(what));
    CHECK(scorer.score(sample.table(), what, 2, watch, scores.data()));
    hash.add(scores);
}

// A forest of trees of one class each, of all classes, or of a number.
struct GrownSample {
    const char* name;
    Direction direction;
    Offset offset;
    Membership membership;
    enum Kind { per_class, joint, number } kind;
    std::uint64_t model, scores;
};

void test_grown(const Sample& sample, const std::vector<float>& z, const GrownSample& grown) {
    constexpr std::size_t n = Sample::n_rows, n_classes = Sample::n_classes;
    std::vector<std::uint8_t> targets(n * n_classes);
    for (std::size_t row = 0; row < n; ++row)
        targets[static_cast<std::size_t>(sample.classes[row]) * n + row] = 1;
    ForestPlan plan{};
    plan.rows = {z.data(), n, Sample::n_features};
    plan.weight = sample.weight.data();
    plan.betas = {0.0, 0.2, 0.4};
    plan.seed = 72;
    plan.sampling = {sample.classes.data(), n, {500, 500, 500}, true};
    plan.draws_rows = true;
    if (grown.kind == GrownSample::per_class) {
        plan.responses = targets.data();
        plan.targets = {0, 1, 2};
    } else if (grown.kind == GrownSample::joint) {
        plan.of_class = sample.classes.data();
        plan.n_classes = n_classes;
        plan.targets = {-1};
    } else {
        plan.real_responses = sample.response.data();
        plan.targets = {0};
    }
    Options options;
    options.direction = grown.direction;
    options.offset = grown.offset;
    options.membership = grown.membership;
    options.max_features = 6;
    options.min_samples_leaf = {5.0, false};
    Watch watch;
    const Forest forest = grow_forest(plan, options, 2, watch);
    CHECK(forest.n_blocks() > 50);
    Hash model, scores;
    model.add(forest);
    const bool is_number = grown.kind == GrownSample::number;
    const Scorer scorer(view_of(forest), std::vector<double>(Sample::n_features, 0.125),
                        std::vector<double>(Sample::n_features, 0.75),
                        std::vector<double>(is_number ? 0 : n_classes, 1.0 / 3.0),
                        is_number ? Confidence::none : Confidence::path,
                        find_link(is_number ? "mean" : "wolf"));
    for (const Score what : {Score::wolf, Score::proba, Score::value})
        if ((what == Score::value) == is_number) hash_scores(scorer, sample, what, scores);
    check_hash(std::string(grown.name) + ", model", model, grown.model);
    check_hash(std::string(grown.name) + ", scores", scores, grown.scores);
}

// A boosted model, of rows of which some values are missing.
struct BoostedSample {
    const char* loss;
    std::string link;
    bool has_linear_leaves;
    boost::Growth growth;
    std::uint64_t model, scores;
    bool is_joint = false;
    std::vector<double> quantiles = {0.3};
    std::size_t n_responses = 1;

    std::string name() const {
        std::string text = growth == boost::Growth::symmetric ? "symmetric, " : "boosted, ";
        text += loss;
        if (quantiles.size() > 1) text += " of " + std::to_string(quantiles.size()) + " quantiles";
        if (n_responses > 1) text += " of " + std::to_string(n_responses) + " responses";
        return text + (is_joint ? ", joint" : "");
    }
};

void test_boosted_sample(Sample sample, const BoostedSample& boosted) {
    constexpr std::size_t n = Sample::n_rows;
    const std::vector<double> complete = sample.x;
    for (std::size_t i = 0; i < sample.x.size(); i += 13)
        sample.x[i] = std::numeric_limits<double>::quiet_NaN();
    boost::Plan plan;
    const std::size_t n_classes = boosted.link == "logistic" ? 2 : boosted.link == "softmax" ? 3 : 0;
    plan.objective = boost::Objective::make(boosted.loss, boosted.quantiles, n_classes, boosted.n_responses);
    plan.n_rounds = 8;
    plan.seed = 73;
    plan.patience = 100;
    plan.tree.has_linear_leaves = boosted.has_linear_leaves;
    plan.tree.growth = boosted.growth;
    plan.tree.is_joint = boosted.is_joint;
    plan.tree.n_directions = 2;
    plan.tree.learning_rate = 0.2;
    if (n_classes == 2)
        for (std::int32_t& of_row : sample.classes) of_row = of_row == 2;
    std::vector<std::uint8_t> held(n);
    for (std::size_t row = 0; row < n; row += 10) held[row] = 1;

    const std::vector<double> centre(Sample::n_features, 0.0), scale(Sample::n_features, 1.0);
    const boost::Table<double> table{sample.table(), centre.data(), scale.data()};
    std::vector<double> responses;  // the number of the sample, and features as further responses
    for (std::size_t i = 0; i < n * boosted.n_responses; ++i) {
        const std::size_t row = i / boosted.n_responses, column = i % boosted.n_responses;
        responses.push_back(column ? complete[row * Sample::n_features + column] : sample.response[row]);
    }
    const boost::Labels labels{sample.classes.data(), n_classes ? nullptr : responses.data(), held.data(), n};
    const boost::WeightUnits units(boost::WeightSurvey(sample.weight.data(), labels));
    const boost::Weights weights(sample.weight.data(), labels, units);
    std::vector<std::int64_t> learned;
    for (std::size_t row = 0; row < n; ++row)
        if (!held[row]) learned.push_back(static_cast<std::int64_t>(row));
    boost::Bins bins;
    std::vector<std::uint8_t> codes;
    Watch watch;
    CHECK(boost::make_bins(table, learned, weights.of.data(), 255, 2, watch, bins));
    CHECK(boost::encode(table, bins, 2, watch, codes));
    const boost::RowData holding{bins, codes.data(), labels, sample.weight.data(), plan.objective};
    boost::LocalRows rows(holding, units, 2, watch);
    const boost::Boosted found = boost::boost(plan, rows, 2, watch);
    CHECK(found.forest.n_blocks() > 50);
    Hash model, scores;
    model.add(found.forest);
    for (const auto* values : {&found.first, &found.training_loss, &found.validation_loss})
        model.add(*values);
    const Scorer scorer(view_of(found.forest), centre, scale,
                        std::vector<double>(n_classes, n_classes == 2 ? 0.5 : 1.0 / 3.0), Confidence::none,
                        find_link(boosted.link), found.first, 8.0);
    hash_scores(scorer, sample, Score::raw_score, scores);
    hash_scores(scorer, sample, n_classes ? Score::proba : Score::value, scores);
    check_hash(boosted.name() + ", model", model, boosted.model);
    check_hash(boosted.name() + ", scores", scores, boosted.scores);
}

// A compact tree of the classes, or of the number. Its leaves are counted in Python, so that there is nothing
// to score.
void test_compact_sample(const Sample& sample, const std::vector<float>& z, bool is_number,
                         std::uint64_t expected) {
    std::vector<double> response;
    for (const double value : sample.response) response.push_back(value - 1.0);
    const std::vector<double> prior(Sample::n_classes, 1.0 / 3.0);
    compact::Labels labels;
    if (is_number)
        labels.response = response.data();
    else
        labels = {sample.classes.data(), Sample::n_classes, prior.data(), nullptr};
    compact::Options options;
    options.max_leaf_nodes = 6;
    Watch watch;
    const compact::Data data({z.data(), Sample::n_rows, Sample::n_features}, sample.weight.data(), labels,
                             options, 2, watch);
    const compact::Grown grown = compact::grow(data, 2, watch);
    CHECK(grown.left.size() > 6);
    Hash model;
    model.add(grown.left);
    model.add(grown.offset);
    model.add(grown.ptr);
    model.add(grown.feature);
    model.add(grown.weight);
    model.add(grown.leaf);
    model.add(grown.objective);
    check_hash(is_number ? "compact regression, model" : "compact, model", model, expected);
}

TEST(models_and_scores_have_the_committed_hashes) {
    const Sample sample;
    Hash data;
    data.add(sample.x);
    data.add(sample.response);
    check_hash("data", data, 0x4286c9796e7c8e49u);
    std::vector<float> z(Sample::n_rows * Sample::n_features + slack);
    const std::vector<double> centre(Sample::n_features, 0.125), scale(Sample::n_features, 0.75);
    Watch watch;
    CHECK(normalise(sample.table(), centre.data(), scale.data(), 2, watch, z.data()));
    const GrownSample grown[] = {
        {"mean difference", Direction::mean_difference, Offset::purity, Membership::marginal,
         GrownSample::per_class, 0xf5e655e37eb8933bu, 0x4083d024fb62a55eu},
        {"Fisher", Direction::fisher, Offset::gini, Membership::least_squares, GrownSample::per_class,
         0x3a7c793e4d10215eu, 0x21aac761f5f0e694u},
        {"mixed", Direction::mixed, Offset::gini, Membership::constant, GrownSample::per_class,
         0x266b695d7c999356u, 0xd0f647bf1e01bcbfu},
        {"all classes", Direction::mixed, Offset::gini, Membership::constant, GrownSample::joint,
         0xe6dbcf8f10ec5d0eu, 0x56244e8c25b449f8u},
        {"regression", Direction::mean_difference, Offset::gini, Membership::least_squares,
         GrownSample::number, 0x0e10f6e73c80ed21u, 0x1f8f59e1d3571858u},
        {"mixed regression", Direction::mixed, Offset::gini, Membership::constant, GrownSample::number,
         0x792ea3eb0ebdfc72u, 0xdbfad39d5a5ac815u},
    };
    for (const GrownSample& one : grown) test_grown(sample, z, one);
    constexpr boost::Growth free = boost::Growth::free, symmetric = boost::Growth::symmetric;
    const BoostedSample boosted[] = {
        {"logistic", "logistic", false, free, 0x939508c9754ce580u, 0xbb746e19e1427e30u},
        {"softmax", "softmax", true, free, 0x45784a72cde871deu, 0xfc7829373113b989u},
        {"squared_error", "identity", true, free, 0x8eccfcd8ee6aa1c0u, 0x8e86c251bcdf54fdu},
        {"quantile", "identity", false, free, 0xe8c15479592bc3a5u, 0x3b697c9770eb5653u},
        {"gamma", "log", false, free, 0xb9831edd081738e0u, 0x4687f753d5a015ebu},
        {"logistic", "logistic", false, symmetric, 0xee4fd29e17419fa3u, 0x0652ad47384a66c0u},
        {"softmax", "softmax", true, symmetric, 0x8ad47e002cc390a1u, 0xd5a2fa54091ab0e8u},
        {"quantile", "identity", false, symmetric, 0x319be0c6dfe85954u, 0x20bef114864ac031u},
        {"softmax", "softmax", false, free, 0x2bf8607414374cbdu, 0x3e2481dd7cda6eeau, true},
        {"softmax", "softmax", false, symmetric, 0x6b6f23fd83bf06b6u, 0xaeef0d6df3f151dbu, true},
        {"quantile", "sorted", false, free, 0x1dd7a3e1a2ab2eccu, 0xd66b4f50df0fbe7du, true, {0.1, 0.5, 0.9}},
        {"quantile",
         "sorted",
         false,
         symmetric,
         0x65d5b2449b008652u,
         0xb107d4e9a03d2c45u,
         true,
         {0.1, 0.5, 0.9}},
        {"quantile",
         "sorted",
         false,
         symmetric,
         0x8b7f36e7396eb3bfu,
         0x5ca109b17c8fdd29u,
         false,
         {0.1, 0.5, 0.9}},
        {"squared_error", "identity", false, free, 0x2696ba4a0345c80du, 0xb209ea1494f561c5u, true, {0.5}, 3},
        {"squared_error",
         "identity",
         false,
         symmetric,
         0x77b701f1cccb4e38u,
         0x4f937efff16995c3u,
         true,
         {0.5},
         3},
        {"squared_error", "identity", true, free, 0xb63bc10a6e0f3c3cu, 0xfdcd8bfbe8ee1855u, false, {0.5}, 3},
    };
    for (const BoostedSample& one : boosted) test_boosted_sample(sample, one);
    test_compact_sample(sample, z, false, 0xab843bafbf3b0e8bu);
    test_compact_sample(sample, z, true, 0x75fe1d4ca682a782u);
}

}  // namespace
}  // namespace lhtree
