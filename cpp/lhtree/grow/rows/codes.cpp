#include "lhtree/grow/rows/codes.hpp"

#include <limits>

#include "lhtree/shared/sort.hpp"

namespace lhtree {

Codes Codes::take(const std::vector<std::int32_t>& rows) const {
    Codes taken{rows.size(), std::vector<Code>(rows.size() * is_exact.size()), is_exact};
    Code* to = taken.code.data();
    for (std::size_t feature = 0; feature < is_exact.size(); ++feature) {
        const Code* const from = of(feature);
        for (const auto row : rows) *to++ = from[row];
    }
    return taken;
}

// The rank among the values there are; the rank among the rows, shared out over all codes, where there are
// more values than codes.
Codes code_features(const Rows& rows, std::size_t n_threads, Watch& watch) {
    constexpr std::size_t n_codes = std::size_t{std::numeric_limits<Code>::max()} + 1;
    const std::size_t n = rows.n_rows;
    Codes codes{n, std::vector<Code>(n * rows.n_features), std::vector<std::uint8_t>(rows.n_features)};
    run(rows.n_features, n_threads, watch, [&](std::size_t feature) {
        std::vector<KeyedRow> sorted(n);
        for (std::size_t row = 0; row < n; ++row) sorted[row] = keyed_row(rows[row][feature], row);
        RowSorter().sort(sorted);
        const auto is_new = [&](std::size_t i) { return i == 0 || sorted[i] >> 32 != sorted[i - 1] >> 32; };
        std::size_t n_values = 0;
        for (std::size_t i = 0; i < n; ++i) n_values += is_new(i);
        const bool is_exact = n_values <= n_codes;
        Code* const to = codes.code.data() + feature * n;
        std::size_t code = 0, number = 0;
        for (std::size_t i = 0; i < n; ++i) {
            if (is_new(i)) code = is_exact ? number++ : i * n_codes / n;
            to[row_of(sorted[i])] = static_cast<Code>(code);
        }
        codes.is_exact[feature] = is_exact;
    });
    return codes;
}

}  // namespace lhtree
