// Where the codes of boosted trees are: a byte to a feature, or a byte to the levels of a column.
#pragma once
#include <cstdint>
#include <vector>

#include "lhtree/shared/matrix.hpp"

namespace lhtree::boost {

// A slot is a byte of every row. That of a column of categories says which of its levels the row has; the
// last two codes stand for levels of another slot, where a column has too many for one, and for "missing".
class Slots {
  public:
    static constexpr std::size_t most_levels = 254;

    Slots() = default;
    // A slot per feature, or as the levels ask for; `bins` is the number of bins of every feature, that of
    // missing values included, off and on are those of a level that a row does not have, or has.
    Slots(const std::vector<std::size_t>& bins, const Levels* levels, const std::vector<std::uint8_t>& off,
          const std::vector<std::uint8_t>& on);

    struct Slot {
        std::size_t first, last;  // features
        bool is_coded;
        std::size_t begin;  // of its codes among those of all slots

        // The code of a level, below 0 if it is missing, of the column whose features begin at `column`.
        std::uint8_t code(std::size_t column, std::int32_t level) const {
            if (level < 0) return missing();
            const std::size_t feature = column + static_cast<std::size_t>(level);
            const bool is_here = feature >= first && feature < last;
            return is_here ? static_cast<std::uint8_t>(feature - first) : other();
        }
        std::uint8_t other() const { return static_cast<std::uint8_t>(last - first); }
        std::uint8_t missing() const { return static_cast<std::uint8_t>(last - first + 1); }
    };

    std::size_t size() const { return slots_.size(); }
    bool any_coded() const { return any_coded_; }
    const Slot& operator[](std::size_t slot) const { return slots_[slot]; }
    std::size_t of(std::size_t feature) const { return slot_of_[feature]; }
    // First code of a slot among the codes of all; the number of all for the one behind the last.
    std::size_t begin(std::size_t slot) const { return slot < slots_.size() ? slots_[slot].begin : n_codes_; }
    std::size_t n_codes(std::size_t slot) const { return begin(slot + 1) - begin(slot); }
    // The bin of a feature in the rows with this code in its slot.
    std::size_t bin(std::size_t feature, std::size_t code) const {
        const Slot& slot = slots_[slot_of_[feature]];
        if (!slot.is_coded) return code;
        if (code == slot.missing()) return missing_[feature];
        return slot.first + code == feature ? on_[feature] : off_[feature];
    }

  private:
    std::vector<Slot> slots_;
    std::vector<std::size_t> slot_of_, missing_;  // by feature
    std::vector<std::uint8_t> off_, on_;
    std::size_t n_codes_ = 0;
    bool any_coded_ = false;
};

}  // namespace lhtree::boost
