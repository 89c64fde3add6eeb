// Additive models from Python: axes, terms and bags.
#include "lhtree/grow/boost/additive.hpp"

#include "boosting.hpp"
#include "lhtree/grow/boost/boost.hpp"

namespace lhtree {
namespace {

using namespace nb::literals;

boost::CellAxis make_axis(const BoostRows& rows, std::size_t slot, bool is_ordered,
                          const Vector<std::uint8_t>& cell, std::size_t n_cells, int sign) {
    const boost::Slots& slots = rows.data.bins.slots;
    require(slot < slots.size(), "slot is out of range");
    require(cell.size() == slots.n_codes(slot), "cell needs a value per code of the slot");
    require(n_cells >= 2 && n_cells <= 256, "an axis has 2 to 256 cells");
    for (std::size_t code = 0; code < cell.size(); ++code)
        require(cell.data()[code] < n_cells, "a cell is out of range");
    require(sign >= -1 && sign <= 1 && (sign == 0 || is_ordered), "sign is not valid");
    return {slot, is_ordered, copy(cell), n_cells, sign};
}

// A plan and the arrays that it refers to.
struct AdditiveFit {
    nb::object kept;
    const boost::RowData& rows;
    boost::AdditivePlan plan;

    AdditiveFit(nb::object rows_given, const std::vector<boost::CellAxis>& axes,
                const std::vector<std::vector<std::size_t>>& terms, const Vector<double>& base,
                const Vector<std::int32_t>& fold, const Vector<std::int32_t>& part, std::size_t n_bags)
        : kept(nb::make_tuple(rows_given, fold, part)), rows(nb::cast<BoostRows&>(rows_given).data) {
        require(base.size() == rows.objective.n_scores(), "base needs a value per score");
        require(fold.size() == rows.labels.n_rows, "fold needs a value per row");
        require(n_bags >= 1, "there is no bag");
        std::vector<bool> is_learned(n_bags, false);
        for (std::size_t row = 0; row < fold.size(); ++row) {
            for (std::size_t bag = 0; bag < n_bags; ++bag)
                if (fold.data()[row] >= 0 && fold.data()[row] != static_cast<std::int32_t>(bag))
                    is_learned[bag] = true;
        }
        require(std::all_of(is_learned.begin(), is_learned.end(), [](bool any) { return any; }),
                "a bag has no rows");
        plan.base = copy(base);
        plan.fold = fold.data();
        plan.n_bags = n_bags;
        require(part.size() == fold.size(), "part needs a value per row");
        plan.part = part.data();
        for (std::size_t row = 0; row < part.size(); ++row) {
            require(part.data()[row] >= 0, "a part is negative");
            plan.n_parts = std::max(plan.n_parts, static_cast<std::size_t>(part.data()[row]) + 1);
        }
        for (const std::vector<std::size_t>& of_term : terms) {
            require(of_term.size() == 1 || of_term.size() == 2, "a term has one or two axes");
            boost::AdditiveTerm term;
            term.begin = plan.n_cells();
            for (const std::size_t axis : of_term) {
                require(axis < axes.size(), "an axis is out of range");
                term.axes.push_back(axes[axis]);
            }
            require(term.n_cells() <= 65536, "a surface has too many cells");
            plan.terms.push_back(std::move(term));
        }
    }

    std::vector<double> take(const Vector<double>& values) const {
        require(values.size() == plan.n_bags * plan.n_cells() * rows.objective.n_scores(),
                "values needs a value per bag, cell and score");
        return copy(values);
    }

