// A counter-based generator: every draw is a function of its key and its number, so the order of draws does
// not matter. One enum names all random streams of the library.
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

// All random streams. derive(key, stream) is the key of a stream below another key, for example below the
// seed of a model. Streams below the same key have different numbers.
enum class Stream : std::uint64_t {
    // Below the key of a tree, a round or a block.
    left_side = 0,  // the keys of the children of a block
    right_side = 1,
    feature_draws = 2,
    row_draws = 3,
    direction_draws = 4,
    projection_draws = 5,
    round_trees = 6,  // the trees of a round of boosting have the numbers from here, one per score
    group_draws = std::uint64_t{1} << 63,  // groups of features that may interact
    // Below the seed of a model, where trees of a forest and rounds of boosting have the numbers from 0.
    validation_rows = ~std::uint64_t{0},  // held out by boosting
    pilot_rows = ~std::uint64_t{1},
    pilot_validation_rows = ~std::uint64_t{2},
    calibration_folds = ~std::uint64_t{3},
    prototype_rows = ~std::uint64_t{4},
    sampled_rows = ~std::uint64_t{5},    // from which bins and scales are learned
    statistic_folds = ~std::uint64_t{6}  // of target statistics, of a fixed seed
};

// `number` counts from the stream where it stands for several.
inline std::uint64_t derive(std::uint64_t key, Stream stream, std::uint64_t number = 0) {
    return derive(key, static_cast<std::uint64_t>(stream) + number);
}

class Draws {
  public:
    Draws(std::uint64_t key, Stream stream) : key_(derive(key, stream)) {}

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
