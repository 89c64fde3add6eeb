#include "lhtree/score/contributions.hpp"

#include <algorithm>
#include <cmath>
#include <memory>
#include <vector>

namespace lhtree {
namespace {

// The weights of a hyperplane or the slopes of a leaf.
template <class Weight>
struct BlockTerms {
    const std::int32_t* feature;
    const Weight* weight;
    std::size_t size;

    BlockTerms(const std::int64_t* ptr, const std::int32_t* features, const Weight* weights)
        : feature(features + ptr[0]),
          weight(weights + ptr[0]),
          size(static_cast<std::size_t>(ptr[1] - ptr[0])) {}
};

// Shares of the weights of a block in the sum of their sizes, equal ones if that is 0. They are computed when
// a block is first used.
class WeightParts {
  public:
    WeightParts(std::size_t n_blocks, std::size_t n_weights)
        : is_known_(n_blocks), parts_(new double[n_weights]) {}

    template <class Weight>
    const double* find(std::int64_t block, const BlockTerms<Weight>& terms, std::int64_t begin) {
        double* part = parts_.get() + begin;
        if (is_known_[static_cast<std::size_t>(block)]) return part;
        is_known_[static_cast<std::size_t>(block)] = true;
        double total = 0.0;
        for (std::size_t i = 0; i < terms.size; ++i)
            total += part[i] = std::abs(static_cast<double>(terms.weight[i]));
        for (std::size_t i = 0; i < terms.size; ++i)
            part[i] = total > 0.0 ? part[i] / total : 1.0 / static_cast<double>(terms.size);
        return part;
    }

  private:
    std::vector<bool> is_known_;
    std::unique_ptr<double[]> parts_;  // not initialised
};

class Divider {
  public:
    Divider(const LeafPaths& paths, std::ptrdiff_t target_step)
        : paths_(paths),
          target_step_(target_step),
          change_(paths.n_outcomes),
          pull_(paths.n_features),
          weights_(paths.forest.n_blocks(), paths.forest.hyperplane_weight.size()),
          slopes_(paths.forest.n_blocks(), paths.forest.membership_slope.size()) {}

    // Adds the contributions of a row in one tree to `out`; returns the change by the range of the leaf.
    double add(std::size_t row, std::size_t tree, double* out) {
        const ForestView& forest = paths_.forest;
        const std::size_t path = row * forest.n_trees() + tree;
        const float* z = paths_.z + row * paths_.n_features;
        const std::int64_t root = forest.block_ptr[tree];
        std::int64_t below = root + paths_.leaf[path];
        const double clipped = add_slopes(below, path, z, out);
        for (std::int64_t at = paths_.parent[below]; at >= 0; below = at, at = paths_.parent[at]) {
            const BlockTerms terms(&forest.hyperplane_ptr[at], forest.hyperplane_feature.data(),
                                   forest.hyperplane_weight.data());
            if (paths_.parts) {
                const double* part = paths_.parts + forest.hyperplane_ptr[at];
                double* to = out;
                for (std::size_t k = 0; k < change_.size(); ++k, to += target_step_) {
                    const double change = outcome(below)[k] - outcome(at)[k];
                    for (std::size_t i = 0; i < terms.size; ++i) to[terms.feature[i]] += part[i] * change;
                }
            } else {
                for (std::size_t k = 0; k < change_.size(); ++k)
                    change_[k] = outcome(below)[k] - outcome(at)[k];
                const bool is_left = below == root + forest.left[at];
                divide(terms, weights_.find(at, terms, forest.hyperplane_ptr[at]), z, is_left ? -1.0 : 1.0,
                       forest.offset[at], out);
            }
        }
        return clipped;
    }

  private:
    const LeafPaths& paths_;
    const std::ptrdiff_t target_step_;
    std::vector<double> change_, pull_;
    WeightParts weights_, slopes_;

    const double* outcome(std::int64_t block) const {
        return paths_.outcome + static_cast<std::size_t>(block) * paths_.n_outcomes;
    }

