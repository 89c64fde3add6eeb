#include "lhtree/grow/compact/order.hpp"

#include <algorithm>
#include <cmath>
#include <cstring>

namespace lhtree::compact {
namespace {

constexpr std::size_t few_keys = 512;  // sorting them is as fast as filling buckets

// Buckets of distances: 32 per octave from 2^-12 to 2^8 on both sides, by the high bits of a float.
constexpr int octave_bits = 5, dropped_bits = 23 - octave_bits;
constexpr std::int32_t nearest = (127 - 12) << octave_bits, farthest = (127 + 8) << octave_bits;
constexpr std::size_t n_buckets = 2 * (farthest - nearest) + 1;

inline std::uint16_t find_bucket(double distance) {
    const auto near = static_cast<float>(distance);
    std::int32_t bits;
    std::memcpy(&bits, &near, sizeof bits);
    const std::int32_t size = std::clamp((bits & 0x7fffffff) >> dropped_bits, nearest, farthest) - nearest;
    return static_cast<std::uint16_t>(farthest - nearest + (bits < 0 ? -size : size));
}

}  // namespace

void Order::fill(const std::vector<double>& keys, const std::vector<double>& changes, const double* weights,
                 double centre, bool is_exact) {
    keys_ = &keys;
    changes_ = &changes;
    weights_ = weights;
    bucket_of_.assign(keys.size(), 0);
    if (!is_exact || keys.size() < few_keys || !std::isfinite(centre)) {
        buckets_.assign(1, {});
        return;
    }
    buckets_.assign(n_buckets, {});
    for (std::size_t i = 0; i < keys.size(); ++i) bucket_of_[i] = find_bucket(keys[i] - centre);
    for (std::size_t i = 0; i < keys.size(); ++i) {
        Bucket& bucket = buckets_[bucket_of_[i]];
        bucket.change += changes[i];
        bucket.falls += std::min(changes[i], 0.0);
        bucket.lowest = std::min(bucket.lowest, keys[i]);
        if (weights) bucket.weight += weights[i];
    }
}

void Order::sort_wanted() {
    const std::vector<double>& keys = *keys_;
    entries_.clear();
    for (std::size_t place = 0; place < keys.size(); ++place)
        if (is_wanted_[bucket_of_[place]])
            entries_.push_back(keyed_row(static_cast<float>(keys[place]), place));
    sorter_.sort_by(keys.data(), entries_);
    sorted_.clear();
    for (const KeyedRow entry : entries_) sorted_.push_back(static_cast<std::uint32_t>(row_of(entry)));
}

}  // namespace lhtree::compact
