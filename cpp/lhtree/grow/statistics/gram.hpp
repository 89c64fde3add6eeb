// Products of the deviations of rows, for the systems of equations of blocks with fewer rows than features.
#pragma once
#include <vector>

#include "lhtree/grow/statistics/moments.hpp"
#include "lhtree/grow/statistics/real_moments.hpp"

namespace lhtree {

// With the deviations of the features from their means, times the root of a row's weight, as the rows of D,
// the scatter of a block is DᵀD, and (DᵀD + ridge · I)⁻¹ Dᵀr = Dᵀ (DDᵀ + ridge · I)⁻¹ r: the matrix to solve
// with has a row per row of the block, and not one per feature.
class Gram {
  public:
    std::vector<double> triangle;   // of DDᵀ: the lower one, n_rows rows of n_rows
    std::vector<double> deviation;  // r: that of the response, times the root of the weight

    // Whether a block is solved so. Few features are solved by their scatter, with bits that older models
    // have.
    static bool suits(const Rows& rows) { return rows.n_features > 512 && rows.n_rows < rows.n_features; }
    template <class AnySamples, class AnyMoments>
    void measure(const AnySamples& samples, const AnyMoments& moments, Watch& watch);
    double trace() const;  // of DDᵀ, and of the scatter
    // Dᵀ · factors: a value per feature of the rows that were measured.
    std::vector<double> to_features(const Rows& rows, const std::vector<double>& factors) const;

  private:
    std::vector<double> mean_, root_weight_, tile_;
};

}  // namespace lhtree
