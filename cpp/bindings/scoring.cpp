// Scoring rows from Python.
#include "lhtree/score.hpp"
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

// Every method takes float64 or float32, any strides.
template <class Value>
void bind_methods(nb::class_<Scorer>& scorer) {
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

}  // namespace

void bind_scoring(nb::module_& m) {
    nb::class_<Scorer> scorer(m, "Scorer",
                              "Scores rows in the user's units. Methods return None if X holds an infinity.");
    scorer.def(nb::new_(&make_scorer), nb::kw_only(), "target"_a, "block_ptr"_a, "left"_a, "offset"_a,
               "intercept"_a, "hyperplane_ptr"_a, "hyperplane_feature"_a, "hyperplane_weight"_a,
               "membership_ptr"_a, "membership_feature"_a, "membership_slope"_a, "centre"_a, "scale"_a,
               "prior"_a, "confidence"_a.none());
    scorer.def_prop_ro("n_features", &Scorer::n_features);
    scorer.def_prop_ro("n_classes", &Scorer::n_classes);
    scorer.def_prop_ro("n_trees", &Scorer::n_trees);
    bind_methods<double>(scorer);
    bind_methods<float>(scorer);
}

}  // namespace lhtree
