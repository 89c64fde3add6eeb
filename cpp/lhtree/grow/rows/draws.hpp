// Random subsets of rows, drawn by stratum so that none is missing.
#pragma once
#include <cstdint>
#include <vector>

namespace lhtree {

struct Sampling {
    const std::int32_t* stratum = nullptr;  // of every row; the strata are 0 … counts.size() - 1
    std::size_t n_rows = 0;
    std::vector<std::size_t> counts;  // rows to draw from each stratum
    bool bootstrap = false;           // with replacement
};

struct Drawn {
    std::vector<std::int32_t> rows;   // ascending, each once
    std::vector<std::int32_t> times;  // how often each was drawn; empty without replacement
};

// The rows of one tree; a function of (seed, tree) alone, so that the trees of all classes share them.
Drawn draw_rows(const Sampling& sampling, std::uint64_t seed, std::uint64_t tree);

}  // namespace lhtree
