// Codes that rise with the values of a feature, made once for all trees: by them the rows of a block fall
// into bins without being sorted.
#pragma once
#include <cstdint>
#include <vector>

#include "lhtree/shared/matrix.hpp"
#include "lhtree/shared/threads.hpp"

namespace lhtree {

using Code = std::uint16_t;

// One column of codes per feature that is a number: a level is one already. Equal values have one code; where
// is_exact, one code has one value.
struct Codes {
    std::size_t n_rows = 0;
    std::vector<std::size_t> column;  // of every feature
    std::vector<Code> code;
    std::vector<std::uint8_t> is_exact;  // by column

    bool empty() const { return column.empty(); }
    const Code* of(std::size_t feature) const { return code.data() + column[feature] * n_rows; }
    Codes take(const std::vector<std::int32_t>& rows) const;
};

Codes code_features(const Rows& rows, std::size_t n_threads, Watch& watch);

}  // namespace lhtree
