// Moments of the samples of a block: mergeable sums for chunks, threads and machines.
#pragma once
#include <algorithm>
#include <vector>

#include "lhtree/grow/rows/samples.hpp"

namespace lhtree {

double total_weight(const WeightedRows& rows);  // in chunks merged in order

// Weights of the classes of a block.
struct ClassTotals {
    double of[2];  // non-target, target

    double weight() const { return of[0] + of[1]; }
    double response() const { return of[1]; }  // Σ of weight · response
    bool is_pure() const { return !(of[0] > 0.0 && of[1] > 0.0); }
    double reach() const { return std::max(of[0], of[1]) / weight(); }  // largest distance from its mean
};
ClassTotals measure_totals(const Samples& samples);

// Weight, sums and centred squares of every feature over some rows.
class FeatureMoments {
  public:
    double weight = 0.0;
    std::vector<double> sum;
    std::vector<double> squares;  // about the mean; only where asked for
    std::vector<float> low, high;

    void reset(std::size_t n_features, bool with_squares);
    void add(const WeightedRows& chunk);  // to empty moments
    void merge(const FeatureMoments& other);
    double mean(std::size_t feature) const { return sum[feature] / weight; }
    const double* means() const;  // of all features; valid until the next call

  private:
    mutable std::vector<double> means_;
};

// Measures the first chunk of n rows into `to`, and merges the others into it, in order.
template <class Part, class Measure>
void measure_chunks(std::size_t n, std::size_t n_threads, Watch& watch, Part& to, std::vector<Part>& chunks,
                    const Measure& measure) {
    constexpr std::size_t chunks_at_once = 64;  // limits the memory of chunks that wait to be merged
    const auto measure_one = [&](Part& part, std::size_t chunk) {
        measure(part, chunk * chunk_rows, std::min(n, (chunk + 1) * chunk_rows));
    };
    measure_one(to, 0);
    const std::size_t n_chunks = (n + chunk_rows - 1) / chunk_rows;
    for (std::size_t first = 1; first < n_chunks; first += chunks_at_once) {
        const std::size_t n_some = std::min(n_chunks - first, chunks_at_once);
        chunks.resize(std::max(chunks.size(), n_some));
        run(n_some, n_threads, watch, [&](std::size_t i) { measure_one(chunks[i], first + i); });
        for (std::size_t i = 0; i < n_some; ++i) to.merge(chunks[i]);
    }
}

// Moments of a block by class (0: non-target, 1: target), each in chunks merged in order.
class Moments {
  public:
    FeatureMoments of[2];

    void measure(const Samples& samples, bool with_squares, std::size_t n_threads, Watch& watch);

    std::size_t n_features() const { return n_features_; }
    bool has_squares() const { return has_squares_; }
    bool is_constant(std::size_t feature) const;
    double total_weight() const { return of[0].weight + of[1].weight; }
    double mean(std::size_t feature) const {
        return (of[0].sum[feature] + of[1].sum[feature]) / total_weight();
    }
    double response_mean() const { return of[1].weight / total_weight(); }  // E[P]
    // SD_i (eq. 2).
    double mean_difference(std::size_t feature) const { return of[1].mean(feature) - of[0].mean(feature); }
    double relation(std::size_t feature) const { return mean_difference(feature); }
    // n · cov(x_i, p) = balance · SD_i.
    double balance() const { return of[1].weight * of[0].weight / total_weight(); }
    double covariance(std::size_t feature) const { return balance() * mean_difference(feature); }
    double response_squares() const { return balance(); }  // n · var(p)
    double reach(std::size_t feature) const;               // max |x_i - mean|
    // Part of total_squares that the scatter about the class means lacks.
    double squares_between(std::size_t feature) const {
        return covariance(feature) * mean_difference(feature);
    }
    // n · var(x_i).
    double total_squares(std::size_t feature) const;

