#include "lhtree/grow/boost/selection.hpp"

#include <algorithm>
#include <cmath>
#include <numeric>

namespace lhtree::boost {
namespace {

constexpr double unit = 0x1p-60, most = 0x1p62;
constexpr std::int64_t middle_place = std::int64_t{1} << 62;

std::int64_t count_units(double value) {
    return static_cast<std::int64_t>(std::nearbyint(std::clamp(value / unit, -most, most)));
}

// The weight that numbers up to the quantile must hold.
std::int64_t find_needed(double share, std::int64_t weight) {
    return std::clamp<std::int64_t>(static_cast<std::int64_t>(std::ceil(share * static_cast<double>(weight))),
                                    1, weight);
}

}  // namespace

void Selection::add(double value, std::int64_t weight) {
    all_.push_back({count_units(value), weight});
    weight_ += weight;
}

double Selection::find(double share) {
    if (weight_ == 0) return 0.0;
    const std::int64_t needed = find_needed(share, weight_);
    // Halves the candidates until one is left; `before` is the weight of those below.
    auto first = all_.begin(), last = all_.end();
    std::int64_t before = 0;
    while (last - first > 1) {
        const auto middle = first + (last - first) / 2;
        std::nth_element(first, middle, last);
        std::int64_t lower = 0;
        for (auto one = first; one != middle; ++one) lower += one->second;
        if (before + lower >= needed) {
            last = middle;
        } else {
            before += lower;
            first = middle;
        }
    }
    return static_cast<double>(first->first) * unit;
}

std::uint64_t Digits::find_place(double value) {
    return static_cast<std::uint64_t>(count_units(value) + middle_place);
}

void DigitSearch::take(const DigitWeights& weights) {
    if (digits_.n_left == 64) {
        const std::int64_t total = std::accumulate(weights.begin(), weights.end(), std::int64_t{0});
        is_empty_ = total == 0;
        needed_ = is_empty_ ? 0 : find_needed(share_, total);
    }
    std::size_t digit = 0;
    for (; digit + 1 < weights.size() && weights[digit] < needed_; ++digit) needed_ -= weights[digit];
    const int n_bits = digits_.n_bits();
    digits_ = {digits_.prefix << n_bits | digit, digits_.n_left - n_bits};
}

double DigitSearch::value() const {
    return is_empty_ ? 0.0
                     : static_cast<double>(static_cast<std::int64_t>(digits_.prefix) - middle_place) * unit;
}

}  // namespace lhtree::boost
