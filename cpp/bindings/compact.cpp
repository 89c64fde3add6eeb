// Compact trees from Python.
#include "lhtree/grow/compact/grow.hpp"
#include "shared.hpp"

namespace lhtree {
namespace {

using namespace nb::literals;

// Arrays that live as long as the call.
struct Given {
    Rows rows;
    const double* weight;
    compact::Labels labels;
};

Given check(const Matrix<float>& Z, const std::optional<Vector<double>>& weight,
            const std::optional<Vector<std::int32_t>>& classes, const std::optional<Vector<double>>& prior,
            const std::optional<Vector<double>>& response) {
    const std::size_t n_rows = Z.shape(0);
    require(n_rows > 0 && n_rows < (std::size_t{1} << 31), "Z needs between 1 and 2^31 - 1 rows");
    require(Z.shape(1) > 0, "Z needs a column");
    require(!weight || weight->size() == n_rows, "weight needs one value per row of Z");
    require(classes.has_value() != response.has_value(), "either classes or a response are given");
    require(classes.has_value() == prior.has_value(), "classes and prior are given together");
    Given given{{Z.data(), n_rows, Z.shape(1)}, weight ? weight->data() : nullptr, {}};
    if (classes) {
        require(classes->size() == n_rows, "classes needs one value per row of Z");
        for (std::size_t row = 0; row < n_rows; ++row)
            require(
                classes->data()[row] >= 0 && static_cast<std::size_t>(classes->data()[row]) < prior->size(),
                "a class is out of range");
        given.labels = {classes->data(), prior->size(), prior->data(), nullptr};
    } else {
        require(response->size() == n_rows, "response needs one value per row of Z");
        check_response(response->data(), n_rows);
        given.labels.response = response->data();
    }
    return given;
}

nb::dict grow_compact(const Matrix<float>& Z, const std::optional<Vector<double>>& weight,
                      const std::optional<Vector<std::int32_t>>& classes,
                      const std::optional<Vector<double>>& prior,
                      const std::optional<Vector<double>>& response, double penalty, double min_samples_leaf,
                      std::size_t max_leaf_nodes, std::size_t max_terms, std::size_t max_passes,
                      std::size_t n_threads, const std::optional<nb::callable>& progress) {
    const Given given = check(Z, weight, classes, prior, response);
    const compact::Options options{penalty, min_samples_leaf, max_leaf_nodes, max_terms, max_passes};
    compact::Grown grown = watched(progress, [&](Watch& watch) {
        const compact::Data data(given.rows, given.weight, given.labels, options, n_threads, watch);
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

void bind_compact(nb::module_& m) {
    m.def("grow_compact", &grow_compact, "Z"_a, nb::kw_only(), "weight"_a.none(), "classes"_a.none(),
          "prior"_a.none(), "response"_a.none(), "penalty"_a, "min_samples_leaf"_a, "max_leaf_nodes"_a,
          "max_terms"_a, "max_passes"_a, "n_threads"_a = 1, "progress"_a.none() = nb::none(),
          "Grow a compact tree of classes, or of a response with mean 0 and standard deviation 1/2. Returns "
          "the "
          "arrays of its blocks, the leaf of every row and the objective of every tree that was kept.");
}

}  // namespace lhtree
