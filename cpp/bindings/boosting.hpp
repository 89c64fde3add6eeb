// Bins and coded rows of boosting, as Python holds them.
#pragma once
#include <memory>

#include "lhtree/grow/boost/remote/remote_rows.hpp"
#include "shared.hpp"

namespace lhtree {

// Bins and normalisation, from which the codes of rows follow.
struct BoostBins {
    boost::Bins bins;
    std::vector<double> centre, scale;
    std::vector<std::int32_t> n_levels;  // of every column; empty: a column per feature
    std::vector<std::int32_t> coded;     // of the columns of categories
    std::optional<Levels> levels;

    BoostBins(const Vector<double>& centre_given, const Vector<double>& scale_given,
              const LevelCounts& levels_given)
        : centre(copy(centre_given)),
          scale(copy(scale_given)),
          n_levels(levels_given ? copy(*levels_given) : std::vector<std::int32_t>()),
          coded(find_coded(n_levels)) {
        require(centre.size() == scale.size() &&
                    (n_levels.empty() || count_features(n_levels.size(), n_levels) == centre.size()),
                "centre and scale need a value per feature");
        if (!n_levels.empty()) levels.emplace(n_levels, centre.data(), scale.data());
    }

    std::size_t n_features() const { return centre.size(); }
    std::size_t n_numbers() const { return n_levels.empty() ? n_features() : n_levels.size() - coded.size(); }
    const Levels* levels_or_null() const { return levels ? &*levels : nullptr; }
};

inline std::string read_bytes(const nb::bytes& bytes) {
    return {bytes.c_str(), bytes.size()};
}
inline nb::bytes give_bytes(const std::string& text) {
    return nb::bytes(text.data(), text.size());
}

// A partition of the rows, and the arrays that it refers to.
struct BoostRows {
    nb::object kept;
    std::shared_ptr<BoostBins> bins;
    boost::RowData data;
    boost::Partition partition;

    BoostRows(nb::object&& kept_given, std::shared_ptr<BoostBins> bins_given, const boost::RowData& given,
              std::size_t n_threads)
        : kept(std::move(kept_given)),
          bins(std::move(bins_given)),
          data(given),
          partition(given, n_threads) {}

    nb::bytes answer(const nb::bytes& request) {
        const std::string message = read_bytes(request);
        std::string answer;
        {
            const nb::gil_scoped_release no_gil;
            answer = partition.answer(message);
        }
        return give_bytes(answer);
    }
};

}  // namespace lhtree
