// Scoring rows from Python.
#include "lhtree/score.hpp"
#include "numpy_arrays.hpp"
#include "shared.hpp"

namespace lhtree {
namespace {

using namespace nb::literals;

Confidence confidence_named(const std::optional<std::string>& name) {
    return name ? choose<Confidence>(*name, {{"last", Confidence::last}, {"path", Confidence::path}})
                : Confidence::none;
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

template <class Value>
Strided<Value> strided(const GivenRows& X) {
    constexpr auto size = static_cast<std::ptrdiff_t>(sizeof(Value));
    return {static_cast<const Value*>(PyArray_DATA(X.array)), X.size(0), X.size(1),
            PyArray_STRIDE(X.array, 0) / size, PyArray_STRIDE(X.array, 1) / size};
}

// Whether X can be scored as it is: what has a class of its own, a wrong shape or no rows is for Python to
// judge.
bool takes(const Scorer& scorer, nb::handle X) {
    GivenRows rows;
    return PyArray_CheckExact(X.ptr()) && rows.take(X.ptr()) && rows.size(0) > 0 &&
           rows.size(1) == scorer.n_features();
}

// Calls work(rows, watch). False if it met an infinity. Few rows are scored with the GIL held: handing it
// over costs more than they do.
template <class Work>
bool score_rows(const Scorer& scorer, const GivenRows& X, const Work& work) {
    constexpr std::size_t quick_rows = 16;
    require(X.size(1) == scorer.n_features(), "X needs a column per feature of the model");
    const auto score = [&](const auto& rows) {
        const auto with_watch = [&](Watch& watch) { return work(rows, watch); };
        if (rows.n_rows > quick_rows) return watched({}, with_watch);
        Watch watch;
        return with_watch(watch);
    };
    return PyArray_TYPE(X.array) == NPY_DOUBLE ? score(strided<double>(X)) : score(strided<float>(X));
}

template <Score what>
std::optional<NewArray<double, 2>> bound_score(const Scorer& scorer, GivenRows X, std::size_t n_threads) {
    NewArray<double, 2> out({X.size(0), scorer.n_classes()});
    if (!score_rows(scorer, X, [&](const auto& rows, Watch& watch) {
            return scorer.score(rows, what, n_threads, watch, out.values());
        }))
        return std::nullopt;
    return out;
}

std::optional<NewArray<std::int64_t, 1>> bound_predict(const Scorer& scorer, GivenRows X,
                                                       std::size_t n_threads) {
    NewArray<std::int64_t, 1> out({X.size(0)});
    if (!score_rows(scorer, X, [&](const auto& rows, Watch& watch) {
            return scorer.predict(rows, n_threads, watch, out.values());
        }))
        return std::nullopt;
    return out;
}

std::optional<NewArray<std::int64_t, 2>> bound_apply(const Scorer& scorer, GivenRows X,
                                                     std::size_t n_threads) {
    NewArray<std::int64_t, 2> out({X.size(0), scorer.n_trees()});
    if (!score_rows(scorer, X, [&](const auto& rows, Watch& watch) {
            return scorer.apply(rows, n_threads, watch, out.values());
        }))
        return std::nullopt;
    return out;
}

}  // namespace

void bind_scoring(nb::module_& m) {
    if (PyArray_ImportNumPyAPI() < 0) throw nb::python_error();
    nb::class_<Scorer> scorer(m, "Scorer",
                              "Scores rows in the user's units. Methods return None if X holds an infinity.");
    scorer.def(nb::new_(&make_scorer), nb::kw_only(), "target"_a, "block_ptr"_a, "left"_a, "offset"_a,
               "intercept"_a, "hyperplane_ptr"_a, "hyperplane_feature"_a, "hyperplane_weight"_a,
               "membership_ptr"_a, "membership_feature"_a, "membership_slope"_a, "centre"_a, "scale"_a,
               "prior"_a, "confidence"_a.none());
    scorer.def_prop_ro("n_features", &Scorer::n_features);
    scorer.def_prop_ro("n_classes", &Scorer::n_classes);
    scorer.def_prop_ro("n_trees", &Scorer::n_trees);
    scorer.def(
        "takes", &takes, "X"_a.none(),
        "Whether X is an array, not of a subclass, with at least one row, that can be scored as it is.");
    scorer.def("proba", &bound_score<Score::proba>, "X"_a, "n_threads"_a = 1);
    scorer.def("wolf", &bound_score<Score::wolf>, "X"_a, "n_threads"_a = 1);
    scorer.def("membership", &bound_score<Score::membership>, "X"_a, "n_threads"_a = 1);
    scorer.def("confidence", &bound_score<Score::confidence>, "X"_a, "n_threads"_a = 1);
    scorer.def("predict", &bound_predict, "X"_a, "n_threads"_a = 1);
    scorer.def("apply", &bound_apply, "X"_a, "n_threads"_a = 1);
}

}  // namespace lhtree
