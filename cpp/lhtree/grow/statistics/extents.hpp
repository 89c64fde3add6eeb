// How far the feature sums of the two classes reach: what the paper's offset is chosen by.
#pragma once
#include "lhtree/grow/kernels.hpp"
#include "lhtree/grow/rows/samples.hpp"

namespace lhtree {

// By class: the extremes of its sums, and its rows below, or above, all of the other class.
struct Extents {
    double low[2], high[2];
    Side under[2], over[2];
};
Extents measure_extents(const Samples& samples, const double* feature_sums);

// All rows below a bound, and those from it upwards.
struct Halves {
    Side under, from;
};
Halves measure_halves(const Samples& samples, const double* feature_sums, double bound);

}  // namespace lhtree
