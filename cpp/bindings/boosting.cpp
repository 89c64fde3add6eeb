// Boosting from Python: losses, bins, codes, rows and rounds.
#include "boosting.hpp"

#include <nanobind/stl/shared_ptr.h>
#include <nanobind/stl/unique_ptr.h>

#include <memory>
#include <numeric>

#include "lhtree/grow/boost/boost.hpp"
#include "lhtree/shared/random.hpp"

namespace lhtree {
namespace {

using namespace nb::literals;
using boost::Bins;

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
                             const MaybeVector<std::int32_t>& classes, const MaybeVector<double>& response,
                             double quantile) {
    const std::size_t n_rows = raw.shape(0), n_scores = raw.shape(1);
    const boost::Objective objective = boost::Objective::make(name, {quantile}, 0, 1);
    require(n_scores == 1 || objective.is_softmax(), "the loss has one raw score");
    if (is_of_classes(objective.loss())) {
        require(classes && classes->size() == n_rows, "classes needs a value per row");
        check_classes(classes->data(), n_rows, std::max<std::size_t>(n_scores, 2));
    } else {
        require(response && response->size() == n_rows, "response needs a value per row");
    }
    std::vector<double> losses(n_rows);
    const boost::Scored rows{
        data_or_null(classes), data_or_null(response), raw.data(), n_rows, n_scores, 1, nullptr, nullptr};
    each_row_loss(
        objective, rows, [](std::size_t) { return true; },
        [&](std::size_t row, std::size_t, double value) { losses[row] = value; });
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
    m.attr("BEYOND") = boost::beyond;
    m.attr("GROWTHS") = names(boost::growth_names);
    m.def("loss", &bound_loss, "name"_a, "raw_score"_a, nb::kw_only(), "classes"_a.none() = nb::none(),
          "response"_a.none() = nb::none(), "quantile"_a = 0.5,
          "Return the loss of every row, shape (n,), for raw scores of shape (n, n_scores) and classes or "
          "responses.");
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

// Check the rows of a table against the bins.
template <class Value>
boost::Table<Value> take_table(const BoostBins& bins, const AnyMatrix<Value>& X, const Coded& codes) {
    require(X.shape(1) == bins.n_numbers(), "X needs the columns of the bins");
    require(codes.has_value() == bins.levels.has_value(), "codes are given where there are levels");
    if (codes) {
        require(codes->shape(0) == X.shape(0) && codes->shape(1) == bins.coded.size(),
                "codes needs a row per row of X and a column per column of levels");
        check_codes(*codes, bins.coded);
    }
    return {strided(X), bins.centre.data(), bins.scale.data(), codes ? codes->data() : nullptr,
            bins.levels_or_null()};
}

template <class Value>
std::optional<std::shared_ptr<BoostBins>> learn_bins(const AnyMatrix<Value>& X, const Vector<double>& centre,
                                                     const Vector<double>& scale,
                                                     const MaybeVector<double>& weight, double weight_unit,
                                                     std::size_t max_bins, std::size_t n_threads,
                                                     const Coded& codes, const LevelCounts& levels,
                                                     const MaybeVector<std::int64_t>& chosen) {
    auto made = std::make_shared<BoostBins>(centre, scale, levels);
    const boost::Table<Value> table = take_table(*made, X, codes);
    const std::size_t n = X.shape(0);
    require(n > 0, "X needs at least one row");
    require(!weight || weight->size() == n, "weight needs a value per row");
    require(weight_unit > 0.0, "weight_unit is not positive");
    require(max_bins >= 2 && max_bins <= boost::most_bins, "max_bins is out of range");
    std::vector<std::int64_t> rows(n);
    std::iota(rows.begin(), rows.end(), 0);
    if (chosen) rows = copy(*chosen);
    require(!rows.empty(), "there is no row to learn from");
    for (const std::int64_t row : rows)
        require(row >= 0 && row < static_cast<std::int64_t>(n), "a row is out of range");
    std::vector<std::uint32_t> weights(weight ? n : 0);
    for (std::size_t i = 0; weight && i < rows.size(); ++i) {
        const auto row = static_cast<std::size_t>(rows[i]);
        const double whole = std::nearbyint(weight->data()[row] / weight_unit);
        require(whole >= 0.0 && whole <= 0x1p31, "a weight is out of range");
        weights[row] = static_cast<std::uint32_t>(whole);
    }
    const bool is_finite = watched(std::nullopt, [&](Watch& watch) {
        return make_bins(table, rows, weight ? weights.data() : nullptr, max_bins, n_threads, watch,
                         made->bins);
    });
    return is_finite ? std::optional(made) : std::nullopt;
}

// Codes of rows, an array of shape (n, n_slots); None if they hold an infinity.
template <class Value>
std::optional<NewMatrix<std::uint8_t>> encode_rows(const BoostBins& bins, const AnyMatrix<Value>& X,
                                                   const Coded& codes, std::size_t n_threads) {
    const boost::Table<Value> table = take_table(bins, X, codes);
    auto made = std::make_unique<std::vector<std::uint8_t>>();
    const bool is_finite = watched(
        std::nullopt, [&](Watch& watch) { return encode(table, bins.bins, n_threads, watch, *made); });
    if (!is_finite) return std::nullopt;
    std::vector<std::uint8_t>* const owned = made.release();
    nb::capsule owner(owned, [](void* p) noexcept { delete static_cast<std::vector<std::uint8_t>*>(p); });
    return NewMatrix<std::uint8_t>(owned->data(), {X.shape(0), bins.bins.slots.size()}, owner);
}

// Derivatives are kept as float32: responses of any size have to be scaled before.
void check_response(const boost::Objective& objective, const boost::Labels& labels) {
    using boost::Responses;
    std::visit(
        [&](const auto& one) {
            const double most = std::ldexp(2.0, one.free_exponent);
            for (std::size_t i = 0; i < labels.n_rows * objective.n_responses; ++i) {
                const double response = labels.response[i];
                require(std::isfinite(response), "a response is not finite");
                require(one.responses != Responses::positive || response > 0.0, "a response is not positive");
                require(one.responses != Responses::not_negative || response >= 0.0,
                        "a response is negative");
                require(labels.is_held(i / objective.n_responses) || std::abs(response) <= most,
                        "a response is too large for the loss: scale it");
            }
        },
        objective.loss());
}

// Every quantile is between 0 and 1.
boost::Objective make_objective(const std::string& loss, const std::vector<double>& quantiles,
                                std::size_t n_classes, std::size_t n_responses) {
    for (const double quantile : quantiles)
        require(quantile > 0.0 && quantile < 1.0, "a quantile is not between 0 and 1");
    return boost::Objective::make(loss, quantiles, n_classes, n_responses);
}

std::unique_ptr<BoostRows> make_rows(const Matrix<std::uint8_t>& codes, std::shared_ptr<BoostBins> bins,
                                     const std::string& loss, const std::vector<double>& quantiles,
                                     std::size_t n_classes, std::size_t n_responses,
                                     const MaybeVector<std::int32_t>& classes,
                                     const std::optional<Matrix<double>>& response,
                                     const MaybeVector<double>& weight, const MaybeVector<std::uint8_t>& held,
                                     std::uint64_t first_row, std::size_t n_threads) {
    const boost::Slots& slots = bins->bins.slots;
    const std::size_t n_rows = codes.shape(0);
    require(codes.shape(1) == slots.size(), "codes needs a column per slot of the bins");
    std::vector<std::size_t> n_codes;
    for (std::size_t slot = 0; slot < slots.size(); ++slot) n_codes.push_back(slots.n_codes(slot));
    bool is_in_range = true;
    const std::uint8_t* code = codes.data();
    for (std::size_t row = 0; row < n_rows; ++row)
        for (const std::size_t n : n_codes) is_in_range &= *code++ < n;
    require(is_in_range, "a code is out of range");
    require(!weight || weight->size() == n_rows, "weight needs a value per row");
    require(!held || held->size() == n_rows, "held needs a value per row");
    require(n_rows < (std::size_t{1} << 31), "there are more than 2^31 - 1 rows");
    for (std::size_t row = 0; weight && row < n_rows; ++row)
        require(weight->data()[row] >= 0.0 && std::isfinite(weight->data()[row]),
                "a weight is negative or not finite");
    const boost::Labels labels{data_or_null(classes), response ? response->data() : nullptr,
                               data_or_null(held), n_rows};
    const boost::RowData data{bins->bins,
                              codes.data(),
                              labels,
                              data_or_null(weight),
                              make_objective(loss, quantiles, n_classes, n_responses),
                              first_row};
    if (is_of_classes(data.objective.loss())) {
        require(classes && classes->size() == n_rows, "classes needs a value per row");
        require(n_classes >= 2, "there are fewer than two classes");
        require((n_classes == 2) == !data.objective.is_softmax(),
                "two classes need the logistic loss, more the softmax loss");
        check_classes(classes->data(), n_rows, n_classes);
    } else {
        require(response && response->shape(0) == n_rows && response->shape(1) == n_responses,
                "response needs a row per row of codes and a column per response");
        check_response(data.objective, labels);
    }
    nb::object kept = nb::make_tuple(codes, classes, response, weight, held);
    return std::make_unique<BoostRows>(std::move(kept), std::move(bins), data, n_threads);
}

std::vector<std::vector<std::string>> ask_python(const nb::callable& exchange,
                                                 const std::vector<std::string>& requests) {
    const nb::gil_scoped_acquire gil;
    nb::list given;
    for (const std::string& request : requests) given.append(give_bytes(request));
    std::vector<std::vector<std::string>> answers;
    for (const nb::handle part : exchange(given)) {
        answers.emplace_back();
        for (const nb::handle answer : part) {
            require(nb::isinstance<nb::bytes>(answer), "exchange returns something other than bytes");
            answers.back().push_back(read_bytes(nb::borrow<nb::bytes>(answer)));
        }
    }
    return answers;
}

// Check that boosting can continue from trees that can be scored.
void check_boosted(const ForestView& trees) {
    require(!trees.missing.empty() && !trees.low.empty(),
            "earlier trees are not boosted: missing or low is empty");
    for (std::size_t block = 0; block < trees.n_blocks(); ++block)
        require(trees.left[block] < 0 || trees.hyperplane_ptr[block] < trees.hyperplane_ptr[block + 1],
                "a branching block uses no feature");
    for (std::size_t i = 0; i < trees.hyperplane_weight.size(); ++i)
        require(std::abs(trees.hyperplane_weight[i]) <= 1.0f, "a weight is out of range");
}

nb::dict boost_rows(nb::object rows, const BoostBins& bins, const boost::TreeOptions& options,
                    const std::string& loss, const std::vector<double>& quantiles, std::size_t n_classes,
                    std::size_t n_responses, std::size_t n_rounds, std::uint64_t seed, std::size_t patience,
                    double tol, const std::optional<nb::dict>& earlier, const MaybeVector<double>& first,
                    bool keeps_row_losses, std::size_t n_threads, const std::optional<nb::callable>& progress,
                    const std::optional<nb::callable>& is_over) {
    boost::Plan plan{make_objective(loss, quantiles, n_classes, n_responses),
                     n_rounds,
                     seed,
                     options,
                     patience,
                     tol,
                     nullptr,
                     {},
                     {},
                     {}};
    if (is_over)
        plan.is_over = [&] {
            const nb::gil_scoped_acquire gil;
            PyObject* answer = PyObject_CallNoArgs(is_over->ptr());
            if (!answer) throw Stopped();  // `watched` raises the error
            const int ends = PyObject_IsTrue(answer);
            Py_DECREF(answer);
            if (ends < 0) throw Stopped();
            return ends == 1;
        };
    const std::size_t n_scores = plan.objective.n_scores();
    const auto& monotonic = options.rules.monotonic;
    require(monotonic.empty() || monotonic.size() == bins.n_features(),
            "monotonic needs a value per feature");
    require(!options.has_linear_leaves || !boost::selects(plan.objective.loss()),
            "the loss needs constant leaves");
    if (first) plan.first = copy(*first);
    ForestView trees;
    if (earlier) {
        trees = view_arrays(*earlier);
        const std::string fault = find_fault(trees, bins.n_features(), std::max(n_classes, n_scores));
        require(fault.empty(), fault.c_str());
        check_boosted(trees);
        for (std::size_t tree = 0; tree < trees.n_trees(); ++tree)
            require((trees.target[tree] < 0) == (options.is_joint && n_scores > 1),
                    "earlier trees are of all scores and new ones are not, or the other way round");
        plan.earlier = &trees;
    }
    require(plan.first.empty() || plan.first.size() == n_scores, "first needs a value per score");
    boost::Boosted boosted;
    std::vector<double> row_losses;
    if (nb::isinstance<BoostRows>(rows)) {
        const boost::RowData& data = nb::cast<BoostRows&>(rows).data;
        const boost::WeightSurvey survey(data.weight, data.labels);
        require(&data.bins == &bins.bins && data.objective.loss().index() == plan.objective.loss().index() &&
                    data.objective.n_scores() == n_scores && data.objective.n_classes == n_classes,
                "rows were made for other bins, or another loss");
        require(survey.largest[0] > 0.0, "there is no row to learn from: all are held back or weigh nothing");
        boosted = watched(progress, [&](Watch& watch) {
            boost::LocalRows local(data, boost::WeightUnits(survey), n_threads, watch);
            if (keeps_row_losses)
                plan.at_best = [&](const std::vector<double>& scales) {
                    row_losses = local.measure_held(scales);
                };
            return boost::boost(plan, local, n_threads, watch);
        });
    } else {
        require(!keeps_row_losses, "losses of single rows are kept for BoostRows only");
        const auto callable = nb::cast<nb::callable>(rows);
        const boost::Exchange exchange = [&](const std::vector<std::string>& requests) {
            return ask_python(callable, requests);
        };
        boosted = watched(progress, [&](Watch& watch) {
            boost::RemoteRows remote(bins.bins, plan.objective, exchange, watch);
            return boost::boost(plan, remote, n_threads, watch);
        });
    }
    nb::dict given;
    given["trees"] = give_forest(std::move(boosted.forest));
    given["first"] = give(std::move(boosted.first));
    given["training_loss"] = give(std::move(boosted.training_loss));
    given["validation_loss"] = give(std::move(boosted.validation_loss));
    given["row_losses"] = give(std::move(row_losses));
    return given;
}

nb::bytes merge_answers(const std::vector<nb::bytes>& answers) {
    std::vector<std::string> given;
    for (const nb::bytes& answer : answers) given.push_back(read_bytes(answer));
    return give_bytes(boost::merge_answers(given));
}

NewVector<std::uint64_t> bound_draw_keys(std::uint64_t seed, Stream stream, std::size_t n,
                                         std::uint64_t first) {
    std::vector<std::uint64_t> keys(n);
    const std::uint64_t key = derive(seed, stream);
    for (std::size_t row = 0; row < n; ++row) keys[row] = derive(key, first + row);
    return give(std::move(keys));
}

template <class Value>
void bind_table(nb::module_& m, nb::class_<BoostBins>& bins) {
    bins.def("encode", &encode_rows<Value>, "X"_a.noconvert(), "codes"_a.none() = nb::none(),
             "n_threads"_a = 1,
             "Codes of rows, shape (n, n_slots); None if X holds an infinity. X and codes are those of "
             "grow_forest.");
    m.def("learn_bins", &learn_bins<Value>, "X"_a.noconvert(), nb::kw_only(), "centre"_a, "scale"_a,
          "weight"_a.none() = nb::none(), "weight_unit"_a = 1.0, "max_bins"_a, "n_threads"_a = 1,
          "codes"_a.none() = nb::none(), "levels"_a.none() = nb::none(), "rows"_a.none() = nb::none(),
          "Learn the bins of rows: those that sample_rows names, without validation rows, or those of them "
          "whose places are in `rows`. Weights count in units of weight_unit (see find_weight_unit). Return "
          "None if X holds an infinity.");
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
    nb::class_<boost::TreeOptions>(m, "BoostOptions", "Options of every tree of a boosted model.")
        .def(
            "__init__",
            [](boost::TreeOptions* self, double l2_regularization, double min_samples_leaf, double shrinkage,
               const MaybeVector<std::int8_t>& monotonic, const std::string& growth, std::size_t max_depth,
               double max_features, std::size_t n_directions, std::size_t n_directed, double learning_rate,
               double subsample, const std::string& leaf, bool is_joint,
               const std::vector<std::vector<std::int32_t>>& groups) {
                require(leaf == "constant" || leaf == "linear", "leaf is neither constant nor linear");
                require(leaf == "constant" || !is_joint, "a tree of all scores needs constant leaves");
                new (self) boost::TreeOptions{{l2_regularization, min_samples_leaf, shrinkage,
                                               monotonic ? copy(*monotonic) : std::vector<std::int8_t>()},
                                              choose(growth, boost::growth_names),
                                              max_depth,
                                              max_features,
                                              n_directions,
                                              n_directed,
                                              learning_rate,
                                              subsample,
                                              leaf == "linear",
                                              is_joint,
                                              groups};
                for (std::vector<std::int32_t>& group : self->groups) std::sort(group.begin(), group.end());
            },
            nb::kw_only(), "l2_regularization"_a, "min_samples_leaf"_a, "shrinkage"_a, "monotonic"_a.none(),
            "growth"_a, "max_depth"_a, "max_features"_a, "n_directions"_a, "n_directed"_a, "learning_rate"_a,
            "subsample"_a, "leaf"_a, "is_joint"_a = false,
            "groups"_a = std::vector<std::vector<std::int32_t>>());
    m.def(
        "draw_keys", &bound_draw_keys, "seed"_a, "stream"_a, "n"_a, "first"_a = 0,
        "Return a random number for each of n rows: a function of the seed, the stream and the number of the "
        "row, which begins at `first`.");
    nb::class_<BoostBins> bins(m, "BoostBins", "Bins of features, and the encoding of values as codes.");
    bins.def(
            "__init__",
            [](BoostBins* self, const nb::dict& arrays, const Vector<double>& centre,
               const Vector<double>& scale, const LevelCounts& levels) {
                auto made = std::make_unique<BoostBins>(centre, scale, levels);
                take_bins(arrays, *made);
                new (self) BoostBins(std::move(*made));
            },
            "arrays"_a, nb::kw_only(), "centre"_a, "scale"_a, "levels"_a.none() = nb::none())
        .def_prop_ro(
            "n_slots", [](const BoostBins& self) { return self.bins.slots.size(); },
            "Bytes that the codes of a row take.")
        .def_prop_ro(
            "slots",
            [](const BoostBins& self) {
                std::vector<std::pair<std::int64_t, std::int64_t>> slots;
                for (std::size_t slot = 0; slot < self.bins.slots.size(); ++slot) {
                    const auto& one = self.bins.slots[slot];
                    slots.emplace_back(one.first, one.is_coded ? one.last : one.first);
                }
                return slots;
            },
            "The features of every slot: the first, and the one after the last level of a column of "
            "categories; "
            "of a column of numbers, the first twice.")
        .def(
            "arrays", [](const BoostBins& self) { return give_bins(self.bins); },
            "Return the arrays of the bins, from which BoostBins can be made again.");
    bind_table<double>(m, bins);
    bind_table<float>(m, bins);
    nb::class_<BoostRows>(m, "BoostRows",
                          "Codes and labels of a table or of a partition of it. The arrays are not copied: "
                          "they may be mapped files.")
        .def(nb::new_(&make_rows), "codes"_a.noconvert(), "bins"_a, nb::kw_only(), "loss"_a,
             "quantiles"_a = std::vector<double>{0.5}, "n_classes"_a = 0, "n_responses"_a = 1,
             "classes"_a.none() = nb::none(), "response"_a.none() = nb::none(),
             "weight"_a.none() = nb::none(), "held"_a.none() = nb::none(), "first_row"_a = 0,
             "n_threads"_a = 1)
        .def("answer", &BoostRows::answer, "request"_a,
             "Answer a message of boost_rows. A malformed message raises ValueError and changes nothing.");
    m.def(
        "boost_rows", &boost_rows, "rows"_a, "bins"_a, nb::kw_only(), "options"_a, "loss"_a,
        "quantiles"_a = std::vector<double>{0.5}, "n_classes"_a = 0, "n_responses"_a = 1, "n_rounds"_a,
        "seed"_a, "patience"_a, "tol"_a, "earlier"_a.none() = nb::none(), "first"_a.none() = nb::none(),
        "keeps_row_losses"_a = false, "n_threads"_a = 1, "progress"_a.none() = nb::none(),
        "is_over"_a.none() = nb::none(),
        "Boost trees on coded rows: BoostRows, or a function that sends messages (a list of bytes) to the "
        "BoostRows of all partitions of a table and returns the answers of every partition (an iterable of "
        "lists of bytes), in any order, merged or not. is_over is called after every round; true ends the "
        "fit. Return a dict of the arrays of the trees, the initial "
        "scores, and the losses before and after every round; with keeps_row_losses, also the loss of every "
        "validation row after the best round.");
    m.def("merge_answers", &merge_answers, "answers"_a,
          "Merge the answers of some partitions to the same message.");
    m.def(
        "changes_rows", [](const nb::bytes& request) { return boost::changes_rows(read_bytes(request)); },
        "request"_a,
        "Return whether a message changes the state of BoostRows. A partition that is replaced has to repeat "
        "these messages, in their order.");
    m.def(
        "sample_rows",
        [](std::size_t n_rows, std::uint64_t seed, std::size_t most) {
            return give(boost::sample_rows(n_rows, seed, most));
        },
        "n_rows"_a, "seed"_a, "most"_a = boost::most_sampled,
        "Return the numbers of the rows from which bins and scales are learned, ascending: all, or the "
        "`most` rows with the smallest hash of seed and number.");
    m.attr("MOST_SAMPLED") = boost::most_sampled;
    m.def("find_weight_unit", &boost::find_weight_unit, "largest"_a, "is_whole"_a, "n_rows"_a,
          "Return the unit in which weights are whole numbers, from the largest weight of the training rows, "
          "whether all their weights are whole, and the number of all rows.");
}

}  // namespace lhtree
