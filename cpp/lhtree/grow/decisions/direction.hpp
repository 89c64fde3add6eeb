// The direction of a hyperplane: which features, with which weights.
#pragma once
#include <cstdint>
#include <vector>

#include "lhtree/grow/statistics/gram.hpp"
#include "lhtree/grow/statistics/scatter.hpp"
#include "lhtree/shared/blocks.hpp"
#include "lhtree/shared/options.hpp"

namespace lhtree {

// Features that are not constant over the block and whose variance is above alpha (eq. 1).
template <class AnyMoments>
void find_active(const AnyMoments& moments, double alpha, std::vector<std::int32_t>& active);

// Features with |SD_i| / max|SD| > beta among the active ones, with their SD; none where every SD is 0. If
// the response is any number, its covariance with the feature takes the place of SD.
struct Kept {
    std::vector<std::int32_t> features;
    std::vector<double> relations;
};
template <class AnyMoments>
void keep_features(const AnyMoments& moments, const std::vector<std::int32_t>& active, double beta,
                   Kept& kept);

// w_i = SD_i / max|SD| (eq. 6), also for the solution of a Fisher system.
void scale_weights(const std::vector<double>& direction, std::vector<float>& weights);

// Replaces the SD by (S_w + shrinkage · tr(S_w)/p · I)⁻¹ SD, where the scatter within the classes and the
// moments are those of the kept features; they stay as they are where that has no solution …
void turn_to_fisher(Scatter& within, const Moments& moments, double shrinkage, Watch& watch,
                    std::vector<double>& direction);
// … and covariances s by (S + shrinkage · tr(S - s sᵀ/var r)/p · I)⁻¹ s, the ridge least-squares direction:
// for a response of 0 and 1 the same line, since S - s sᵀ/var r is the scatter within the classes.
void turn_to_fisher(Scatter& total, const RealMoments& moments, double shrinkage, Watch& watch,
                    std::vector<double>& direction);
// The latter, up to its length the same for two classes, from the products of rows instead.
template <class AnyMoments>
void turn_to_fisher(Gram& gram, const Rows& rows, const AnyMoments& moments, double shrinkage, Watch& watch,
                    std::vector<double>& direction);

}  // namespace lhtree
