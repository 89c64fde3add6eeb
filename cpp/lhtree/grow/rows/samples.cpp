#include "lhtree/grow/rows/samples.hpp"

#include <limits>

#include "lhtree/shared/sort.hpp"

namespace lhtree {

Codes Codes::take(const std::vector<std::int32_t>& rows) const {
    Codes taken{rows.size(), column, std::vector<Code>(rows.size() * is_exact.size()), is_exact};
    Code* to = taken.code.data();
    for (std::size_t number = 0; number < is_exact.size(); ++number) {
        const Code* const from = code.data() + number * n_rows;
        for (const auto row : rows) *to++ = from[row];
    }
    return taken;
}

// Code of a value: its rank among the distinct values or, if these are too many, its rank among the rows,
// scaled to the number of codes.
Codes code_features(const Rows& rows, std::size_t n_threads, Watch& watch) {
    constexpr std::size_t n_codes = std::size_t{std::numeric_limits<Code>::max()} + 1;
    const std::size_t n = rows.n_rows;
    Codes codes{n, std::vector<std::size_t>(rows.n_features), {}, {}};
    std::vector<std::size_t> numbers;  // features with codes
    for (std::size_t feature = 0; feature < rows.n_features; ++feature) {
        codes.column[feature] = numbers.size();
        if (!rows.levels || !rows.levels->is_level(feature)) numbers.push_back(feature);
    }
    codes.code.resize(n * numbers.size());
    codes.is_exact.resize(numbers.size());
    run(numbers.size(), n_threads, watch, [&](std::size_t column) {
        std::vector<KeyedRow> sorted(n);
        for (std::size_t row = 0; row < n; ++row)
            sorted[row] = keyed_row(rows.value(row, numbers[column]), row);
        RowSorter().sort(sorted);
        const auto is_new = [&](std::size_t i) { return i == 0 || sorted[i] >> 32 != sorted[i - 1] >> 32; };
        std::size_t n_values = 0;
        for (std::size_t i = 0; i < n; ++i) n_values += is_new(i);
        const bool is_exact = n_values <= n_codes;
        Code* const to = codes.code.data() + column * n;
        std::size_t code = 0, number = 0;
        for (std::size_t i = 0; i < n; ++i) {
            if (is_new(i)) code = is_exact ? number++ : i * n_codes / n;
            to[row_of(sorted[i])] = static_cast<Code>(code);
        }
        codes.is_exact[column] = is_exact;
    });
    return codes;
}

}  // namespace lhtree
