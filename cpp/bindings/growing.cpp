// Growing trees from Python.

#include "lhtree/grow/compact/block.hpp"
#include "lhtree/grow/trees/forest.hpp"
#include "lhtree/shared/hash.hpp"
#include "lhtree/shared/normalise.hpp"
#include "shared.hpp"

namespace lhtree {
namespace {

using namespace nb::literals;

using Share = std::pair<double, bool>;  // an amount, and whether it is a share of that of the root

Options make_options(const std::string& direction, const std::string& offset, const std::string& membership,
                     double alpha, double beta, Share gamma, Share min_samples_split, Share min_samples_leaf,
                     std::int64_t max_depth, std::size_t max_features, double shrinkage,
                     bool branching_membership) {
    const auto amount = [](const Share& given) { return Amount{given.first, given.second}; };
    return {choose(direction, direction_names),
            choose(offset, offset_names),
            choose(membership, membership_names),
            alpha,
            beta,
            amount(gamma),
            amount(min_samples_split),
            amount(min_samples_leaf),
            max_depth,
            max_features,
            shrinkage,
            branching_membership};
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

// Returns None if X has an infinity.
template <class Value, class Response>
std::optional<nb::dict> bound_grow_forest(
    const AnyMatrix<Value>& X, const Vector<double>& centre, const Vector<double>& scale,
    const Matrix<Response>& responses, const Vector<std::int32_t>& targets, const MaybeVector<double>& weight,
    const Options& options, const Vector<double>& betas, std::uint64_t seed, std::uint64_t first_tree,
    const Vector<std::int32_t>& strata, const MaybeVector<std::int64_t>& counts, bool bootstrap,
    bool balances, std::size_t n_threads, const std::optional<nb::callable>& progress, const Coded& codes,
    const LevelCounts& level_counts) {
    const std::size_t n_rows = X.shape(0);
    const std::vector<std::int32_t> n_levels = take_levels(n_rows, X.shape(1), codes, level_counts);
    const std::size_t n_features = count_features(X.shape(1), n_levels);
    require(centre.size() == n_features && scale.size() == n_features,
            "centre and scale need a value per feature");
    const bool is_joint = targets.size() == 1 && targets.data()[0] == -1;
    require(responses.shape(0) == (is_joint ? 0 : targets.size()) && responses.shape(1) == n_rows,
            "responses needs a row per target and a column per row of X");
    require(!weight || weight->size() == n_rows, "weight needs one value per row of X");
    require(strata.size() == n_rows, "strata needs one value per row of X");
    check_size(n_rows, "X needs between 1 and 2^31 - 1 rows");
    ForestPlan plan{};
    check_response(responses.data(), responses.size());
    if (is_joint) {
        check_response(strata.data(), n_rows);
        plan.of_class = strata.data();
        plan.n_classes = count_classes(strata);
    } else if constexpr (std::is_same_v<Response, double>)
        plan.real_responses = responses.data();
    else
        plan.responses = responses.data();
    plan.targets = copy(targets);
    plan.weight = data_or_null(weight);
    plan.betas = copy(betas);
    plan.seed = seed;
    plan.first_tree = first_tree;
    plan.draws_rows = counts.has_value();
    plan.balances = balances;
    if (counts) plan.sampling = sampling_of(strata, *counts, bootstrap);
    bool is_finite = false;
    Forest forest = watched(progress, [&](Watch& watch) {
        const std::optional<Levels> levels =
            codes ? std::optional<Levels>(std::in_place, n_levels, centre.data(), scale.data())
                  : std::nullopt;
        std::vector<float> Z(n_rows * (levels ? levels->n_columns() : n_features) + slack);
        is_finite = levels ? normalise(strided(X), codes->data(), *levels, centre.data(), scale.data(),
                                       n_threads, watch, Z.data())
                           : normalise(strided(X), centre.data(), scale.data(), n_threads, watch, Z.data());
        if (!is_finite) return Forest();
        plan.rows = {Z.data(), n_rows, n_features, levels ? &*levels : nullptr};
        plan.in_place = Z.data();
        return grow_forest(plan, options, n_threads, watch);
    });
    if (!is_finite) return std::nullopt;
    return give_forest(std::move(forest));
}

NewMatrix<float> new_matrix(std::size_t n_rows, std::size_t n_columns) {
    auto* values = new float[n_rows * n_columns];
    nb::capsule owner(values, [](void* p) noexcept { delete[] static_cast<float*>(p); });
    return NewMatrix<float>(values, {n_rows, n_columns}, owner);
}

template <class Value>
std::optional<NewMatrix<float>> bound_normalise(const AnyMatrix<Value>& x, const Vector<double>& centre,
                                                const Vector<double>& scale, std::size_t n_threads) {
    require(centre.size() == x.shape(1) && scale.size() == x.shape(1),
            "centre and scale need a value per feature");
    NewMatrix<float> z = new_matrix(x.shape(0), x.shape(1));
    const bool is_finite = watched({}, [&](Watch& watch) {
        return normalise(strided(x), centre.data(), scale.data(), n_threads, watch, z.data());
    });
    if (!is_finite) return std::nullopt;
    return z;
}

template <class Value, class Response>
void bind_grow_forest(nb::module_& m) {
    m.def("grow_forest", &bound_grow_forest<Value, Response>, "X"_a.noconvert(), "centre"_a, "scale"_a,
          "responses"_a.noconvert(), "targets"_a, "weight"_a.none(), "options"_a, "betas"_a, "seed"_a,
          "first_tree"_a, "strata"_a, "counts"_a.none(), "bootstrap"_a, "balances"_a, "n_threads"_a,
          "progress"_a.none() = nb::none(), "codes"_a.none() = nb::none(), "levels"_a.none() = nb::none(),
          "Normalise X and grow, for every beta, one tree per target; counts says how many rows of each "
          "stratum a tree sees. With codes, X has the columns of numbers only, codes has a row's level in "
          "every other column (below 0: missing), and levels says how many levels every column has, 0 for "
          "numbers; every level is a feature of 0 and 1. A single target -1 is a tree of all classes, which "
          "are the strata; responses then has no rows. Returns the arrays of all trees, or None if X holds "
          "an infinity.");
}

nb::dict grow_compact(const Matrix<float>& Z, const MaybeVector<double>& weight,
                      const MaybeVector<std::int32_t>& classes, const MaybeVector<double>& prior,
                      const MaybeVector<double>& response, double penalty, double min_samples_leaf,
                      std::size_t max_leaf_nodes, std::size_t max_terms, std::size_t max_passes,
                      std::size_t n_threads, const std::optional<nb::callable>& progress) {
    const std::size_t n_rows = Z.shape(0);
    check_size(n_rows, "Z needs between 1 and 2^31 - 1 rows");
    require(Z.shape(1) > 0, "Z needs a column");
    require(!weight || weight->size() == n_rows, "weight needs one value per row of Z");
    require(classes.has_value() != response.has_value(), "either classes or a response are given");
    require(classes.has_value() == prior.has_value(), "classes and prior are given together");
    compact::Labels labels;
    if (classes) {
        require(classes->size() == n_rows, "classes needs one value per row of Z");
        check_classes(classes->data(), n_rows, prior->size());
        labels = {classes->data(), prior->size(), prior->data(), nullptr};
    } else {
        require(response->size() == n_rows, "response needs one value per row of Z");
        check_response(response->data(), n_rows);
        labels.response = response->data();
    }
    const compact::Options options{penalty, min_samples_leaf, max_leaf_nodes, max_terms, max_passes};
    compact::Grown grown = watched(progress, [&](Watch& watch) {
        const compact::Data data({Z.data(), n_rows, Z.shape(1)}, data_or_null(weight), labels, options,
                                 n_threads, watch);
        return compact::grow(data, n_threads, watch);
    });
    nb::dict arrays;
    arrays["left"] = give(std::move(grown.left));
    arrays["offset"] = give(std::move(grown.offset));
    arrays["hyperplane_ptr"] = give(std::move(grown.ptr));
    arrays["hyperplane_feature"] = give(std::move(grown.feature));
    arrays["hyperplane_weight"] = give(std::move(grown.weight));
    arrays["leaf"] = give(std::move(grown.leaf));
    arrays["objective"] = give(std::move(grown.objective));
    return arrays;
}

}  // namespace

void bind_growing(nb::module_& m) {
    m.attr("DIRECTIONS") = names(direction_names);
    m.attr("OFFSETS") = names(offset_names);
    m.attr("MEMBERSHIPS") = names(membership_names);
    m.attr("CONFIDENCES") = names(confidence_names);
    m.attr("PENALTY_UNIT") = compact::penalty_unit;
    m.attr("COST_GRID") = compact::cost_grid;
    nb::class_<Options>(m, "Options", "What a tree is grown with. Amounts are pairs (value, is it a share?).")
        .def(nb::new_(&make_options), nb::kw_only(), "direction"_a, "offset"_a, "membership"_a, "alpha"_a,
             "beta"_a, "gamma"_a, "min_samples_split"_a, "min_samples_leaf"_a, "max_depth"_a,
             "max_features"_a, "shrinkage"_a, "branching_membership"_a);

    bind_grow_forest<double, std::uint8_t>(m);
    bind_grow_forest<float, std::uint8_t>(m);
    bind_grow_forest<double, double>(m);
    bind_grow_forest<float, double>(m);
    m.def(
        "draw_rows",
        [](const Vector<std::int32_t>& strata, const Vector<std::int64_t>& counts, bool bootstrap,
           std::uint64_t seed, std::uint64_t tree) {
            Drawn drawn = draw_rows(sampling_of(strata, counts, bootstrap), seed, tree);
            return std::pair{give(std::move(drawn.rows)), give(std::move(drawn.times))};
        },
        "strata"_a, "counts"_a, "bootstrap"_a, "seed"_a, "tree"_a,
        "Rows that a tree of grow_forest sees, ascending; with bootstrap, how often each is drawn.");
    m.def("normalise", &bound_normalise<double>, "X"_a.noconvert(), "centre"_a, "scale"_a, "n_threads"_a = 1,
          "Normalised float32 rows, or None if X holds an infinity.");
    m.def("normalise", &bound_normalise<float>, "X"_a.noconvert(), "centre"_a, "scale"_a, "n_threads"_a = 1);
    nb::class_<Hash>(m, "Hash", "A fast hash of 128 bits of some arrays.")
        .def(nb::init<>())
        .def(
            "add",
            [](Hash& hash, const nb::ndarray<nb::ro, nb::c_contig, nb::device::cpu>& array) {
                hash.add(static_cast<const unsigned char*>(array.data()), array.nbytes());
            },
            "array"_a, "Add the bytes of an array.")
        .def("finish", &Hash::finish, "The halves of the hash.");
    m.def("compiler", [] { return std::string(compiler()); }, "The compiler of the core and its version.");
    m.def("kernels", [] { return std::string(instruction_set()); }, "The instruction set in use.");
    m.def("grow_compact", &grow_compact, "Z"_a, nb::kw_only(), "weight"_a.none(), "classes"_a.none(),
          "prior"_a.none(), "response"_a.none(), "penalty"_a, "min_samples_leaf"_a, "max_leaf_nodes"_a,
          "max_terms"_a, "max_passes"_a, "n_threads"_a = 1, "progress"_a.none() = nb::none(),
          "Grow a compact tree of classes, or of a response with mean 0 and standard deviation 1/2. Returns "
          "the arrays of its blocks, the leaf of every row and the objective of every tree that was kept.");
}

}  // namespace lhtree
