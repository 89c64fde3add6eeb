// Growing a compact tree: see rules.hpp.
#pragma once
#include "lhtree/grow/compact/block.hpp"

namespace lhtree::compact {

// The blocks breadth-first, as in BlockArrays.
struct Grown {
    std::vector<std::int32_t> left;
    std::vector<double> offset;
    std::vector<std::int64_t> ptr{0};
    std::vector<std::int32_t> feature;
    std::vector<float> weight;
    std::vector<std::int32_t> leaf;  // of every row
    std::vector<double> objective;   // of every tree that was kept, in order
};

Grown grow(const Data& data, std::size_t n_threads, Watch& watch);

}  // namespace lhtree::compact
