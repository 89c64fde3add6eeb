// What the bindings of boosting share: bins and plans from Python, and what the rounds gave.
#pragma once
#include <memory>

#include "lhtree/grow/boost/boost.hpp"
#include "lhtree/grow/boost/local_rows.hpp"
#include "shared.hpp"

namespace lhtree {

// Bins, and how values become z: all that codes depend on.
struct BoostBins {
    boost::Bins bins;
    std::vector<double> centre, scale;
    std::vector<std::int32_t> n_levels;  // of every column; empty: a column per feature
    std::optional<Levels> levels;

    BoostBins(const Vector<double>& centre_given, const Vector<double>& scale_given,
              std::vector<std::int32_t>&& n_levels_given);

    std::size_t n_features() const { return centre.size(); }
    std::size_t n_numbers() const;
    const Levels* levels_or_null() const { return levels ? &*levels : nullptr; }
    template <class Value>
    boost::Table<Value> table(const AnyMatrix<Value>& X, const Coded& codes) const {
        return {strided(X), centre.data(), scale.data(), codes ? codes->data() : nullptr, levels_or_null()};
    }
};

nb::dict give_bins(const boost::Bins& bins);
void take_bins(const nb::dict& given, BoostBins& into);

// The labels and weights of rows, checked; the arrays must outlive it.
boost::RowData take_holding(const BoostBins& bins, const std::uint8_t* codes, std::size_t n_rows,
                            const std::string& loss, double quantile, std::size_t n_classes,
                            const std::optional<Vector<std::int32_t>>& classes,
                            const std::optional<Vector<double>>& response,
                            const std::optional<Vector<double>>& weight,
                            const std::optional<Vector<std::uint8_t>>& held, std::uint64_t first_row = 0);

// What is to be grown; `trees` keeps the view of earlier ones.
boost::Plan make_plan(const boost::TreeOptions& options, std::size_t n_features, const std::string& loss,
                      double quantile, std::size_t n_classes, std::size_t n_rounds, std::uint64_t seed,
                      std::size_t patience, double tol, const std::optional<nb::dict>& earlier,
                      const std::optional<Vector<double>>& first, ForestView& trees);

nb::dict give_boosted(boost::Boosted&& boosted);

void bind_boost_rows(nb::module_& m);

}  // namespace lhtree
