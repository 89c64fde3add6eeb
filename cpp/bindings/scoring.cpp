// Scoring rows from Python.
//
// Rows and results pass through NumPy's C API: nanobind's own arrays take longer than scoring one row does.
#define NPY_NO_DEPRECATED_API NPY_2_0_API_VERSION
#define NPY_TARGET_VERSION NPY_2_0_API_VERSION
#include <nanobind/nanobind.h>
#include <nanobind/stl/tuple.h>
#include <numpy/arrayobject.h>

#include <array>
#include <cstdint>
#include <type_traits>

#include "lhtree/score/contributions.hpp"
#include "lhtree/score/staged_scores.hpp"
#include "shared.hpp"

namespace lhtree {

// A matrix of float64 or float32: aligned, in native byte order, with strides of whole values. It is read in
// place and lives as long as the call.
struct GivenRows {
    PyArrayObject* array = nullptr;

    std::size_t size(int axis) const { return static_cast<std::size_t>(PyArray_DIM(array, axis)); }

    // Returns false for any other object.
    bool take(PyObject* X) {
        if (!PyArray_Check(X)) return false;
        array = reinterpret_cast<PyArrayObject*>(X);
        const int type = PyArray_TYPE(array);
        return PyArray_NDIM(array) == 2 && (type == NPY_DOUBLE || type == NPY_FLOAT) &&
               PyArray_ISBEHAVED_RO(array) && has_whole_steps(0) && has_whole_steps(1);
    }

  private:
    bool has_whole_steps(int axis) const {
        return PyArray_DIM(array, axis) < 2 || PyArray_STRIDE(array, axis) % PyArray_ITEMSIZE(array) == 0;
    }
};

// A new array of float64, int64 or int32 with uninitialised values.
template <class Value, int n_axes>
struct NewArray {
    static constexpr bool is_float = std::is_same_v<Value, double>, is_long = sizeof(Value) == 8;
    static_assert(is_float || std::is_same_v<Value, std::int64_t> || std::is_same_v<Value, std::int32_t>);
    nanobind::object array;

    NewArray() = default;
    explicit NewArray(const std::array<std::size_t, n_axes>& shape) {
        std::array<npy_intp, n_axes> sizes;
        std::copy(shape.begin(), shape.end(), sizes.begin());
        constexpr int type = is_float ? NPY_DOUBLE : is_long ? NPY_INT64 : NPY_INT32;
        array = nanobind::steal(PyArray_SimpleNew(n_axes, sizes.data(), type));
        if (!array.is_valid()) throw nanobind::python_error();
    }

    Value* values() const {
        return static_cast<Value*>(PyArray_DATA(reinterpret_cast<PyArrayObject*>(array.ptr())));
    }
};

}  // namespace lhtree

namespace nanobind::detail {

template <>
struct type_caster<lhtree::GivenRows> {
    NB_TYPE_CASTER(lhtree::GivenRows,
                   const_name("numpy.ndarray[dtype=float64, shape=(*, *), writable=False] | "
                              "numpy.ndarray[dtype=float32, shape=(*, *), writable=False]"))

    bool from_python(handle X, std::uint8_t, cleanup_list*) noexcept { return value.take(X.ptr()); }
};

template <class Number, int n_axes>
struct type_caster<lhtree::NewArray<Number, n_axes>> {
    using Array = lhtree::NewArray<Number, n_axes>;
    NB_TYPE_CASTER(Array, const_name("numpy.ndarray[dtype=") + const_name<Array::is_float>("float", "int") +
                              const_name<Array::is_long>("64", "32") + const_name(", shape=(*") +
                              const_name<(n_axes > 1)>(", *", "") + const_name<(n_axes > 2)>(", *", "") +
                              const_name(")]"))

    static handle from_cpp(const Array& made, rv_policy, cleanup_list*) noexcept {
        return handle(made.array).inc_ref();
    }
};

}  // namespace nanobind::detail

