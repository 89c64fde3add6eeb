#include "lhtree/grow/boost/slots.hpp"

#include <algorithm>

namespace lhtree::boost {

Slots::Slots(const std::vector<std::size_t>& bins, const Levels* levels, const std::vector<std::uint8_t>& off,
             const std::vector<std::uint8_t>& on)
    : off_(off), on_(on) {
    const auto add = [&](std::size_t first, std::size_t last, bool is_coded) {
        slots_.push_back({first, last, is_coded, n_codes_});
        slot_of_.insert(slot_of_.end(), last - first, slots_.size() - 1);
        n_codes_ += is_coded ? last - first + 2 : bins[first];
        any_coded_ = any_coded_ || is_coded;
    };
    for (const std::size_t n : bins) missing_.push_back(n - 1);
    if (!levels) {
        for (std::size_t feature = 0; feature < bins.size(); ++feature) add(feature, feature + 1, false);
        return;
    }
    for (std::size_t column = 0; column < levels->n_columns(); ++column) {
        const std::size_t end = levels->first(column + 1);
        for (std::size_t first = levels->first(column); first < end; first += most_levels)
            add(first, std::min(first + most_levels, end), levels->is_coded(column));
    }
}

}  // namespace lhtree::boost
