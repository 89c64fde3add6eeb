// What a block knows of its samples: sums that merge, so that chunks, threads and machines can share the
// work.
#pragma once
#include <algorithm>
#include <vector>

#include "lhtree/grow/rows/samples.hpp"
#include "lhtree/shared/threads.hpp"

namespace lhtree {

double total_weight(const WeightedRows& rows);  // in chunks merged in order

// What a block weighs and where its response lies, class by class …
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
    constexpr std::size_t chunks_at_once = 64;  // so that waiting for their turn they take little memory
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
    // What the scatter, taken about the class means, leaves out of total_squares.
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

}  // namespace lhtree
