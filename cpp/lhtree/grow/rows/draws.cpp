#include "lhtree/grow/rows/draws.hpp"

#include <algorithm>

#include "lhtree/shared/random.hpp"

namespace lhtree {

Drawn draw_rows(const Sampling& sampling, std::uint64_t seed, std::uint64_t tree) {
    std::vector<std::vector<std::int32_t>> strata(sampling.counts.size());
    for (std::size_t row = 0; row < sampling.n_rows; ++row)
        strata[static_cast<std::size_t>(sampling.stratum[row])].push_back(static_cast<std::int32_t>(row));

    Draws draws(derive(seed, tree), row_draws);
    std::vector<std::int32_t> times(sampling.n_rows, 0);
    for (std::size_t s = 0; s < strata.size(); ++s) {
        auto& rows = strata[s];
        for (std::size_t i = 0; i < sampling.counts[s]; ++i) {
            std::size_t chosen = draws.below(sampling.bootstrap ? rows.size() : rows.size() - i);
            if (!sampling.bootstrap) {  // the next card of a shuffled deck
                std::swap(rows[i], rows[i + chosen]);
                chosen = i;
            }
            ++times[static_cast<std::size_t>(rows[chosen])];
        }
    }
    Drawn drawn;
    for (std::size_t row = 0; row < sampling.n_rows; ++row) {
        if (times[row] == 0) continue;
        drawn.rows.push_back(static_cast<std::int32_t>(row));
        if (sampling.bootstrap) drawn.times.push_back(times[row]);
    }
    return drawn;
}

}  // namespace lhtree
