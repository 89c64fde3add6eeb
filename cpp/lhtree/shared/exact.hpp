// Sums of integers that cannot overflow: their order does not matter.
#pragma once
#include <cstdint>

namespace lhtree {

// A signed integer of 128 bits with the operations of sums alone.
class WideSum {
  public:
    WideSum() = default;
    WideSum(std::int64_t high, std::uint64_t low) : low_(low), high_(high) {}

    std::int64_t high() const { return high_; }
    std::uint64_t low() const { return low_; }
    void add(std::int64_t value) {
        const auto low = static_cast<std::uint64_t>(value);
        low_ += low;
        high_ += (value < 0 ? -1 : 0) + (low_ < low);
    }
    void add(const WideSum& other) {
        low_ += other.low_;
        high_ += other.high_ + (low_ < other.low_);
    }
    // Returns high · 2^64 + low with each half rounded; equal sums give equal results.
    double value() const {
        if (high_ == 0 || high_ == -1) {  // most sums, with one rounding less
            const bool is_negative = high_ < 0;
            const std::uint64_t size = is_negative ? ~low_ + 1 : low_;
            if (!is_negative || size != 0)
                return is_negative ? -static_cast<double>(size) : static_cast<double>(size);
        }
        return static_cast<double>(high_) * 18446744073709551616.0 + static_cast<double>(low_);
    }

  private:
    std::uint64_t low_ = 0;
    std::int64_t high_ = 0;
};

}  // namespace lhtree
