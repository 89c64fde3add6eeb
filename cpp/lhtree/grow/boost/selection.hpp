// Quantiles by exact selection: of integers, so that the order of rows does not matter.
#pragma once
#include <cstdint>
#include <tuple>
#include <utility>
#include <vector>

namespace lhtree::boost {

// Weighted numbers up to ±4, in units of 2^-60.
class Selection {
  public:
    void add(double value, std::int64_t weight);
    // The least number such that numbers up to it hold a share of the weight; 0 without any. Sorts.
    double find(double share);

  private:
    std::vector<std::pair<std::int64_t, std::int64_t>> all_;
    std::int64_t weight_ = 0;
};

// Selection from several partitions: digit by digit, from the weight of every digit.
struct Digits {
    std::uint64_t prefix = 0;  // the digits that are known
    int n_left = 64;           // bits behind them

    auto fields() { return std::tie(prefix, n_left); }
    int n_bits() const { return n_left < 12 ? n_left : 12; }  // of the next digit
    // Calls use(digit) if a number begins with the digits known.
    template <class Use>
    void with_next(double value, const Use& use) const {
        const std::uint64_t place = find_place(value);
        if (n_left < 64 && place >> n_left != prefix) return;
        use((place >> (n_left - n_bits())) & ((std::uint64_t{1} << n_bits()) - 1));
    }

  private:
    static std::uint64_t find_place(double value);
};

using DigitWeights = std::vector<std::int64_t>;  // of every digit

class DigitSearch {
  public:
    explicit DigitSearch(double share) : share_(share) {}

    bool is_done() const { return digits_.n_left == 0; }
    const Digits& known() const { return digits_; }
    void take(const DigitWeights& weights);
    double value() const;

  private:
    double share_;
    Digits digits_;
    bool is_empty_ = false;
    std::int64_t needed_ = 0;  // weight up to the number, among numbers that begin with the known digits
};

}  // namespace lhtree::boost
