// Products of the deviations of features, for the systems of equations of a block.
#pragma once
#include <vector>

#include "lhtree/grow/statistics/moments.hpp"
#include "lhtree/grow/statistics/real_moments.hpp"

namespace lhtree {

// Lower triangle, n_features rows of n_features.
class Scatter {
  public:
    std::vector<double> triangle;

    void measure(const Samples& samples, const Moments& moments, Watch& watch);  // about the class means
    void measure(const RealSamples& samples, const RealMoments& moments, Watch& watch);  // about the means

  private:
    std::vector<double> chunk_, distance_;

    void start(std::size_t n_features);
    void add(const WeightedRows& rows, const double* mean, bool is_first, Watch& watch);
};

}  // namespace lhtree
