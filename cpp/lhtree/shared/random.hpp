// A counter-based generator: every draw is a function of its key and its number, never of what was drawn
// before.
#pragma once
#include <cstddef>
#include <cstdint>

namespace lhtree {

// SplitMix64's finaliser.
inline std::uint64_t mix64(std::uint64_t x) {
    x = (x ^ (x >> 30)) * 0xbf58476d1ce4e5b9u;
    x = (x ^ (x >> 27)) * 0x94d049bb133111ebu;
    return x ^ (x >> 31);
}

inline std::uint64_t derive(std::uint64_t key, std::uint64_t value) {
    return mix64(key + 0x9e3779b97f4a7c15u * (value + 1));
}

// What a key is used for. The two sides of a block come first: a child's key is derive(key, side).
// The trees of a round of boosting, one per score, come last.
enum Purpose : std::uint64_t {
    left_side = 0,
    right_side = 1,
    feature_draws = 2,
    row_draws = 3,
    direction_draws = 4,
    bin_draws = 5,
    first_score = 6
};

class Draws {
  public:
    Draws(std::uint64_t key, Purpose purpose) : key_(derive(key, purpose)) {}

    // The next draw, below `size`: the high half of draw * size.
    std::size_t below(std::size_t size) {
        const std::uint64_t draw = derive(key_, n_drawn_++);
        const std::uint64_t low = (draw & 0xffffffffu) * size;
        return static_cast<std::size_t>(((draw >> 32) * size + (low >> 32)) >> 32);
    }

  private:
    std::uint64_t key_;
    std::uint64_t n_drawn_ = 0;
};

}  // namespace lhtree