    nb::tuple boost(const Vector<double>& values, const Vector<std::uint8_t>& is_active,
                    const boost::StepOptions& step, std::size_t n_cycles, std::size_t patience,
                    std::size_t n_threads) {
        require(is_active.size() == plan.n_bags * plan.terms.size(),
                "is_active needs a value per bag and term");
        plan.is_active = copy(is_active);
        plan.step = step;
        plan.n_cycles = n_cycles;
        plan.patience = patience;
        std::vector<double> begin = take(values);
        boost::AdditiveBags bags = watched(std::nullopt, [&](Watch& watch) {
            return boost::boost_terms(plan, rows, std::move(begin), n_threads, watch);
        });
        nb::list losses;
        for (std::vector<double>& one : bags.losses) losses.append(give(std::move(one)));
        return nb::make_tuple(give(std::move(bags.values)), losses, bags.n_cycles);
    }
    NewVector<double> score(const Vector<double>& values, std::size_t n_threads) const {
        const std::vector<double> own = take(values);
        return give(watched(std::nullopt, [&](Watch& watch) {
            return boost::score_left_out(plan, rows, own, n_threads, watch);
        }));
    }
    nb::tuple weigh(const Vector<double>& raw) const {
        require(raw.size() == rows.labels.n_rows * rows.objective.n_scores(),
                "raw needs a value per row and score");
        boost::CellWeights weights = boost::weigh_cells(plan, rows, raw.data());
        return nb::make_tuple(give(std::move(weights.weight)), give(std::move(weights.hessian)));
    }
};

// The best constant raw scores of rows.
NewVector<double> find_base(const BoostRows& rows, std::size_t n_threads) {
    const boost::RowData& data = rows.data;
    const boost::WeightSurvey survey(data.weight, data.labels);
    require(survey.largest[0] > 0.0, "there is no row to learn from: all weigh nothing");
    return give(watched(std::nullopt, [&](Watch& watch) {
        boost::LocalRows local(data, boost::WeightUnits(survey), n_threads, watch);
        const boost::Loss& loss = data.objective.loss();
        std::vector<boost::ResponseSurvey> surveys;
        if (!boost::is_of_classes(loss)) surveys = local.ask(boost::SurveyResponses{});
        boost::Begin begin{{}, std::vector<double>(data.objective.n_scores()), {}};
        local.ask(begin);
        return boost::find_initial_scores(loss, local, surveys);
    }));
}

NewVector<double> bound_measure_pairs(const BoostRows& rows, const std::vector<boost::CellAxis>& axes,
                                      const Vector<double>& raw, const Vector<std::int32_t>& fold,
                                      std::int32_t left_out, const boost::StepOptions& step,
                                      std::size_t n_threads) {
    require(raw.size() == rows.data.labels.n_rows * rows.data.objective.n_scores(),
            "raw needs a value per row and score");
    require(fold.size() == rows.data.labels.n_rows, "fold needs a value per row");
    return give(watched(std::nullopt, [&](Watch& watch) {
        return boost::measure_pairs(axes, rows.data, raw.data(), fold.data(), left_out, step, n_threads,
                                    watch);
    }));
}

nb::tuple bound_find_merges(const Vector<double>& values, const Vector<double>& weights, std::size_t n_parts,
                            std::size_t n_scores) {
    require(n_parts >= 1 && weights.size() % n_parts == 0, "weights needs a value per cell and part");
    require(values.size() == weights.size() * n_scores, "values needs a value per cell, part and score");
    boost::Merges merges = boost::find_merges(copy(values), copy(weights), n_parts, n_scores);
    return nb::make_tuple(give(std::move(merges.edge)), give(std::move(merges.cost)));
}

}  // namespace

void bind_additive(nb::module_& m) {
    nb::class_<boost::CellAxis>(m, "CellAxis",
                                "The cells of a column in a curve or surface; the last is missing.")
        .def(nb::new_(&make_axis), "rows"_a, nb::kw_only(), "slot"_a, "is_ordered"_a, "cell"_a, "n_cells"_a,
             "sign"_a = 0)
        .def_ro("n_cells", &boost::CellAxis::n_cells);
    nb::class_<boost::StepOptions>(m, "StepOptions", "Options of the steps of curves and surfaces.")
        .def(
            "__init__",
            [](boost::StepOptions* self, double learning_rate, double l2_regularization,
               double min_samples_leaf, double smoothing, double growth) {
                new (self)
                    boost::StepOptions{learning_rate, l2_regularization, min_samples_leaf, smoothing, growth};
            },
            nb::kw_only(), "learning_rate"_a, "l2_regularization"_a, "min_samples_leaf"_a, "smoothing"_a,
            "growth"_a = 0.0);
    nb::class_<AdditiveFit>(m, "AdditiveFit", "The terms of an additive model, and the bags of its rows.")
        .def(nb::init<nb::object, const std::vector<boost::CellAxis>&,
                      const std::vector<std::vector<std::size_t>>&, const Vector<double>&,
                      const Vector<std::int32_t>&, const Vector<std::int32_t>&, std::size_t>(),
             "rows"_a, "axes"_a, "terms"_a, nb::kw_only(), "base"_a, "fold"_a, "part"_a, "n_bags"_a)
        .def("boost", &AdditiveFit::boost, "values"_a, "is_active"_a, nb::kw_only(), "step"_a, "n_cycles"_a,
             "patience"_a, "n_threads"_a = 1,
             "Boost the active terms in every bag. Return the values by bag, cell and score, the losses of "
             "every bag before the first cycle and after every fourth, and the number of cycles.")
        .def("score_left_out", &AdditiveFit::score, "values"_a, "n_threads"_a = 1,
             "Return the raw scores of every row from the bag that does not learn from it.")
        .def("weigh", &AdditiveFit::weigh, "raw"_a,
             "Return the weight and the sum of the Hessians of every cell, given raw scores.");
    m.def("find_base", &find_base, "rows"_a, nb::kw_only(), "n_threads"_a = 1,
          "Return the best constant raw scores of rows.");
    m.def("find_merges", &bound_find_merges, "values"_a, "weights"_a, nb::kw_only(), "n_parts"_a,
          "n_scores"_a,
          "Merge neighbouring cells, the cheapest first: return the last cell of the left one of both steps, "
          "and the total cost by the parabola of the loss.");
    m.def("measure_pairs", &bound_measure_pairs, "rows"_a, "axes"_a, "raw"_a, nb::kw_only(), "fold"_a,
          "left_out"_a, "step"_a, "n_threads"_a = 1,
          "Return the gain of a surface of every pair of axes, given raw scores. Rows of the fold left_out "
          "do not "
          "count.");
}

}  // namespace lhtree