  private:
    std::size_t n_features_ = 0;
    bool has_squares_ = false;
    std::vector<FeatureMoments> chunks_;
};

// Weight, sum and range of the response, in chunks merged in order.
struct RealTotals {
    double sum_of_weights = 0.0, sum = 0.0;
    double low = 0.0, high = 0.0;

    double weight() const { return sum_of_weights; }
    double response() const { return sum; }
    bool is_pure() const { return !(low < high); }
    double reach() const { return std::max(high - sum / weight(), sum / weight() - low); }
};
RealTotals measure_totals(const RealSamples& samples);

// Moments of the features, of the response, and of both together.
class RealMoments {
  public:
    void measure(const RealSamples& samples, bool with_squares, std::size_t n_threads, Watch& watch);
    void merge(const RealMoments& other);
    void add(const RealSamples& chunk);  // to empty moments
    void reset(std::size_t n_features, bool with_squares);

    const FeatureMoments& features() const { return features_; }
    std::size_t n_features() const { return n_features_; }
    bool has_squares() const { return !features_.squares.empty(); }
    bool is_constant(std::size_t feature) const {
        return !(features_.low[feature] < features_.high[feature]);
    }
    double total_weight() const { return features_.weight; }
    double mean(std::size_t feature) const { return features_.mean(feature); }
    double response_mean() const { return response_sum_ / features_.weight; }
    double total_squares(std::size_t feature) const { return features_.squares[feature]; }  // n · var(x_i)
    double squares_between(std::size_t) const { return 0.0; }      // the scatter is about the same means
    double response_squares() const { return response_squares_; }  // n · var(r)
    double covariance(std::size_t feature) const { return products_[feature]; }  // n · cov(x_i, r)
    double reach(std::size_t feature) const {                                    // max |x_i - mean|
        return std::max(features_.high[feature] - mean(feature), mean(feature) - features_.low[feature]);
    }
    double relation(std::size_t feature) const;  // the covariance, 0 if it may be due to rounding

  private:
    std::size_t n_features_ = 0;
    FeatureMoments features_;
    double response_sum_ = 0.0, response_squares_ = 0.0;
    std::vector<double> products_;  // of the deviations of a feature and the response from their means
    std::vector<double> deviation_;
    std::vector<RealMoments> chunks_;
};

// Scatter matrix of a block: sums of products of the deviations of features from their means: the lower
// triangle, n_features rows of n_features.
class Scatter {
  public:
    std::vector<double> triangle;

    void measure(const Samples& samples, const Moments& moments, Watch& watch);  // about the class means
    void measure(const RealSamples& samples, const RealMoments& moments, Watch& watch);  // about the means

  private:
    std::vector<double> chunk_, room_;

    void start(std::size_t n_features);
    void add(const WeightedRows& rows, const double* mean, bool is_first, Watch& watch);
};

// Gram matrix of blocks with fewer rows than features. Let the rows of D be the deviations of the features
// from their means, times the root of the weight of a row. The scatter of a block is DᵀD, and (DᵀD + ridge ·
// I)⁻¹ Dᵀr = Dᵀ (DDᵀ + ridge · I)⁻¹ r: the system has one equation per row instead of one per feature.
class Gram {
  public:
    std::vector<double> triangle;   // lower triangle of DDᵀ, n_rows rows of n_rows
    std::vector<double> deviation;  // r: deviation of the response, times the root of the weight

    // Whether the Gram matrix is used. With fewer features, the scatter matrix keeps the bits of older
    // models.
    static bool suits(const Rows& rows) { return rows.n_features > 512 && rows.n_rows < rows.n_features; }
    template <class AnySamples, class AnyMoments>
    void measure(const AnySamples& samples, const AnyMoments& moments, Watch& watch);
    double trace() const;  // of DDᵀ and of the scatter matrix
    // Returns Dᵀ · factors, a value per feature.
    std::vector<double> to_features(const Rows& rows, const std::vector<double>& factors) const;

  private:
    std::vector<double> mean_, root_weight_, tile_;
};

}  // namespace lhtree
