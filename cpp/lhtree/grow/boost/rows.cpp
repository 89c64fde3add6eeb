#include "lhtree/grow/boost/rows.hpp"

#include <algorithm>

namespace lhtree::boost {

void ResponseSurvey::merge(const ResponseSurvey& other) {
    for (const int of_held : {0, 1}) {
        low[of_held] = std::min(low[of_held], other.low[of_held]);
        high[of_held] = std::max(high[of_held], other.high[of_held]);
    }
    largest = std::max(largest, other.largest);
}

void Steepness::merge(const Steepness& other) {
    gradient = std::max(gradient, other.gradient);
    hessian = std::max(hessian, other.hessian);
}

Later<std::vector<Histogram>> Rows::count_bins(const std::vector<std::size_t>& blocks, std::size_t first,
                                               std::size_t last) {
    auto count = count_codes(blocks, bins_.slots.of(first), bins_.slots.of(last - 1) + 1);
    if (!bins_.slots.any_coded()) return count;
    return [this, first, last, count = std::move(count)] {
        std::vector<Histogram> histograms;
        for (const Histogram& codes : count()) {
            histograms.emplace_back(bins_.ptr[last] - bins_.ptr[first], codes.is_lean());
            histograms.back().spread(
                codes, [&](const auto* from, auto* to) { spread_codes(bins_, first, last, from, to); });
        }
        return histograms;
    };
}

}  // namespace lhtree::boost
