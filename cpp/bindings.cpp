// The only file that knows Python: strict arrays in, arrays out, the GIL released while the core works.
#include <nanobind/nanobind.h>
#include <nanobind/ndarray.h>
#include <nanobind/stl/optional.h>
#include <nanobind/stl/pair.h>
#include <nanobind/stl/string.h>
#include <nanobind/stl/vector.h>

#include <memory>
#include <optional>
#include <stdexcept>
#include <string>
#include <utility>

#include "lhtree/cut.hpp"
#include "lhtree/forest.hpp"
#include "lhtree/grow.hpp"
#include "lhtree/kernels.hpp"
#include "lhtree/normalise.hpp"
#include "lhtree/score.hpp"

namespace nb = nanobind;
using namespace nb::literals;
using namespace lhtree;

namespace {

template <class T>
using Vector = nb::ndarray<const T, nb::numpy, nb::ndim<1>, nb::c_contig, nb::device::cpu>;
template <class T>
using Matrix = nb::ndarray<const T, nb::numpy, nb::ndim<2>, nb::c_contig, nb::device::cpu>;
template <class T>
using AnyMatrix = nb::ndarray<const T, nb::numpy, nb::ndim<2>, nb::device::cpu>;
template <class T>
using NewVector = nb::ndarray<T, nb::numpy, nb::ndim<1>>;
template <class T>
using NewMatrix = nb::ndarray<T, nb::numpy, nb::ndim<2>>;

// A vector becomes a NumPy array that owns it; nothing is copied.
template <class T>
NewVector<T> give(std::vector<T>&& values) {
    auto* owned = new std::vector<T>(std::move(values));
    nb::capsule owner(owned, [](void* p) noexcept { delete static_cast<std::vector<T>*>(p); });
    return NewVector<T>(owned->data(), {owned->size()}, owner);
}

template <class T>
NewMatrix<T> new_matrix(std::size_t n_rows, std::size_t n_columns) {
    auto* values = new T[n_rows * n_columns];
    nb::capsule owner(values, [](void* p) noexcept { delete[] static_cast<T*>(p); });
    return NewMatrix<T>(values, {n_rows, n_columns}, owner);
}

template <class T>
std::vector<T> copy(const Vector<T>& values) {
    return {values.data(), values.data() + values.size()};
}

void require(bool holds, const char* what) {
    if (!holds) throw std::invalid_argument(what);
}

// Runs the work without the GIL. The watch takes it now and then to hear signals and to report progress.
template <class Work>
auto watched(const std::optional<nb::callable>& progress, const Work& work) {
    Watch watch([&](std::size_t n_done) {
        const nb::gil_scoped_acquire gil;
        if (PyErr_CheckSignals() != 0) return false;
        if (progress) {
            PyObject* answer = PyObject_CallFunction(progress->ptr(), "n", static_cast<Py_ssize_t>(n_done));
            if (!answer) return false;
            Py_DECREF(answer);
        }
        return true;
    });
    try {
        const nb::gil_scoped_release no_gil;
        return work(watch);
    } catch (const Stopped&) {
        throw nb::python_error();  // the poll above has set it
    }
}

template <class T>
T choose(const std::string& name, std::initializer_list<std::pair<const char*, T>> values) {
    for (const auto& [key, value] : values)
        if (name == key) return value;
    throw std::invalid_argument("unknown name: " + name);
}

Confidence confidence_named(const std::optional<std::string>& name) {
    return name ? choose<Confidence>(*name, {{"last", Confidence::last}, {"path", Confidence::path}})
                : Confidence::none;
}

// An int is a weight, a float below 1 a share of the root's.
Amount amount(double value, bool is_share) {
    return {value, is_share};
}

Options make_options(const std::string& direction, const std::string& offset, const std::string& membership,
                     double alpha, double beta, std::pair<double, bool> gamma,
                     std::pair<double, bool> min_samples_split, std::pair<double, bool> min_samples_leaf,
                     std::int64_t max_depth, std::size_t max_features, double shrinkage,
                     bool branching_membership) {
    Options options;
    options.direction = choose<Direction>(direction, {{"mean_difference", Direction::mean_difference},
                                                      {"fisher", Direction::fisher},
                                                      {"mixed", Direction::mixed}});
    options.offset = choose<Offset>(offset, {{"purity", Offset::purity}, {"gini", Offset::gini}});
    options.membership = choose<Membership>(membership, {{"marginal", Membership::marginal},
                                                         {"least_squares", Membership::least_squares},
                                                         {"constant", Membership::constant}});
    options.alpha = alpha;
    options.beta = beta;
    options.gamma = amount(gamma.first, gamma.second);
    options.min_samples_split = amount(min_samples_split.first, min_samples_split.second);
    options.min_samples_leaf = amount(min_samples_leaf.first, min_samples_leaf.second);
    options.max_depth = max_depth;
    options.max_features = max_features;
    options.shrinkage = shrinkage;
    options.branching_membership = branching_membership;
    return options;
}

Labelled labelled(const Matrix<float>& Z, const Vector<std::uint8_t>& response,
                  const std::optional<Vector<double>>& weight) {
    require(response.size() == Z.shape(0), "response needs one value per row of Z");
    require(!weight || weight->size() == Z.shape(0), "weight needs one value per row of Z");
    require(Z.shape(0) > 0 && Z.shape(0) < (std::size_t{1} << 31), "Z needs between 1 and 2^31 - 1 rows");
    for (std::size_t row = 0; row < response.size(); ++row)
        require(response.data()[row] <= 1, "response is 0 or 1");
    return {{Z.data(), Z.shape(0), Z.shape(1)}, response.data(), weight ? weight->data() : nullptr};
}

nb::dict give_forest(Forest&& forest) {
    nb::dict arrays;
    Blocks& blocks = forest.blocks;
    arrays["target"] = give(std::move(forest.target));
    arrays["block_ptr"] = give(std::move(forest.block_ptr));
    arrays["left"] = give(std::move(blocks.left));
    arrays["n_samples"] = give(std::move(blocks.n_samples));
    arrays["weight"] = give(std::move(blocks.weight));
    arrays["n_target"] = give(std::move(blocks.n_target));
    arrays["offset"] = give(std::move(blocks.offset));
    arrays["intercept"] = give(std::move(blocks.intercept));
    arrays["hyperplane_ptr"] = give(std::move(blocks.hyperplane_ptr));
    arrays["hyperplane_feature"] = give(std::move(blocks.hyperplane_feature));
    arrays["hyperplane_weight"] = give(std::move(blocks.hyperplane_weight));
    arrays["membership_ptr"] = give(std::move(blocks.membership_ptr));
    arrays["membership_feature"] = give(std::move(blocks.membership_feature));
    arrays["membership_slope"] = give(std::move(blocks.membership_slope));
    return arrays;
}

std::pair<nb::dict, NewVector<std::int32_t>> bound_grow(const Matrix<float>& Z,
                                                        const Vector<std::uint8_t>& response,
                                                        const std::optional<Vector<double>>& weight,
                                                        const Options& options, std::uint64_t key) {
    const Labelled samples = labelled(Z, response, weight);
    Grown grown = watched({}, [&](Watch& watch) { return grow(samples, options, key, 1, watch); });
    Forest forest;
    forest.add(1, std::move(grown.blocks));
    return {give_forest(std::move(forest)), give(std::move(grown.leaf_of_row))};
}

Sampling sampling_of(const Vector<std::int32_t>& strata, const Vector<std::int64_t>& counts, bool bootstrap) {
    Sampling sampling{strata.data(), strata.size(), {}, bootstrap};
    std::vector<std::int64_t> sizes(counts.size(), 0);
    for (std::size_t row = 0; row < strata.size(); ++row) {
        const auto s = static_cast<std::size_t>(strata.data()[row]);
        require(s < counts.size(), "a stratum is out of range");
        ++sizes[s];
    }
    for (std::size_t s = 0; s < counts.size(); ++s) {
        const std::int64_t count = counts.data()[s];
        require(count >= 1 && sizes[s] >= 1 && (bootstrap || count <= sizes[s]),
                "a count does not fit its stratum");
        sampling.counts.push_back(static_cast<std::size_t>(count));
    }
    return sampling;
}

NewVector<std::int32_t> bound_draw_rows(const Vector<std::int32_t>& strata,
                                        const Vector<std::int64_t>& counts, bool bootstrap,
                                        std::uint64_t seed, std::uint64_t tree) {
    return give(draw_rows(sampling_of(strata, counts, bootstrap), seed, tree).rows);
}

template <class Value>
Strided<Value> strided(const AnyMatrix<Value>& x) {
    return {x.data(), x.shape(0), x.shape(1), static_cast<std::ptrdiff_t>(x.stride(0)),
            static_cast<std::ptrdiff_t>(x.stride(1))};
}

// None if X holds an infinity.
template <class Value>
std::optional<nb::dict> bound_grow_forest(const AnyMatrix<Value>& X, const Vector<double>& centre,
                                          const Vector<double>& scale, const Matrix<std::uint8_t>& responses,
                                          const Vector<std::int32_t>& targets,
                                          const std::optional<Vector<double>>& weight, const Options& options,
                                          const Vector<double>& betas, std::uint64_t seed,
                                          std::uint64_t first_tree, const Vector<std::int32_t>& strata,
                                          const std::optional<Vector<std::int64_t>>& counts, bool bootstrap,
                                          bool balances, std::size_t n_threads,
                                          const std::optional<nb::callable>& progress) {
    const std::size_t n_rows = X.shape(0), n_features = X.shape(1);
    require(centre.size() == n_features && scale.size() == n_features,
            "centre and scale need a value per feature");
    require(responses.shape(0) == targets.size() && responses.shape(1) == n_rows,
            "responses needs a row per target and a column per row of X");
    require(!weight || weight->size() == n_rows, "weight needs one value per row of X");
    require(strata.size() == n_rows, "strata needs one value per row of X");
    require(n_rows > 0 && n_rows < (std::size_t{1} << 31), "X needs between 1 and 2^31 - 1 rows");
    ForestPlan plan{};
    plan.responses = responses.data();
    plan.targets = copy(targets);
    plan.weight = weight ? weight->data() : nullptr;
    plan.betas = copy(betas);
    plan.seed = seed;
    plan.first_tree = first_tree;
    plan.draws_rows = counts.has_value();
    plan.balances = balances;
    if (counts) plan.sampling = sampling_of(strata, *counts, bootstrap);
    bool is_finite = false;
    Forest forest = watched(progress, [&](Watch& watch) {
        std::vector<float> Z(n_rows * n_features + slack);
        is_finite = normalise(strided(X), centre.data(), scale.data(), n_threads, watch, Z.data());
        if (!is_finite) return Forest();
        plan.rows = {Z.data(), n_rows, n_features};
        plan.in_place = Z.data();
        return grow_forest(plan, options, n_threads, watch);
    });
    if (!is_finite) return std::nullopt;
    return give_forest(std::move(forest));
}

template <class Value>
std::optional<NewMatrix<float>> bound_normalise(const AnyMatrix<Value>& x, const Vector<double>& centre,
                                                const Vector<double>& scale, std::size_t n_threads) {
    require(centre.size() == x.shape(1) && scale.size() == x.shape(1),
            "centre and scale need a value per feature");
    NewMatrix<float> z = new_matrix<float>(x.shape(0), x.shape(1));
    const bool is_finite = watched({}, [&](Watch& watch) {
        return normalise(strided(x), centre.data(), scale.data(), n_threads, watch, z.data());
    });
    if (!is_finite) return std::nullopt;
    return z;
}

Scorer* make_scorer(const Vector<std::int32_t>& target, const Vector<std::int64_t>& block_ptr,
                    const Vector<std::int32_t>& left, const Vector<double>& offset,
                    const Vector<double>& intercept, const Vector<std::int64_t>& hyperplane_ptr,
                    const Vector<std::int32_t>& hyperplane_feature, const Vector<float>& hyperplane_weight,
                    const Vector<std::int64_t>& membership_ptr,
                    const Vector<std::int32_t>& membership_feature, const Vector<double>& membership_slope,
                    const Vector<double>& centre, const Vector<double>& scale, const Vector<double>& prior,
                    const std::optional<std::string>& confidence) {
    const std::size_t n_blocks = left.size();
    require(block_ptr.size() == target.size() + 1, "block_ptr needs one value more than target");
    require(offset.size() == n_blocks && intercept.size() == n_blocks,
            "offset and intercept need a value per block");
    require(hyperplane_ptr.size() == n_blocks + 1 && membership_ptr.size() == n_blocks + 1,
            "the pointers need one value more than there are blocks");
    require(hyperplane_feature.size() == hyperplane_weight.size(),
            "hyperplane features and weights differ in length");
    require(membership_feature.size() == membership_slope.size(),
            "membership features and slopes differ in length");
    const ForestView view{target.data(),
                          block_ptr.data(),
                          target.size(),
                          left.data(),
                          offset.data(),
                          intercept.data(),
                          n_blocks,
                          hyperplane_ptr.data(),
                          hyperplane_feature.data(),
                          hyperplane_weight.data(),
                          hyperplane_weight.size(),
                          membership_ptr.data(),
                          membership_feature.data(),
                          membership_slope.data(),
                          membership_slope.size()};
    return new Scorer(view, copy(centre), copy(scale), copy(prior), confidence_named(confidence));
}

// Few rows are scored with the GIL held: handing it over costs more than they do.
constexpr std::size_t quick_rows = 16;

template <class Value, class Work>
bool score_rows(const Scorer& scorer, const AnyMatrix<Value>& x, const Work& work) {
    require(x.shape(1) == scorer.n_features(), "X needs a column per feature of the model");
    if (x.shape(0) <= quick_rows) {
        Watch watch;
        return work(watch);
    }
    return watched({}, work);
}

template <class Value>
std::optional<NewMatrix<double>> bound_score(const Scorer& scorer, const AnyMatrix<Value>& x, Score what,
                                             std::size_t n_threads) {
    NewMatrix<double> out = new_matrix<double>(x.shape(0), scorer.n_classes());
    if (!score_rows(scorer, x, [&](Watch& watch) {
            return scorer.score(strided(x), what, n_threads, watch, out.data());
        }))
        return std::nullopt;
    return out;
}

template <class Value>
std::optional<NewVector<std::int64_t>> bound_predict(const Scorer& scorer, const AnyMatrix<Value>& x,
                                                     std::size_t n_threads) {
    std::vector<std::int64_t> out(x.shape(0));
    if (!score_rows(scorer, x,
                    [&](Watch& watch) { return scorer.predict(strided(x), n_threads, watch, out.data()); }))
        return std::nullopt;
    return give(std::move(out));
}

template <class Value>
std::optional<NewMatrix<std::int64_t>> bound_apply(const Scorer& scorer, const AnyMatrix<Value>& x,
                                                   std::size_t n_threads) {
    NewMatrix<std::int64_t> out = new_matrix<std::int64_t>(x.shape(0), scorer.n_trees());
    if (!score_rows(scorer, x,
                    [&](Watch& watch) { return scorer.apply(strided(x), n_threads, watch, out.data()); }))
        return std::nullopt;
    return out;
}

template <class Value>
void bind_grow_forest(nb::module_& m) {
    m.def("grow_forest", &bound_grow_forest<Value>, "X"_a.noconvert(), "centre"_a, "scale"_a, "responses"_a,
          "targets"_a, "weight"_a.none(), "options"_a, "betas"_a, "seed"_a, "first_tree"_a, "strata"_a,
          "counts"_a.none(), "bootstrap"_a, "balances"_a, "n_threads"_a, "progress"_a.none() = nb::none(),
          "Normalise X and grow, for every beta, one tree per target; counts says how many rows of each "
          "stratum a "
          "tree sees. Returns the arrays of all trees, or None if X holds an infinity.");
}

// Every method takes float64 or float32, any strides.
template <class Value>
void bind_scoring(nb::class_<Scorer>& scorer) {
    const auto add = [&](const char* name, Score what) {
        scorer.def(
            name,
            [what](const Scorer& self, const AnyMatrix<Value>& X, std::size_t n_threads) {
                return bound_score(self, X, what, n_threads);
            },
            "X"_a.noconvert(), "n_threads"_a = 1);
    };
    add("proba", Score::proba);
    add("wolf", Score::wolf);
    add("membership", Score::membership);
    add("confidence", Score::confidence);
    scorer.def("predict", &bound_predict<Value>, "X"_a.noconvert(), "n_threads"_a = 1);
    scorer.def("apply", &bound_apply<Value>, "X"_a.noconvert(), "n_threads"_a = 1);
}

// Samples in the order that growing sorts them to.
struct Sorted {
    std::vector<float> features;
    std::vector<double> weight;
    std::vector<std::size_t> order;
    Samples samples;

