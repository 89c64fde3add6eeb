// Scoring rows from Python.
#include <nanobind/stl/tuple.h>

#include "lhtree/score/scorer.hpp"
#include "numpy_arrays.hpp"
#include "shared.hpp"

namespace lhtree {
namespace {

using namespace nb::literals;

Confidence confidence_named(const std::optional<std::string>& name) {
    return name ? choose(*name, confidence_names) : Confidence::none;
}

using Knots = std::tuple<std::string, Vector<std::int64_t>, Vector<double>, Vector<double>>;

Calibration take_calibration(const std::optional<Knots>& knots) {
    if (!knots) return {};
    const auto& [kind, ptr, x, y] = *knots;
    return {choose(kind, calibrator_names), copy(ptr), copy(x), copy(y)};
}

Scorer* make_scorer(const nb::dict& arrays, const Vector<double>& centre, const Vector<double>& scale,
                    const Vector<double>& prior, const std::optional<std::string>& confidence,
                    const std::string& link, const std::optional<Vector<double>>& base, double clip,
                    const std::optional<Knots>& calibration) {
    return new Scorer(view_arrays(arrays), copy(centre), copy(scale), copy(prior),
                      confidence_named(confidence), choose(link, link_names),
                      base ? copy(*base) : std::vector<double>{}, clip, take_calibration(calibration));
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
    NewArray<double, 2> out({X.size(0), scorer.columns_of(what)});
    if (!score_rows(scorer, X, [&](const auto& rows, Watch& watch) {
            return scorer.score(rows, what, n_threads, watch, out.values());
        }))
        return std::nullopt;
    return out;
}

std::optional<NewArray<double, 1>> bound_value(const Scorer& scorer, GivenRows X, std::size_t n_threads) {
    NewArray<double, 1> out({X.size(0)});
    if (!score_rows(scorer, X, [&](const auto& rows, Watch& watch) {
            return scorer.score(rows, Score::value, n_threads, watch, out.values());
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

using Tables = std::pair<NewArray<double, 2>, NewArray<double, 2>>;
std::optional<Tables> bound_per_tree(const Scorer& scorer, GivenRows X, std::size_t n_threads) {
    Tables out{NewArray<double, 2>({X.size(0), scorer.n_trees()}),
               NewArray<double, 2>({X.size(0), scorer.n_trees()})};
    if (!score_rows(scorer, X, [&](const auto& rows, Watch& watch) {
            return scorer.per_tree(rows, n_threads, watch, out.first.values(), out.second.values());
        }))
        return std::nullopt;
    return out;
}

using Ways = std::tuple<NewArray<std::int64_t, 1>, NewArray<std::int32_t, 1>, NewArray<double, 1>>;
std::optional<Ways> bound_trace(const Scorer& scorer, GivenRows X, std::size_t n_threads) {
    const std::size_t n_ways = X.size(0) * scorer.n_trees();
    const NewArray<std::int64_t, 1> ptr({n_ways + 1});
    if (!score_rows(scorer, X, [&](const auto& rows, Watch& watch) {
            return scorer.measure_ways(rows, n_threads, watch, ptr.values());
        }))
        return std::nullopt;
    const auto n_steps = static_cast<std::size_t>(ptr.values()[n_ways]);
    const NewArray<std::int32_t, 1> block({n_steps});
    const NewArray<double, 1> value({n_steps});
    score_rows(scorer, X, [&](const auto& rows, Watch& watch) {
        return scorer.trace(rows, n_threads, watch, ptr.values(), block.values(), value.values());
    });
    return Ways{ptr, block, value};
}

NewArray<double, 2> bound_settle(const Scorer& scorer, const Matrix<double>& wolf,
                                 const Matrix<double>& membership) {
    const std::size_t n_rows = wolf.shape(0), n_classes = scorer.n_classes();
    require(wolf.shape(1) == n_classes && membership.shape(1) == n_classes && membership.shape(0) == n_rows,
            "wolf and membership need a row per sample and a column per class");
    NewArray<double, 2> out({n_rows, n_classes});
    std::copy(wolf.data(), wolf.data() + wolf.size(), out.values());
    scorer.settle(membership.data(), n_rows, out.values());
    return out;
}

NewArray<double, 2> bound_link(const Scorer& scorer, const Matrix<double>& raw_score) {
    require(raw_score.shape(1) == scorer.n_targets(),
            "raw_score needs a row per sample and a column per target");
    NewArray<double, 2> out({raw_score.shape(0), scorer.is_regression() ? 1 : scorer.n_classes()});
    scorer.link(raw_score.data(), raw_score.shape(0), out.values());
    return out;
}

}  // namespace

void bind_scoring(nb::module_& m) {
    if (PyArray_ImportNumPyAPI() < 0) throw nb::python_error();
    m.attr("LINKS") = names(link_names);
    m.attr("CALIBRATORS") = names(calibrator_names);
    nb::class_<Scorer> scorer(m, "Scorer",
                              "Scores rows in the user's units. Methods return None if X holds an infinity.");
    scorer.def(
        nb::new_(&make_scorer), "arrays"_a, nb::kw_only(), "centre"_a, "scale"_a, "prior"_a,
        "confidence"_a.none(), "link"_a = "wolf", "base"_a.none() = nb::none(), "clip"_a = Planes::largest,
        "calibration"_a.none() = nb::none(),
        "arrays: those of a forest, by name. Optional ones may be missing, others are ignored. link, "
        "base (a raw score per target) and clip: those of boosted models; see LINKS. prior is empty "
        "for a regression, which has one target. calibration: one of CALIBRATORS, then ptr, x and y of its "
        "knots; see calibration.hpp.");
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
    scorer.def("value", &bound_value, "X"_a, "n_threads"_a = 1,
               "Predicted numbers of a regression, (n_rows,).");
    scorer.def("predict", &bound_predict, "X"_a, "n_threads"_a = 1);
    scorer.def("apply", &bound_apply, "X"_a, "n_threads"_a = 1);
    scorer.def("per_tree", &bound_per_tree, "X"_a, "n_threads"_a = 1,
               "Membership and confidence of every tree, (n_rows, n_trees) each; value and 1 if boosted.");
    scorer.def("trace", &bound_trace, "X"_a, "n_threads"_a = 1,
               "Ways from the roots to the leaves (ptr, block, value): that of row i down tree t begins at "
               "ptr[i * n_trees + t]; blocks are numbered within their tree; a branching block has its "
               "feature sum, a leaf its estimate before it is clipped.");
    scorer.def("settle", &bound_settle, "wolf"_a.noconvert(), "membership"_a.noconvert(),
               "Probabilities from mean corrected memberships, with the fall-back of proba, (n, K) each.");
    scorer.def(
        "link", &bound_link, "raw_score"_a.noconvert(),
        "Probabilities (n, K), or values (n, 1) of a regression, from the raw scores of a boosted model.");
}

}  // namespace lhtree
