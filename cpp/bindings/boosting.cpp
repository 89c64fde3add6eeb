// Boosting from Python.
#include "boosting.hpp"

#include <algorithm>
#include <cmath>
#include <limits>

#include "lhtree/shared/random.hpp"

namespace lhtree {
namespace {

using namespace nb::literals;
using boost::Bins;

boost::TreeOptions make_options(double l2_regularization, double min_samples_leaf, double shrinkage,
                                const std::optional<Vector<std::int8_t>>& monotonic, std::size_t max_depth,
                                double max_features, std::size_t n_directed, double learning_rate,
                                double subsample, const std::string& leaf) {
    require(leaf == "constant" || leaf == "linear", "leaf is neither constant nor linear");
    boost::TreeOptions options;
    options.rules = {l2_regularization, min_samples_leaf, shrinkage, {}};
    if (monotonic) options.rules.monotonic = copy(*monotonic);
    options.max_depth = max_depth;
    options.max_features = max_features;
    options.n_directed = n_directed;
    options.learning_rate = learning_rate;
    options.subsample = subsample;
    options.has_linear_leaves = leaf == "linear";
    return options;
}

// What boosting on from trees needs, beside what scoring them needs.
void check_boosted(const ForestView& trees) {
    require(!trees.missing.empty() && !trees.low.empty(),
            "earlier trees are not boosted: missing or low is empty");
    for (std::size_t block = 0; block < trees.n_blocks(); ++block)
        require(trees.left[block] < 0 || trees.hyperplane_ptr[block] < trees.hyperplane_ptr[block + 1],
                "a branching block uses no feature");
    for (std::size_t i = 0; i < trees.hyperplane_weight.size(); ++i)
        require(std::abs(trees.hyperplane_weight[i]) <= 1.0f, "a weight is out of range");
}

void check_classes(const boost::RowData& holding) {
    require(holding.n_classes >= 2, "there are fewer than two classes");
    require((holding.n_classes == 2) == std::holds_alternative<boost::Logistic>(holding.loss),
            "two classes need the logistic loss, more the softmax loss");
    for (std::size_t row = 0; row < holding.labels.n_rows; ++row) {
        const std::int32_t cls = holding.labels.classes[row];
        require(cls >= 0 && static_cast<std::size_t>(cls) < holding.n_classes, "a class is out of range");
    }
}

// Derivatives are kept as float32: responses of any size have to be scaled before.
void check_response(const boost::Loss& loss, const boost::Labels& labels) {
    using boost::Responses;
    std::visit(
        [&](const auto& one) {
            const double most = std::ldexp(2.0, one.free_exponent);
            for (std::size_t row = 0; row < labels.n_rows; ++row) {
                const double response = labels.response[row];
                require(std::isfinite(response), "a response is not finite");
                require(one.responses != Responses::positive || response > 0.0, "a response is not positive");
                require(one.responses != Responses::not_negative || response >= 0.0,
                        "a response is negative");
                require(labels.is_held(row) || std::abs(response) <= most,
                        "a response is too large for the loss: scale it");
            }
        },
        loss);
}

// The properties of a loss, for Python.
struct LossInfo {
    std::string name, description, link;
    std::optional<std::string> responses;  // of a number
    bool is_of_classes, selects;
    int degree, free_exponent;
    std::optional<std::string> parameter;
};

LossInfo describe(const boost::Loss& loss) {
    return std::visit(
        [](const auto& one) {
            const char* const responses[] = {"any", "not_negative", "positive"};
            LossInfo info{one.name,    one.description, one.link,          {}, one.is_of_classes,
                          one.selects, one.degree,      one.free_exponent, {}};
            if (!one.is_of_classes) info.responses = responses[static_cast<std::size_t>(one.responses)];
            if (one.has_parameter) info.parameter = "quantile";
            return info;
        },
        loss);
}

NewVector<double> bound_loss(const std::string& name, const Matrix<double>& raw,
                             const std::optional<Vector<std::int32_t>>& classes,
                             const std::optional<Vector<double>>& response, double quantile) {
    const boost::Loss loss = boost::make_loss(name, quantile);
    const std::size_t n_rows = raw.shape(0), n_scores = raw.shape(1);
    require(n_scores == 1 || std::holds_alternative<boost::Softmax>(loss), "the loss has one raw score");
    if (is_of_classes(loss)) {
        require(classes && classes->size() == n_rows, "classes needs a value per row");
        for (std::size_t row = 0; row < n_rows; ++row)
            require(classes->data()[row] >= 0 &&
                        static_cast<std::size_t>(classes->data()[row]) < std::max<std::size_t>(n_scores, 2),
                    "a class is out of range");
    } else {
        require(response && response->size() == n_rows, "response needs a value per row");
    }
    std::vector<double> losses(n_rows);
    const boost::Scored rows{classes ? classes->data() : nullptr,
                             response ? response->data() : nullptr,
                             raw.data(),
                             n_rows,
                             n_scores,
                             nullptr};
    each_row_loss(
        loss, rows, [](std::size_t) { return true; },
        [&](std::size_t row, double value) { losses[row] = value; });
    return give(std::move(losses));
}

void bind_losses(nb::module_& m) {
    nb::class_<LossInfo>(m, "Loss", "The properties of a loss of boosting.")
        .def_ro("name", &LossInfo::name)
        .def_ro("description", &LossInfo::description, "What is measured, for labels of plots.")
        .def_ro("link", &LossInfo::link, "One of LINKS.")
        .def_ro("responses", &LossInfo::responses,
                "The numbers that are valid: 'any', 'not_negative' or 'positive'. None: classes.")
        .def_ro("is_of_classes", &LossInfo::is_of_classes)
        .def_ro("selects", &LossInfo::selects,
                "Whether the values of leaves are quantiles of residuals, which linear leaves cannot be.")
        .def_ro("degree", &LossInfo::degree, "The power of the response that losses are proportional to.")
        .def_ro("free_exponent", &LossInfo::free_exponent,
                "Responses up to 2 to this power need not be scaled.")
        .def_ro("parameter", &LossInfo::parameter, "The name of its parameter, if it has one.");
    nb::dict losses;
    boost::each_loss([&](const auto& one) { losses[one.name] = nb::cast(describe(one)); });
    m.attr("LOSSES") = losses;
    m.attr("BOOST_CLIP") = boost::clip;
    m.attr("MOST_BINS") = boost::most_bins;
    m.def("loss", &bound_loss, "name"_a, "raw_score"_a, nb::kw_only(), "classes"_a.none() = nb::none(),
          "response"_a.none() = nb::none(), "quantile"_a = 0.5,
          "Return the loss of every row, shape (n,), for raw scores of shape (n, n_scores) and classes or "
          "responses.");
}

}  // namespace

BoostBins::BoostBins(const Vector<double>& centre_given, const Vector<double>& scale_given,
                     std::vector<std::int32_t>&& n_levels_given)
    : centre(copy(centre_given)), scale(copy(scale_given)), n_levels(std::move(n_levels_given)) {
    require(centre.size() == scale.size() &&
                (n_levels.empty() || count_features(n_levels.size(), n_levels) == centre.size()),
            "centre and scale need a value per feature");
    if (!n_levels.empty()) levels.emplace(n_levels, centre.data(), scale.data());
}

std::size_t BoostBins::n_numbers() const {
    if (n_levels.empty()) return n_features();
    return static_cast<std::size_t>(std::count(n_levels.begin(), n_levels.end(), 0));
}

nb::dict give_bins(const Bins& bins) {
    nb::dict given;
    given["ptr"] = give(std::vector<std::int64_t>(bins.ptr.begin(), bins.ptr.end()));
    given["edge"] = give(std::vector<double>(bins.edge));
    given["value"] = give(std::vector<std::int32_t>(bins.value));
    given["missing"] = give(std::vector<std::int8_t>(bins.has_missing.begin(), bins.has_missing.end()));
    return given;
}

void take_bins(const nb::dict& given, BoostBins& into) {
    const std::size_t n_features = into.n_features();
    Bins& bins = into.bins;
    const std::vector<std::int64_t> ptr = copy(nb::cast<Vector<std::int64_t>>(given["ptr"]));
    require(ptr.size() == n_features + 1 && ptr[0] == 0, "bins do not fit X");
    for (std::size_t f = 0; f < n_features; ++f) {
        const std::int64_t n_bins = ptr[f + 1] - ptr[f] - 1;
        require(n_bins >= 1 && n_bins <= static_cast<std::int64_t>(boost::most_bins),
                "a feature has no bins, or too many");
        bins.ptr.push_back(static_cast<std::uint32_t>(ptr[f + 1]));
    }
    bins.edge = copy(nb::cast<Vector<double>>(given["edge"]));
    bins.value = copy(nb::cast<Vector<std::int32_t>>(given["value"]));
    for (const std::int8_t is_missing : copy(nb::cast<Vector<std::int8_t>>(given["missing"])))
        bins.has_missing.push_back(is_missing != 0);
    require(bins.has_missing.size() == n_features && bins.edge.size() == bins.n_bins() &&
                bins.value.size() == bins.n_bins(),
            "bins do not fit X");
    for (const std::int32_t value : bins.value)
        require(value >= -(1 << 15) && value <= 1 << 15, "a bin is out of range");
    bins.place(into.levels_or_null());
}

boost::RowData take_holding(const BoostBins& bins, const std::uint8_t* codes, std::size_t n_rows,
                            const std::string& loss, double quantile, std::size_t n_classes,
                            const std::optional<Vector<std::int32_t>>& classes,
                            const std::optional<Vector<double>>& response,
                            const std::optional<Vector<double>>& weight,
                            const std::optional<Vector<std::uint8_t>>& held, std::uint64_t first_row) {
    require(!weight || weight->size() == n_rows, "weight needs a value per row");
    require(!held || held->size() == n_rows, "held needs a value per row");
    require(n_rows < (std::size_t{1} << 31), "there are more than 2^31 - 1 rows");
    const boost::Labels labels{classes ? classes->data() : nullptr, response ? response->data() : nullptr,
                               held ? held->data() : nullptr, n_rows};
    const boost::RowData holding{
        bins.bins, codes,    labels, weight ? weight->data() : nullptr, boost::make_loss(loss, quantile),
        n_classes, first_row};
    if (is_of_classes(holding.loss)) {
        require(classes && classes->size() == n_rows, "classes needs a value per row");
        check_classes(holding);
    } else {
        require(response && response->size() == n_rows, "response needs a value per row");
        require(quantile > 0.0 && quantile < 1.0, "quantile is not between 0 and 1");
        check_response(holding.loss, labels);
    }
    for (std::size_t row = 0; weight && row < n_rows; ++row)
        require(weight->data()[row] >= 0.0 && std::isfinite(weight->data()[row]),
                "a weight is negative or not finite");
    return holding;
}

boost::Plan make_plan(const boost::TreeOptions& options, std::size_t n_features, const std::string& loss,
                      double quantile, std::size_t n_classes, std::size_t n_rounds, std::uint64_t seed,
                      std::size_t patience, double tol, const std::optional<nb::dict>& earlier,
                      const std::optional<Vector<double>>& first, ForestView& trees) {
    boost::Plan plan;
    plan.loss = boost::make_loss(loss, quantile);
    plan.n_rounds = n_rounds;
    plan.seed = seed;
    plan.tree = options;
    plan.patience = patience;
    plan.tol = tol;
    require(options.rules.monotonic.empty() || options.rules.monotonic.size() == n_features,
            "monotonic needs a value per feature");
    require(!options.has_linear_leaves || !boost::selects(plan.loss), "the loss needs constant leaves");
    if (first) plan.first = copy(*first);
    if (earlier) {
        trees = view_arrays(*earlier);
        const std::string fault = find_fault(trees, n_features, std::max<std::size_t>(n_classes, 1));
        require(fault.empty(), fault.c_str());
        check_boosted(trees);
        plan.earlier = &trees;
    }
    require(plan.first.empty() || plan.first.size() == (n_classes <= 2 ? 1 : n_classes),
            "first needs a value per score");
    return plan;
}

nb::dict give_boosted(boost::Boosted&& boosted) {
    nb::dict given;
    given["trees"] = give_forest(std::move(boosted.forest));
    given["first"] = give(std::move(boosted.first));
    given["training_loss"] = give(std::move(boosted.training_loss));
    given["validation_loss"] = give(std::move(boosted.validation_loss));
    return given;
}

namespace {

NewVector<std::uint64_t> bound_draw_keys(std::uint64_t seed, Stream stream, std::size_t n,
                                         std::uint64_t first) {
    std::vector<std::uint64_t> keys(n);
    const std::uint64_t key = derive(seed, stream);
    for (std::size_t row = 0; row < n; ++row) keys[row] = derive(key, first + row);
    return give(std::move(keys));
}

}  // namespace

void bind_boosting(nb::module_& m) {
    bind_losses(m);
    nb::enum_<Stream>(m, "Stream", nb::is_arithmetic(), "Random streams of a model.")
        .value("validation_rows", Stream::validation_rows)
        .value("statistic_folds", Stream::statistic_folds)
        .value("pilot_validation_rows", Stream::pilot_validation_rows)
        .value("calibration_folds", Stream::calibration_folds)
        .value("prototype_rows", Stream::prototype_rows)
        .value("sampled_rows", Stream::sampled_rows)
        .value("pilot_rows", Stream::pilot_rows);
    nb::class_<boost::TreeOptions>(m, "BoostOptions", "What every tree of a boosted model is grown with.")
        .def(
            "__init__",
            [](boost::TreeOptions* self, double l2_regularization, double min_samples_leaf, double shrinkage,
               const std::optional<Vector<std::int8_t>>& monotonic, std::size_t max_depth,
               double max_features, std::size_t n_directed, double learning_rate, double subsample,
               const std::string& leaf) {
                new (self) boost::TreeOptions(make_options(l2_regularization, min_samples_leaf, shrinkage,
                                                           monotonic, max_depth, max_features, n_directed,
                                                           learning_rate, subsample, leaf));
            },
            nb::kw_only(), "l2_regularization"_a, "min_samples_leaf"_a, "shrinkage"_a, "monotonic"_a.none(),
            "max_depth"_a, "max_features"_a, "n_directed"_a, "learning_rate"_a, "subsample"_a, "leaf"_a);
    m.def(
        "draw_keys", &bound_draw_keys, "seed"_a, "stream"_a, "n"_a, "first"_a = 0,
        "Return a random number for each of n rows: a function of the seed, the stream and the number of the "
        "row, which begins at `first`.");
    bind_boost_rows(m);
}

}  // namespace lhtree