    Sorted(const Matrix<float>& Z, const Vector<std::uint8_t>& response,
           const std::optional<Vector<double>>& weights) {
        const Labelled given = labelled(Z, response, weights);
        for (int cls = 0; cls < 2; ++cls)
            for (std::size_t row = 0; row < given.rows.n_rows; ++row)
                if (given.is_target[row] == cls) order.push_back(row);
        for (const std::size_t row : order) {
            features.insert(features.end(), given.rows[row], given.rows[row] + given.rows.n_features);
            weight.push_back(given.weight ? given.weight[row] : 1.0);
            samples.n_rest += !given.is_target[row];
        }
        features.resize(features.size() + slack);
        samples.rows = {features.data(), order.size(), given.rows.n_features};
        samples.weight = given.weight ? weight.data() : nullptr;
    }
};

// The pieces of growing, each bound by itself so that the tests can hold it against its slow twin.
void bind_pieces(nb::module_& m) {
    using Named = std::pair<std::vector<std::int32_t>, std::vector<double>>;

    m.def(
        "feature_sums",
        [](const Matrix<float>& Z, std::vector<std::int32_t> features, std::vector<float> weights,
           bool portable) {
            require(features.size() == weights.size(), "features and weights differ in length");
            for (const auto f : features)
                require(f >= 0 && static_cast<std::size_t>(f) < Z.shape(1), "a feature is out of range");
            const bool is_dense = features.size() == Z.shape(1);
            weights.resize(padded(weights.size()), 0.0f);
            features.resize(padded(features.size()), 0);
            std::vector<float> rows(Z.data(), Z.data() + Z.size());
            rows.resize(rows.size() + slack, 0.0f);
            std::vector<double> sums(Z.shape(0));
            (portable ? portable_kernels : kernels())
                .feature_sums(weights.data(), is_dense ? nullptr : features.data(), weights.size(),
                              {rows.data(), Z.shape(0), Z.shape(1)}, sums.data());
            return give(std::move(sums));
        },
        "Z"_a, "features"_a, "weights"_a, "portable"_a = false);

    m.def(
        "measure",
        [](const Matrix<float>& Z, const Vector<std::uint8_t>& response,
           const std::optional<Vector<double>>& weight) {
            const Sorted sorted(Z, response, weight);
            Watch watch;
            Moments moments;
            moments.measure(sorted.samples, true, 1, watch);
            nb::list result;
            for (ClassMoments& of : moments.of) {
                nb::dict entry;
                const std::size_t n = Z.shape(1);
                entry["weight"] = of.weight;
                entry["sum"] = give(
                    std::vector<double>(of.sum.begin(), of.sum.begin() + static_cast<std::ptrdiff_t>(n)));
                entry["squares"] = give(std::vector<double>(
                    of.squares.begin(), of.squares.begin() + static_cast<std::ptrdiff_t>(n)));
                entry["low"] =
                    give(std::vector<float>(of.low.begin(), of.low.begin() + static_cast<std::ptrdiff_t>(n)));
                entry["high"] = give(
                    std::vector<float>(of.high.begin(), of.high.begin() + static_cast<std::ptrdiff_t>(n)));
                result.append(entry);
            }
            return result;
        },
        "Z"_a, "response"_a, "weight"_a.none(), "Moments of the non-targets and of the targets.");

    m.def(
        "direction",
        [](const Matrix<float>& Z, const Vector<std::uint8_t>& response,
           const std::optional<Vector<double>>& weight, double alpha, double beta, bool fisher,
           double shrinkage) -> Named {
            const Sorted sorted(Z, response, weight);
            const Samples& samples = sorted.samples;
            Watch watch;
            Moments moments;
            std::vector<std::int32_t> active;
            Kept kept;
            moments.measure(samples, true, 1, watch);
            require(moments.of[0].weight > 0.0 && moments.of[1].weight > 0.0,
                    "a direction needs both classes");
            find_active(moments, alpha, active);
            keep_features(moments, active, beta, kept);
            if (kept.features.empty()) return {};
            if (fisher) {
                std::vector<float> columns;
                for (std::size_t row = 0; row < samples.size(); ++row)
                    for (const auto f : kept.features) columns.push_back(samples.rows[row][f]);
                columns.resize(columns.size() + slack, 0.0f);
                Moments own;
                Scatter scatter;
                const Samples kept_samples{
                    {columns.data(), samples.size(), kept.features.size()}, samples.n_rest, samples.weight};
                own.measure(kept_samples, false, 1, watch);
                turn_to_fisher(kept_samples, own, shrinkage, watch, kept.mean_differences, scatter);
            }
            std::vector<float> weights;
            scale_weights(kept.mean_differences, weights);
            return {kept.features, {weights.begin(), weights.end()}};
        },
        "Z"_a, "response"_a, "weight"_a.none(), "alpha"_a, "beta"_a, "fisher"_a, "shrinkage"_a,
        "Kept features and their weights; none where every mean difference is 0.");

    m.def(
        "cut",
        [](const Matrix<float>& Z, const Vector<std::uint8_t>& response,
           const std::optional<Vector<double>>& weight, const Vector<double>& sums, const std::string& offset,
           double gamma, double min_samples_leaf) -> std::optional<std::pair<double, double>> {
            const Sorted sorted(Z, response, weight);
            require(sums.size() == sorted.order.size(), "sums needs one value per row");
            std::vector<double> feature_sums;
            for (const std::size_t row : sorted.order) feature_sums.push_back(sums.data()[row]);
            const double totals[2] = {sorted.samples.of(0).total(), sorted.samples.of(1).total()};
            const CutRows rows{sorted.samples, totals, min_samples_leaf};
            const Cut cut = offset == "gini" ? GiniCutter().cut(rows, feature_sums.data())
                                             : cut_purest(rows, feature_sums.data(), gamma);
            if (!cut.exists) return std::nullopt;
            return std::pair{cut.offset, cut.cost};
        },
        "Z"_a, "response"_a, "weight"_a.none(), "sums"_a, "offset"_a, "gamma"_a, "min_samples_leaf"_a,
        "Offset and Gini cost of the cut, or None. Z is not looked at.");
}

}  // namespace