namespace lhtree {
namespace {

using namespace nb::literals;

using Knots = std::tuple<std::string, Vector<std::int64_t>, Vector<double>, Vector<double>>;

Calibration take_calibration(const std::optional<Knots>& knots) {
    if (!knots) return {};
    const auto& [kind, ptr, x, y] = *knots;
    return {choose(kind, calibrator_names), copy(ptr), copy(x), copy(y)};
}

Scorer* make_scorer(const nb::dict& arrays, const Vector<double>& centre, const Vector<double>& scale,
                    const Vector<double>& prior, const std::optional<std::string>& confidence,
                    const std::string& link, const MaybeVector<double>& base, double clip,
                    const std::optional<Knots>& calibration, const Scorer* companion, double weight) {
    return new Scorer(view_arrays(arrays), copy(centre), copy(scale), copy(prior),
                      confidence ? choose(*confidence, confidence_names) : Confidence::none, find_link(link),
                      base ? copy(*base) : std::vector<double>{}, clip, take_calibration(calibration),
                      {companion, weight});
}

template <class Value>
Strided<Value> stride_values(const GivenRows& X) {
    constexpr auto size = static_cast<std::ptrdiff_t>(sizeof(Value));
    return {static_cast<const Value*>(PyArray_DATA(X.array)), X.size(0), X.size(1),
            PyArray_STRIDE(X.array, 0) / size, PyArray_STRIDE(X.array, 1) / size};
}

InputRows view_rows(const GivenRows& X) {
    return PyArray_TYPE(X.array) == NPY_DOUBLE ? InputRows(stride_values<double>(X))
                                               : stride_values<float>(X);
}

// Whether X can be scored as it is. Python handles subclasses of arrays, wrong shapes and empty tables.
bool takes(const Scorer& scorer, nb::handle X) {
    GivenRows rows;
    return PyArray_CheckExact(X.ptr()) && rows.take(X.ptr()) && rows.size(0) > 0 &&
           rows.size(1) == scorer.n_features();
}

// Calls work(rows, watch); returns false if X has an infinity. Few rows are scored with the GIL held:
// releasing it takes longer than scoring them.
template <class Work>
bool score_rows(const Scorer& scorer, const GivenRows& X, const Work& work) {
    constexpr std::size_t quick_rows = 16;
    require(X.size(1) == scorer.n_features(), "X needs a column per feature of the model");
    const InputRows rows = view_rows(X);
    const auto with_watch = [&](Watch& watch) { return work(rows, watch); };
    if (X.size(0) > quick_rows) return watched({}, with_watch);
    Watch watch;
    return with_watch(watch);
}

// Returns `out` after work(rows, watch, out) has filled it; None if X has an infinity.
template <class Out, class Work>
std::optional<Out> fill(const Scorer& scorer, const GivenRows& X, Out out, const Work& work) {
    const auto filled = [&](const InputRows& rows, Watch& watch) { return work(rows, watch, out); };
    return score_rows(scorer, X, filled) ? std::optional<Out>(std::move(out)) : std::nullopt;
}

template <int n_axes>
using Floats = NewArray<double, n_axes>;
template <int n_axes>
using Integers = NewArray<std::int64_t, n_axes>;
using Tables = std::pair<Floats<2>, Floats<2>>;

template <Score what, int n_axes = 2>
auto bound_score(const Scorer& scorer, GivenRows X, std::size_t n_threads) {
    std::array<std::size_t, n_axes> shape{X.size(0)};
    if constexpr (n_axes == 2)
        shape[1] = scorer.columns_of(what);
    else
        require(scorer.columns_of(what) == 1, "the model has several outputs: use values");
    return fill(scorer, X, Floats<n_axes>(shape), [&](const InputRows& rows, Watch& watch, auto& out) {
        return scorer.score(rows, what, n_threads, watch, out.values());
    });
}

auto bound_predict(const Scorer& scorer, GivenRows X, std::size_t n_threads) {
    return fill(scorer, X, Integers<1>({X.size(0)}), [&](const InputRows& rows, Watch& watch, auto& out) {
        return scorer.predict(rows, n_threads, watch, out.values());
    });
}

auto bound_apply(const Scorer& scorer, GivenRows X, std::size_t n_threads) {
    return fill(scorer, X, Integers<2>({X.size(0), scorer.n_trees()}),
                [&](const InputRows& rows, Watch& watch, auto& out) {
                    return scorer.apply(rows, n_threads, watch, out.values());
                });
}

auto bound_per_tree(const Scorer& scorer, GivenRows X, std::size_t n_threads) {
    const std::array<std::size_t, 2> shape{X.size(0), scorer.n_trees()};
    return fill(scorer, X, Tables{shape, shape}, [&](const InputRows& rows, Watch& watch, auto& out) {
        return scorer.per_tree(rows, n_threads, watch, out.first.values(), out.second.values());
    });
}

std::optional<StagedScores> bound_stage(const Scorer& scorer, GivenRows X, const Coded& codes,
                                        const LevelCounts& levels, std::size_t n_threads) {
    const std::vector<std::int32_t> n_levels = take_levels(X.size(0), X.size(1), codes, levels);
    require(count_features(X.size(1), n_levels) == scorer.n_features(),
            "X needs a column per feature of the model");
    StagedScores staged(scorer, n_levels);
    const InputRows rows = view_rows(X);
    const std::int32_t* const code = data_or_null(codes);
    const bool is_finite =
        watched({}, [&](Watch& watch) { return staged.begin(rows, code, n_threads, watch); });
    return is_finite ? std::optional<StagedScores>(std::move(staged)) : std::nullopt;
}

Floats<3> bound_next(StagedScores& staged, std::size_t n_rounds, std::size_t n_threads) {
    Floats<3> out({n_rounds, staged.n_rows(), staged.n_targets()});
    watched({}, [&](Watch& watch) { staged.next(n_rounds, n_threads, watch, out.values()); });
    return out;
}

auto bound_sum_left_out(const Scorer& scorer, GivenRows X, const Vector<std::int64_t>& estimators,
                        const Matrix<std::uint8_t>& left_out, std::size_t first_row, double mean, double unit,
                        std::size_t n_threads) {
    const std::size_t n_samples = 8 * left_out.shape(1);
    require(left_out.shape(0) == estimators.size() && X.size(0) <= n_samples &&
                first_row <= n_samples - X.size(0),
            "left_out needs a row per estimator and a bit per sample");
    const LeftOut samples{estimators.data(), estimators.size(), left_out.data(), left_out.shape(1),
                          first_row};
    const std::array<std::size_t, 2> shape{X.size(0), std::max<std::size_t>(scorer.n_classes(), 1)};
    return fill(scorer, X, Tables{shape, shape}, [&](const InputRows& rows, Watch& watch, auto& out) {
        return scorer.sum_left_out(rows, samples, mean, unit, n_threads, watch, out.first.values(),
                                   out.second.values());
    });
}

using Paths = std::tuple<Integers<1>, NewArray<std::int32_t, 1>, Floats<1>>;
std::optional<Paths> bound_trace(const Scorer& scorer, GivenRows X, std::size_t n_threads) {
    const std::size_t n_paths = X.size(0) * scorer.n_trees();
    const Integers<1> ptr({n_paths + 1});
    if (!score_rows(scorer, X, [&](const InputRows& rows, Watch& watch) {
            return scorer.measure_paths(rows, n_threads, watch, ptr.values());
        }))
        return std::nullopt;
    const auto n_steps = static_cast<std::size_t>(ptr.values()[n_paths]);
    const NewArray<std::int32_t, 1> block({n_steps});
    const Floats<1> value({n_steps});
    score_rows(scorer, X, [&](const InputRows& rows, Watch& watch) {
        return scorer.trace(rows, n_threads, watch, ptr.values(), block.values(), value.values());
    });
    return Paths{ptr, block, value};
}

Floats<2> bound_settle(const Scorer& scorer, const Matrix<double>& wolf, const Matrix<double>& membership) {
    const std::size_t n_rows = wolf.shape(0), n_classes = scorer.n_classes();
    require(wolf.shape(1) == n_classes && membership.shape(1) == n_classes && membership.shape(0) == n_rows,
            "wolf and membership need a row per sample and a column per class");
    Floats<2> out({n_rows, n_classes});
    std::copy(wolf.data(), wolf.data() + wolf.size(), out.values());
    scorer.settle(membership.data(), n_rows, out.values());
    return out;
}

Floats<2> bound_link(const Scorer& scorer, const Matrix<double>& raw_score) {
    require(raw_score.shape(1) == scorer.n_targets(),
            "raw_score needs a row per sample and a column per target");
    const bool is_regression = scorer.head().is_regression();
    Floats<2> out({raw_score.shape(0), is_regression ? scorer.n_targets() : scorer.n_classes()});
    scorer.apply_link(raw_score.data(), raw_score.shape(0), out.values());
    return out;
}

using Table = nb::ndarray<double, nb::numpy, nb::ndim<3>, nb::device::cpu>;
Floats<2> bound_add_contributions(const nb::dict& arrays, const Vector<std::int64_t>& parent,
                                  const Matrix<double>& outcome, const std::optional<Vector<double>>& parts,
                                  double clip, const Vector<std::int64_t>& target,
                                  const Matrix<std::int64_t>& leaf,
                                  const std::optional<Matrix<double>>& membership, const Matrix<float>& Z,
                                  Table out) {
    const ForestView forest = view_arrays(arrays);
    const std::size_t n_rows = Z.shape(0), n_targets = out.shape(1), n_outcomes = outcome.shape(1);
    require(parent.size() == forest.n_blocks() && outcome.shape(0) == forest.n_blocks(),
            "parent and outcome need a value per block");
    require(!parts || parts->size() == forest.hyperplane_weight.size(), "parts needs a value per weight");
    require(target.size() == forest.n_trees(), "target needs a value per tree");
    for (std::size_t tree = 0; tree < target.size(); ++tree)
        require(target(tree) >= 0 && static_cast<std::size_t>(target(tree)) + n_outcomes <= n_targets,
                "a target is out of range");
    require(leaf.shape(0) == n_rows && leaf.shape(1) == forest.n_trees(),
            "leaf needs a value per row and tree");
    require(forest.membership_slope.empty() || (n_outcomes == 1 && (parts || membership)),
            "slopes need parts or membership, and one outcome");
    require(!membership || (membership->shape(0) == n_rows && membership->shape(1) == forest.n_trees()),
            "membership needs a value per row and tree");
    require(out.shape(0) == n_rows && out.shape(2) == Z.shape(1) && (out.stride(2) == 1 || out.shape(2) < 2),
            "out needs the rows and features of Z, features side by side");
    const Floats<2> clipped({n_rows, n_targets});
    std::fill_n(clipped.values(), n_rows * n_targets, 0.0);
    const LeafPaths paths{forest,
                          parent.data(),
                          outcome.data(),
                          n_outcomes,
                          parts ? parts->data() : nullptr,
                          clip,
                          target.data(),
                          leaf.data(),
                          membership ? membership->data() : nullptr,
                          Z.data(),
                          n_rows,
                          Z.shape(1)};
    const ContributionSums sums{out.data(), out.stride(0), out.stride(1), clipped.values(), n_targets};
    const nb::gil_scoped_release no_gil;
    add_contributions(paths, sums);
    return clipped;
}

// A C-contiguous int32 array, read in place; nanobind's own arrays take longer than the work.
const std::int32_t* read_int32(nb::handle array, int n_axes, const char* what) {
    auto* own = reinterpret_cast<PyArrayObject*>(array.ptr());
    require(PyArray_Check(array.ptr()) && PyArray_TYPE(own) == NPY_INT32 && PyArray_NDIM(own) == n_axes &&
                PyArray_IS_C_CONTIGUOUS(own) && PyArray_ISBEHAVED_RO(own),
            what);
    return static_cast<const std::int32_t*>(PyArray_DATA(own));
}

NewArray<double, 2> bound_expand_levels(const GivenRows& X, nb::handle codes, nb::handle levels) {
    const std::int32_t* code = read_int32(codes, 2, "codes is a C-contiguous matrix of int32");
    const std::int32_t* count = read_int32(levels, 1, "levels is a C-contiguous vector of int32");
    const auto* shape = PyArray_DIMS(reinterpret_cast<PyArrayObject*>(codes.ptr()));
    const auto n_rows = static_cast<std::size_t>(shape[0]), n_codes = static_cast<std::size_t>(shape[1]);
    const std::vector<std::int32_t> n_levels(
        count, count + PyArray_DIM(reinterpret_cast<PyArrayObject*>(levels.ptr()), 0));
    const std::vector<std::int32_t> coded = find_coded(n_levels);
    require(n_rows == X.size(0) && n_codes == coded.size() && n_levels.size() == X.size(1) + n_codes,
            "levels needs a value per column, codes a row per row of X");
    for (std::size_t i = 0; i < n_rows * n_codes; ++i)
        require(code[i] < coded[i % n_codes], "a code is out of range");
    NewArray<double, 2> features({n_rows, count_features(n_levels.size(), n_levels)});
    std::visit([&](const auto& rows) { expand_levels(rows, code, n_levels, features.values()); },
               view_rows(X));
    return features;
}

}  // namespace

void bind_scoring(nb::module_& m) {
    if (PyArray_ImportNumPyAPI() < 0) throw nb::python_error();
    nb::list links;
    for (const Link& link : all_links()) links.append(link.name);
    m.attr("LINKS") = nb::tuple(links);
    m.attr("CALIBRATORS") = names(calibrator_names);
    m.attr("CLIP") = Planes::largest;
    m.attr("LEAST_MEMBERSHIP") = least_membership;
    m.attr("MOST_VALUE") = most_value;
    m.attr("LEAST_VALUE") = least_value;
    m.def(
        "add_contributions", &bound_add_contributions, "arrays"_a, nb::kw_only(), "parent"_a, "outcome"_a,
        "parts"_a.none(), "clip"_a, "target"_a, "leaf"_a, "membership"_a.none(), "Z"_a, "out"_a.noconvert(),
        "Add the contributions of features, summed over all trees, to out, (n_rows, n_targets, n_features). "
        "Returns the changes by the ranges of leaves with values, (n_rows, n_targets). See "
        "contributions.hpp.");
    m.def(
        "expand_levels", &bound_expand_levels, "X"_a, "codes"_a, "levels"_a,
        "Return all features of rows, float64: the numbers of X and 0 or 1 for every level of the columns of "
        "codes, NaN where a code is below 0. levels: number of levels of every column, 0 for numbers.");
    nb::class_<StagedScores>(m, "StagedScores", "Raw scores of some rows after every round.")
        .def("next", &bound_next, "n_rounds"_a, "n_threads"_a = 1,
             "Raw scores after each of the next rounds, (n_rounds, n_rows, n_targets).");
    nb::class_<Scorer> scorer(m, "Scorer",
                              "Scores rows in the user's units. Methods return None if X holds an infinity.");
    scorer.def(
        nb::new_(&make_scorer), "arrays"_a, nb::kw_only(), "centre"_a, "scale"_a, "prior"_a,
        "confidence"_a.none(), "link"_a = "wolf", "base"_a.none() = nb::none(), "clip"_a = Planes::largest,
        "calibration"_a.none() = nb::none(), "companion"_a.none() = nb::none(), "weight"_a = 0.0,
        nb::keep_alive<0, 11>(),
        "arrays: those of a forest, by name. Optional ones may be missing, others are ignored. link, "
        "base (a raw score per target) and clip: those of boosted models; see LINKS. prior is empty "
        "for a regression, whose targets are its outputs. calibration: one of CALIBRATORS, then ptr, x and y "
        "of its knots; see heads.hpp. companion and weight: a forest whose memberships are part of the raw "
        "scores.");
    scorer.def_prop_ro("n_features", &Scorer::n_features);
    scorer.def_prop_ro("n_classes", &Scorer::n_classes);
    scorer.def_prop_ro("n_targets", &Scorer::n_targets);
    scorer.def_prop_ro("n_trees", &Scorer::n_trees);
    scorer.def(
        "takes", &takes, "X"_a.none(),
        "Whether X is an array, not of a subclass, with at least one row, that can be scored as it is.");
    scorer.def("proba", &bound_score<Score::proba>, "X"_a, "n_threads"_a = 1);
    scorer.def("uncalibrated", &bound_score<Score::uncalibrated>, "X"_a, "n_threads"_a = 1,
               "Probabilities before they are calibrated.");
    scorer.def("wolf", &bound_score<Score::wolf>, "X"_a, "n_threads"_a = 1);
    scorer.def("membership", &bound_score<Score::membership>, "X"_a, "n_threads"_a = 1);
    scorer.def("confidence", &bound_score<Score::confidence>, "X"_a, "n_threads"_a = 1);
    scorer.def("raw_score", &bound_score<Score::raw_score>, "X"_a, "n_threads"_a = 1,
               "Of a boosted model: its base and what its trees add, (n_rows, n_targets).");
    scorer.def("value", &bound_score<Score::value, 1>, "X"_a, "n_threads"_a = 1,
               "Predicted numbers of a regression with one output, (n_rows,).");
    scorer.def("values", &bound_score<Score::value>, "X"_a, "n_threads"_a = 1,
               "Predicted numbers of a regression, (n_rows, n_targets).");
    scorer.def("predict", &bound_predict, "X"_a, "n_threads"_a = 1);
    scorer.def("apply", &bound_apply, "X"_a, "n_threads"_a = 1);
    scorer.def("per_tree", &bound_per_tree, "X"_a, "n_threads"_a = 1,
               "Membership and confidence of every tree, (n_rows, n_trees) each; value and 1 if boosted.");
    scorer.def("stage", &bound_stage, nb::keep_alive<0, 1>(), "X"_a, "codes"_a.none() = nb::none(),
               "levels"_a.none() = nb::none(), "n_threads"_a = 1,
               "Raw scores of rows after every round. X, codes and levels are those of grow_forest.");
    scorer.def(
        "sum_left_out", &bound_sum_left_out, "X"_a, "estimators"_a, "left_out"_a, "first_row"_a = 0,
        "mean"_a = 0.0, "unit"_a = 1.0, "n_threads"_a = 1,
        "Sums over the estimators that did not see a row: of corrected memberships and of memberships, "
        "(n_rows, n_classes) each; of a regression, of estimates and of ((estimate - mean) / unit)**2, "
        "(n_rows, 1) each. left_out has a row of numpy.packbits per estimator, "
        "a bit per sample; X has the samples from first_row on.");
    scorer.def("trace", &bound_trace, "X"_a, "n_threads"_a = 1,
               "Paths from the roots to the leaves (ptr, block, value): that of row i down tree t begins at "
               "ptr[i * n_trees + t]; blocks are numbered within their tree; a branching block has its "
               "feature sum, a leaf its estimate before it is clipped.");
    scorer.def("settle", &bound_settle, "wolf"_a.noconvert(), "membership"_a.noconvert(),
               "Probabilities from mean corrected memberships, with the fall-back of proba, (n, K) each.");
    scorer.def(
        "link", &bound_link, "raw_score"_a.noconvert(),
        "Probabilities (n, K), or values (n, n_targets) of a regression, from the raw scores of a boosted "
        "model.");
}

}  // namespace lhtree