    double add_slopes(std::int64_t leaf, std::size_t path, const float* z, double* out) {
        const ForestView& forest = paths_.forest;
        const BlockTerms terms(&forest.membership_ptr[leaf], forest.membership_feature.data(),
                               forest.membership_slope.data());
        const double share = *outcome(leaf);
        if (terms.size == 0) return 0.0;
        if (!paths_.parts) {
            // The estimate minus the share is the sum of the terms minus this shift.
            const double shift = share - forest.intercept[leaf];
            change_[0] = paths_.membership[path] - share;
            divide(terms, slopes_.find(leaf, terms, forest.membership_ptr[leaf]), z,
                   change_[0] >= 0.0 ? 1.0 : -1.0, shift, out);
            return 0.0;
        }
        const View<float>& means = forest.membership_mean;
        const float* mean = means.empty() ? nullptr : means.data() + forest.membership_ptr[leaf];
        double estimate = share;
        for (std::size_t i = 0; i < terms.size; ++i) {
            const double value =
                std::clamp(static_cast<double>(z[terms.feature[i]]), -paths_.clip, paths_.clip);
            const double term = terms.weight[i] * (value - (mean ? static_cast<double>(mean[i]) : 0.0));
            out[terms.feature[i]] += term;
            estimate += term;
        }
        const double low = forest.low.empty() ? 0.0 : forest.low[leaf];
        const double high = forest.high.empty() ? 1.0 : forest.high[leaf];
        return std::clamp(estimate, low, high) - estimate;
    }

    // Divides the changes in proportion to the terms that pull to the side, each minus its part of the shift.
    // If nothing pulls, the parts count.
    template <class Weight>
    void divide(const BlockTerms<Weight>& terms, const double* part, const float* z, double side,
                double shift, double* out) {
        if (terms.size == paths_.n_features)  // the compiler can vectorise loops over all features
            divide(terms, part, z, side, shift, out, [](std::size_t i) { return i; });
        else
            divide(terms, part, z, side, shift, out, [&](std::size_t i) { return terms.feature[i]; });
    }

    template <class Weight, class Feature>
    void divide(const BlockTerms<Weight>& terms, const double* part, const float* z, double side,
                double shift, double* out, const Feature& feature) {
        double* pull = pull_.data();
        for (std::size_t i = 0; i < terms.size; ++i) {
            const double term = static_cast<double>(terms.weight[i]) * static_cast<double>(z[feature(i)]);
            pull[i] = std::max(side * (term - shift * part[i]), 0.0);
        }
        double total = sum(pull, terms.size);
        if (total == 0.0) {
            std::copy(part, part + terms.size, pull);
            total = 1.0;
        }
        for (const double change : change_) {
            const double factor = change / total;
            for (std::size_t i = 0; i < terms.size; ++i) out[feature(i)] += pull[i] * factor;
            out += target_step_;
        }
    }

    // Four sums at a time do not wait for each other.
    static double sum(const double* values, std::size_t n) {
        double sums[4] = {};
        std::size_t i = 0;
        for (; i + 4 <= n; i += 4)
            for (std::size_t k = 0; k < 4; ++k) sums[k] += values[i + k];
        for (; i < n; ++i) sums[0] += values[i];
        return (sums[0] + sums[1]) + (sums[2] + sums[3]);
    }
};

}  // namespace

void add_contributions(const LeafPaths& paths, const ContributionSums& out) {
    Divider divider(paths, out.target_step);
    for (std::size_t row = 0; row < paths.n_rows; ++row)
        for (std::size_t tree = 0; tree < paths.forest.n_trees(); ++tree) {
            const std::int64_t target = paths.target[tree];
            double* features =
                out.features + static_cast<std::ptrdiff_t>(row) * out.row_step + target * out.target_step;
            out.clipped[row * out.n_targets + static_cast<std::size_t>(target)] +=
                divider.add(row, tree, features);
        }
}

}  // namespace lhtree
