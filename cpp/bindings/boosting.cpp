// Boosting from Python.
#include <algorithm>

#include "lhtree/grow/boost/boost.hpp"
#include "lhtree/shared/random.hpp"
#include "shared.hpp"

namespace lhtree {
namespace {

using namespace nb::literals;
using boost::Bins;

boost::TreeOptions make_options(double l2_regularization, double min_samples_leaf, double shrinkage,
                                const std::optional<Vector<std::int8_t>>& monotonic, std::size_t max_depth,
                                double max_features, std::size_t n_directed, double learning_rate,
                                double subsample) {
    boost::TreeOptions options;
    options.rules = {l2_regularization, min_samples_leaf, shrinkage, {}};
    if (monotonic) options.rules.monotonic = copy(*monotonic);
    options.max_depth = max_depth;
    options.max_features = max_features;
    options.n_directed = n_directed;
    options.learning_rate = learning_rate;
    options.subsample = subsample;
    return options;
}

nb::dict give_bins(Bins&& bins) {
    nb::dict given;
    given["ptr"] = give(std::vector<std::int64_t>(bins.ptr.begin(), bins.ptr.end()));
    given["edge"] = give(std::move(bins.edge));
    given["value"] = give(std::move(bins.value));
    given["missing"] = give(std::vector<std::int8_t>(bins.has_missing.begin(), bins.has_missing.end()));
    return given;
}

Bins take_bins(const nb::dict& given, std::size_t n_features) {
    Bins bins;
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
    return bins;
}

// What boosting on from trees needs, beside what scoring them needs.
void check_boosted(const ForestView& trees) {
    require(!trees.missing.empty(), "earlier trees are not boosted: missing is empty");
    for (std::size_t block = 0; block < trees.n_blocks(); ++block)
        require(trees.left[block] < 0 || trees.hyperplane_ptr[block] < trees.hyperplane_ptr[block + 1],
                "a branching block uses no feature");
    for (std::size_t i = 0; i < trees.hyperplane_weight.size(); ++i)
        require(std::abs(trees.hyperplane_weight[i]) <= 1.0f, "a weight is out of range");
}

// Rows to learn from, and to be scored beside; None if either holds an infinity.
template <class Value>
std::optional<nb::dict> bound_boost(
    const AnyMatrix<Value>& X, const std::optional<AnyMatrix<Value>>& X_val, const Vector<double>& centre,
    const Vector<double>& scale, const Vector<std::int32_t>& classes, std::size_t n_classes,
    const std::optional<Vector<double>>& weight, const std::optional<Vector<std::uint8_t>>& held,
    std::size_t max_bins, const std::optional<nb::dict>& bins_given, const boost::TreeOptions& options,
    std::size_t n_rounds, std::uint64_t seed, std::size_t patience, double tol,
    const std::optional<nb::dict>& earlier, const std::optional<Vector<double>>& first, std::size_t n_threads,
    const std::optional<nb::callable>& progress) {
    const std::size_t n = X.shape(0), m = X.shape(1), n_rows = n + (X_val ? X_val->shape(0) : 0);
    require(centre.size() == m && scale.size() == m, "centre and scale need a value per feature");
    require(!X_val || X_val->shape(1) == m, "X_val needs the features of X");
    require(classes.size() == n_rows, "classes needs a value per row");
    require(!weight || weight->size() == n_rows, "weight needs a value per row");
    require(!held || held->size() == n_rows, "held needs a value per row");
    require(n > 0 && n_rows < (std::size_t{1} << 31), "X needs between 1 and 2^31 - 1 rows");
    require(max_bins >= 2 && max_bins <= boost::most_bins, "max_bins is out of range");
    require(options.rules.monotonic.empty() || options.rules.monotonic.size() == m,
            "monotonic needs a value per feature");
    require(n_classes >= 2, "there are fewer than two classes");
    for (std::size_t row = 0; row < n_rows; ++row)
        require(classes.data()[row] >= 0 && static_cast<std::size_t>(classes.data()[row]) < n_classes,
                "a class is out of range");
    bool is_any_learned = false;
    for (std::size_t row = 0; row < n && !is_any_learned; ++row)
        is_any_learned = !(held && held->data()[row]) && !(weight && !(weight->data()[row] > 0.0));
    require(is_any_learned, "there is no row to learn from: all are held back or weigh nothing");
    boost::Plan plan;
    plan.loss = n_classes == 2 ? boost::Loss::logistic : boost::Loss::softmax;
    plan.n_classes = n_classes;
    plan.n_rounds = n_rounds;
    plan.seed = seed;
    plan.tree = options;
    plan.patience = patience;
    plan.tol = tol;
    if (first) plan.first = copy(*first);
    ForestView trees;
    if (earlier) {
        trees = view_arrays(*earlier);
        const std::string fault = find_fault(trees, m, n_classes);
        require(fault.empty(), fault.c_str());
        check_boosted(trees);
        plan.earlier = &trees;
    }
    require(plan.first.empty() || plan.first.size() == (n_classes == 2 ? 1 : n_classes),
            "first needs a value per score");
    Bins bins;
    if (bins_given) bins = take_bins(*bins_given, m);
    bool is_finite = true;
    boost::Boosted boosted = watched(progress, [&](Watch& watch) {
        const boost::Labels labels{classes.data(), held ? held->data() : nullptr, n_rows};
        const boost::Weights weights(weight ? weight->data() : nullptr, labels);
        const boost::Table<Value> table{strided(X), centre.data(), scale.data()};
        if (!bins_given) {
            std::vector<std::int64_t> rows = boost::sample_rows(labels, seed);
            rows.erase(std::lower_bound(rows.begin(), rows.end(), static_cast<std::int64_t>(n)), rows.end());
            is_finite = make_bins(table, rows, weights.of.empty() ? nullptr : weights.of.data(), max_bins,
                                  n_threads, watch, bins);
        }
        std::vector<std::uint8_t> codes;
        is_finite = is_finite && encode(table, bins, n_threads, watch, codes);
        if (is_finite && X_val) {
            std::vector<std::uint8_t> more;
            is_finite = encode(boost::Table<Value>{strided(*X_val), centre.data(), scale.data()}, bins,
                               n_threads, watch, more);
            codes.resize(n * m);
            codes.insert(codes.end(), more.begin(), more.end());
        }
        if (!is_finite) return boost::Boosted();
        return boost::boost(plan, bins, std::move(codes), labels, weights, n_threads, watch);
    });
    if (!is_finite) return std::nullopt;
    nb::dict given;
    given["trees"] = give_forest(std::move(boosted.forest));
    given["first"] = give(std::move(boosted.first));
    given["training_loss"] = give(std::move(boosted.training_loss));
    given["validation_loss"] = give(std::move(boosted.validation_loss));
    given["bins"] = give_bins(std::move(bins));
    return given;
}

NewVector<std::uint64_t> bound_draw_keys(std::uint64_t seed, std::uint64_t purpose, std::size_t n) {
    std::vector<std::uint64_t> keys(n);
    for (std::size_t row = 0; row < n; ++row) keys[row] = derive(derive(seed, purpose), row);
    return give(std::move(keys));
}

template <class Value>
void bind_boost(nb::module_& m) {
    m.def(
        "boost", &bound_boost<Value>, "X"_a.noconvert(), "X_val"_a.noconvert().none(), nb::kw_only(),
        "centre"_a, "scale"_a, "classes"_a, "n_classes"_a, "weight"_a.none(), "held"_a.none(), "max_bins"_a,
        "bins"_a.none(), "options"_a, "n_rounds"_a, "seed"_a, "patience"_a, "tol"_a, "earlier"_a.none(),
        "first"_a.none(), "n_threads"_a, "progress"_a.none() = nb::none(),
        "Boost trees on the rows of X that are not held back. Returns a dict of the arrays of the trees, the "
        "first scores, the losses before and after every round, and the bins; or None if X holds an "
        "infinity.");
}

}  // namespace

void bind_boosting(nb::module_& m) {
    nb::class_<boost::TreeOptions>(m, "BoostOptions", "What every tree of a boosted model is grown with.")
        .def(
            "__init__",
            [](boost::TreeOptions* self, double l2_regularization, double min_samples_leaf, double shrinkage,
               const std::optional<Vector<std::int8_t>>& monotonic, std::size_t max_depth,
               double max_features, std::size_t n_directed, double learning_rate, double subsample) {
                new (self) boost::TreeOptions(make_options(l2_regularization, min_samples_leaf, shrinkage,
                                                           monotonic, max_depth, max_features, n_directed,
                                                           learning_rate, subsample));
            },
            nb::kw_only(), "l2_regularization"_a, "min_samples_leaf"_a, "shrinkage"_a, "monotonic"_a.none(),
            "max_depth"_a, "max_features"_a, "n_directed"_a, "learning_rate"_a, "subsample"_a);
    m.def("draw_keys", &bound_draw_keys, "seed"_a, "purpose"_a, "n"_a,
          "A random number for every row, a function of the seed, the purpose and the row's number.");
    bind_boost<double>(m);
    bind_boost<float>(m);
}

}  // namespace lhtree
