// Statistics of blocks of many classes.
#pragma once
#include <algorithm>
#include <vector>

#include "lhtree/grow/statistics/order.hpp"

namespace lhtree {

// Classes of a block: each is a run of its rows.
struct RunTotals {
    std::vector<std::int32_t> classes;  // ascending
    std::vector<std::size_t> end;       // end of the rows of each
    std::vector<double> of;             // weight of each

    std::size_t size() const { return classes.size(); }
    std::size_t begin(std::size_t run) const { return run == 0 ? 0 : end[run - 1]; }
    double weight() const {
        double total = 0.0;
        for (const double weight : of) total += weight;
        return total;
    }
    double response() const { return of.empty() ? 0.0 : *std::max_element(of.begin(), of.end()); }
    bool is_pure() const { return size() < 2; }
    double weight_of(std::int32_t cls) const {  // 0 if the class is absent
        const auto at = std::lower_bound(classes.begin(), classes.end(), cls);
        return at == classes.end() || *at != cls ? 0.0 : of[static_cast<std::size_t>(at - classes.begin())];
    }
};
RunTotals measure_totals(const ClassedSamples& samples);

// Returns Gini impurity times weight, W - Σ c²/W, where c are the weights of the classes; 0 for one class.
inline double impurity(double weight, double squares) {
    return weight > 0.0 ? weight - squares / weight : 0.0;
}

// Narrows the search for the best cut of many classes. Rows weigh 1 each and are put into bins. Impurity is
// superadditive, so adding a bin to a side makes the side no purer: a cut inside a bin costs at least the
// impurity of both sides without the bin.
class RunNarrower : public ChosenRows {
  public:
    // Whether scanning the bins is faster than sorting the rows.
    static bool pays(std::size_t n_rows, std::size_t n_runs);

    template <class Values>
    void bin(const Values& values, std::size_t n, const RunTotals& totals) {
        bins_.bin(values, n, most_bins(n, totals.size()));
        count(totals);
    }
    // As Narrower.
    std::size_t choose(double limit, double min_samples_leaf);

    // Number of rows before a bin, and the cost of a cut there; a value per run.
    double before(std::size_t bin) const { return static_cast<double>(before_[bin]); }
    double cost(std::size_t bin) const { return left_[bin] + right_[bin]; }
    const std::uint32_t* runs_before(std::size_t bin) const { return &runs_before_[bin * n_runs_]; }

  private:
    std::size_t n_runs_ = 0;
    std::vector<std::uint32_t> runs_before_, before_;
    std::vector<double> left_, right_;  // impurities of the rows before a bin, and from it on

    static std::size_t most_bins(std::size_t n, std::size_t n_runs);
    void count(const RunTotals& totals);
};

// Cost of a cut behind each place, and the weight on its left.
class RunOrder {
  public:
    std::size_t size() const { return sorted_.size(); }
    const double* value() const { return sorted_.value(); }
    double cost(std::size_t place) const { return cost_[place]; }
    double left(std::size_t place) const { return left_[place]; }

    // Call before the rows of another block are measured.
    void start(const RunTotals& totals);
    void measure(const ClassedSamples& samples, const RunTotals& totals, const double* feature_sums,
                 double min_samples_leaf);
    // Measures one feature alone, as ClassOrder.
    void measure_feature(const ClassedSamples& samples, const RunTotals& totals, std::size_t feature,
                         const CodedRows& coded, double limit, double min_samples_leaf);

  private:
    RunNarrower narrower_;
    SortedRows sorted_;
    std::vector<std::uint32_t> run_;          // of every row
    std::vector<double> of_left_, of_right_;  // weights of the runs
    std::vector<double> cost_, left_;

    void add_up(const ClassedSamples& samples, const RunTotals& totals, bool is_narrowed);
};

}  // namespace lhtree
