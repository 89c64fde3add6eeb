// The module lhtree._pieces: parts of growing that tests compare with slow references. Wheels do not contain
// it.
#include <nanobind/stl/tuple.h>

#include "lhtree/grow/boost/losses.hpp"
#include "lhtree/grow/compact/block.hpp"
#include "lhtree/grow/decisions/linear.hpp"
#include "lhtree/grow/kernels.hpp"
#include "lhtree/grow/trees/response.hpp"
#include "lhtree/shared/elementary.hpp"
#include "shared.hpp"

namespace lhtree {
namespace {

using namespace nb::literals;

// A response of 0 and 1 is uint8, any other number float64; classes are int32.
template <class Response>
Labelled labelled(const Matrix<float>& Z, const Vector<Response>& response,
                  const MaybeVector<double>& weight) {
    require(response.size() == Z.shape(0), "response needs one value per row of Z");
    require(!weight || weight->size() == Z.shape(0), "weight needs one value per row of Z");
    check_size(Z.shape(0), "Z needs between 1 and 2^31 - 1 rows");
    Labelled samples{{Z.data(), Z.shape(0), Z.shape(1)}, nullptr, data_or_null(weight)};
    check_response(response.data(), response.size());
    if constexpr (std::is_same_v<Response, double>) {
        samples.response = response.data();
    } else if constexpr (std::is_same_v<Response, std::int32_t>) {
        samples.of_class = response.data();
        samples.n_classes = count_classes(response);
    } else {
        samples.is_target = response.data();
    }
    return samples;
}

template <class Response>
void bind_grow(nb::module_& m) {
    m.def(
        "grow",
        [](const Matrix<float>& Z, const Vector<Response>& response, const MaybeVector<double>& weight,
           const Options& options, std::uint64_t key) {
            const Labelled samples = labelled(Z, response, weight);
            Watch watch;
            Grown grown = grow(samples, options, key, 1, watch);
            Forest forest;
            forest.add(samples.of_class ? -1 : 1, std::move(grown.blocks));
            return std::pair{give_forest(std::move(forest)), give(std::move(grown.leaf_of_row))};
        },
        "Z"_a, "response"_a.noconvert(), "weight"_a.none(), "options"_a, "key"_a,
        "Grow one tree; returns its arrays and the leaf of every row.");
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

template <double (*function)(double)>
NewVector<double> of_each(const Vector<double>& x) {
    std::vector<double> values = copy(x);
    for (double& value : values) value = function(value);
    return give(std::move(values));
}

using compact::Block;
using compact::Line;

using NamedLine = std::tuple<std::vector<std::int32_t>, std::vector<float>, double>;

compact::RowNumbers all_rows(std::size_t n) {
    compact::RowNumbers rows(n);
    for (std::size_t row = 0; row < n; ++row) rows[row] = static_cast<std::uint32_t>(row);
    return rows;
}

Line line_of(const NamedLine& given, std::size_t n_features) {
    const auto& [features, weights, offset] = given;
    require(features.size() == weights.size(), "features and weights differ in length");
    for (const auto f : features)
        require(f >= 0 && static_cast<std::size_t>(f) < n_features, "a feature is out of range");
    return {features, weights, offset};
}

// A tree of lines, parents first, left before right; a line without features stands for a leaf.
compact::Tree tree_of(const std::vector<NamedLine>& lines, std::size_t& next, std::size_t n_features) {
    require(next < lines.size(), "lines end within the tree");
    auto block = std::make_unique<Block>();
    block->line = line_of(lines[next++], n_features);
    if (block->line.is_given()) {
        block->left = tree_of(lines, next, n_features);
        block->right = tree_of(lines, next, n_features);
    }
    return block;
}

std::vector<NamedLine> lines_of(Block& root) {
    std::vector<NamedLine> lines;
    compact::each_block(root, [&](Block& block) {
        lines.emplace_back(block.line.features, block.line.weights, block.line.offset);
    });
    return lines;
}

}  // namespace
}  // namespace lhtree

NB_MODULE(_pieces, m) {
    using namespace lhtree;
    m.doc() = "Parts of the core, for tests only.";
#ifdef NDEBUG
    nb::set_leak_warnings(false);
#endif
    m.def("exp", &of_each<elementary::exp>, "x"_a);
    m.def("log", &of_each<elementary::log>, "x"_a);
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
            (portable ? portable::grow_kernels : grow_kernels())
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
            for (FeatureMoments& of : moments.of) {
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
                scatter.measure(kept_samples, own, watch);
                turn_to_fisher(scatter, own, shrinkage, watch, kept.relations);
            }
            std::vector<float> weights;
            scale_weights(kept.relations, weights);
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
            const ClassTotals totals = measure_totals(sorted.samples);
            const Limits limits{totals, min_samples_leaf};
            const Cut cut = offset == "gini" ? GiniCutter().cut(sorted.samples, limits, feature_sums.data())
                                             : cut_purest(sorted.samples, limits, feature_sums.data(), gamma);
            if (!cut.exists) return std::nullopt;
            return std::pair{cut.offset, cut.cost};
        },
        "Z"_a, "response"_a, "weight"_a.none(), "sums"_a, "offset"_a, "gamma"_a, "min_samples_leaf"_a,
        "Offset and Gini cost of the cut, or None. Z is not looked at.");

    bind_grow<std::uint8_t>(m);
    bind_grow<double>(m);
    bind_grow<std::int32_t>(m);
    m.def(
        "differentiate",
        [](const Matrix<double>& raw, const std::string& loss,
           const std::optional<Vector<std::int32_t>>& classes, const std::optional<Vector<double>>& response,
           double quantile) {
            const std::size_t n = raw.shape(0), n_scores = raw.shape(1);
            const boost::Objective objective = boost::Objective::make(loss, {quantile}, 0, 1);
            if (is_of_classes(objective.loss()))
                require(classes && classes->size() == n, "classes needs a value per row");
            else
                require(response && response->size() == n, "response needs a value per row");
            std::vector<double> log_sums, losses;
            for (std::size_t row = 0; row < n; ++row)
                log_sums.push_back(boost::Softmax::log_sum(raw.data() + row * n_scores, n_scores));
            const boost::Scored rows{classes ? classes->data() : nullptr,
                                     response ? response->data() : nullptr,
                                     raw.data(),
                                     n,
                                     n_scores,
                                     1,
                                     log_sums.data(),
                                     nullptr};
            const boost::LossQuanta quanta(objective.loss());
            each_row_loss(
                objective, rows, [](std::size_t) { return true; },
                [&](std::size_t, std::size_t, double value) {
                    losses.push_back(static_cast<double>(quanta.count(value, 1.0)) * quanta.quantum);
                });
            std::vector<float> gradient(raw.size()), hessian(raw.size());
            for (std::size_t score = 0; score < n_scores; ++score)
                differentiate(objective, rows, score, &gradient[score * n], &hessian[score * n]);
            return nb::make_tuple(give(std::move(losses)), give(std::move(gradient)),
                                  give(std::move(hessian)));
        },
        "raw"_a, "loss"_a, "classes"_a.none() = nb::none(), "response"_a.none() = nb::none(),
        "quantile"_a = 0.5,
        "Losses of rows, and their derivatives: those by the first score, then those by the second, ….");
    m.def(
        "solve_compact",
        [](const Matrix<float>& Z, const Vector<double>& weight, const Vector<double>& gain,
           NamedLine present, double penalty, double min_samples_leaf, std::size_t max_terms, bool is_quick) {
            require(weight.size() == Z.shape(0) && gain.size() == Z.shape(0),
                    "weight and gain need every row");
            const compact::Options options{penalty, min_samples_leaf, 2, max_terms, 1};
            const std::vector<double> response(Z.shape(0), 0.0);  // unused: the gains determine the sides
            const compact::Labels labels{nullptr, 0, nullptr, response.data()};
            Watch watch;
            const compact::Data data({Z.data(), Z.shape(0), Z.shape(1)}, weight.data(), labels, options, 1,
                                     watch);
            const compact::Question question{all_rows(Z.shape(0)), copy(gain)};
            const compact::Candidate best =
                compact::solve(compact::Problem(data, question), line_of(present, Z.shape(1)),
                               is_quick ? compact::Effort::quick : compact::Effort::all, watch);
            return std::pair(NamedLine(best.line.features, best.line.weights, best.line.offset),
                             std::pair(best.wrong, best.value));
        },
        "Z"_a, "weight"_a, "gain"_a, "present"_a, "penalty"_a, "min_samples_leaf"_a, "max_terms"_a,
        "is_quick"_a);
    m.def(
        "pass_compact",
        [](const Matrix<float>& Z, const Vector<double>& weight, const Vector<std::int32_t>& classes,
           const Vector<double>& prior, const std::vector<NamedLine>& lines, double penalty,
           double min_samples_leaf, std::size_t max_terms) {
            require(weight.size() == Z.shape(0) && classes.size() == Z.shape(0),
                    "weight and classes need every row");
            const compact::Options options{penalty, min_samples_leaf, 16, max_terms, 1};
            const compact::Labels labels{classes.data(), prior.size(), prior.data(), nullptr};
            Watch watch;
            const compact::Data data({Z.data(), Z.shape(0), Z.shape(1)}, weight.data(), labels, options, 1,
                                     watch);
            std::size_t next = 0;
            const compact::Tree root = tree_of(lines, next, Z.shape(1));
            compact::route(*root, all_rows(Z.shape(0)), data);
            compact::pass(*root, data, compact::Effort::all, 1, watch);
            return std::pair(lines_of(*root), compact::objective(*root, data));
        },
        "Z"_a, "weight"_a, "classes"_a, "prior"_a, "lines"_a, "penalty"_a, "min_samples_leaf"_a,
        "max_terms"_a);
}