NB_MODULE(_core, m) {
    m.doc() =
        "Growing and scoring Learning Hyperplane Trees. Takes exact arrays; lhtree's estimators prepare "
        "them.";

    nb::class_<Options>(m, "Options", "What a tree is grown with. Amounts are pairs (value, is it a share?).")
        .def(
            "__init__",
            [](Options* self, const std::string& direction, const std::string& offset,
               const std::string& membership, double alpha, double beta, std::pair<double, bool> gamma,
               std::pair<double, bool> min_samples_split, std::pair<double, bool> min_samples_leaf,
               std::int64_t max_depth, std::size_t max_features, double shrinkage,
               bool branching_membership) {
                new (self) Options(make_options(direction, offset, membership, alpha, beta, gamma,
                                                min_samples_split, min_samples_leaf, max_depth, max_features,
                                                shrinkage, branching_membership));
            },
            nb::kw_only(), "direction"_a, "offset"_a, "membership"_a, "alpha"_a, "beta"_a, "gamma"_a,
            "min_samples_split"_a, "min_samples_leaf"_a, "max_depth"_a, "max_features"_a, "shrinkage"_a,
            "branching_membership"_a);

    m.def("grow", &bound_grow, "Z"_a, "response"_a, "weight"_a.none(), "options"_a, "key"_a,
          "Grow one tree; returns its arrays and the leaf of every row.");
    bind_grow_forest<double>(m);
    bind_grow_forest<float>(m);
    m.def("draw_rows", &bound_draw_rows, "strata"_a, "counts"_a, "bootstrap"_a, "seed"_a, "tree"_a,
          "Rows that a tree of grow_forest sees, ascending.");
    m.def("normalise", &bound_normalise<double>, "X"_a.noconvert(), "centre"_a, "scale"_a, "n_threads"_a = 1,
          "Normalised float32 rows, or None if X holds an infinity.");
    m.def("normalise", &bound_normalise<float>, "X"_a.noconvert(), "centre"_a, "scale"_a, "n_threads"_a = 1);
    m.def("kernels", [] { return std::string(kernels().name); }, "The instruction set in use.");

    nb::class_<Scorer> scorer(m, "Scorer",
                              "Scores rows in the user's units. Methods return None if X holds an infinity.");
    scorer.def(nb::new_(&make_scorer), nb::kw_only(), "target"_a, "block_ptr"_a, "left"_a, "offset"_a,
               "intercept"_a, "hyperplane_ptr"_a, "hyperplane_feature"_a, "hyperplane_weight"_a,
               "membership_ptr"_a, "membership_feature"_a, "membership_slope"_a, "centre"_a, "scale"_a,
               "prior"_a, "confidence"_a.none());
    scorer.def_prop_ro("n_features", &Scorer::n_features);
    scorer.def_prop_ro("n_classes", &Scorer::n_classes);
    scorer.def_prop_ro("n_trees", &Scorer::n_trees);
    bind_scoring<double>(scorer);
    bind_scoring<float>(scorer);

    nb::module_ pieces = m.def_submodule("pieces", "The pieces of growing, bound for the tests.");
    bind_pieces(pieces);
}
