// What a block knows of its samples: sums that merge, so that chunks, threads and machines can share the
// work.
#pragma once
#include <vector>

#include "lhtree/grow/rows/samples.hpp"
#include "lhtree/shared/threads.hpp"

namespace lhtree {

double total_weight(const WeightedRows& rows);  // in chunks merged in order

// Weight, sums and centred squares of every feature over rows of one class.
class ClassMoments {
  public:
    double weight = 0.0;
    std::vector<double> sum;
    std::vector<double> squares;  // about the mean; only where asked for
    std::vector<float> low, high;

    void reset(std::size_t n_features, bool with_squares);
    void add(const WeightedRows& chunk);  // to empty moments
    void merge(const ClassMoments& other);
    double mean(std::size_t feature) const { return sum[feature] / weight; }
    const double* means() const;  // of all features; valid until the next call

  private:
    mutable std::vector<double> means_;
};

// Moments of a block by class (0: non-target, 1: target), each in chunks merged in order.
class Moments {
  public:
    ClassMoments of[2];

    void measure(const Samples& samples, bool with_squares, std::size_t n_threads, Watch& watch);

    std::size_t n_features() const { return n_features_; }
    bool has_squares() const { return has_squares_; }
    bool is_constant(std::size_t feature) const;
    double total_weight() const { return of[0].weight + of[1].weight; }
    double mean(std::size_t feature) const {
        return (of[0].sum[feature] + of[1].sum[feature]) / total_weight();
    }
    double target_share() const { return of[1].weight / total_weight(); }  // E[P]
    // SD_i (eq. 2).
    double mean_difference(std::size_t feature) const { return of[1].mean(feature) - of[0].mean(feature); }
    // n · cov(x_i, p) = balance · SD_i.
    double balance() const { return of[1].weight * of[0].weight / total_weight(); }
    // n · var(x_i).
    double total_squares(std::size_t feature) const;

  private:
    std::size_t n_features_ = 0;
    bool has_squares_ = false;
    std::vector<ClassMoments> chunks_;
};

// Lower triangle of the scatter about the class means, n_features rows of n_features.
class Scatter {
  public:
    std::vector<double> triangle;

    void measure(const Samples& samples, const Moments& moments, Watch& watch);

  private:
    std::vector<double> chunk_, distance_;
};

}  // namespace lhtree
