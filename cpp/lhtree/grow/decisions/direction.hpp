// The direction of a hyperplane: which features, with which weights.
#pragma once
#include <cstdint>
#include <vector>

#include "lhtree/grow/statistics/moments.hpp"
#include "lhtree/shared/blocks.hpp"
#include "lhtree/shared/options.hpp"

namespace lhtree {

// Features that are not constant over the block and whose variance is above alpha (eq. 1).
void find_active(const Moments& moments, double alpha, std::vector<std::int32_t>& active);

// Features with |SD_i| / max|SD| > beta among the active ones, with their SD; none where every SD is 0.
struct Kept {
    std::vector<std::int32_t> features;
    std::vector<double> mean_differences;
};
void keep_features(const Moments& moments, const std::vector<std::int32_t>& active, double beta, Kept& kept);

// w_i = SD_i / max|SD| (eq. 6), also for the solution of a Fisher system.
void scale_weights(const std::vector<double>& direction, std::vector<float>& weights);

// Replaces the mean differences by (S_w + shrinkage · tr(S_w)/p · I)⁻¹ SD, where the scatter within the
// classes is that of the kept features; they stay as they are where that has no solution.
void turn_to_fisher(Scatter& scatter, double shrinkage, Watch& watch, std::vector<double>& direction);

}  // namespace lhtree
