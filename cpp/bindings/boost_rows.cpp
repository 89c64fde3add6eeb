// Boosting from codes that Python keeps, in memory, in a mapped file or in other processes.
#include <nanobind/stl/shared_ptr.h>
#include <nanobind/stl/unique_ptr.h>

#include <numeric>

#include "boosting.hpp"
#include "lhtree/grow/boost/remote/messages.hpp"
#include "lhtree/grow/boost/remote/remote_rows.hpp"

namespace lhtree {
namespace {

using namespace nb::literals;

using Bytes = Matrix<std::uint8_t>;

std::vector<std::int32_t> copy_levels(const LevelCounts& levels) {
    if (!levels) return {};
    std::vector<std::int32_t> n_levels = copy(*levels);
    for (const std::int32_t n : n_levels) require(n >= 0, "a number of levels is below 0");
    return n_levels;
}

// The rows of a table for these bins, checked.
template <class Value>
boost::Table<Value> take_table(const BoostBins& bins, const AnyMatrix<Value>& X, const Coded& codes) {
    require(X.shape(1) == bins.n_numbers(), "X needs the columns of the bins");
    require(codes.has_value() == bins.levels.has_value(), "codes are given where there are levels");
    if (codes) {
        std::vector<std::int32_t> coded;
        for (const std::int32_t n : bins.n_levels)
            if (n > 0) coded.push_back(n);
        require(codes->shape(0) == X.shape(0) && codes->shape(1) == coded.size(),
                "codes needs a row per row of X and a column per column of levels");
        for (std::size_t i = 0; i < codes->size(); ++i)
            require(codes->data()[i] < coded[i % coded.size()], "a code is out of range");
    }
    return bins.table(X, codes);
}

template <class Value>
std::optional<std::shared_ptr<BoostBins>> learn_bins(const AnyMatrix<Value>& X, const Vector<double>& centre,
                                                     const Vector<double>& scale,
                                                     const std::optional<Vector<double>>& weight,
                                                     double weight_unit, std::size_t max_bins,
                                                     std::size_t n_threads, const Coded& codes,
                                                     const LevelCounts& levels,
                                                     const std::optional<Vector<std::int64_t>>& chosen) {
    auto made = std::make_shared<BoostBins>(centre, scale, copy_levels(levels));
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
std::optional<nb::ndarray<std::uint8_t, nb::numpy, nb::ndim<2>>> encode_rows(const BoostBins& bins,
                                                                             const AnyMatrix<Value>& X,
                                                                             const Coded& codes,
                                                                             std::size_t n_threads) {
    const boost::Table<Value> table = take_table(bins, X, codes);
    auto made = std::make_unique<std::vector<std::uint8_t>>();
    const bool is_finite = watched(
        std::nullopt, [&](Watch& watch) { return encode(table, bins.bins, n_threads, watch, *made); });
    if (!is_finite) return std::nullopt;
    std::vector<std::uint8_t>* const owned = made.release();
    nb::capsule owner(owned, [](void* p) noexcept { delete static_cast<std::vector<std::uint8_t>*>(p); });
    return nb::ndarray<std::uint8_t, nb::numpy, nb::ndim<2>>(owned->data(),
                                                             {X.shape(0), bins.bins.slots.size()}, owner);
}

// Codes and labels of some rows, and what keeps them alive.
struct BoostRows {
    nb::object kept;
    std::shared_ptr<BoostBins> bins;
    boost::RowData holding;
    boost::Partition holder;

    BoostRows(nb::object&& kept_given, std::shared_ptr<BoostBins> bins_given, const boost::RowData& given,
              std::size_t n_threads)
        : kept(std::move(kept_given)),
          bins(std::move(bins_given)),
          holding(given),
          holder(given, n_threads) {}

    nb::bytes answer(const nb::bytes& request) {
        const std::string asked(request.c_str(), request.size());
        std::string answer;
        {
            const nb::gil_scoped_release no_gil;
            answer = holder.answer(asked);
        }
        return nb::bytes(answer.data(), answer.size());
    }
};

std::unique_ptr<BoostRows> make_rows(const Bytes& codes, std::shared_ptr<BoostBins> bins,
                                     const std::string& loss, double quantile, std::size_t n_classes,
                                     const std::optional<Vector<std::int32_t>>& classes,
                                     const std::optional<Vector<double>>& response,
                                     const std::optional<Vector<double>>& weight,
                                     const std::optional<Vector<std::uint8_t>>& held, std::uint64_t first_row,
                                     std::size_t n_threads) {
    const boost::Slots& slots = bins->bins.slots;
    require(codes.shape(1) == slots.size(), "codes needs a column per slot of the bins");
    std::vector<std::size_t> n_codes;
    for (std::size_t slot = 0; slot < slots.size(); ++slot) n_codes.push_back(slots.n_codes(slot));
    bool is_in_range = true;
    const std::uint8_t* code = codes.data();
    for (std::size_t row = 0; row < codes.shape(0); ++row)
        for (const std::size_t n : n_codes) is_in_range &= *code++ < n;
    require(is_in_range, "a code is out of range");
    const boost::RowData holding = take_holding(*bins, codes.data(), codes.shape(0), loss, quantile,
                                                n_classes, classes, response, weight, held, first_row);
    nb::object kept = nb::make_tuple(codes, classes, response, weight, held);
    return std::make_unique<BoostRows>(std::move(kept), std::move(bins), holding, n_threads);
}

// Who is asked in a fit: rows of this process, or a function of Python.
std::vector<std::vector<std::string>> ask_python(const nb::callable& exchange,
                                                 const std::vector<std::string>& requests) {
    const nb::gil_scoped_acquire gil;
    nb::list given;
    for (const std::string& request : requests) given.append(nb::bytes(request.data(), request.size()));
    std::vector<std::vector<std::string>> answers;
    for (const nb::handle part : exchange(given)) {
        answers.emplace_back();
        for (const nb::handle answer : part) {
            require(nb::isinstance<nb::bytes>(answer), "exchange returns something other than bytes");
            const auto bytes = nb::borrow<nb::bytes>(answer);
            answers.back().emplace_back(bytes.c_str(), bytes.size());
        }
    }
    return answers;
}

nb::dict boost_rows(nb::object rows, const BoostBins& bins, const boost::TreeOptions& options,
                    const std::string& loss, double quantile, std::size_t n_classes, std::size_t n_rounds,
                    std::uint64_t seed, std::size_t patience, double tol,
                    const std::optional<nb::dict>& earlier, const std::optional<Vector<double>>& first,
                    std::size_t n_threads, const std::optional<nb::callable>& progress) {
    ForestView trees;
    const boost::Plan plan = make_plan(options, bins.n_features(), loss, quantile, n_classes, n_rounds, seed,
                                       patience, tol, earlier, first, trees);
    if (nb::isinstance<BoostRows>(rows)) {
        const boost::RowData& holding = nb::cast<BoostRows&>(rows).holding;
        const boost::WeightSurvey survey(holding.weight, holding.labels);
        require(&holding.bins == &bins.bins && holding.loss.index() == plan.loss.index() &&
                    holding.n_classes == n_classes,
                "rows were made for other bins, or another loss");
        require(survey.largest[0] > 0.0, "there is no row to learn from: all are held back or weigh nothing");
        return give_boosted(watched(progress, [&](Watch& watch) {
            boost::LocalRows local(holding, boost::WeightUnits(survey), n_threads, watch);
            return boost::boost(plan, local, n_threads, watch);
        }));
    }
    const auto callable = nb::cast<nb::callable>(rows);
    const boost::Exchange exchange = [&](const std::vector<std::string>& requests) {
        return ask_python(callable, requests);
    };
    return give_boosted(watched(progress, [&](Watch& watch) {
        boost::RemoteRows remote(bins.bins, plan.loss, n_classes, exchange, watch);
        return boost::boost(plan, remote, n_threads, watch);
    }));
}

nb::bytes merge_answers(const std::vector<nb::bytes>& answers) {
    std::vector<std::string> given;
    for (const nb::bytes& answer : answers) given.emplace_back(answer.c_str(), answer.size());
    const std::string merged = boost::merge_answers(given);
    return nb::bytes(merged.data(), merged.size());
}

NewVector<std::int64_t> bound_sample_rows(std::size_t n_rows, std::uint64_t seed, std::size_t most) {
    return give(boost::sample_rows(n_rows, seed, most));
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

void bind_boost_rows(nb::module_& m) {
    nb::class_<BoostBins> bins(m, "BoostBins", "Bins of features, and how values become codes.");
    bins.def(
            "__init__",
            [](BoostBins* self, const nb::dict& arrays, const Vector<double>& centre,
               const Vector<double>& scale, const LevelCounts& levels) {
                auto made = std::make_unique<BoostBins>(centre, scale, copy_levels(levels));
                take_bins(arrays, *made);
                new (self) BoostBins(std::move(*made));
            },
            "arrays"_a, nb::kw_only(), "centre"_a, "scale"_a, "levels"_a.none() = nb::none())
        .def_prop_ro(
            "n_slots", [](const BoostBins& self) { return self.bins.slots.size(); },
            "Bytes that the codes of a row take.")
        .def(
            "arrays", [](const BoostBins& self) { return give_bins(self.bins); },
            "The arrays that a model keeps of bins, and that BoostBins takes.");
    bind_table<double>(m, bins);
    bind_table<float>(m, bins);
    nb::class_<BoostRows>(m, "BoostRows",
                          "Codes and labels of some rows, all of a table or a part of it. The arrays are "
                          "kept, not copied: they may be mapped files.")
        .def(nb::new_(&make_rows), "codes"_a.noconvert(), "bins"_a, nb::kw_only(), "loss"_a,
             "quantile"_a = 0.5, "n_classes"_a = 0, "classes"_a.none() = nb::none(),
             "response"_a.none() = nb::none(), "weight"_a.none() = nb::none(), "held"_a.none() = nb::none(),
             "first_row"_a = 0, "n_threads"_a = 1)
        .def("answer", &BoostRows::answer, "request"_a,
             "The answer of these rows to a message of boost_rows. A malformed message is a ValueError and "
             "changes nothing.");
    m.def(
        "boost_rows", &boost_rows, "rows"_a, "bins"_a, nb::kw_only(), "options"_a, "loss"_a,
        "quantile"_a = 0.5, "n_classes"_a = 0, "n_rounds"_a, "seed"_a, "patience"_a, "tol"_a,
        "earlier"_a.none() = nb::none(), "first"_a.none() = nb::none(), "n_threads"_a = 1,
        "progress"_a.none() = nb::none(),
        "Boost trees on rows that are coded already: BoostRows, or a function that hands messages (a list of "
        "bytes) to the BoostRows of all parts of a table and returns what each part answers to them (an "
        "iterable of lists of bytes), the parts in any order, merged or not. Returns a dict of "
        "the arrays of the trees, the initial scores, and the losses before and after every round.");
    m.def(
        "merge_answers", &merge_answers, "answers"_a,
        "The answers of some parts to the same message as one, so that answers can be added up on the way.");
    m.def(
        "changes_rows",
        [](const nb::bytes& request) {
            return boost::changes_rows(std::string(request.c_str(), request.size()));
        },
        "request"_a,
        "Whether a message changes the state of BoostRows. A new part that is given these messages again, in "
        "their order, is as the one it stands in for was.");
    m.def(
        "sample_rows", &bound_sample_rows, "n_rows"_a, "seed"_a, "most"_a = boost::most_sampled,
        "Numbers of the rows that bins and scales are learned from, ascending: all, or `most` of them, those "
        "with the smallest hash of seed and number.");
    m.attr("MOST_SAMPLED") = boost::most_sampled;
    m.def("find_weight_unit", &boost::find_weight_unit, "largest"_a, "is_whole"_a, "n_rows"_a,
          "The unit in which weights are whole numbers: from the largest weight of the rows that are learned "
          "from, whether they are all whole, and the number of all rows.");
}

}  // namespace lhtree
